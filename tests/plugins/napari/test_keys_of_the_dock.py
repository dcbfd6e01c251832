"""Keys act wherever in the dock the focus is, once a press, and only while the dock is on the screen."""

from __future__ import annotations

import pytest

from .conftest import finish, process_events
from .test_correcting import chosen, links, press, tracked  # noqa: F401 - a fixture among them


def type_into(part, key: str) -> None:
    from qtpy.QtTest import QTest

    part.setFocus()
    process_events()
    assert part.hasFocus()
    QTest.keyClick(part, key)
    process_events()


@pytest.mark.parametrize("where", ["tracks", "suspicious", "lineage", "colour", "export"])
def test_keys_work_wherever_in_the_dock_the_focus_is(tracked, where):  # noqa: F811
    results = tracked.parts.results
    part = {
        "tracks": results.tracks.table,
        "suspicious": results.suspicious,
        "lineage": results.lineage,
        "colour": results.colour.feature,
        "export": results.export_button,
    }[where]
    page = next((page for page in map(results.tabs.widget, range(5)) if page.isAncestorOf(part)), results.doubtful)
    results.tabs.setCurrentWidget(page)
    process_events()
    type_into(part, "n")
    finish(tracked)
    link = chosen(tracked)
    results.tabs.setCurrentWidget(page)
    type_into(part, "b")
    finish(tracked)
    assert link not in links(tracked)
    assert tracked.parts.session.n_corrections == 1


def test_a_key_that_is_held_down_in_the_dock_acts_once(tracked):  # noqa: F811
    from qtpy.QtCore import QEvent, Qt
    from qtpy.QtGui import QKeyEvent
    from qtpy.QtWidgets import QApplication

    table = tracked.parts.results.tracks.table
    tracked.parts.results.tabs.setCurrentWidget(tracked.parts.results.tracks)
    type_into(table, "n")
    finish(tracked)
    type_into(table, "c")
    for _ in range(5):
        held = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_C, Qt.KeyboardModifier.NoModifier, "c", True)
        QApplication.sendEvent(table, held)
    finish(tracked)
    assert tracked.parts.session.n_corrections == 1


def test_letters_typed_into_a_field_stay_there(tracked):  # noqa: F811
    before = tracked.parts.results.suspicious.position
    tracked.parts.steps.setCurrentWidget(tracked.parts.link)
    process_events()
    type_into(tracked.parts.link.search_range, "n")
    finish(tracked)
    assert tracked.parts.results.suspicious.position == before


def test_keys_do_nothing_while_the_dock_is_hidden(viewer, tracked):  # noqa: F811
    press(viewer, "n")
    finish(tracked)
    dock = tracked.parent()
    dock.toggleViewAction().trigger()
    process_events()
    assert not tracked.isVisible()
    before, position = links(tracked), tracked.parts.results.suspicious.position
    for key in ("b", "n", "x"):
        press(viewer, key)
        finish(tracked)
    assert (links(tracked), tracked.parts.results.suspicious.position) == (before, position)
    assert "dock" in str(viewer.status)
    dock.toggleViewAction().trigger()
    process_events()
    press(viewer, "b")
    finish(tracked)
    assert tracked.parts.session.n_corrections == 1


def type_over(part, key: str) -> None:
    """Press a key while a list or a menu lies open over a part of the dock, which keeps the focus."""
    from qtpy.QtTest import QTest
    from qtpy.QtWidgets import QApplication

    assert QApplication.activePopupWidget() is not None
    QTest.keyClick(part, key)
    process_events()


def test_a_letter_in_an_open_list_looks_for_an_entry_and_corrects_nothing(viewer, tracked):  # noqa: F811
    from qtpy.QtTest import QTest
    from qtpy.QtWidgets import QApplication

    press(viewer, "n")
    finish(tracked)
    colour = tracked.parts.results.colour.feature
    before, shown = links(tracked), colour.currentText()
    colour.setFocus()
    colour.showPopup()
    process_events()
    for key in "bx":
        type_over(colour, key)
        QTest.qWait(QApplication.keyboardInputInterval() + 100)  # letters that follow sooner are one word
    assert colour.view().currentIndex().data() == "x (µm)"
    colour.hidePopup()
    finish(tracked)
    assert (links(tracked), tracked.parts.session.n_corrections, colour.currentText()) == (before, 0, shown)


def test_a_menu_takes_the_keys_that_stand_in_it_and_no_others(viewer, tracked):  # noqa: F811
    press(viewer, "n")
    finish(tracked)
    results, before = tracked.parts.results, links(tracked)
    menu = results.clicked_button.menu()
    results.clicked_button.setFocus()
    menu.popup(results.clicked_button.mapToGlobal(results.clicked_button.rect().bottomLeft()))
    process_events()
    type_over(results.clicked_button, "b")
    finish(tracked)
    assert links(tracked) == before
    assert menu.isVisible()
    type_over(results.clicked_button, "d")
    finish(tracked)
    assert "press D" in tracked.parts.bar.status.text()
    assert not menu.isVisible()
