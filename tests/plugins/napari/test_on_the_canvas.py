"""Corrections made on the canvas by real clicks and keys: links joined and chosen, particles added and deleted."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import finish, open_dock, process_events
from .test_by_mouse import mouse, on_canvas, tracked  # noqa: F401 - fixtures among them
from .test_correcting import links, press


@pytest.fixture
def lines(viewer):
    return track_lines(viewer)


def track_lines(viewer):
    """The widget over two particles that go far: their links are seen between them."""
    table = [(frame, 4.0, row * 12.0, 10.0 * frame) for frame in range(5) for row in range(4)]
    viewer.add_points(np.array(table), name="beads")
    widget = open_dock(viewer)
    finish(widget)
    link = widget.parts.link
    link.motion.setCurrentIndex(link.motion.findData("none"))
    link.search_range.setValue(11)
    link.unmatched.setValue(20)
    widget.running.run_all()
    finish(widget)
    assert len(links(widget)) == 16
    viewer.window._qt_window.activateWindow()
    return widget


def click(viewer, mouse, place, *, shift: bool = False):  # noqa: F811
    """Click a place (frame, z, y, x) on the canvas."""
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest

    layer = next(layer for layer in viewer.layers if layer.name.startswith("particles of"))
    canvas, at = viewer.window._qt_viewer.canvas.native, on_canvas(viewer, layer, np.asarray(place, float))
    if shift:
        QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, at)
        process_events()
    else:
        mouse.click(canvas, at)


def point_at(viewer, place) -> None:
    """Move the mouse to a place (frame, z, y, x), again until napari takes notice: a busy machine drops moves."""
    from qtpy.QtTest import QTest

    layer = next(layer for layer in viewer.layers if layer.name.startswith("particles of"))
    canvas, at = viewer.window._qt_viewer.canvas.native, on_canvas(viewer, layer, np.asarray(place, float))
    for moved in range(100):
        QTest.mouseMove(canvas, at - type(at)(moved % 2, 0))
        QTest.qWait(20)
        under = on_canvas(viewer, layer, np.asarray(layer.world_to_data(viewer.cursor.position)))
        if (under - at).manhattanLength() <= 1 and not moved % 2:
            return
    pytest.fail(f"the mouse is at {viewer.cursor.position}")


def show(viewer, place) -> None:
    layer = next(layer for layer in viewer.layers if layer.name.startswith("particles of"))
    viewer.dims.set_point(range(4), np.asarray(layer.data_to_world(np.asarray(place, float))).tolist())
    process_events()


def drag(viewer, start, end) -> None:
    """Drag a place (frame, z, y, x) to another with the left button; a busy machine drops moves that follow at once."""
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest

    layer = next(layer for layer in viewer.layers if layer.name.startswith("particles of"))
    canvas = viewer.window._qt_viewer.canvas.native
    begin, stop = (on_canvas(viewer, layer, np.asarray(place, float)) for place in (start, end))
    QTest.mousePress(canvas, Qt.MouseButton.LeftButton, pos=begin)
    for part in (0.5, 0.9, 1.0, 1.0):
        QTest.mouseMove(canvas, begin + (stop - begin) * part)
        QTest.qWait(50)
    QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=stop)
    process_events()


def place_of(widget, row: int) -> np.ndarray:
    table = widget.parts.session.linked.linking.tracks.table
    return table[["frame", "z", "y", "x"]].to_numpy(float)[row]


@pytest.mark.parametrize("way", ["key", "button"])
def test_two_clicks_link_two_particles(viewer, lines, mouse, way):  # noqa: F811
    results = lines.parts.results
    lines.parts.steps.setCurrentWidget(results)
    results.tabs.setCurrentIndex(results.tabs.count() - 1)
    show(viewer, (3, 4, 0, 0))
    click(viewer, mouse, (3, 4, 24, 15))
    finish(lines)
    link = lines.parts.session.link
    press(viewer, "b")
    finish(lines)
    assert link not in links(lines)
    if way == "key":
        press(viewer, "l")
    else:
        mouse.click(results.link_button)
    for place in ((1, 4, 24, 10), (2, 4, 24, 20)):
        show(viewer, place)
        click(viewer, mouse, place)
        finish(lines)
    assert link in links(lines)
    assert results.tabs.currentIndex() == results.tabs.count() - 1  # the list stays in sight
    press(viewer, "u")
    finish(lines)
    assert link not in links(lines)


def break_one(viewer, widget, mouse) -> tuple[int, int]:  # noqa: F811
    """Break the third particle's link of frames 1–2, and begin linking by clicks."""
    show(viewer, (3, 4, 0, 0))
    click(viewer, mouse, (3, 4, 24, 15))
    finish(widget)
    link = widget.parts.session.link
    for key in "bl":
        press(viewer, key)
        finish(widget)
    return link


def click_at(viewer, widget, mouse, *places) -> str:  # noqa: F811
    """Click places, each in its frame, and return what is said then."""
    for place in places:
        show(viewer, place)
        click(viewer, mouse, place)
        finish(widget)
    return widget.parts.bar.status.text()


def test_a_click_beside_the_second_particle_of_a_pair_keeps_the_first(viewer, lines, mouse):  # noqa: F811
    link = break_one(viewer, lines, mouse)
    said = click_at(viewer, lines, mouse, (1, 4, 24, 10), (2, 4, 30, 45))
    assert said.startswith("No particle is here: click the one that track ")
    assert "in frame 1" in lines.parts.results.clicked.text()
    click_at(viewer, lines, mouse, (2, 4, 24, 20))
    assert link in links(lines)


def test_escape_lets_go_of_half_a_pair(viewer, lines, mouse):  # noqa: F811
    break_one(viewer, lines, mouse)
    click_at(viewer, lines, mouse, (1, 4, 24, 10))
    press_escape(viewer)
    finish(lines)
    assert lines.parts.results.clicked.text() == ""
    assert "in another frame" in click_at(viewer, lines, mouse, (2, 4, 24, 20))


def press_escape(viewer) -> None:
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest

    QTest.keyClick(viewer.window._qt_viewer.canvas.native, Qt.Key.Key_Escape)
    process_events()


def test_of_two_particles_of_one_frame_the_second_begins_the_pair(viewer, lines, mouse):  # noqa: F811
    link = break_one(viewer, lines, mouse)
    said = click_at(viewer, lines, mouse, (1, 4, 12, 10), (1, 4, 24, 10))
    assert said == "Now click the particle that it is linked to, in another frame."
    assert lines.parts.results.clicked.text().count("in frame 1") == 1
    click_at(viewer, lines, mouse, (2, 4, 24, 20))
    assert link in links(lines)


def test_the_end_of_linking_by_clicks_is_said(viewer, lines):
    press(viewer, "l")
    assert "L ends it" in lines.parts.bar.status.text()
    press(viewer, "l")
    assert lines.parts.bar.status.text() == "Linking by clicks has ended."


def test_clicks_outside_that_mode_link_nothing(viewer, lines, mouse):  # noqa: F811
    before = links(lines)
    for place in ((1, 4, 24, 10), (2, 4, 12, 20)):
        show(viewer, place)
        click(viewer, mouse, place)
        finish(lines)
    assert (links(lines), lines.parts.session.n_corrections) == (before, 0)


@pytest.mark.parametrize("ndisplay", [2, 3])
def test_a_link_that_is_clicked_is_chosen_and_broken(viewer, lines, mouse, ndisplay):  # noqa: F811
    viewer.dims.ndisplay = ndisplay
    viewer.scene.camera.angles = (10, 40, 110)  # in 3D the lines do not lie behind each other
    show(viewer, (3, 4, 0, 0))
    click(viewer, mouse, (3, 4, 24, 15))  # between frames 1 and 2 of the third
    finish(lines)
    wrong = lines.parts.session.link
    assert [place_of(lines, row).tolist() for row in wrong] == [[1, 4, 24, 10], [2, 4, 24, 20]]
    assert "frames 1–2" in lines.parts.bar.status.text()
    press(viewer, "b")
    finish(lines)
    assert wrong not in links(lines)


def test_a_link_under_a_particle_is_chosen_with_shift(viewer, lines, mouse):  # noqa: F811
    show(viewer, (3, 4, 0, 0))
    click(viewer, mouse, (3, 4, 24, 29), shift=True)
    finish(lines)
    assert [place_of(lines, row)[0] for row in lines.parts.session.link] == [2, 3]
    press(viewer, "c")
    finish(lines)
    assert len(lines.parts.session.linked.linking.settings.pinned) == 1


def test_a_click_where_nothing_is_drawn_chooses_nothing(viewer, lines, mouse):  # noqa: F811
    show(viewer, (1, 4, 0, 0))
    click(viewer, mouse, (1, 4, 24, 25))  # that link ends in a later frame
    finish(lines)
    assert lines.parts.session.link is None


def test_a_particle_is_added_under_the_mouse_and_deleted_by_key(viewer, lines, mouse):  # noqa: F811
    show(viewer, (2, 4, 0, 0))
    before = links(lines)
    for place in ((2, 4, 24, 30), (2, 4, 18, 25)):
        point_at(viewer, place)
    press(viewer, "i")
    finish(lines)
    assert len(lines.parts.session.linked.linking.tracks) == 21
    frame, *position = place_of(lines, 20)
    assert frame == 2
    np.testing.assert_allclose(position, (4, 18, 25), atol=0.5)
    assert "by hand" in lines.parts.session.why_no_command
    show(viewer, place_of(lines, 20))
    click(viewer, mouse, place_of(lines, 20))
    finish(lines)
    press(viewer, "x")
    finish(lines)
    assert (len(lines.parts.session.linked.linking.tracks), links(lines)) == (20, before)
    for _ in range(2):
        press(viewer, "u")
        finish(lines)
    assert (lines.parts.session.n_corrections, links(lines)) == (0, before)


def test_where_rings_overlap_a_click_picks_the_nearest_middle(viewer, lines, mouse):  # noqa: F811
    """Three particles, each under the ring of the next, as touching ones are."""
    for row, x in enumerate((21.5, 23.0)):
        show(viewer, (2, 4, 24, x))
        point_at(viewer, (2, 4, 24, x))
        press(viewer, "i")
        finish(lines)
        assert len(lines.parts.session.linked.linking.tracks) == 21 + row
    for x in (20, 21.5, 23.0):
        place = (2, 4, 24, x)
        show(viewer, place)
        click(viewer, mouse, place)
        finish(lines)
        near = place_of(lines, [*lines.correcting._clicked][-1][1])
        np.testing.assert_allclose(near, place, atol=0.5)


def test_mid_ring_of_another_plane_a_click_picks_that_particle_and_not_its_neighbour(viewer, tracked, mouse):  # noqa: F811
    """Its neighbour lies in the plane shown, and so is nearer to the click."""
    frame, z, y, x = place_of(tracked, int(np.argmin(np.abs(place_of(tracked, slice(None))[:, 1] - 4))))
    plane = round(z)
    added = frame, plane + 1, y, x + 1.6  # steps of 1 and 0.5 µm: 0.8 aside and 1 below
    show(viewer, added)
    point_at(viewer, added)
    press(viewer, "i")
    finish(tracked)
    np.testing.assert_allclose(place_of(tracked, -1), added, atol=0.3)
    show(viewer, (frame, plane, y, x))
    for place in (added, (frame, z, y, x)):
        click(viewer, mouse, (frame, plane, *place[2:]))
        finish(tracked)
        near = place_of(tracked, [*tracked.correcting._clicked][-1][1])
        np.testing.assert_allclose(near, place, atol=0.3)


@pytest.mark.parametrize("undone", [False, True])
def test_a_particle_dragged_with_napari_s_own_tool_is_moved_by_an_act(viewer, lines, undone):
    layer = viewer.layers["particles of beads"]
    viewer.layers.selection.active, layer.mode = layer, "select"  # as the button of the tool does
    show(viewer, (2, 4, 24, 20))
    drag(viewer, (2, 4, 24, 20), (2, 4, 24, 26))
    finish(lines)
    (row,) = np.flatnonzero((place_of(lines, slice(None))[:, [0, 2]] == (2, 24)).all(axis=1))
    np.testing.assert_allclose(place_of(lines, row), (2, 4, 24, 26), atol=0.5)
    assert [act["act"] for act in lines.parts.session.corrections._edits.acts] == ["move_detection"]
    if undone:
        press(viewer, "u")
        finish(lines)
        assert place_of(lines, row).tolist() == [2, 4, 24, 20]
        assert lines.parts.session.n_corrections == 0
    layer.mode = "pan_zoom"


def test_after_a_deletion_rows_are_still_the_particles_that_are_meant(viewer, lines, mouse):  # noqa: F811
    first = place_of(lines, 0)
    show(viewer, first)
    click(viewer, mouse, first)
    finish(lines)
    press(viewer, "x")
    finish(lines)
    show(viewer, (3, 4, 0, 0))
    click(viewer, mouse, (3, 4, 24, 15))
    finish(lines)
    wrong = [place_of(lines, row).tolist() for row in lines.parts.session.link]
    assert wrong == [[1, 4, 24, 10], [2, 4, 24, 20]]
    press(viewer, "b")
    finish(lines)
    left = [[place_of(lines, row).tolist() for row in link] for link in links(lines)]
    assert wrong not in left
    assert len(left) == 14
