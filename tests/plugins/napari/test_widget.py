"""The widget in a real viewer: each step, cancel, errors, closing while it works."""

from __future__ import annotations

import re
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest
import tifffile

from auctrack.tracker.simulating.simulate import SimulationSettings, simulate

from .conftest import PHYSICAL, assert_copies_give_these_tracks, finish, process_events, spots, wait

SAMPLES = Path(__file__).parents[3] / "sample_data"


def names(viewer):
    return [layer.name for layer in viewer.layers]


@pytest.mark.usefixtures("display")
def test_the_widget_stands_in_the_menu_layers_track():
    from npe2 import PluginManager

    manager = PluginManager.instance()
    manager.discover()
    items = [item.command for item in manager.iter_menu("napari/layers/track")]
    assert "auctrack.track" in items
    assert manager.get_manifest("auctrack").schema_version == "0.3.0"


def test_the_sample_points_come_with_their_truth(viewer, open_widget):
    viewer.open_sample("auctrack", "points")
    widget = open_widget()
    widget.parts.bar.run_button.click()
    finish(widget)
    assert len(viewer.layers["tracks of simulated points"].data) == len(viewer.layers["simulated points"].data)
    assert len(viewer.layers["true tracks"].data) == 300 * 20


def test_detect_then_link_then_results(viewer, widget):
    widget.running.run_detect()
    finish(widget)
    assert widget.parts.session.detected is not None
    n = len(widget.parts.session.detected.points)
    assert n >= 6 * 10
    assert names(viewer) == ["movie", "particles of movie"]
    assert f"{n:,} particles in 6 frames" in widget.parts.bar.status.text()
    assert not widget.parts.link.steps.is_empty  # the histograms beside the range
    assert widget.parts.results.drawn.text() == ""  # nothing of tracks is being drawn
    widget.running.run_link()
    finish(widget)
    assert widget.parts.session.is_complete
    assert names(viewer) == ["movie", "particles of movie", "tracks of movie"]
    assert "proven optimal" in widget.parts.bar.status.text()
    assert widget.parts.results.tracks.table.count == len(widget.parts.session.data.measures)
    assert widget.parts.results.suspicious.count > 0
    assert widget.parts.steps.currentWidget() is widget.parts.results


def by_distance(widget):
    """Choose to link by distance alone, in runs of frames."""
    motion = widget.parts.link.motion
    motion.setCurrentIndex(motion.findData("none"))


def test_motion_is_learned_unless_another_is_chosen(widget):
    link = widget.parts.link
    assert link.settings.motion == "auto"
    assert not link.cost.isEnabled()
    widget.running.run_all()
    finish(widget)
    assert "Learned: typical step" in widget.parts.link.learned.text()
    assert re.search(r"; about \d+\.\d wrong\.", widget.parts.bar.status.text())
    link.fields.counts["max_missed_frames"].setValue(2)
    assert link.settings.max_missed_frames == 2
    link.fields.ticks["divisions"].click()
    link.fields.ticks["merges"].click()
    assert (link.settings.divisions, link.settings.merges) == (True, True)
    by_distance(widget)
    assert (link.settings.motion, link.settings.max_missed_frames) == ("none", "auto")
    assert (link.settings.divisions, link.settings.merges) == (False, False)
    assert link.cost.isEnabled()
    fields = link.fields.in_order()
    assert not any(fields[name].isEnabled() for name in ("max_missed_frames", "divisions", "merges"))


def test_cells_that_divide_keep_their_lineage(viewer, open_widget):
    """Each of twelve particles is followed by two, which go apart."""
    rng = np.random.default_rng(0)
    mothers = rng.uniform(0, 100, (40, 2))
    apart = np.where(np.arange(40)[:, None] < 12, (1.5, 0.0), (0.0, 0.0))
    frames = [mothers] * 5 + [np.vstack([mothers + apart, mothers[:12] - apart[:12]])] * 5
    data = np.vstack(
        [np.c_[np.full(len(at), number), at + rng.normal(0, 0.1, at.shape)] for number, at in enumerate(frames)]
    )
    viewer.add_points(data, name="cells")
    widget = open_widget()
    finish(widget)
    widget.parts.link.fields.ticks["divisions"].click()
    widget.running.run_link()
    finish(widget)
    assert len(widget.parts.session.data.tracks.parents) >= 20
    assert len(viewer.layers["tracks of cells"].graph) >= 20


def test_run_all_says_what_auto_was_found_to_be(widget):
    by_distance(widget)
    widget.running.run_all()
    finish(widget)
    detect, link = widget.parts.detect, widget.parts.link
    assert widget.parts.bar.error.text() == ""
    assert detect.settings.diameter == link.settings.search_range == "auto"
    found, linked = widget.parts.session.detected.settings, widget.parts.session.linked.linking.settings
    assert detect.diameter.text() == f"auto: {found.diameter:.4g} µm"
    assert detect.threshold.text() == f"auto: {found.threshold:.4g}"
    assert link.search_range.text() == f"auto: {linked.search_range:.4g} µm"
    detect.diameter.stepBy(1)  # from the number that is shown
    assert found.diameter < detect.settings.diameter < 1.2 * found.diameter
    lengths = widget.parts.session.data.measures["length"]
    assert (lengths == 6).sum() >= 8  # most of the twelve particles are followed throughout


def test_the_range_stands_beside_what_was_linked_and_how_far_neighbours_are(viewer, widget):
    link = widget.parts.link
    by_distance(widget)
    widget.running.run_all()
    finish(widget)
    assert link.steps.title == "length of the links (µm)"
    assert not link.steps.is_empty
    assert not link.neighbours.is_empty
    link.search_range.setValue(3 * link.search_range.shown)
    assert "times the distance between neighbours" in link.warning.text()
    viewer.add_image(spots(seed=1), name="other", **PHYSICAL)
    widget.parts.input.choose_layer("other")
    assert link.steps.is_empty
    assert link.neighbours.is_empty
    assert link.warning.text() == ""


def test_the_overlay_lies_on_the_image_in_its_units(viewer, widget):
    widget.running.run_all()
    finish(widget)
    image, tracks = viewer.layers["movie"], viewer.layers["tracks of movie"]
    np.testing.assert_array_equal(tracks.scale, image.scale)
    assert tracks.units == image.units
    assert tracks.axis_labels == image.axis_labels
    frame, place = tracks.data[0, 1], tracks.data[0, 2:]
    peak = image.data[int(frame)][tuple(np.round(place).astype(int))]
    assert peak > 40  # background is 10


def test_a_filter_acts_at_once_and_tracks_nothing_again(viewer, widget):
    widget.running.run_all()
    finish(widget)
    linked = widget.parts.session.linked
    widget.parts.results.filters.charts["length"].moved.emit([6.0, 6.0])
    kept = int((widget.parts.session.data.measures["length"] == 6).sum())
    assert kept < len(widget.parts.session.data.measures)
    assert widget.parts.results.tracks.table.count == kept
    finish(widget)
    assert len(viewer.layers["tracks of movie"].data) == 6 * kept
    assert widget.parts.session.linked is linked
    assert widget.parts.results.filters.shortest == 6


def test_colours_follow_a_feature_and_say_its_limits(viewer, widget):
    widget.running.run_all()
    finish(widget)
    before = viewer.layers["tracks of movie"].track_colors.copy()
    widget.parts.results.colour.choose("quality")
    finish(widget)
    assert widget.parts.results.colour.bar.title == "quality"
    after = viewer.layers["tracks of movie"].track_colors
    assert after.shape == before.shape
    assert not np.allclose(after, before)


def test_what_the_user_set_on_the_overlay_stays(viewer, widget):
    widget.running.run_all()
    finish(widget)
    viewer.layers["tracks of movie"].tail_width = 7
    viewer.layers["particles of movie"].visible = False
    widget.parts.results.colour.choose("quality")
    finish(widget)
    assert viewer.layers["tracks of movie"].tail_width == 7
    assert not viewer.layers["particles of movie"].visible


def test_suggestions_come_with_reasons(widget):
    widget.suggesting.suggest_detection()
    finish(widget)
    assert "stand out most" in widget.parts.detect.reason.text()
    assert "5 frames of the movie" in widget.parts.detect.reason.text()  # as many as are sampled
    assert widget.parts.detect.diameter.text().startswith("auto: ")
    assert widget.parts.detect.found_settings.threshold > 0
    assert not widget.parts.detect.chart.is_empty
    widget.parts.detect.chart.moved.emit([25.0])  # the line in the histogram, dragged
    assert widget.parts.detect.settings.threshold == 25
    widget.running.run_detect()
    by_distance(widget)
    finish(widget)
    widget.suggesting.suggest_linking()
    finish(widget)
    assert "nearest neighbour" in widget.parts.link.reason.text()
    widget.parts.link.search_range.setValue(3 * widget.parts.link.search_range.shown)
    assert "times the distance between neighbours" in widget.parts.link.warning.text()


def test_the_preview_shows_the_current_frame(viewer, widget):
    widget.parts.detect.preview.setChecked(True)
    finish(widget)
    assert "preview" in names(viewer)
    viewer.dims.set_current_step(0, 2)
    finish(widget)
    assert (viewer.layers["preview"].data[:, 0] == 2).all()
    assert "in frame 2" in widget.parts.detect.found.text()
    some = len(viewer.layers["preview"].data)
    widget.parts.detect.threshold.setValue(1e6)
    finish(widget)
    assert some > 0
    assert len(viewer.layers["preview"].data) == 0
    widget.parts.detect.preview.setChecked(False)
    assert "preview" not in names(viewer)


def test_voxel_size_typed_in_moves_image_and_overlay(viewer, open_widget):
    viewer.add_image(spots(), name="movie")
    widget = open_widget()
    assert "voxel size is not known" in widget.parts.input.problem.text()
    widget.parts.input.sizes[0].setValue(2.0)
    assert str(viewer.layers["movie"].units[1]) == "micrometer"
    np.testing.assert_array_equal(viewer.layers["movie"].scale, [1, 2, 1, 1])
    assert widget.parts.session.source.calibration.scale == (2, 1, 1)
    assert widget.parts.input.problem.text() == ""
    widget.parts.input.interval.setValue(5)
    assert widget.parts.session.source.calibration.frame_interval == 5
    widget.running.run_all()
    finish(widget)
    np.testing.assert_array_equal(viewer.layers["tracks of movie"].scale, [5, 2, 1, 1])


def test_a_wrong_layer_is_explained_and_cannot_be_run(viewer, open_widget):
    viewer.add_image(np.zeros((9, 9)), name="photo")
    widget = open_widget()
    assert "needs a time axis" in widget.parts.input.problem.text()
    assert not widget.parts.bar.run_button.isEnabled()
    viewer.add_image(spots(), name="movie", **PHYSICAL)
    widget.parts.input.choose_layer("movie")
    assert widget.parts.bar.run_button.isEnabled()


def test_labels_and_points_are_tracked_too(viewer, open_widget):
    viewer.add_labels((spots(particles=4) > 40).astype(int), name="cells", **PHYSICAL)
    widget = open_widget()
    assert not widget.parts.steps.isTabEnabled(0)
    widget.running.run_all()
    finish(widget)
    assert "tracks of cells" in names(viewer)
    points = simulate(SimulationSettings(particles=20, frames=5)).detections
    data = points.table[["frame", "z", "y", "x"]].to_numpy()
    viewer.add_points(data, name="beads", scale=(1, 1, 1, 1), units=("s", "µm", "µm", "µm"))
    widget.parts.input.choose_layer("beads")
    widget.running.run_link()
    finish(widget)
    assert widget.parts.bar.error.text() == ""
    assert "tracks of beads" in names(viewer)
    assert len(widget.parts.session.data.measures) == pytest.approx(20, abs=3)


def test_points_moved_since_are_tracked_as_they_are_now(viewer, open_widget):
    data = simulate(SimulationSettings(particles=20, frames=5)).detections.table[["frame", "z", "y", "x"]].to_numpy()
    layer = viewer.add_points(data, name="beads")
    widget = open_widget()
    widget.running.run_link()
    finish(widget)
    layer.data = layer.data[layer.data[:, 0] < 3]
    widget.running.run_link()
    finish(widget)
    assert widget.parts.session.data.tracks.frames.max() == 2


def hold(monkeypatch, at: str, *, stage: str = "detect", done: int = 3):
    """Make a stage wait, once it has done so many frames, until the test lets it go on."""
    from auctrack.plugins.napari.session import steps

    waiting, go_on = threading.Event(), threading.Event()
    watched = steps._watched

    def slowly(work, report, shown):
        def relay(advance):
            if advance.stage == stage and advance.done == done and not waiting.is_set():
                waiting.set()
                assert go_on.wait(30), at
            report(advance)

        return watched(work, relay, shown)

    monkeypatch.setattr(steps, "_watched", slowly)
    monkeypatch.setattr(steps, "_REPORT_SECONDS", 0)  # one frame at a time
    return waiting, go_on


def test_cancel_keeps_what_is_done_and_leaves_the_widget_usable(viewer, widget, monkeypatch):
    waiting, go_on = hold(monkeypatch, "cancel")
    widget.running.run_all()
    assert not widget.parts.bar.run_button.isEnabled()
    wait(waiting.is_set)
    widget.running.cancel()
    go_on.set()
    finish(widget)
    assert "Cancelled; the particles up to frame" in widget.parts.bar.status.text()
    found = widget.parts.session.detected.points
    assert 0 < len(found.frame_numbers) < 6
    assert names(viewer) == ["movie", "particles of movie"]
    assert widget.parts.bar.run_button.isEnabled()
    waiting, go_on = hold(monkeypatch, "cancel again", stage="link", done=0)
    widget.running.run_all()
    wait(waiting.is_set)
    widget.running.cancel()
    go_on.set()
    finish(widget)
    assert widget.parts.bar.status.text() == "Cancelled before the links were made; the particles are kept."
    assert len(widget.parts.session.detected.points.frame_numbers) == 6
    widget.running.run_all()
    finish(widget)
    assert widget.parts.session.is_complete


def test_cancel_gives_the_widget_back_although_the_work_does_not_end(widget, monkeypatch):
    waiting, go_on = hold(monkeypatch, "until cancelled")
    widget.running.run_all()
    wait(waiting.is_set)
    widget.running.cancel()
    wait(lambda: widget.parts.bar.run_button.isEnabled(), seconds=5)  # although the work still hangs
    assert widget.parts.bar.status.text().startswith("Cancelled. The step that is running ends")
    go_on.set()
    wait(lambda: "are kept" in widget.parts.bar.status.text())  # now it has ended
    assert widget.parts.bar.status.text() == "Cancelled; the particles up to frame 2 are kept."
    assert set(widget.parts.session.detected.points.frame_numbers) == {0, 1, 2}
    widget.running.run_all()
    finish(widget)
    assert widget.parts.session.is_complete


def test_what_cancelled_work_did_is_not_taken_for_that_of_the_run_after_it(widget, monkeypatch):
    waiting, go_on = hold(monkeypatch, "until cancelled")
    widget.running.run_all()
    wait(waiting.is_set)
    widget.running.cancel()
    wait(lambda: widget.parts.bar.run_button.isEnabled(), seconds=5)
    widget.running.run_all()
    go_on.set()
    finish(widget)
    assert widget.parts.session.is_complete
    assert "proven optimal" in widget.parts.bar.status.text()


def test_another_input_ends_the_run_and_gets_nothing_of_it(viewer, widget, monkeypatch):
    waiting, go_on = hold(monkeypatch, "input")
    widget.running.run_all()
    wait(waiting.is_set)
    viewer.add_image(spots(seed=1), name="other", **PHYSICAL)
    widget.parts.input.choose_layer("other")
    assert widget.parts.bar.status.text() == "Stopped: the input has changed."
    assert widget.parts.bar.run_button.isEnabled()
    go_on.set()
    finish(widget)
    assert widget.parts.session.detected is None
    widget.running.run_all()
    finish(widget)
    assert widget.parts.session.is_complete


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (RuntimeError("CUDA error: an illegal memory access was encountered"), "The GPU failed"),
        (MemoryError(), "memory"),
        (ValueError("odd"), "Something unexpected"),
    ],
)
def test_an_error_is_one_sentence_with_details_and_the_widget_goes_on(widget, monkeypatch, error, sentence):
    from auctrack.plugins.napari.session import steps

    def fail(*_, **__):
        raise error

    with monkeypatch.context() as broken:
        broken.setattr(steps, "linking_stage", fail)
        widget.running.run_all()
        finish(widget)
    assert widget.parts.bar.error.text().startswith(sentence) or sentence in widget.parts.bar.error.text()
    assert "\n" not in widget.parts.bar.error.text()
    assert type(error).__name__ in widget.parts.bar.details.toPlainText()
    assert widget.parts.bar.details_button.isVisibleTo(widget.parts.bar)
    widget.running.run_all()
    finish(widget)
    assert widget.parts.bar.error.text() == ""
    assert widget.parts.session.is_complete


def test_a_setting_that_cannot_be_is_said_before_anything_runs(viewer, widget):
    widget.parts.detect.diameter.setValue(0.1)
    widget.running.run_all()
    finish(widget)
    assert widget.parts.bar.error.text().startswith("Diameter needs at least")
    assert names(viewer) == ["movie"]


def test_a_device_that_is_not_there_is_said(widget):
    widget.parts.link.device.addItem("GPU 99", "cuda:99")
    widget.parts.link.device.setCurrentIndex(widget.parts.link.device.findData("cuda:99"))
    widget.parts.link.solver.setCurrentIndex(widget.parts.link.solver.findData("auction"))
    widget.running.run_all()
    finish(widget)
    assert widget.parts.bar.error.text() != ""
    assert widget.parts.bar.run_button.isEnabled()
    widget.parts.link.device.setCurrentIndex(widget.parts.link.device.findData("auto"))
    widget.parts.link.solver.setCurrentIndex(widget.parts.link.solver.findData("auto"))


@pytest.mark.usefixtures("display")
def test_closing_the_viewer_while_it_works_is_quiet(monkeypatch):
    import napari

    waiting, go_on = hold(monkeypatch, "close")
    viewer = napari.Viewer(show=True)
    viewer.add_image(spots(), name="movie", **PHYSICAL)
    _, widget = viewer.window.add_plugin_dock_widget("auctrack", "Track particles")
    widget.running.run_all()
    wait(waiting.is_set)
    viewer.close()
    go_on.set()
    from superqt.utils import WorkerBase

    process_events()
    WorkerBase.await_workers(20_000)
    process_events()


def test_closing_the_widget_lets_go_of_the_viewer(viewer, widget):
    widget.running.run_all()
    finish(widget)
    assert {"N", "Shift+N"} <= {str(binding) for binding in viewer.keymap}
    viewer.window.remove_dock_widget(widget.parent())  # what the dock's cross does
    process_events()
    viewer.dims.set_current_step(0, 1)
    viewer.add_image(np.zeros((2, 2)))
    process_events()
    assert not {"N", "Shift+N"} & {str(binding) for binding in viewer.keymap}
    assert widget.parts.input.layer_box.findText("Image") < 0


def test_a_click_on_a_particle_shows_its_track(viewer, widget):
    widget.running.run_all()
    finish(widget)
    particles = viewer.layers["particles of movie"]
    tracks = widget.parts.overlay.shown.tracks
    for ndisplay in (2, 3):
        viewer.dims.ndisplay = ndisplay
        place = particles.data[3]
        world = np.asarray(particles.data_to_world(place))
        viewer.dims.set_point(range(4), world.tolist())
        process_events()
        direction = [0.0, 1.0, 0.0, 0.0] if ndisplay == 3 else None
        widget.parts.session.chosen = None
        widget.parts.overlay.pick(world, direction, viewer.dims.displayed)
        finish(widget)
        assert widget.parts.session.chosen == tracks.table["track_id"].iloc[3]
    assert widget.parts.results.plots_title.text().startswith(f"Track {widget.parts.session.chosen}")
    assert not widget.parts.results.plots[0].is_empty
    assert "chosen track" in names(viewer)


def test_following_keeps_the_track_in_the_middle(viewer, widget):
    widget.running.run_all()
    finish(widget)
    track_id = int(widget.parts.session.data.measures.query("length == 6")["track_id"].iloc[0])
    widget.parts.results.follow_box.setChecked(True)
    widget.looking.choose_track(track_id)
    layer = viewer.layers["tracks of movie"]
    for frame in (0, 4):
        viewer.dims.set_current_step(0, frame)
        process_events()
        row = layer.data[(layer.data[:, 0] == track_id) & (layer.data[:, 1] == frame)][0]
        world = layer.data_to_world(row[1:])
        np.testing.assert_allclose(viewer.scene.camera.center[1:], world[2:], atol=1e-6)
        assert viewer.dims.point[1] == pytest.approx(world[1], abs=viewer.dims.range[1].step)


def test_a_row_of_the_track_table_goes_where_the_track_begins(viewer, widget):
    widget.running.run_all()
    finish(widget)
    results = widget.parts.results
    for row in (0, 3):
        viewer.dims.set_current_step(0, 3)
        results.tracks.table.selectRow(row)
        process_events()
        measures = widget.parts.session.data.measures.iloc[row]
        assert viewer.dims.current_step[0] == measures["first_frame"]
        tracks = widget.parts.session.data.tracks.table
        at = tracks[(tracks["track_id"] == measures["track_id"]) & (tracks["frame"] == measures["first_frame"])]
        world = viewer.layers["tracks of movie"].data_to_world(at[["frame", "z", "y", "x"]].to_numpy()[0])
        np.testing.assert_allclose(viewer.scene.camera.center[1:], world[2:], atol=1e-6)


def press(viewer, key: str) -> None:
    (bound,) = (callback for binding, callback in viewer.keymap.items() if str(binding) == key)
    bound(viewer)


def test_one_key_goes_to_the_next_suspicious_link(viewer, widget):
    widget.running.run_all()
    finish(widget)
    links = widget.parts.session.suspicious
    for position in (0, 1):
        press(viewer, "N")
        process_events()
        assert viewer.dims.current_step[0] == links["frame"].iloc[position]
        assert widget.parts.session.chosen == links["track_id"].iloc[position]


def test_choices_are_remembered_in_naparis_preferences(widget):
    from napari.settings import get_plugin_settings

    widget.parts.link.cost.setCurrentIndex(widget.parts.link.cost.findData("distance"))
    assert get_plugin_settings("auctrack").tracking.cost == "distance"
    widget.parts.link.cost.setCurrentIndex(widget.parts.link.cost.findData("squared"))
    assert get_plugin_settings("auctrack").tracking.cost == "squared"


def file_of(kind: str, folder: Path) -> Path:
    if kind == "points":
        shutil.copy(SAMPLES / "points.csv.settings.json", folder)
        return Path(shutil.copy(SAMPLES / "points.csv", folder))
    path = folder / "my movie.ome.tif"
    sizes = {"PhysicalSizeZ": 1, "PhysicalSizeY": 0.5, "PhysicalSizeX": 0.5, "TimeIncrement": 10}
    tifffile.imwrite(path, spots(), ome=True, photometric="minisblack", metadata={"axes": "TZYX", **sizes})
    return path


@pytest.mark.parametrize("kind", ["movie", "points"])
def test_command_and_toml_give_identical_tracks(viewer, open_widget, tmp_path, kind):
    source = file_of(kind, tmp_path)
    viewer.open(str(source), plugin="auctrack")
    widget = open_widget()
    widget.running.run_all()
    finish(widget)
    chart = widget.parts.results.filters.charts["length"]
    chart.moved.emit([3.0, chart.limits[1]])
    finish(widget)
    assert_copies_give_these_tracks(widget, source, tmp_path)
