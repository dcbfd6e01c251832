"""The table of tracks: columns of choice, many rows at a time, copied and saved as they are shown."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd
from qtpy.QtCore import Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from ..session.filters import MeasuredTracks
from .columns_button import ColumnsButton
from .frame_table import ColumnHead, FrameTable


class TrackTable(QWidget):
    """Signals: `chosen(ids)` of the tracks selected, `copy()`, `save()`."""

    chosen = Signal(list)
    copy = Signal()
    save = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._data: MeasuredTracks | None = None
        self._kept = pd.DataFrame()
        self.table = FrameTable(many=True)
        self.columns = ColumnsButton("Columns…", "What the table shows; these columns are copied and saved.")
        self.copy_button, self.save_button = QPushButton(), QPushButton()
        self.copy_button.setToolTip("Copy the rows for a spreadsheet; where several are selected, only those (Ctrl+C).")
        self.save_button.setToolTip("Write the rows as auctrack measure does; where several are selected, only those.")
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 4, 4, 4)
        column.addWidget(self.table)
        below = QHBoxLayout()
        for button in (self.columns, self.copy_button, self.save_button):
            below.addWidget(button)
        column.addLayout(below)
        self.table.chosen.connect(self._choose)
        self.table.add_copying(self.copy_button.click)
        self.columns.changed.connect(self._show_columns)
        self.copy_button.clicked.connect(self.copy)
        self.save_button.clicked.connect(self.save)
        self._name_buttons()

    def show_tracks(self, data: MeasuredTracks, kept: pd.DataFrame) -> None:
        """Show some rows of `data.measures`, none of them selected."""
        self._data, self._kept = data, kept
        titles = {name: data.title(name) for name in data.columns}
        self.columns.offer(titles, data.columns)
        heads = {name: ColumnHead(name.replace("_", " "), title) for name, title in titles.items()}
        self.table.show_frame(kept, heads)
        self._show_columns()
        self._name_buttons()

    def clear(self) -> None:
        """Show no tracks."""
        self._data, self._kept = None, pd.DataFrame()
        self.table.show_frame(self._kept)
        self._name_buttons()

    def mark(self, tracks: Collection[int]) -> None:
        """Select the rows of tracks without telling anyone."""
        if self._data is not None:
            self.table.mark(np.flatnonzero(self._kept["track_id"].isin([*tracks])).tolist())
        self._name_buttons()

    def shown(self) -> pd.DataFrame:
        """Return the rows as they stand, those selected where they are several, in the columns that are shown."""
        selected = self.table.positions
        rows = selected if len(selected) > 1 else self.table.order
        return self._kept.iloc[rows][[name for name in map(str, self._kept) if self._is_shown(name)]]

    def _is_shown(self, name: str) -> bool:
        return name == "track_id" or name in self.columns.chosen

    def _show_columns(self) -> None:
        for number, name in enumerate(self._kept):
            self.table.setColumnHidden(number, not self._is_shown(str(name)))

    def _choose(self, rows: list[int]) -> None:
        self._name_buttons()
        self.chosen.emit(self._kept["track_id"].to_numpy()[rows].tolist())

    def _name_buttons(self) -> None:
        """Say on the buttons which rows they take."""
        n = len(self.table.positions)
        what = f"{n:,} rows" if n > 1 else "table"
        self.copy_button.setText(f"Copy {what}")
        self.save_button.setText(f"Save {what}…")
        for button in (self.copy_button, self.save_button):
            button.setEnabled(self._data is not None)
