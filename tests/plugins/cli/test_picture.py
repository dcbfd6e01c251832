"""The picture: tracks lie on the spots they follow, in physical units, and in colour."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
import tifffile
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.image import imread

from auctrack.plugins.cli.picture import _figure, _projections, write_picture
from auctrack.tracker.calibration import Calibration
from auctrack.tracker.errors import OutputExists
from auctrack.tracker.points import Tracks
from auctrack.tracker.settings import InputSettings

READ = InputSettings(axes="TZYX", scale=(2.0, 0.5, 0.25), roi="2:10,4:40,8:60")


@pytest.fixture
def spot(tmp_path):
    """A movie with one bright voxel at (5, 20, 30 + t)."""
    image = np.zeros((4, 12, 48, 64), np.uint16)
    for t in range(4):
        image[t, 5, 20, 30 + t] = 1000
    tifffile.imwrite(tmp_path / "spot.tif", image, imagej=True, metadata={"axes": "TZYX"})
    return tmp_path / "spot.tif"


def tracks(n=4):
    table = pd.DataFrame({"frame": range(n), "z": 5.0, "y": 20.0, "x": 30.0 + np.arange(n), "track_id": 0})
    return Tracks(table, Calibration((2.0, 0.5, 0.25), "µm"))


def coloured(png):
    pixels = imread(io.BytesIO(png))[..., :3]
    return int((np.ptp(pixels, axis=-1) > 0.5).sum())


def test_the_projection_lies_where_the_positions_lie(spot):
    projections = _projections(str(spot), READ)
    assert set(projections) == {"yx", "zx"}
    for view, expected in (("yx", (20 * 0.5, 30 * 0.25)), ("zx", (5 * 2.0, 30 * 0.25))):
        image, (left, right, bottom, top) = projections[view]
        row, column = np.unravel_index(image.argmax(), image.shape)
        down = top + (row + 0.5) * (bottom - top) / image.shape[0]
        across = left + (column + 0.5) * (right - left) / image.shape[1]
        assert (down, across) == pytest.approx(expected)
        assert (image == 1000).sum() == 4  # the maximum over time too


def test_tracks_are_drawn_in_physical_units_from_above_and_from_the_side(spot):
    figure = _figure(tracks(), _projections(str(spot), READ), "spot.tif")
    above, beside = figure.axes
    path = np.array([[30, 20], [31, 20], [32, 20], [33, 20]]) * [0.25, 0.5]
    np.testing.assert_allclose(above.collections[0].get_segments()[0], path)
    assert beside.collections[0].get_segments()[0][0].tolist() == [7.5, 10.0]
    assert (above.get_xlabel(), above.get_ylabel(), beside.get_ylabel()) == ("x (µm)", "y (µm)", "z (µm)")
    png = io.BytesIO()
    FigureCanvasAgg(figure).print_png(png)
    assert coloured(png.getvalue()) > 50


def test_nothing_coloured_is_there_without_tracks_and_a_table_needs_no_movie(spot, tmp_path):
    empty = Tracks(tracks().table[:0], Calibration())
    write_picture(empty, str(spot), READ, tmp_path / "none.png", overwrite=False)
    assert coloured((tmp_path / "none.png").read_bytes()) == 0
    for of, name in ((tracks(), "some"), (empty, "empty")):
        write_picture(of, "points.csv", InputSettings(), tmp_path / f"{name}.png", overwrite=False)
    assert coloured((tmp_path / "some.png").read_bytes()) > 50


def test_a_picture_is_not_replaced_untold(tmp_path):
    (tmp_path / "p.png").write_bytes(b"mine")
    with pytest.raises(OutputExists):
        write_picture(tracks(), "points.csv", InputSettings(), tmp_path / "p.png", overwrite=False)
    assert (tmp_path / "p.png").read_bytes() == b"mine"
