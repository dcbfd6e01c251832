"""Where a file is saved: it has its whole name before the question whether another one may be replaced."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from qtpy.QtWidgets import QFileDialog, QMessageBox, QWidget

from ....tracker.suffixes import ends_in

_BUTTON = QMessageBox.StandardButton


def ask_where(parent: QWidget, title: str, path: str, kinds: Mapping[str, str], kind: str) -> str | None:
    """Ask for a path that is free, or whose file the user lets go; None where the user wants none.

    Parameters
    ----------
    parent : QWidget
    title : str
        Of the dialog.
    path : str
        What is proposed.
    kinds : mapping of str to str
        Names of the kinds of files, and how names of each end. A name that ends in none of them gets the ending of the
        kind chosen, before it is looked for: Qt's own question is about the name as it was typed.
    kind : str
        The kind that is proposed.
    """
    filters = {f"{name} (*{ending})": ending for name, ending in kinds.items()}
    chosen = f"{kind} (*{kinds[kind]})"
    unasked = QFileDialog.Option.DontConfirmOverwrite
    while True:
        typed, chosen = QFileDialog.getSaveFileName(parent, title, path, ";;".join(filters), chosen, options=unasked)
        if not typed:
            return None
        path = typed if ends_in(typed, *filters.values()) else typed + filters[chosen]
        if not Path(path).exists() or _may_replace(parent, title, path):
            return path


def _may_replace(parent: QWidget, title: str, path: str) -> bool:
    question = f"{path} already exists.\nDo you want to replace it?"
    return QMessageBox.warning(parent, title, question, _BUTTON.Yes | _BUTTON.No, _BUTTON.No) == _BUTTON.Yes
