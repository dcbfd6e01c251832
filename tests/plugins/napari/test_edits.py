"""Particles deleted, moved or added in their layer: corrections where there are links, undone like all others.

Where there are none yet, the next link takes them, and nothing loses them before.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from .conftest import finish, process_events
from .test_correcting import press


@pytest.fixture
def tracked(widget):
    """The widget after a run over the movie of spots."""
    widget.running.run_all()
    finish(widget)
    return widget


@pytest.fixture
def found(widget):
    """The widget with the particles of the movie, which are not linked."""
    widget.running.run_detect()
    finish(widget)
    return widget


@pytest.fixture
def particles(viewer, tracked):
    """The layer of particles that are linked, edited."""
    return edited(viewer, tracked)


@pytest.fixture
def unlinked(viewer, found):
    """The layer of particles that are not, edited."""
    return edited(viewer, found)


def edited(viewer, widget):
    """Delete two particles, move one and add one, by keys and by the mouse's functions."""
    layer = widget.parts.overlay.layer("particles")
    viewer.layers.selection.active = layer
    layer.selected_data = {0, 1}
    press_delete(viewer)
    drag(layer, 4, 2)
    layer.add([2.0, 3.0, 30.0, 30.0])
    finish(widget)
    return layer


def drag(layer, row: int, along_x: float) -> None:
    """Move a particle as napari does while the mouse drags it: from where it is, then by the way of the mouse."""
    layer.selected_data = {row}
    start = layer.data[row].copy()
    for way in (0, along_x):
        layer._move([row], start + np.array([0, 0, 0, way]))
    layer._drag_start = None


def press_delete(viewer) -> None:
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest

    canvas = viewer.window._qt_viewer.canvas.native
    canvas.setFocus()
    QTest.keyClick(canvas, Qt.Key.Key_Delete)
    process_events()


def places(rows: np.ndarray) -> Counter:
    return Counter(map(tuple, np.asarray(rows, dtype=float).tolist()))


def linked_places(widget) -> Counter:
    return places(widget.parts.session.linked.linking.tracks.table[["frame", "z", "y", "x"]].to_numpy())


def test_the_next_link_takes_them_and_says_so(found, unlinked):
    wanted = places(unlinked.data)
    found.running.run_link()
    finish(found)
    assert linked_places(found) == wanted
    assert "2 placed by hand, 3 gone from where they were" in found.parts.bar.warnings.text()
    assert not found.parts.results.command_button.isEnabled()
    found.running.run_link()
    finish(found)
    assert linked_places(found) == wanted
    assert "by hand" not in found.parts.bar.warnings.text()


def test_among_tracks_they_are_corrections_and_the_next_link_takes_these(tracked, particles):
    wanted = places(particles.data)
    acts = [act["act"] for act in tracked.parts.session.corrections._edits.acts]
    assert acts == ["together", "move_detection", "add_detection"]
    assert linked_places(tracked) == wanted
    assert not tracked.parts.overlay.edits()
    tracked.running.run_link()
    finish(tracked)
    assert linked_places(tracked) == wanted
    assert "except for what they changed in the particles" in tracked.parts.bar.warnings.text()
    assert not tracked.parts.results.command_button.isEnabled()


def test_they_are_undone_and_made_again_one_by_one(viewer, tracked):
    before = linked_places(tracked)
    layer = edited(viewer, tracked)
    after = linked_places(tracked)
    for key, wanted in (("u", before), ("Shift-u", after)):
        for left in (2, 1, 0):
            press(viewer, key)
            finish(tracked)
            assert tracked.parts.session.n_corrections == (left if key == "u" else 3 - left)
            assert linked_places(tracked) == places(layer.data)
        assert linked_places(tracked) == wanted


def test_what_was_not_done_is_not_counted():
    from auctrack.plugins.napari.layers.edits import edits_between

    places = np.arange(8.0).reshape(2, 4)
    assert str(edits_between(places, places[:1])) == "1 gone from where they were"
    assert str(edits_between(places[:1], places)) == "1 placed by hand"


def test_particles_placed_by_hand_before_they_are_linked_have_no_measured_quality(found, unlinked):
    del unlinked
    found.running.run_link()
    finish(found)
    quality = found.parts.session.linked.linking.tracks.table["quality"]
    assert quality.isna().sum() == 2  # the one that was moved, too


def test_a_filter_that_draws_anew_keeps_them(tracked, particles):
    wanted = places(particles.data)
    chart = tracked.parts.results.filters.charts["length"]
    low, high = chart.limits
    chart.moved.emit([high, high])
    finish(tracked)
    chart.moved.emit([low, high])
    finish(tracked)
    assert places(particles.data) == wanted
    particles.selected_data = {0}
    particles.remove_selected()
    wanted = places(particles.data)
    finish(tracked)
    tracked.running.run_link()
    finish(tracked)
    assert linked_places(tracked) == wanted


def test_detecting_anew_says_that_they_are_not_part_of_it(found, unlinked):
    del unlinked
    before = places(found.parts.session.detected.points.table[["frame", "z", "y", "x"]].to_numpy())
    found.running.run_all()
    finish(found)
    assert linked_places(found) == before
    assert "are not part of these" in found.parts.bar.warnings.text()


def test_what_is_put_back_by_hand_is_no_edit(widget):
    widget.running.run_detect()
    finish(widget)
    layer = widget.parts.overlay.layer("particles")
    drag(layer, 3, 2)
    assert widget.parts.overlay.edits()
    drag(layer, 3, -2)
    assert not widget.parts.overlay.edits()


def test_a_particle_dragged_among_tracks_is_a_correction_that_is_undone(viewer, tracked):
    """Its place in the table is where it was dragged, its links are weighed anew, and U puts it back."""
    layer = tracked.parts.overlay.layer("particles")
    before, drawn = linked_places(tracked), places(layer.data)
    drag(layer, 4, 2)
    moved = places(layer.data)
    finish(tracked)
    assert linked_places(tracked) == moved != before
    assert tracked.parts.session.n_corrections == 1
    assert not tracked.parts.overlay.edits()
    press(viewer, "u")
    finish(tracked)
    assert (linked_places(tracked), places(layer.data)) == (before, drawn)
    assert not tracked.parts.overlay.edits()


def test_a_particle_dragged_during_a_correction_is_moved_after_it(viewer, tracked):
    layer = tracked.parts.overlay.layer("particles")
    press(viewer, "n")
    finish(tracked)
    tracked.correcting.break_link()  # in another thread from here on
    drag(layer, 4, 2)
    finish(tracked)
    acts = [act["act"] for act in tracked.parts.session.corrections._edits.acts]
    assert acts == ["break_link", "move_detection"]
    assert not tracked.parts.overlay.edits()


def test_rings_are_of_one_size_after_a_particle_was_added_at_another(tracked, particles):
    particles.selected_data = set()
    particles.current_size = 3 * particles.size[0]
    particles.add([3.0, 3.0, 20.0, 20.0])
    assert len(set(particles.size.tolist())) == 2
    tracked.running.run_link()
    finish(tracked)
    assert len(set(particles.size.tolist())) == 1
