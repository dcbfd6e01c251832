"""The picture: tracks lie on the spots they follow, in physical units, and in colour."""

from __future__ import annotations

import io
import itertools
import re
import shutil

import numpy as np
import pandas as pd
import pytest
import tifffile
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import Normalize
from matplotlib.image import imread

from auctrack.plugins.cli.results.picture import draw, write_picture
from auctrack.plugins.cli.results.picture_colours import SCALE
from auctrack.plugins.cli.results.picture_field import region_asked, whole_field
from auctrack.plugins.cli.results.picture_part import ABOVE, SIDE, Look, Steps, crossings, parts_shown
from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.errors import InvalidSetting, OutputExists
from auctrack.tracker.pipeline import open_movie
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


def drawn(of, source=None, look=None, read=READ):
    if source is None:
        return draw(of, None, "tracks", look or Look())
    with open_movie(str(source), read) as movie:
        return draw(of, movie, "tracks", look or Look())


def wanderers(n, frames, size, seed=0):
    """Tracks that wander at random in a box of `size` (z, y, x) µm, 1 µm a step."""
    draws = np.random.default_rng(seed)
    steps = draws.normal(0, 3**-0.5, (n, frames, 3))
    steps[:, 0] = draws.uniform(0, 1, (n, 3)) * size
    places = steps.cumsum(axis=1).reshape(-1, 3)
    table = pd.DataFrame(places, columns=["z", "y", "x"])
    table["frame"], table["track_id"] = np.tile(np.arange(frames), n), np.repeat(np.arange(n), frames)
    return Tracks(table, Calibration((1.0, 1.0, 1.0), "µm", 2.0, "s"))


def shown(of):
    return parts_shown(Steps.of(of), whole_field(of, None), (ABOVE, SIDE), Look(), 7.0)


def test_the_projection_lies_where_the_positions_lie(spot):
    above, side = drawn(tracks(), spot).axes
    for panel, expected in ((above, (20 * 0.5, 30 * 0.25)), (side, (5 * 2.0, 30 * 0.25))):
        (image,) = panel.images
        pixels, (left, right, bottom, top) = np.asarray(image.get_array()), image.get_extent()
        row, column = np.unravel_index(pixels.argmax(), pixels.shape)
        down = top + (row + 0.5) * (bottom - top) / pixels.shape[0]
        across = left + (column + 0.5) * (right - left) / pixels.shape[1]
        assert (down, across) == pytest.approx(expected)
        assert (pixels == 1000).sum() == 4  # the maximum over time too


def test_tracks_are_drawn_in_physical_units_from_above_and_from_the_side(spot):
    figure = drawn(tracks(), spot)
    above, beside = figure.axes
    path = np.array([[30, 20], [31, 20], [32, 20], [33, 20]]) * [0.25, 0.5]
    np.testing.assert_allclose(above.collections[0].get_segments(), np.stack([path[:-1], path[1:]], axis=1))
    assert beside.collections[0].get_segments()[0][0].tolist() == [7.5, 10.0]
    assert (above.get_xlabel(), above.get_ylabel(), beside.get_ylabel()) == ("x (µm)", "y (µm)", "z (µm)")
    png = io.BytesIO()
    FigureCanvasAgg(figure).print_png(png)
    assert coloured(png.getvalue()) > 50


def test_a_region_and_frames_that_are_asked_for_are_all_that_is_shown(spot):
    look = Look(frames=slice(1, 3), roi=(slice(4, 8), slice(16, 24), slice(28, 36)))
    above, side, _ = drawn(tracks(), spot, look).axes
    assert len(above.collections[0].get_segments()) == 1  # from frame 1 to frame 2
    assert (np.asarray(above.images[0].get_array()) == 1000).sum() == 2  # frames 1 and 2
    np.testing.assert_allclose(above.get_xlim(), [27.5 * 0.25, 35.5 * 0.25])
    np.testing.assert_allclose(side.get_ylim(), [7.5 * 2, 3.5 * 2])
    assert np.asarray(side.images[0].get_array()).shape == (4, 8)


@pytest.mark.parametrize("look", [Look(frames=slice(9, 12)), Look(roi=(slice(3),)), Look(roi=(slice(90, 99),) * 3)])
def test_what_shows_nothing_is_refused(spot, look):
    with pytest.raises(InvalidSetting):
        drawn(tracks(), spot, look)


def test_few_tracks_are_shown_whole():
    few = wanderers(20, 30, (100, 100, 100))
    for part in shown(few):
        assert part.steps.n_tracks == 20
        assert list(part.frames) == list(range(30))
    assert "shown" not in drawn(few).axes[0].get_title(loc="left")


def test_children_are_joined_to_their_parents():
    """Of a division and a merge; a child of one detection, or whose parent was left out, is drawn as without one."""
    of = wanderers(6, 4, (10, 10, 10)).table
    starts = of["track_id"].map({0: 0, 1: 4, 2: 5, 3: 0, 4: 8, 5: 12})
    of = of.assign(frame=of["frame"] + starts)[(of["track_id"] != 5) | (of["frame"] == 12)]
    alone, together = (Steps.of(Tracks(of, parents=parents)) for parents in ({}, {1: [0], 2: [0, 3], 4: [9], 5: [1]}))
    assert together.n_tracks == alone.n_tracks == 5
    assert (np.diff(together.track) >= 0).all()
    joints = sorted(tuple(row) for row in np.column_stack([together.track, together.frames]).tolist())
    without = sorted(tuple(row) for row in np.column_stack([alone.track, alone.frames]).tolist())
    assert sorted(set(joints) - set(without)) == [(1, 3, 4), (2, 3, 5)]
    assert len(joints) == len(without) + 3  # the merge's two are of the same frames


@pytest.mark.parametrize("n", [500, 5000])
def test_of_dense_tracks_so_few_are_shown_that_they_hardly_cross(n):
    cluster = wanderers(n, 40, (60, 200, 200))
    parts = shown(cluster)
    for part, view in zip(parts, (ABOVE, SIDE), strict=True):
        assert crossings(Steps.of(cluster), whole_field(cluster, None), view) > 3
        assert crossings(part.steps, part.box, view) < 2
        assert part.steps.n_tracks > 20
    assert parts[0].steps.n_tracks < 12 * 7 * 7 / 0.8**2  # as many as the paper has room for
    title = drawn(cluster).axes[0].get_title(loc="left")
    assert f"{n:,} tracks" in title
    assert re.search(r"from above: \d+ tracks, z ", title)


def test_a_slab_asked_for_is_not_made_thinner():
    look = Look(roi=(slice(20, 40), slice(None), slice(None)))
    cluster = wanderers(2000, 40, (60, 200, 200))
    field = region_asked(whole_field(cluster, None), look, cluster, None)
    above, _ = parts_shown(Steps.of(cluster), field, (ABOVE, SIDE), look, 7.0)
    assert (above.box.low[0], above.box.high[0]) == (20, 40)


def test_colours_tell_time_where_asked_for_and_where_only_the_last_frames_are_shown():
    few = wanderers(20, 30, (100, 100, 100))
    by_time, by_track = (drawn(few, look=Look(colour=colour)).axes[0].collections[0] for colour in ("time", "track"))
    assert len(np.unique(by_time.get_edgecolor(), axis=0)) == 29
    assert len(np.unique(by_track.get_edgecolor(), axis=0)) == 20
    assert len(drawn(few).axes) == 2
    bar = drawn(few, look=Look(frames=slice(10, 20))).axes[2]
    assert bar.get_ylabel() == "time (s)"
    assert bar.get_ylim() == (20, 38)


@pytest.mark.parametrize(
    ("colour", "label", "of_step"),
    [
        ("speed", "speed (µm/s)", lambda track, frame: (track + 1) * frame / 2),
        ("max_distance", "max distance (µm)", lambda track, frame: (track + 1) * 21 + 0 * frame),
        ("snr", "snr", lambda track, frame: 100.0 * track + frame),
    ],
)
def test_colours_tell_speed_a_measure_or_a_column_where_asked_for(colour, label, of_step):
    """Six tracks, each of which goes on by one step of its own more in each frame than in the one before."""
    track, frame = (of.ravel() for of in np.mgrid[:6, :7])
    places = {"y": 20.0 * track, "x": (track + 1) * (frame * (frame + 1) / 2)}
    table = pd.DataFrame({"track_id": track, "frame": frame, **places, "snr": 100.0 * track + frame})
    of = Tracks(table, Calibration((1.0, 1.0, 1.0), "µm", 2.0, "s"))
    panel, bar = drawn(of, look=Look(colour=colour)).axes
    assert bar.get_ylabel() == label
    wanted = of_step(*np.meshgrid(range(6), range(1, 7), indexing="ij")).ravel()
    low, high = np.percentile(wanted, (2, 98))
    assert bar.get_ylim() == pytest.approx((low, high))
    colours = SCALE(Normalize(low, high)(wanted))
    np.testing.assert_allclose(panel.collections[0].get_edgecolor(), colours)


def test_what_a_bar_of_long_numbers_means_is_not_cut():
    of = wanderers(20, 30, (100, 100, 100))
    share = 1 - 1e-6 * np.random.default_rng(0).random(len(of))
    figure = drawn(
        Tracks(of.table.assign(link_probability=share), of.calibration), look=Look(colour="link_probability")
    )
    FigureCanvasAgg(figure).draw()
    label = figure.axes[-1].yaxis.label.get_window_extent()
    assert 0 < label.x0 < label.x1 < figure.bbox.width


def test_a_step_without_a_value_is_grey_and_one_value_alone_has_a_scale():
    of = tracks()
    panel = drawn(Tracks(of.table.assign(snr=[1, 2, np.nan, 2]), of.calibration), look=Look(colour="snr")).axes[0]
    first, second, third = panel.collections[0].get_edgecolor()[:, :3]
    assert (np.ptp(second), np.ptp(first) > 0.1, (first == third).all()) == (0, True, True)


def test_nothing_lies_above_the_title_and_the_panels_keep_their_shape():
    figure = drawn(wanderers(20, 30, (30, 100, 200)))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    white = np.all(np.asarray(canvas.buffer_rgba())[..., :3] > 250, axis=(1, 2))
    assert white.argmin() < 0.15 * figure.dpi
    for panel in figure.axes:
        box = panel.get_window_extent()
        (left, right), (bottom, top) = panel.get_xlim(), panel.get_ylim()
        assert (right - left) / (bottom - top) == pytest.approx(box.width / box.height, rel=1e-6)


@pytest.mark.parametrize("size", [(3000, 4000, 4000), (200_000, 6000, 6000), (40_000, 40_000, 2000)])
def test_long_numbers_in_nm_are_neither_cut_nor_over_each_other(size):
    of = wanderers(20, 30, size)
    figure = drawn(Tracks(of.table.assign(x=of.table["x"] + 30_000), Calibration((1.0, 1.0, 1.0), "nm")))
    FigureCanvasAgg(figure).draw()
    for panel in figure.axes:
        assert panel.yaxis.label.get_window_extent().x0 > 0
        shown = [
            text
            for text, at in zip(panel.get_xticklabels(), panel.get_xticks(), strict=True)
            if at <= panel.get_xlim()[1]
        ]
        boxes = [text.get_window_extent() for text in shown if text.get_text()]
        assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))
    assert panel.get_window_extent().width == pytest.approx(figure.axes[0].get_window_extent().width)


def test_draw_shows_the_part_asked_for_over_the_movie_that_the_tracks_come_from(auctrack, movie, tmp_path):
    assert auctrack("track", movie).exit_code == 0
    assert auctrack("draw", "spots.tracks.csv").exit_code == 0
    whole = imread(tmp_path / "spots.tracks.png")
    again = auctrack("draw", "spots.tracks.csv", "--roi", "8:24,:", "--colour", "time", "-o", "part.png")
    assert again.exit_code == 0, again.output
    assert imread(tmp_path / "part.png").shape[0] < whole.shape[0]
    assert auctrack("draw", "spots.tracks.csv").exit_code == 1  # a picture is there
    other = auctrack("draw", "spots.tracks.csv", "--colour", "red", "-o", "red.png")
    assert (other.exit_code, "--colour needs one of track, time, speed, length, " in other.stderr) == (1, True)
    assert "intensity" in other.stderr
    assert auctrack("draw", "spots.tracks.csv", "--colour", "mean_speed", "-o", "speeds.png").exit_code == 0
    for wrong in (("--frames", "0:3:2"), ("-o", "part.csv")):
        assert auctrack("draw", "spots.tracks.csv", *wrong).exit_code == 2
    (tmp_path / "other").mkdir()
    for path in (movie, *tmp_path.glob("spots.tracks.csv*")):
        shutil.copy(path, tmp_path / "other")
    movie.rename(tmp_path / "moved.ome.tif")
    assert auctrack("draw", "other/spots.tracks.csv").exit_code == 0  # both were moved
    assert "--movie" in auctrack("draw", "spots.tracks.csv", "-o", "a.png").output
    assert auctrack("draw", "spots.tracks.csv", "--movie", "moved.ome.tif", "-o", "a.png").exit_code == 0


def test_draw_writes_into_a_folder_as_other_commands_do(auctrack, movie, tmp_path):
    assert auctrack("track", movie).exit_code == 0
    (tmp_path / "there.v2").mkdir()
    for folder in ("there.v2", "new"):
        assert auctrack("draw", "spots.tracks.csv", "-o", folder).exit_code == 0
        assert (tmp_path / folder / "spots.tracks.png").is_file()


def test_nothing_coloured_is_there_without_tracks_and_a_table_needs_no_movie(spot, tmp_path):
    empty = Tracks(tracks().table[:0], Calibration())
    write_picture(empty, str(spot), READ, tmp_path / "none.png", name="t", overwrite=False)
    assert coloured((tmp_path / "none.png").read_bytes()) == 0
    for of, name in ((tracks(), "some"), (empty, "empty")):
        write_picture(of, "points.csv", InputSettings(), tmp_path / f"{name}.png", name="t", overwrite=False)
    assert coloured((tmp_path / "some.png").read_bytes()) > 50


def test_a_picture_is_not_replaced_untold(tmp_path):
    (tmp_path / "p.png").write_bytes(b"mine")
    with pytest.raises(OutputExists):
        write_picture(tracks(), "points.csv", InputSettings(), tmp_path / "p.png", name="t", overwrite=False)
    assert (tmp_path / "p.png").read_bytes() == b"mine"


def test_a_picture_without_a_movie_is_titled_by_its_table_and_the_shortest_track(auctrack, tmp_path, monkeypatch):
    tracks(6).table.to_csv(tmp_path / "walks.csv", index=False)
    titles = []
    monkeypatch.setattr(Axes, "set_title", lambda _, title, **__: titles.append(title))
    assert auctrack("draw", "walks.csv", "--min-length", 3, "-o", "other.png").exit_code == 0
    assert titles[0].startswith("walks.csv: 1 track of 3 detections or more")


@pytest.mark.parametrize("n", [0, 1, 4])
def test_black_without_a_track_says_that_there_is_none(n):
    texts = [text.get_text() for panel in drawn(tracks(n)).axes for text in panel.texts]
    assert {*texts} == (set() if n > 1 else {"no track to draw"})


def test_draw_shows_the_tracks_that_are_named(auctrack, monkeypatch, samples):
    shown = []
    monkeypatch.setattr(
        "auctrack.plugins.cli.results.picture.write_picture", lambda tracks, *_, **__: shown.append(tracks)
    )
    truth = samples / "movie.truth.csv"
    assert auctrack("draw", truth, "-o", "a.png", "--tracks", "3,7").exit_code == 0
    assert set(shown[0].table["track_id"]) == {3, 7}
    for wrong, code in (("3,x", 2), ("3,123456", 1)):
        refused = auctrack("draw", truth, "-o", "a.png", "--tracks", wrong)
        assert (refused.exit_code, "--tracks" in refused.stderr) == (code, True)
