"""A button whose menu says which columns are shown."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from qtpy.QtCore import Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import QMenu, QPushButton


class ColumnsButton(QPushButton):
    """Signals: `changed()` when a column was ticked or unticked; that stays for all tables to come."""

    changed = Signal()

    def __init__(self, text: str, tip: str) -> None:
        super().__init__(text)
        self.setToolTip(tip)
        self._choices: dict[str, bool] = {}
        self._chosen: tuple[str, ...] = ()
        self._menu = QMenu(self)
        self.setMenu(self._menu)

    @property
    def chosen(self) -> tuple[str, ...]:
        """Names of the columns that are ticked."""
        return self._chosen

    def offer(self, titles: Mapping[str, str], ticked: Collection[str]) -> None:
        """Offer columns, name to title; `ticked` are those that are shown until the user says otherwise."""
        self._menu.clear()
        for name, title in titles.items():
            action = self._menu.addAction(title)
            assert action is not None  # Qt's annotation allows None, and its code makes one
            action.setCheckable(True)
            action.setChecked(self._choices.get(name, name in ticked))
            action.toggled.connect(lambda on, name=name: self._choose(name, on))
        self._chosen = tuple(name for name in titles if self._choices.get(name, name in ticked))

    def _choose(self, name: str, on: bool) -> None:
        self._choices[name] = on
        if on:
            self._chosen = (*self._chosen, name)
        else:
            self._chosen = tuple(other for other in self._chosen if other != name)
        self.changed.emit()
