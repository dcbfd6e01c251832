"""The input panel by keys: axes chosen in any order, planes in a row, sliders, and a scale set elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.plugins.napari.layers.layer_axes import NO_TIME, ROW

from .conftest import finish, process_events, spots
from .test_by_mouse import mouse  # noqa: F401 - a fixture
from .test_correcting import tracked  # noqa: F401 - a fixture
from .test_track_table import type_into
from .test_unsaved import answering, corrected  # noqa: F401 - a fixture

ROWS = spots(shape=(3, 64, 64)).reshape(-1, 64, 64)


@pytest.fixture
def panel(viewer, open_widget):
    """The input panel over planes in a row."""
    viewer.add_image(ROWS, name="stack")
    widget = open_widget()
    finish(widget)
    viewer.window._qt_window.activateWindow()
    return widget.parts.input


def press_until(box, chosen: str) -> None:
    """Press the arrow keys of a box until something is chosen."""
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest

    box.setFocus()
    while box.currentData() != chosen:
        QTest.keyClick(box, Qt.Key.Key_Down if box.findData(chosen) > box.currentIndex() else Qt.Key.Key_Up)
        process_events()


@pytest.mark.parametrize("before", ["TYX", NO_TIME])
def test_planes_in_a_row_are_asked_for_whatever_was_chosen_before(viewer, panel, before):
    press_until(panel.axes.order, before)
    press_until(panel.axes.order, ROW)
    assert panel.source is None
    assert "enter" in panel.problem.text()
    assert panel.axes.planes.isVisible()
    assert panel.axes.planes.text() == "how many?"
    type_into(panel.axes.planes, "3")
    assert panel.layer.name == "stack (in order)"
    assert panel.source is not None
    assert panel.source.ndim == 3
    assert "axis" not in panel.problem.text()
    np.testing.assert_array_equal(np.asarray(viewer.layers["stack (in order)"].data).reshape(ROWS.shape), ROWS)


def test_every_choice_of_axes_is_left_again_for_every_other(panel):
    for chosen in (NO_TIME, "TYX", ROW, NO_TIME, ROW, "TYX"):
        press_until(panel.axes.order, chosen)
        assert (panel.source is not None) == (chosen == "TYX"), chosen


@pytest.mark.parametrize("size", [(1280, 720), (1600, 1100)])
def test_the_number_of_planes_is_read_whole(viewer, panel, size):
    viewer.window.resize(*size)
    press_until(panel.axes.order, ROW)
    field = panel.axes.planes
    room = field.lineEdit().contentsRect().width()
    for text in ("how many?", "100000"):
        assert field.fontMetrics().horizontalAdvance(text) < room


def test_sliders_stand_in_the_layer_whose_axes_were_put_in_order(viewer, panel):
    viewer.dims.set_current_step(0, 13)
    press_until(panel.axes.order, ROW)
    type_into(panel.axes.planes, "3")
    process_events()
    place = np.round(panel.layer.world_to_data(viewer.dims.point)[:2]).astype(int)
    assert (place >= 0).all()
    assert (place < panel.layer.data.shape[:2]).all()
    assert place[1] == 2  # the nearest one


@pytest.mark.parametrize(("shape", "label"), [((64, 64), "Voxel y, x"), ((8, 64, 64), "Voxel z, y, x")])
def test_voxel_sizes_are_named_by_the_axes_that_there_are(viewer, open_widget, shape, label):
    viewer.add_image(spots(shape=shape), name="movie")
    widget = open_widget()
    finish(widget)
    assert widget.parts.input._sizes_label.text() == label


def set_scale(layer) -> None:
    layer.scale = (20, 3, 0.25, 0.25)


def set_units(layer) -> None:
    layer.units = ("min", "nm", "nm", "nm")


@pytest.mark.parametrize(("act", "sizes", "interval"), [(set_scale, [3, 0.25, 0.25], 20), (set_units, None, 600)])
def test_a_scale_set_elsewhere_is_shown_at_once_and_tracked_with(viewer, widget, act, sizes, interval):
    panel = widget.parts.input
    act(viewer.layers["movie"])
    finish(widget)
    shown = [field.number for field in panel.sizes]
    assert shown == pytest.approx(sizes or [0.001, 0.0005, 0.0005])
    assert panel.interval.number == interval
    assert widget.parts.session.source.calibration.scale == pytest.approx(tuple(shown))


def test_results_of_another_scale_are_said_to_be_old(viewer, tracked):  # noqa: F811
    assert tracked.parts.session.data is not None
    set_scale(viewer.layers["movie"])
    finish(tracked)
    assert tracked.parts.session.data is None
    assert tracked.parts.bar.status.text()
    tracked.running.run_all()
    finish(tracked)
    np.testing.assert_array_equal(viewer.layers["tracks of movie"].scale, (20, 3, 0.25, 0.25))


def type_sizes(widget, layer) -> None:
    del layer
    type_into(widget.parts.input.sizes[0], "3")
    type_into(widget.parts.input.sizes[2], "0.25")


def move(widget, layer) -> None:
    del widget
    layer.translate = (0, 1, 5, 5)
    layer.scale = (20, 3, 0.25, 0.25)


@pytest.mark.parametrize("act", [type_sizes, move])
def test_what_is_drawn_stays_on_its_particles_as_voxels_change(viewer, tracked, act):  # noqa: F811
    movie, tracks = viewer.layers["movie"], viewer.layers["tracks of movie"]
    tails = np.count_nonzero(tracks.track_colors[:, 3])
    place = tracks.world_to_data(viewer.dims.point)
    act(tracked, movie)
    finish(tracked)
    assert len(viewer.layers) == 3
    for layer in viewer.layers:
        np.testing.assert_array_equal(layer.scale, movie.scale)
        np.testing.assert_array_equal(layer.translate, movie.translate)
        assert layer.units == movie.units
    particles = viewer.layers["particles of movie"]
    assert viewer.dims.margin_left[1] == pytest.approx(particles.size.max() * 0.75 * 0.25)
    assert np.count_nonzero(tracks.track_colors[:, 3]) < tails  # planes are farther apart
    if act is type_sizes:
        np.testing.assert_allclose(tracks.world_to_data(viewer.dims.point), place, atol=0.5)


def test_colours_of_another_unit_are_offered_no_longer(tracked):  # noqa: F811
    feature = tracked.parts.results.colour.feature
    feature.setCurrentIndex(feature.findData("mean_speed"))
    finish(tracked)
    assert "(µm/s)" in feature.currentText()
    tracked.parts.input.unit_box.setCurrentText("mm")
    finish(tracked)
    assert feature.count() == 0
    tracked.running.run_all()
    finish(tracked)
    assert "(mm/s)" in feature.currentText()


def test_the_preview_follows_the_voxel_size_and_goes_with_its_layer(viewer, widget):
    viewer.add_image(spots(shape=(64, 64)), name="flat")
    widget.parts.detect.preview.setChecked(True)
    finish(widget)
    set_scale(viewer.layers["movie"])
    finish(widget)
    np.testing.assert_array_equal(widget.preview.layer.scale, (20, 3, 0.25, 0.25))
    widget.parts.input.choose_layer("flat")
    finish(widget)
    assert widget.preview.layer.ndim == 3


@pytest.mark.parametrize("button", ["Cancel", "Discard"])
def test_a_scale_set_elsewhere_asks_before_corrections_are_lost(viewer, corrected, mouse, button):  # noqa: F811
    layer = viewer.layers["movie"]
    before, units = layer.scale.tolist(), layer.units
    with answering(mouse, button) as asked:
        set_scale(layer)
        layer.units = ("s", "nm", "nm", "nm")
        finish(corrected)
    assert len(asked) == 1
    is_kept = button == "Cancel"
    assert (layer.scale.tolist() == before, layer.units == units) == (is_kept, is_kept)
    assert corrected.parts.session.n_corrections == is_kept
    assert corrected.parts.input.sizes[0].number == pytest.approx(1 if is_kept else 0.003)
