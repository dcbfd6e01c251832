"""Escape, or a click on the background, lets go of what was clicked, and the next key acts on nothing."""

from __future__ import annotations

import pytest

from .conftest import finish, process_events
from .in_one_widget import InOneWidget, tracked_once  # noqa: F401 - a fixture
from .test_by_mouse import mouse  # noqa: F401 - a fixture
from .test_clicked_particles import click_all, shown  # noqa: F401 - a fixture
from .test_clicked_particles import marked as clicked
from .test_correcting import links, press
from .test_on_the_canvas import click, lines, show  # noqa: F401 - a fixture among them
from .test_what_a_key_acts_on import NEIGHBOUR, marked, status

BESIDE = (2, 4, 18, 35)  # of all particles and links


def press_escape(viewer, widget, mouse) -> None:  # noqa: F811, ARG001 - as by mouse
    press_key(viewer.window._qt_viewer.canvas.native)


def press_escape_in_the_dock(viewer, widget, mouse) -> None:  # noqa: F811, ARG001 - as by mouse
    results = widget.parts.results
    widget.parts.steps.setCurrentWidget(results)
    results.tabs.setCurrentWidget(results.doubtful)
    press_key(results.suspicious)


def press_key(widget) -> None:
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest

    widget.setFocus()
    QTest.keyClick(widget, Qt.Key.Key_Escape)
    process_events()


def click_beside(viewer, widget, mouse) -> None:  # noqa: F811, ARG001 - as by key
    click(viewer, mouse, BESIDE)


@pytest.mark.parametrize("let_go", [press_escape, click_beside])
def test_the_link_of_the_list_is_let_go_of_even_before_it_is_drawn(viewer, lines, mouse, let_go):  # noqa: F811
    show(viewer, BESIDE)
    press(viewer, "n")
    let_go(viewer, lines, mouse)
    finish(lines)
    assert marked(viewer) is None
    assert not lines.parts.results.suspicious.selectionModel().hasSelection()
    press(viewer, "b")
    finish(lines)
    assert lines.parts.session.n_corrections == 0


def test_no_next_link_is_chosen_after_a_correction_that_was_let_go_of(viewer, lines, mouse):  # noqa: F811
    press(viewer, "n")
    finish(lines)
    before = links(lines)
    press(viewer, "b")
    press_escape(viewer, lines, mouse)
    finish(lines)
    assert len(before - links(lines)) == 1
    assert lines.parts.session.link is None


def test_a_track_of_the_table_is_let_go_of_too(viewer, lines, mouse):  # noqa: F811
    lines.parts.results.tracks.table.selectRow(0)
    finish(lines)
    assert viewer.layers["chosen track"].visible
    press_escape(viewer, lines, mouse)
    finish(lines)
    assert status(lines).startswith("Nothing is chosen: ")
    assert not viewer.layers["chosen track"].visible


class TestInOneWidget(InOneWidget):
    """What lets go of the same links and particles, one test after the other."""

    @pytest.mark.parametrize("let_go", [press_escape, press_escape_in_the_dock, click_beside])
    def test_neither_the_link_nor_the_particle_that_was_clicked_is_acted_on_any_more(
        self,
        viewer,
        shown,  # noqa: F811
        mouse,  # noqa: F811
        let_go,
    ):
        click_all(viewer, shown, mouse, NEIGHBOUR)
        assert (clicked(viewer), shown.parts.results.clicked.text() != "") == ({NEIGHBOUR[1:]}, True)
        let_go(viewer, shown, mouse)
        finish(shown)
        assert status(shown).startswith("Nothing is chosen: ")
        assert (shown.parts.results.clicked.text(), marked(viewer), clicked(viewer)) == ("", None, set())
        for key in "bcxe":
            press(viewer, key)
            finish(shown)
        assert shown.parts.session.n_corrections == 0

    @pytest.mark.parametrize("let_go", [press_escape, click_beside])
    def test_no_track_is_marked_anywhere_any_more(self, viewer, lines, mouse, let_go):  # noqa: F811
        """Drawn bright it would look chosen, while nothing is."""
        results = lines.parts.results
        press(viewer, "n")
        finish(lines)
        assert viewer.layers["chosen track"].visible
        show(viewer, BESIDE)
        let_go(viewer, lines, mouse)
        finish(lines)
        assert not any(layer.visible for layer in viewer.layers if layer.name in ("chosen track", "link looked at"))
        assert (lines.parts.session.chosen, results.chosen, results.tracks.table.positions) == (None, (), [])
        assert results.plots_title.text().startswith("Click a particle")

    @pytest.mark.parametrize("let_go", [press_escape, click_beside])
    def test_what_is_said_stays_where_nothing_was_chosen(self, viewer, lines, mouse, let_go):  # noqa: F811
        show(viewer, BESIDE)
        said = status(lines)
        let_go(viewer, lines, mouse)
        finish(lines)
        assert said
        assert status(lines) == said
