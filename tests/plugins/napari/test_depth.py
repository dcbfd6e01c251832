"""Particles reach into neighbouring planes, while images look as they did before tracking."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import PHYSICAL, finish, process_events, spots
from .test_edits import drag

MOVIE = spots()


@pytest.fixture
def tracked(widget):
    widget.running.run_all()
    finish(widget)
    return widget


def plane_shown(viewer) -> np.ndarray:
    process_events()
    return np.array(viewer.layers["movie"]._slice.image.raw)


@pytest.mark.usefixtures("tracked")
def test_tracking_changes_no_grey_level_that_is_shown(viewer):
    viewer.dims.set_current_step((0, 1), (2, 4))
    np.testing.assert_array_equal(plane_shown(viewer), MOVIE[2, 4])
    particles = viewer.layers["particles of movie"]
    here = particles.data[particles.data[:, 0] == 2]
    beside = here[np.argmin(np.abs(np.abs(here[:, 1] - 4) - 0.9))]  # about a plane away from the one shown
    seen = particles.data_to_world((2, 4, *beside[2:]))
    assert particles.get_value(seen, dims_displayed=[2, 3], world=True) is not None


def test_the_preview_changes_none_either(viewer, widget):
    widget.parts.detect.preview.setChecked(True)
    finish(widget)
    viewer.dims.set_current_step((0, 1), (2, 4))
    finish(widget)
    np.testing.assert_array_equal(plane_shown(viewer), MOVIE[2, 4])


@pytest.mark.usefixtures("tracked")
def test_an_image_that_is_opened_later_is_sharp_too(viewer):
    later = viewer.add_image(MOVIE, name="later", **PHYSICAL)
    viewer.dims.set_current_step((0, 1), (2, 4))
    process_events()
    np.testing.assert_array_equal(later._slice.image.raw, MOVIE[2, 4])


@pytest.mark.usefixtures("tracked")
def test_closing_the_dock_leaves_projection_and_thickness_as_they_were(viewer):
    viewer.window.remove_dock_widget("all")
    process_events()
    assert viewer.layers["movie"].projection_mode == "mean"  # napari's default
    assert not any(viewer.dims.margin_left + viewer.dims.margin_right)


def test_a_thickness_set_by_the_user_averages_images_as_they_asked(viewer, tracked):
    viewer.dims.margin_left = viewer.dims.margin_right = (0.0, 1.0, 0.0, 0.0)
    viewer.dims.set_current_step((0, 1), (2, 4))
    assert (plane_shown(viewer) != MOVIE[2, 4]).any()
    tracked.running.run_all()
    finish(tracked)
    assert viewer.dims.margin_left == (0.0, 1.0, 0.0, 0.0)
    assert viewer.layers["movie"].projection_mode == "mean"


def seen_tails(layer) -> np.ndarray:
    """z of the vertices of tracks that can be seen."""
    return layer.data[layer.track_colors[:, 3] > 0][:, 2]


@pytest.mark.usefixtures("tracked")
def test_tails_are_drawn_near_the_plane_shown_and_all_of_them_in_3d(viewer):
    layer = viewer.layers["tracks of movie"]
    size = float(viewer.layers["particles of movie"].size[0]) * 0.5  # in µm, as planes are 1 µm apart
    assert size < 5
    for step in (0, 7):
        viewer.dims.set_current_step(1, step)
        process_events()
        plane, everywhere = viewer.dims.point[1], layer.data[:, 2]
        np.testing.assert_array_equal(seen_tails(layer), everywhere[np.abs(everywhere - plane) <= size])
        assert 0 < len(seen_tails(layer)) < len(everywhere)
    viewer.dims.ndisplay = 3
    process_events()
    assert len(seen_tails(layer)) == len(layer.data)


def test_tails_stay_near_the_plane_when_they_are_coloured_anew(viewer, tracked):
    layer = viewer.layers["tracks of movie"]
    viewer.dims.set_current_step(1, 0)
    process_events()
    near = len(seen_tails(layer))
    tracked.parts.results.colour.choose("mean_speed")
    finish(tracked)
    assert len(seen_tails(layer)) == near < len(layer.data)


def test_nothing_is_sliced_with_one_margin_alone(viewer, widget):
    seen = []
    for event in (viewer.dims.events.margin_left, viewer.dims.events.margin_right):
        event.connect(lambda: seen.append((viewer.dims.margin_left, viewer.dims.margin_right)))
    widget.running.run_all()
    finish(widget)
    viewer.window.remove_dock_widget("all")
    process_events()
    *while_open, at_last = [left[1] for left, _ in seen]
    assert while_open[-1] == pytest.approx(viewer.layers["particles of movie"].size.max() * 0.75 * 0.5)
    assert all(while_open)
    assert at_last == 0
    assert all(left == right for left, right in seen)


def test_one_margin_set_by_the_user_is_a_thickness_of_theirs(viewer, tracked):
    ours = viewer.dims.margin_left
    viewer.dims.margin_right = (0.0, 0.0, 0.0, 0.0)
    assert viewer.layers["movie"].projection_mode == "mean"
    tracked.running.run_all()
    finish(tracked)
    assert (viewer.dims.margin_left, viewer.dims.margin_right) == (ours, (0.0, 0.0, 0.0, 0.0))


def test_a_particle_dragged_is_a_correction_although_napari_failed_to_slice(viewer, widget, monkeypatch):
    """A reader that fails once must not leave a layer whose edits are not noticed."""

    def fail() -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr("sys.excepthook", lambda *_: None)
    viewer.dims.events.margin_right.connect(fail)
    widget.running.run_all()
    finish(widget)
    viewer.dims.events.margin_right.disconnect(fail)
    drag(viewer.layers["particles of movie"], 4, 2)
    finish(widget)
    assert widget.parts.session.n_corrections == 1
