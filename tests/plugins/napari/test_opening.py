"""Large tables opened from the menu: read beside the main thread, and of very many rows a window of time is drawn."""

from __future__ import annotations

import threading

import numpy as np
import pandas as pd
import pytest

from auctrack.plugins.napari.layers import readers, windowed_layer
from auctrack.plugins.napari.layers.layer_input import state_of
from auctrack.plugins.napari.layers.preferences import Preferences
from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.formats.tables import read_points, read_tracks
from auctrack.tracker.formats.write import write_points, write_tracks
from auctrack.tracker.points import Points, Tracks

from .conftest import assert_copies_give_these_tracks, finish, process_events, wait

CALIBRATION = Calibration((2.0, 0.5, 0.5), "µm", 10.0, "s")
FRAMES, PARTICLES = 40, 50


@pytest.fixture(autouse=True)
def every_table_is_large(monkeypatch):
    monkeypatch.setattr(readers, "_LARGE_BYTES", 0)
    monkeypatch.setattr(windowed_layer, "read_preferences", lambda: Preferences(drawn_vertices=500))


def a_table() -> pd.DataFrame:
    random = np.random.default_rng(3)
    places = {axis: random.random(FRAMES * PARTICLES) * 50 for axis in "zyx"}
    table = pd.DataFrame({"frame": np.repeat(np.arange(FRAMES), PARTICLES), **places})
    return table.assign(quality=random.random(len(table)), track_id=np.tile(np.arange(PARTICLES), FRAMES))


@pytest.fixture
def tracks_file(tmp_path):
    path = tmp_path / "many.csv"
    write_tracks(Tracks(a_table(), CALIBRATION, {3: [1, 2]}), path, settings={})
    return path


def messages() -> list[str]:
    from napari.utils.notifications import notification_manager

    return [str(record.message) for record in notification_manager.records]


def open_and_wait(viewer, path):
    assert viewer.open(str(path), plugin="auctrack") == []  # nothing yet: it is being read
    wait(lambda: len(viewer.layers) == 1)
    process_events()
    return viewer.layers[0]


def drawn_frames(layer) -> set[int]:
    """Return the frames of tracks that are drawn: those of one vertex only hold the sliders open."""
    ids, counts = np.unique(layer.data[:, 0], return_counts=True)
    return set(layer.data[np.isin(layer.data[:, 0], ids[counts > 1]), 1].astype(int).tolist())


def test_tracks_open_as_a_window_of_time_that_says_so(viewer, tracks_file):
    layer = open_and_wait(viewer, tracks_file)
    assert layer.name == "many.csv (frames 0 to 9)"
    assert drawn_frames(layer) == set(range(10))
    said = messages()
    assert "many.csv is large: it is read in the background." in said
    assert "Drawn: 500 of 2,000 points (frames 0 to 9); everything is kept." in said
    np.testing.assert_array_equal(layer.scale, [10, 2, 0.5, 0.5])
    assert viewer.dims.nsteps[0] == FRAMES  # the slider reaches the frames that are not drawn


def test_the_window_follows_the_frame_that_is_shown(viewer, tracks_file):
    layer = open_and_wait(viewer, tracks_file)
    layer.color_by = "quality"
    layer.tail_width = 7
    before = state_of(layer)
    for frame in (30, 12):
        viewer.dims.set_current_step(0, frame)
        wait(lambda frame=frame: frame in drawn_frames(layer))
        assert len(layer.data) <= 500 + 2
    assert (layer.color_by, layer.tail_width) == ("quality", 7)
    assert layer.name.startswith("many.csv (frames ")
    assert state_of(layer) == before  # as an input it is no other one


def test_saving_the_window_saves_all_tracks(viewer, tracks_file, tmp_path):
    layer = open_and_wait(viewer, tracks_file)
    layer.save(str(tmp_path / "again.csv"), plugin="auctrack")
    one, other = read_tracks(tracks_file), read_tracks(tmp_path / "again.csv")
    pd.testing.assert_frame_equal(one.table, other.table)
    assert one.parents == other.parents == {3: [1, 2]}


def test_a_removed_layer_is_no_longer_followed(viewer, tracks_file):
    listeners = len(viewer.dims.events.current_step.callbacks)
    layer = open_and_wait(viewer, tracks_file)
    assert len(viewer.dims.events.current_step.callbacks) == listeners + 1
    viewer.layers.remove(layer)
    assert len(viewer.dims.events.current_step.callbacks) == listeners


def test_points_open_whole_and_can_be_tracked(viewer, tmp_path, open_widget):
    write_points(Points(a_table().drop(columns="track_id"), CALIBRATION), tmp_path / "spots.csv", settings={})
    layer = open_and_wait(viewer, tmp_path / "spots.csv")
    assert len(layer.data) == FRAMES * PARTICLES
    widget = open_widget()
    assert widget.parts.session.source.path == str(tmp_path / "spots.csv")


@pytest.fixture
def points_file(tmp_path, monkeypatch):
    """A table of points of which 500 are drawn, ten frames."""
    monkeypatch.setattr(windowed_layer, "_POINTS_FOR_A_VERTEX", 1)
    path = tmp_path / "spots.csv"
    write_points(Points(a_table().drop(columns="track_id"), CALIBRATION), path, settings={})
    return path


def shown_frames(layer) -> set[int]:
    return set(layer.data[layer.shown, 0].astype(int).tolist())


def test_of_very_many_points_the_frames_around_the_one_shown_are_drawn(viewer, points_file):
    layer = open_and_wait(viewer, points_file)
    assert layer.name == "spots.csv (frames 0 to 9)"
    assert shown_frames(layer) == set(range(10))
    assert "Drawn: 500 of 2,000 points (frames 0 to 9); everything is kept." in messages()
    assert viewer.dims.nsteps[0] == FRAMES
    layer.size = 3
    viewer.dims.set_current_step(0, 30)
    wait(lambda: 30 in shown_frames(layer))
    assert len(layer.data) <= 500 + 2
    assert np.count_nonzero(layer.shown) == len(layer.data) - 2
    assert set(layer.size) == {3}
    assert not layer.editable  # a change would be lost with the next window


def test_a_window_of_points_is_tracked_and_saved_whole(viewer, points_file, open_widget, tmp_path):
    layer = open_and_wait(viewer, points_file)
    layer.save(str(tmp_path / "again.csv"), plugin="auctrack")
    pd.testing.assert_frame_equal(read_points(points_file).table, read_points(tmp_path / "again.csv").table)
    widget = open_widget()
    assert widget.parts.input.summary.text() == "2,000 points in 40 frames, 3D"
    widget.running.run_all()
    finish(widget)
    source = widget.parts.session.source
    viewer.dims.set_current_step(0, 30)
    wait(lambda: 30 in shown_frames(layer))
    widget.parts.input.refresh()
    assert widget.parts.session.source is source  # another window is no other input
    assert_copies_give_these_tracks(widget, points_file, tmp_path)


def test_a_voxel_size_typed_since_stays_with_the_next_window(viewer, points_file):
    layer = open_and_wait(viewer, points_file)
    layer.scale = (10, 3, 0.25, 0.25)
    viewer.dims.set_current_step(0, 30)
    wait(lambda: 30 in shown_frames(layer))
    np.testing.assert_array_equal(layer.scale, (10, 3, 0.25, 0.25))


def test_points_too_many_for_a_few_frames_are_drawn_in_part(viewer, points_file, monkeypatch):
    monkeypatch.setattr(windowed_layer, "read_preferences", lambda: Preferences(drawn_vertices=100))
    layer = open_and_wait(viewer, points_file)
    assert layer.name == "spots.csv (frames 0 to 4, one point of 3)"
    assert 50 < np.count_nonzero(layer.shown) <= 100


def test_what_is_wrong_with_a_table_is_said_in_a_sentence(viewer, tmp_path):
    (tmp_path / "odd.csv").write_text("frame,y,x\n0,1,2\n1,oops,2\n")
    viewer.open(str(tmp_path / "odd.csv"), plugin="auctrack")
    wait(lambda: any("odd.csv: column 'y' needs finite numbers; line 3" in text for text in messages()))
    assert len(viewer.layers) == 0


@pytest.mark.usefixtures("display")
def test_a_viewer_closed_while_a_table_is_read_is_quiet(tracks_file, monkeypatch):
    import napari
    from superqt.utils import WorkerBase

    reading, go_on = threading.Event(), threading.Event()
    read = readers.read_table

    def slow(*given):
        reading.set()
        assert go_on.wait(30)
        return read(*given)

    monkeypatch.setattr(readers, "read_table", slow)
    viewer = napari.Viewer(show=True)
    viewer.open(str(tracks_file), plugin="auctrack")
    wait(reading.is_set)
    viewer.close()
    go_on.set()
    WorkerBase.await_workers(20_000)
    process_events()


@pytest.mark.usefixtures("display")
def test_without_a_viewer_the_whole_table_is_returned(tracks_file, monkeypatch):
    monkeypatch.setattr("napari.current_viewer", lambda: None)
    ((data, _, kind),) = readers.table_reader(str(tracks_file))(str(tracks_file))
    assert kind == "tracks"
    assert len(data) == FRAMES * PARTICLES
