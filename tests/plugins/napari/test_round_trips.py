"""What is read and what is written: nothing is lost between a file, a layer and a file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import tifffile

from auctrack.plugins.napari.layers import readers, writers
from auctrack.plugins.napari.layers.layer_input import read_layer
from auctrack.plugins.napari.layers.layer_tables import fingerprint, points_layer, tracks_from_layer, tracks_layer
from auctrack.plugins.napari.session.command import input_settings
from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.errors import InvalidInput
from auctrack.tracker.formats.tables import read_points, read_tracks
from auctrack.tracker.formats.write import write_points, write_tracks
from auctrack.tracker.points import Points, Tracks
from auctrack.tracker.reading.movie import read_movie
from auctrack.tracker.timeline import Timeline

pytestmark = pytest.mark.usefixtures("display")
CALIBRATION = Calibration((2.0, 0.5, 0.5), "µm", 10.0, "s")
NAMES = ("tracks.csv", "tracks.parquet", "tracks.napari.csv")


def some_tracks(ndim: int = 3, ids=(0, 0, 1, 1, 2, 2)) -> Tracks:
    random = np.random.default_rng(1)
    table = pd.DataFrame({"frame": [0, 1, 0, 1, 2, 3]})
    for axis in "zyx"[3 - ndim :]:
        table[axis] = random.random(6) * 50
    table["quality"] = [1.5, 2.5, np.nan, 4.5, 5.5, 6.5]
    table["count"] = np.arange(6)
    table["kind"] = list("abcdef")
    table["track_id"] = ids
    return Tracks(table, CALIBRATION, {ids[4]: [ids[0], ids[2]]})


def in_napari(layer_data):
    """Pass layer data through napari's own layer, as opening and saving do."""
    from napari.layers import Layer

    layer = Layer.create(*layer_data)
    return layer.as_layer_data_tuple()


def sorted_by_track(tracks: Tracks) -> pd.DataFrame:
    table = tracks.table.sort_values(["track_id", "frame"], ignore_index=True)
    return table[sorted(table.columns)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ndim", [2, 3])
def test_tracks_come_back_with_features_lineage_scale_and_units(tmp_path, name, ndim):
    first, second = tmp_path / name, tmp_path / "again" / name
    second.parent.mkdir()
    tracks = some_tracks(ndim)
    write_tracks(tracks, first, settings={})
    (layer_data,) = readers.table_reader(str(first))(str(first))
    data, attributes, kind = in_napari(layer_data)
    assert kind == "tracks"
    assert writers.write_tracks_layer(str(second), data, attributes) == [str(second)]
    back = read_tracks(second)
    pd.testing.assert_frame_equal(sorted_by_track(back), sorted_by_track(tracks))
    assert back.parents == tracks.parents
    expected = CALIBRATION if ndim == 3 else CALIBRATION.override(scale=(1.0, 0.5, 0.5))
    assert back.calibration == expected


@pytest.mark.parametrize("ids", [(5, 5, 70_000_000, 70_000_000, 9, 9), (2**40, 2**40, 1, 1, 0, 0)])
def test_ids_that_would_cost_gigabytes_are_drawn_small_and_written_whole(tmp_path, ids):
    tracks = some_tracks(ids=ids)
    data, attributes, _ = in_napari(tracks_layer(tracks, "t"))
    assert data[:, 0].max() < 10
    writers.write_tracks_layer(str(tmp_path / "t.csv"), data, attributes)
    back = read_tracks(tmp_path / "t.csv")
    pd.testing.assert_frame_equal(sorted_by_track(back), sorted_by_track(tracks))
    assert back.parents == tracks.parents


@pytest.mark.parametrize("name", ["points.csv", "points.parquet", "points.napari.csv"])
def test_points_come_back_in_their_order(tmp_path, name):
    points = Points(some_tracks().table.drop(columns="track_id").iloc[[3, 1, 5, 0, 2, 4]], CALIBRATION)
    write_points(points, tmp_path / name, settings={})
    (layer_data,) = readers.table_reader(str(tmp_path / name))(str(tmp_path / name))
    data, attributes, kind = in_napari(layer_data)
    assert kind == "points"
    assert fingerprint(data) == attributes["metadata"]["auctrack"]["fingerprint"]
    writers.write_points_layer(str(tmp_path / f"again.{name}"), data, attributes)
    back = read_points(tmp_path / f"again.{name}")
    wanted = points.table.reset_index(drop=True)
    pd.testing.assert_frame_equal(back.table[sorted(back.table)], wanted[sorted(wanted)])
    assert back.calibration == CALIBRATION


def test_columns_that_are_not_known_are_answered_with_what_can_be_done_without_a_viewer(tmp_path, monkeypatch):
    monkeypatch.setattr("napari.current_viewer", lambda: None)
    path = tmp_path / "my imaris.csv"
    pd.DataFrame({"Time Point": [0, 1], "Position Y": [1.0, 2], "Position X": [1.0, 2]}).to_csv(path, index=False)
    with pytest.raises(InvalidInput) as refused:
        readers.table_reader(str(path))(str(path))
    said = str(refused.value)
    assert f"auctrack link '{path}'. Say which is which: --columns 'frame=Time Point," in said
    assert "columns={" not in said


def test_a_point_table_with_true_ids_opens_as_points(tmp_path):
    table = some_tracks().table.rename(columns={"track_id": "true_id"})
    table.to_csv(tmp_path / "p.csv", index=False)
    ((_, attributes, kind),) = readers.table_reader("p.csv")(str(tmp_path / "p.csv"))
    assert kind == "points"
    assert "true_id" in attributes["features"]


@pytest.mark.parametrize("name", ["t.xml", "t.geff"])
def test_other_programs_files_are_saved_and_opened(tmp_path, name):
    if name.endswith("geff"):
        pytest.importorskip("geff")
    path, sent = str(tmp_path / name), some_tracks()
    data, attributes, _ = in_napari(tracks_layer(sent, "t"))
    assert writers.write_tracks_layer(path, data, attributes) == [path]
    ((back, given, kind),) = readers.table_reader(path)(path)
    assert kind == "tracks"
    np.testing.assert_allclose(back, data)
    assert {child: sorted(of) for child, of in given["graph"].items()} == {2: [0, 1]}
    np.testing.assert_array_equal(given["scale"], attributes["scale"])


def test_times_that_are_no_frames_are_refused_in_a_sentence(tmp_path):
    data, attributes, _ = in_napari(tracks_layer(some_tracks(), "t"))
    data = data.copy()
    data[0, 1] = 0.5
    with pytest.raises(InvalidInput):
        writers.write_tracks_layer(str(tmp_path / "t.csv"), data, attributes)


def ome(path, data, axes="TZYX", **metadata):
    tifffile.imwrite(path, data, ome=True, photometric="minisblack", metadata={"axes": axes, **metadata})
    return str(path)


SIZES = {f"PhysicalSize{axis}": size for axis, size in zip("ZYX", (2, 0.5, 0.5), strict=True)}


@pytest.mark.parametrize("ending", [".ome.tif", ".tiff", ".OME.TIF", ".Tif"])
def test_a_layer_has_the_name_of_its_movie_without_the_ending_however_that_is_written(tmp_path, ending):
    path = ome(tmp_path / f"cells{ending}", np.zeros((2, 3, 8, 8), np.uint16), **SIZES)
    ((_, attributes, _),) = readers.movie_reader(path)(path)
    assert attributes["name"] == "cells"


def test_a_movie_opens_with_scale_units_and_frame_interval(tmp_path):
    data = np.random.default_rng(0).integers(0, 99, (4, 3, 16, 17)).astype(np.uint16)
    path = ome(tmp_path / "m.ome.tif", data, **SIZES, TimeIncrement=10, TimeIncrementUnit="s")
    ((lazy, attributes, kind),) = readers.movie_reader(path)(path)
    assert kind == "image"
    assert attributes["scale"] == (10, 2, 0.5, 0.5)
    assert attributes["units"] == ("s", "µm", "µm", "µm")
    assert attributes["axis_labels"] == ("t", "z", "y", "x")
    np.testing.assert_array_equal(np.asarray(lazy), data)
    np.testing.assert_array_equal(np.asarray(lazy[2]), read_movie(path).frame(2))


@pytest.mark.parametrize(
    ("times", "places", "seconds"), [((0, 1, 3, 4), (0, 1, 3, 4), 10.0), ((0, 5, 10, 20), (0, 1, 2, 4), 50.0)]
)
def test_a_folder_with_missing_files_opens_with_blank_frames_in_their_places(tmp_path, times, places, seconds):
    folder = tmp_path / "movie"
    folder.mkdir()
    data = np.random.default_rng(0).integers(1, 99, (len(times), 3, 16, 17)).astype(np.uint16)
    for time, frame in zip(times, data, strict=True):
        ome(folder / f"t{time:02}.ome.tif", frame, "ZYX", **SIZES, TimeIncrement=10, TimeIncrementUnit="s")
    ((lazy, attributes, kind),) = readers.movie_reader(str(folder))(str(folder))
    assert readers.table_reader(str(folder)) is None
    shown = np.asarray(lazy)
    assert [place for place, frame in enumerate(shown) if frame.any()] == list(places)
    np.testing.assert_array_equal(shown[list(places)], data)
    assert attributes["scale"][0] == seconds
    source = read_layer(in_viewer(lazy, attributes, kind))
    assert source.frame_numbers == places
    assert "by the numbers in the file names" in source.summary


def in_viewer(data, attributes, kind):
    from napari.layers import Layer

    return Layer.create(data, attributes, kind)


def test_a_folder_of_the_cell_tracking_challenge_opens_as_tracks_and_not_as_the_images_in_it(tmp_path):
    folder = str(tmp_path / "01_RES")
    table = pd.DataFrame(
        {"frame": [0, 0, 1, 1], "y": [4.0, 12, 5, 13], "x": [4.0, 12, 5, 13], "track_id": [0, 1, 0, 1]}
    )
    write_tracks(Tracks(table), folder, settings={"image_shape": (20, 20)})
    assert readers.movie_reader(folder) is None
    ((back, _, kind),) = readers.table_reader(folder)(folder)
    assert kind == "tracks"
    np.testing.assert_allclose(back[np.lexsort(back[:, 1::-1].T), 1:], table[["frame", "y", "x"]].iloc[[0, 2, 1, 3]])


def test_a_folder_without_tiff_files_is_left_to_other_readers(tmp_path):
    assert readers.movie_reader(str(tmp_path)) is None
    assert readers.table_reader(str(tmp_path)) is not None


def test_points_keep_the_frames_that_were_looked_at(tmp_path):
    table = some_tracks().table.drop(columns="track_id").assign(frame=[0, 5, 0, 5, 10, 20])
    points = Points(table, CALIBRATION, timeline=Timeline(5, (0, 5, 10, 15, 20)))
    write_points(points, tmp_path / "p.csv", settings={})
    (layer_data,) = readers.table_reader(str(tmp_path / "p.csv"))(str(tmp_path / "p.csv"))
    source = read_layer(in_viewer(*layer_data)).source
    assert source.timeline == points.timeline
    data, attributes, _ = in_napari(layer_data)
    writers.write_points_layer(str(tmp_path / "again.csv"), data, attributes)
    assert read_points(tmp_path / "again.csv").timeline == points.timeline


def test_tracks_keep_the_frames_that_were_looked_at():
    tracks = replace(some_tracks(), timeline=Timeline(1, (0, 1, 2, 3, 4)))
    data, attributes, _ = in_napari(tracks_layer(tracks, "t"))
    assert tracks_from_layer(data, attributes).timeline == tracks.timeline


def test_channels_open_as_layers(tmp_path):
    data = np.arange(2 * 2 * 3 * 8 * 9, dtype=np.uint16).reshape(2, 2, 3, 8, 9)
    path = ome(tmp_path / "c.ome.tif", data, "TCZYX", **SIZES, Channel={"Name": ["red", "green"]})
    layers = readers.movie_reader(path)(path)
    assert [attributes["name"] for _, attributes, _ in layers] == ["c red", "c green"]
    assert [attributes["metadata"]["auctrack"]["channel"] for _, attributes, _ in layers] == [0, 1]
    for channel, (lazy, _, _) in enumerate(layers):
        np.testing.assert_array_equal(np.asarray(lazy), data[:, channel])


def test_series_open_as_layers_of_which_the_first_is_shown(tmp_path):
    from napari.layers import Layer

    data = np.arange(2 * 2 * 3 * 8 * 9, dtype=np.uint16).reshape(2, 2, 3, 8, 9)
    path = str(tmp_path / "c.ome.tif")
    with tifffile.TiffWriter(path, ome=True) as tif:
        for number in range(2):
            tif.write(data[number], metadata={"axes": "TZYX", **SIZES, "Name": f"Pos{number}"})
    layers = readers.movie_reader(path)(path)
    assert [attributes["name"] for _, attributes, _ in layers] == ["c Pos0", "c Pos1"]
    assert [attributes.get("visible", True) for _, attributes, _ in layers] == [True, False]
    for number, (lazy, attributes, kind) in enumerate(layers):
        np.testing.assert_array_equal(np.asarray(lazy), data[number])
        source = read_layer(Layer.create(lazy, attributes, kind))
        assert (source.series, input_settings(source).series) == (number, number)


def test_an_unknown_voxel_size_is_said_and_not_guessed(tmp_path):
    from napari.utils.notifications import notification_manager

    path = ome(tmp_path / "u.ome.tif", np.zeros((2, 3, 16, 16), np.uint8))
    ((_, attributes, _),) = readers.movie_reader(path)(path)
    assert attributes["scale"] == (1, 1, 1, 1)
    assert attributes["units"] == ("pixel",) * 4
    assert "does not say how large" in str(notification_manager.records[-1])


@pytest.mark.parametrize("shape", [(6, 16, 17), (3, 5, 16, 17), (2, 3, 5, 16, 17)])
def test_a_file_silent_about_its_axes_opens_as_it_is_and_they_are_asked_for(tmp_path, shape):
    from napari.utils.notifications import notification_manager

    path = str(tmp_path / "plain.tif")
    pixels = np.random.default_rng(0).integers(0, 255, shape).astype(np.uint8)
    tifffile.imwrite(path, pixels, metadata={"axes": "QQQ"[: len(shape) - 2] + "YX"}, photometric="minisblack")
    ((data, attributes, kind),) = readers.movie_reader(path)(path)
    assert kind == "image"
    np.testing.assert_array_equal(np.asarray(data), pixels)
    assert attributes["metadata"]["auctrack"]["axes_choice"] == "undecided"
    assert "does not say what its axes" in str(notification_manager.records[-1])


def test_a_zarr_array_by_itself_opens_as_it_is_and_its_axes_are_asked_for(tmp_path):
    zarr = pytest.importorskip("zarr")
    pixels = np.random.default_rng(0).integers(0, 255, (3, 5, 16, 17)).astype(np.uint8)
    path = str(tmp_path / "labels.zarr")
    zarr.create_array(path, data=pixels)
    assert readers.table_reader(path) is None
    ((data, attributes, _),) = readers.movie_reader(path)(path)
    np.testing.assert_array_equal(np.asarray(data), pixels)
    assert attributes["metadata"]["auctrack"]["axes_choice"] == "undecided"


@pytest.mark.parametrize("is_grey", [True, False])
def test_a_colour_video_silent_about_its_axes_opens_in_grey(tmp_path, is_grey):
    path = str(tmp_path / "video.tif")
    pixels = np.random.default_rng(0).integers(0, 255, (6, 16, 17, 3)).astype(np.uint8)
    pixels = np.repeat(pixels[..., :1], 3, axis=-1) if is_grey else pixels
    tifffile.imwrite(path, pixels, photometric="rgb", metadata=None)
    ((data, attributes, _),) = readers.movie_reader(path)(path)
    assert np.abs(np.asarray(data) - pixels.mean(axis=-1)).max() <= 0.5
    kept = attributes["metadata"]["auctrack"]
    assert (kept["axes_choice"], kept["channel"]) == ("undecided", None if is_grey else 3)


def test_the_overlay_of_a_window_is_saved_whole(tmp_path):
    from auctrack.plugins.napari.draw.drawing import Drawing, draw
    from auctrack.plugins.napari.session.filters import measured

    frames = np.tile(np.arange(20), 200)
    random = np.random.default_rng(2)
    table = pd.DataFrame({"frame": frames, **{axis: random.random(4000) * 50 for axis in "zyx"}})
    tracks = Tracks(table.assign(track_id=np.repeat(np.arange(200), 20)), CALIBRATION)
    data = measured(tracks)
    drawn = draw(Drawing(data, data.measures, "track", (2, 98), 4, "movie", 10, 1000, 3.0, 5, 1))
    layer_data, attributes, _ = in_napari(drawn.layers["tracks"])
    assert len(layer_data) <= 1000
    writers.write_tracks_layer(str(tmp_path / "t.csv"), layer_data, attributes)
    assert len(read_tracks(tmp_path / "t.csv")) == 4000


def test_points_and_tracks_layers_state_the_same_units_as_their_table():
    for layer in (points_layer(some_tracks(), "p"), tracks_layer(some_tracks(), "t")):
        assert layer[1]["scale"] == (10.0, 2.0, 0.5, 0.5)
        assert layer[1]["units"] == ("s", "µm", "µm", "µm")
