"""The question which column of a table is which, where its names are not recognised."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from qtpy.QtWidgets import QComboBox, QDialog, QDialogButtonBox, QFormLayout, QLabel, QWidget

from ....tracker.errors import UnknownColumns

_ROLES = {"frame": "Frame", "z": "z", "y": "y", "x": "x", "track_id": "Track"}
_NEEDED = ("frame", "y", "x")
_NONE = "(none)"


class ColumnsDialog(QDialog):
    """Asks for a column for each of frame, z, y, x and track, with those chosen that have such names.

    Parameters
    ----------
    name : str
        Of the table.
    unknown : UnknownColumns
        What its columns are called.
    parent : QWidget or None
    """

    def __init__(self, name: str, unknown: UnknownColumns, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Columns of a table (auctrack)")
        self.boxes = {role: QComboBox() for role in _ROLES}
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Open | QDialogButtonBox.StandardButton.Cancel, parent=self
        )
        form = QFormLayout(self)
        said = QLabel(f"{name} has columns that are not recognised. Which of them is which? A table without z is 2D.")
        said.setWordWrap(True)
        form.addRow(said)
        for role, box in self.boxes.items():
            box.addItems([_NONE, *unknown.has])
            box.setCurrentText(unknown.likely.get(role, _NONE))
            box.currentIndexChanged.connect(self._check)
            form.addRow(_ROLES[role], box)
        form.addRow(self.buttons)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self._check()

    @property
    def columns(self) -> dict[str, str]:
        """The table's name for each of frame, z, y, x and track_id that it has."""
        return {role: box.currentText() for role, box in self.boxes.items() if box.currentIndex() > 0}

    def _check(self, value: object = None) -> None:
        """Offer to open the table once the columns needed are chosen, each for one thing."""
        del value
        columns = self.columns
        is_whole = all(role in columns for role in _NEEDED) and len({*columns.values()}) == len(columns)
        button = self.buttons.button(QDialogButtonBox.StandardButton.Open)
        assert button is not None  # it is one of the two asked for
        button.setEnabled(is_whole)


def ask_columns(path: str, unknown: UnknownColumns, parent: QWidget | None) -> Mapping[str, str] | None:
    """Ask which column is which; None where the user does not say."""
    dialog = ColumnsDialog(Path(path).name, unknown, parent)
    return dialog.columns if dialog.exec() else None
