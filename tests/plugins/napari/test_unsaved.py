"""Corrections that no file holds are lost only after a question, whatever it is that would lose them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import napari
import numpy as np
import pytest

from auctrack import read_session

from .conftest import PHYSICAL, finish, process_events, spots, wait
from .test_by_mouse import mouse  # noqa: F401 - a fixture
from .test_correcting import press, tracked  # noqa: F401 - a fixture
from .test_saving import name_the_file


@contextmanager
def answering(mouse, button: str) -> Iterator[list[str]]:  # noqa: F811
    """Click a button of the question whenever it comes; give what was asked."""
    from qtpy.QtCore import QTimer
    from qtpy.QtWidgets import QApplication, QMessageBox

    asked: list[str] = []

    def answer() -> None:
        box = QApplication.activeModalWidget()
        if isinstance(box, QMessageBox):
            asked.append(box.text())
            (found,) = (each for each in box.buttons() if each.text() == button)
            mouse.click(found)

    timer = QTimer()
    timer.timeout.connect(answer)
    timer.start(50)
    yield asked
    timer.stop()


@pytest.fixture
def corrected(viewer, tracked):  # noqa: F811
    """The widget with one correction."""
    correct(viewer, tracked)
    return tracked


def correct(viewer, widget) -> None:
    press(viewer, "n")
    finish(widget)
    press(viewer, "b")
    finish(widget)


def buttons(widget) -> dict[str, object]:
    parts = widget.parts
    return {"Run all": parts.bar.run_button, "Link": parts.link.run_button, "Detect": parts.detect.run_button}


def click(mouse, widget, name: str) -> None:  # noqa: F811
    button = buttons(widget)[name]
    for page in (widget.parts.link, widget.parts.detect):
        if page.isAncestorOf(button):
            widget.parts.steps.setCurrentWidget(page)
            process_events()
    mouse.click(button)
    finish(widget)


@pytest.mark.parametrize("name", ["Run all", "Link", "Detect"])
def test_a_run_asks_and_cancel_keeps_everything(corrected, mouse, name):  # noqa: F811
    before = corrected.parts.session.linked
    with answering(mouse, "Cancel") as asked:
        click(mouse, corrected, name)
    assert [text.count("1 correction") for text in asked] == [1]
    assert corrected.parts.session.linked is before
    assert corrected.parts.session.n_unsaved == corrected.parts.session.n_corrections == 1


def test_discard_runs_without_them_and_is_not_asked_twice(corrected, mouse):  # noqa: F811
    with answering(mouse, "Discard") as asked:
        click(mouse, corrected, "Run all")
        assert corrected.parts.session.n_corrections == 0
        click(mouse, corrected, "Run all")
    assert len(asked) == 1


def test_save_writes_a_session_and_runs_then(corrected, mouse, tmp_path):  # noqa: F811
    with answering(mouse, "Save…") as asked:
        name_the_file(tmp_path / "mine", kind="Session")
        click(mouse, corrected, "Run all")
    assert len(asked) == 1
    assert [act["act"] for act in read_session(tmp_path / "mine.auctrack").session.acts] == ["break_link"]
    assert corrected.parts.session.n_corrections == 0
    assert corrected.parts.session.is_complete


def test_where_saving_fails_nothing_is_lost(corrected, mouse, tmp_path, monkeypatch):  # noqa: F811
    (tmp_path / "no folder").write_text("")
    monkeypatch.setattr(corrected.taking_away, "ask_session", lambda: str(tmp_path / "no folder" / "x.auctrack"))
    with answering(mouse, "Save…"):
        click(mouse, corrected, "Run all")
    assert corrected.parts.bar.error.text()
    assert corrected.parts.session.n_unsaved == 1


def test_what_was_undone_back_to_the_file_is_saved(viewer, tracked, mouse, tmp_path):  # noqa: F811
    session = tracked.parts.session
    correct(viewer, tracked)
    press(viewer, "u")
    finish(tracked)
    assert session.n_unsaved == 0
    press(viewer, "Shift-u")
    finish(tracked)
    for file in ("mine.csv", "mine.auctrack"):
        correct(viewer, tracked)
        assert session.n_unsaved > 0
        tracked.taking_away.export(str(tmp_path / file))
        finish(tracked)
        assert session.n_unsaved == 0
    press(viewer, "u")
    finish(tracked)
    assert session.n_unsaved == 1  # the file has one that was taken back since
    press(viewer, "Shift-u")
    finish(tracked)
    with answering(mouse, "Cancel") as asked:
        click(mouse, tracked, "Run all")
    assert not asked


@pytest.mark.parametrize(("button", "chosen"), [("Cancel", "movie"), ("Discard", "other")])
def test_another_layer_asks_first(viewer, corrected, mouse, button, chosen):  # noqa: F811
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest

    viewer.add_image(spots(seed=1), name="other", **PHYSICAL)
    box, before = corrected.parts.input.layer_box, corrected.parts.session.corrections
    box.setFocus()
    with answering(mouse, button) as asked:
        QTest.keyClick(box, Qt.Key.Key_Down)
    finish(corrected)
    assert len(asked) == 1
    assert (box.currentText(), corrected.parts.input.layer.name) == (chosen, chosen)
    assert (corrected.parts.session.corrections is before) == (button == "Cancel")


@pytest.fixture
def without_input(viewer, corrected, mouse):  # noqa: F811
    """The widget after the layer that was tracked was thrown into the bin of the layer list."""
    viewer.layers.selection = {viewer.layers["movie"]}
    mouse.click(viewer.window._qt_viewer.layerButtons.deleteButton)
    finish(corrected)
    assert "movie" not in viewer.layers
    return corrected


def test_corrections_outlive_the_layer_that_was_tracked_and_are_saved(viewer, without_input, tmp_path):
    session, drawn = without_input.parts.session, viewer.layers["tracks of movie"].data
    assert session.n_unsaved == session.n_corrections == 1
    assert "deleted" in without_input.parts.input.problem.text()
    correct(viewer, without_input)
    assert session.n_corrections == 2
    assert len(viewer.layers["tracks of movie"].data) == len(drawn)
    assert not np.array_equal(viewer.layers["tracks of movie"].data, drawn)
    press(viewer, "u")
    finish(without_input)
    np.testing.assert_array_equal(viewer.layers["tracks of movie"].data, drawn)
    without_input.taking_away.export(str(tmp_path / "mine.auctrack"))
    finish(without_input)
    assert len(read_session(tmp_path / "mine.auctrack").session.acts) == session.n_corrections == 1
    viewer.add_image(spots(seed=1), name="other", **PHYSICAL)
    finish(without_input)
    assert session.n_corrections == 1  # they stay, though they are saved


@pytest.mark.parametrize(("button", "chosen"), [("Cancel", "movie (deleted)"), ("Discard", "movie")])
def test_a_layer_instead_of_the_deleted_one_is_chosen_and_asks_first(viewer, without_input, mouse, button, chosen):  # noqa: F811
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest

    viewer.add_image(spots(seed=1), name="movie", **PHYSICAL)
    parts = without_input.parts
    parts.input.layer_box.setFocus()
    with answering(mouse, button) as asked:
        QTest.keyClick(parts.input.layer_box, Qt.Key.Key_Up)
    finish(without_input)
    assert len(asked) == 1
    assert parts.input.layer_box.currentText() == chosen
    assert (parts.input.layer is viewer.layers["movie"]) == (button == "Discard")
    assert parts.session.n_corrections == (button == "Cancel")
    listed = [parts.input.layer_box.itemText(k) for k in range(parts.input.layer_box.count())]
    is_kept = parts.session.n_corrections > 0
    assert listed == ["movie", "movie (deleted)" if is_kept else "tracks of movie"]  # which are nobody's now
    assert bool(parts.input.problem.text()) == is_kept


@pytest.mark.parametrize("button", ["Cancel", "Discard"])
@pytest.mark.parametrize("field", ["voxel size", "last frame"])
def test_another_calibration_or_part_asks_first(viewer, corrected, mouse, field, button):  # noqa: F811
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest

    panel = corrected.parts.input
    corrected.parts.steps.setCurrentWidget(corrected.parts.link)  # which shows all rows of the input
    process_events()
    box = panel.sizes[0] if field == "voxel size" else panel.part.last
    before = box.value()
    box.setFocus()
    with answering(mouse, button) as asked:
        QTest.keyClick(box, Qt.Key.Key_Down)
    finish(corrected)
    assert len(asked) == 1
    assert (box.value() == before) == (button == "Cancel")
    assert corrected.parts.session.n_corrections == (button == "Cancel")
    assert (viewer.layers["movie"].scale[1] == 1) == (button == "Cancel" or field != "voxel size")


def test_other_corrections_from_a_file_ask_first(corrected, mouse):  # noqa: F811
    with answering(mouse, "Cancel") as asked:
        mouse.click(corrected.parts.results.open_button)
    assert len(asked) == 1


def test_scripts_are_not_asked(corrected):
    corrected.running.run_all()
    finish(corrected)
    assert corrected.parts.session.n_corrections == 0


@pytest.mark.parametrize("button", ["Cancel", "Discard"])
@pytest.mark.parametrize("floats", [False, True])
def test_closing_the_dock_asks_first(viewer, corrected, mouse, button, floats):  # noqa: F811
    from qtpy.QtWidgets import QPushButton

    dock = corrected.parent()
    dock.setFloating(floats)
    process_events()
    (close,) = dock.titleBarWidget().findChildren(QPushButton, "QTitleBarCloseButton")
    with answering(mouse, button) as asked:
        mouse.click(close)
    process_events()
    assert len(asked) == 1
    assert (corrected.parent() is None) == (button == "Discard")
    assert ("N" in {str(key) for key in viewer.keymap}) == (button == "Cancel")


def close_by_its_frame(window, mouse) -> None:  # noqa: F811
    """Close the window as the button does that the window manager draws."""
    del mouse
    window.windowHandle().close()


def close_by_menu(window, mouse) -> None:  # noqa: F811
    window.activateWindow()
    wait(window.isActiveWindow)
    mouse.choose(window.menuBar(), "File", "Close Window")


@pytest.fixture
def own(display):  # noqa: ARG001 - a viewer wants a display
    """A viewer that is there to be closed, with one correction."""
    from napari.settings import get_settings

    get_settings().application.confirm_close_window = False  # napari's own question
    viewer = napari.Viewer(show=True)
    viewer.add_image(spots(), name="movie", **PHYSICAL)
    _, widget = viewer.window.add_plugin_dock_widget("auctrack", "Track particles")
    finish(widget)
    widget.running.run_all()
    finish(widget)
    viewer.window._qt_window.activateWindow()
    correct(viewer, widget)
    yield viewer, widget
    get_settings().application.confirm_close_window = True


@pytest.mark.parametrize("way", [close_by_its_frame, close_by_menu])
def test_closing_the_window_asks_first(own, mouse, tmp_path, way):  # noqa: F811
    viewer, widget = own
    window, path = viewer.window._qt_window, tmp_path / "mine.auctrack"
    closed: list[bool] = []
    window.destroyed.connect(lambda: closed.append(True))
    with answering(mouse, "Cancel") as asked:
        way(window, mouse)
        wait(lambda: bool(asked))
        finish(widget)
    assert window.isVisible()
    assert not closed
    np.testing.assert_array_equal(viewer.layers["movie"].data, spots())
    widget.taking_away.ask_session = lambda: str(path)
    with answering(mouse, "Save…"):
        way(window, mouse)
        wait(lambda: bool(closed))
    assert len(read_session(path).session.acts) == 1


def test_closing_the_window_asks_first_though_all_layers_are_binned(own, mouse):  # noqa: F811
    from qtpy.QtWidgets import QPushButton

    viewer, widget = own
    window = viewer.window._qt_window
    closed: list[bool] = []
    window.destroyed.connect(lambda: closed.append(True))
    (bin_,) = [button for button in window.findChildren(QPushButton) if button.property("mode") == "delete_button"]
    while viewer.layers:
        viewer.layers.selection.active = viewer.layers[-1]
        mouse.click(bin_)
        finish(widget)
    with answering(mouse, "Cancel") as asked:
        close_by_its_frame(window, mouse)
        wait(lambda: bool(asked))
        finish(widget)
    assert window.isVisible()
    assert widget.parts.session.n_unsaved == 1
    with answering(mouse, "Discard"):
        close_by_its_frame(window, mouse)
        wait(lambda: bool(closed))


def test_closing_the_window_discards_what_the_user_discards(own, mouse):  # noqa: F811
    viewer, _ = own
    closed: list[bool] = []
    viewer.window._qt_window.destroyed.connect(lambda: closed.append(True))
    with answering(mouse, "Discard") as asked:
        close_by_its_frame(viewer.window._qt_window, mouse)
        wait(lambda: bool(closed))
    assert len(asked) == 1


@pytest.mark.parametrize("has_help", [False, True])
def test_closing_the_viewer_by_a_script_asks_nothing(own, has_help):
    viewer, widget = own
    widget.parts.results.help_button.setChecked(has_help)
    viewer.close()
    process_events()
