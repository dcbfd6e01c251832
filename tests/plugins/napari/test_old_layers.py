"""What was drawn for a run before, and is of no use to the next, goes from napari's list."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import finish, process_events
from .test_by_mouse import mouse  # noqa: F401 - a fixture
from .test_correcting import press, tracked  # noqa: F401 - a fixture among them

RESULTS = {"movie", "particles of movie", "tracks of movie"}


def names(viewer) -> set[str]:
    return {layer.name for layer in viewer.layers}


@pytest.mark.parametrize("times", [1, 2])
def test_marks_of_links_and_tracks_go_with_the_next_run(viewer, tracked, mouse, times):  # noqa: F811
    for _ in range(times):
        press(viewer, "n")
        finish(tracked)
        assert names(viewer) == RESULTS | {"chosen track", "link looked at"}
        mouse.click(tracked.parts.bar.run_button)
        finish(tracked)
        assert names(viewer) == RESULTS
        assert all(layer.visible for layer in viewer.layers)


def test_what_is_chosen_while_the_marks_go_is_drawn(viewer, tracked):  # noqa: F811
    press(viewer, "n")
    finish(tracked)
    tracked.parts.overlay.forget_track()
    press(viewer, "n")  # before a turn of the event loop has taken them away
    finish(tracked)
    assert names(viewer) == RESULTS | {"chosen track", "link looked at"}
    assert viewer.layers["link looked at"].visible


def test_a_name_that_the_user_gave_a_layer_of_results_stays(viewer, tracked):  # noqa: F811
    viewer.layers["tracks of movie"].name = "mine"
    for key in ("n", "b"):
        press(viewer, key)
        finish(tracked)
    assert names(viewer) >= {"movie", "particles of movie", "mine"}
    viewer.layers["movie"].name = "other"
    for key in ("n", "b"):
        press(viewer, key)
        finish(tracked)
    assert names(viewer) >= {"other", "particles of other", "mine"}
    assert not names(viewer) & {"tracks of movie", "tracks of other"}


def test_marks_go_as_the_dock_is_closed_and_the_next_run_fills_the_other_layers(viewer, tracked, open_widget):  # noqa: F811
    for key in ("n", "b") * 3:  # the third of the least sure links gives way to another one
        press(viewer, key)
        finish(tracked)
    assert names(viewer) == RESULTS | {"chosen track", "links changed"}
    viewer.window.remove_dock_widget("all")
    process_events()
    assert names(viewer) == RESULTS
    before = {layer.name: layer for layer in viewer.layers}
    viewer.layers["movie"].scale = (20, 3, 0.25, 0.25)  # nobody keeps the others on it now
    again = open_widget()
    finish(again)
    listed = again.parts.input.layer_box
    assert [listed.itemText(k) for k in range(listed.count())] == ["movie", "tracks of movie"]
    again.running.run_all()
    finish(again)
    press(viewer, "n")
    finish(again)
    assert names(viewer) == RESULTS | {"chosen track", "link looked at"}
    assert all(viewer.layers[name] is layer for name, layer in before.items())
    assert {tuple(layer.scale) for layer in viewer.layers} == {(20, 3, 0.25, 0.25)}
    assert [listed.itemText(k) for k in range(listed.count())] == ["movie"]


def test_the_preview_goes_as_the_dock_is_closed(viewer, widget):
    widget.parts.detect.preview.setChecked(True)
    finish(widget)
    assert names(viewer) == {"movie", "preview"}
    viewer.window.remove_dock_widget("all")
    process_events()
    assert names(viewer) == {"movie"}


@pytest.mark.usefixtures("tracked")
def test_particles_of_a_dock_closed_since_are_edited_in_the_next_one(viewer, open_widget):
    viewer.window.remove_dock_widget("all")
    process_events()
    again = open_widget()
    again.running.run_all()
    finish(again)
    particles = viewer.layers["particles of movie"]
    particles.selected_data = {0}
    particles.remove_selected()
    finish(again)
    assert again.parts.session.n_corrections == 1


def test_another_mark_leaves_the_sliders_as_they_are(viewer, tracked):  # noqa: F811
    """They are measured over all layers, which costs a quarter of what it takes to hand a correction to napari."""
    press(viewer, "n")
    finish(tracked)
    marks = viewer.layers["link looked at"]
    measured, before = [], marks.data.copy()
    marks.events.data.connect(measured.append)
    press(viewer, "n")
    finish(tracked)
    assert marks.visible
    assert not np.array_equal(marks.data, before)
    assert measured == []


def test_rings_of_the_next_run_are_all_of_its_size(viewer, tracked):  # noqa: F811
    particles = viewer.layers["particles of movie"]
    for diameter in (2.0, 3.0):
        tracked.parts.detect.diameter.setValue(diameter)
        tracked.running.run_all()
        finish(tracked)
        assert set(particles.size.tolist()) == {diameter / 0.5}
