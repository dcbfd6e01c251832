"""Saving by the mouse: the ending belongs to the name before it is asked whether a file may be replaced."""

from __future__ import annotations

from pathlib import Path

import pytest
import tifffile

from auctrack.tracker.formats.registry import WRITTEN, to_write
from auctrack.tracker.formats.tables import read_tracks

from .conftest import finish
from .test_by_mouse import later, mouse, tracked  # noqa: F401 - fixtures
from .test_lineage import open_tab


def name_the_file(path, *, kind: str = "CSV") -> None:
    """Choose a kind of file in Qt's own dialog, fill in a name and press Save."""
    from qtpy.QtCore import Qt
    from qtpy.QtWidgets import QApplication, QComboBox, QDialogButtonBox, QFileDialog, QLineEdit

    QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs, True)

    def answer() -> bool:
        dialog = QApplication.activeModalWidget()
        if not isinstance(dialog, QFileDialog):
            return False
        kinds = dialog.findChild(QComboBox, "fileTypeCombo")
        kinds.setCurrentIndex(next(k for k in range(kinds.count()) if kinds.itemText(k).startswith(kind)))
        name = dialog.findChild(QLineEdit, "fileNameEdit")
        name.setText(str(path))  # keys would open Qt's list of like names, which may hold the dialog
        dialog.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Save).click()
        return not dialog.isVisible()

    later(answer)


def answer_the_question(key: str, asked: list[str], then=lambda: None) -> None:
    """Press the key of a button of the message box that comes, and note what it asks."""
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest
    from qtpy.QtWidgets import QApplication, QMessageBox

    def answer() -> bool:
        box = QApplication.activeModalWidget()
        if not isinstance(box, QMessageBox):
            return False
        asked.append(box.text())
        then()
        button = box.button(getattr(QMessageBox.StandardButton, key))
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        return True

    later(answer)


@pytest.fixture
def press(tracked, mouse):  # noqa: F811
    """Return what presses Export… or Save table…."""

    def it(name: str) -> None:
        results = tracked.parts.results
        if name == "export":
            mouse.click(results.export_button)
        else:
            open_tab(results, "Tracks")
            mouse.click(results.tracks.save_button)
        finish(tracked)

    return it


@pytest.mark.parametrize(
    ("typed", "kind", "written"),
    [
        ("mine.csv", "CSV", "mine.csv"),
        ("MINE.CSV", "Parquet", "MINE.CSV"),
        ("mine", "CSV", "mine.csv"),
        ("mine", "Parquet", "mine.parquet"),
        ("mine", "napari CSV", "mine.napari.csv"),
        ("25.11.2026", "CSV", "25.11.2026.csv"),
        ("mine.xml", "CSV", "mine.xml"),
        ("mine.isbi.xml", "CSV", "mine.isbi.xml"),
        ("mine.motile.csv", "CSV", "mine.motile.csv"),
        ("mine", "TrackMate", "mine.xml"),
    ],
)
def test_export_asks_for_a_file_and_writes_what_its_name_says(tracked, press, tmp_path, typed, kind, written):  # noqa: F811
    name_the_file(tmp_path / typed, kind=kind)
    press("export")
    assert f"tracks to {tmp_path / written}." in tracked.parts.bar.status.text()
    assert len(read_tracks(tmp_path / written)) == len(tracked.parts.session.data.tracks)


def test_a_folder_of_label_images_is_as_large_as_the_movie(tracked, press, tmp_path):  # noqa: F811
    name_the_file(tmp_path / "01_RES", kind="CSV")
    press("export")
    assert "exact positions" in tracked.parts.bar.status.text()  # which such a folder cannot hold
    (first, *_) = sorted((tmp_path / "01_RES").glob("*.tif"))
    assert tifffile.imread(first).shape == tracked.parts.input.layer.data.shape[1:]


@pytest.mark.usefixtures("display")
def test_every_format_that_is_written_is_offered():
    from auctrack.plugins.napari.actions.taking_away import KINDS

    assert {to_write(Path(f"a{ending}"), None).name for ending in KINDS.values() if ending != ".auctrack"} == {*WRITTEN}


@pytest.mark.parametrize(("button", "typed"), [("export", "keep"), ("export", "keep.csv"), ("table", "keep")])
def test_no_file_is_replaced_unasked(press, tmp_path, button, typed):
    keep, asked = tmp_path / "keep.csv", []
    keep.write_text("my precious file")

    def cancel_the_dialog() -> None:
        name_the_file(tmp_path / "other")

    name_the_file(tmp_path / typed)
    answer_the_question("No", asked, then=cancel_the_dialog)
    press(button)
    assert [str(keep) in text for text in asked] == [True]
    assert keep.read_text() == "my precious file"
    assert (tmp_path / "other.csv").is_file()
    name_the_file(tmp_path / typed)
    answer_the_question("Yes", asked)
    press(button)
    assert len(asked) == 2
    assert keep.read_text() == (tmp_path / "other.csv").read_text()
