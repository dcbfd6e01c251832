"""The question which images of a file are opened, where it holds very many, such as all fields of a plate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from qtpy.QtWidgets import QAbstractItemView, QDialog, QDialogButtonBox, QLabel, QListWidget, QVBoxLayout, QWidget


class SeriesDialog(QDialog):
    """Asks for one or several images by name, with the first one chosen.

    Parameters
    ----------
    name : str
        Of the file.
    names : sequence of str
        Of its images.
    parent : QWidget or None
    """

    def __init__(self, name: str, names: Sequence[str], parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Images of a file (auctrack)")
        said = QLabel(
            f"{name} holds {len(names)} images. Which are to be opened? Several are chosen with Ctrl or Shift; open "
            "the file again for more."
        )
        said.setWordWrap(True)
        self.list = QListWidget()
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.addItems([*names])
        self.list.setCurrentRow(0)
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Open | QDialogButtonBox.StandardButton.Cancel, parent=self
        )
        rows = QVBoxLayout(self)
        for each in (said, self.list, self.buttons):
            rows.addWidget(each)
        self.list.itemDoubleClicked.connect(self.accept)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)

    @property
    def chosen(self) -> list[int]:
        """The numbers of those that are chosen, in their order."""
        return sorted(index.row() for index in self.list.selectedIndexes())


def ask_series(path: str, names: Sequence[str], parent: QWidget | None) -> list[int]:
    """Ask which images are opened; none where the user does not say."""
    dialog = SeriesDialog(Path(path).name, names, parent)
    return dialog.chosen if dialog.exec() else []
