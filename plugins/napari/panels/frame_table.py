"""A table view over a DataFrame: nothing is copied, so that a million rows show at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from qtpy.QtCore import QAbstractTableModel, QModelIndex, Qt, Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtGui import QKeySequence, QShortcut  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import QAbstractItemView, QTableView


@dataclass(frozen=True)
class Head:
    """What stands above a column, and what it says when the mouse rests on it."""

    title: str
    tip: str = ""


_NO_HEADS: Mapping[str, Head] = {}


class FrameTable(QTableView):
    """Signals: `chosen(row)`, the row's position in the DataFrame whatever the table is sorted by."""

    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._rows = _Rows()
        self.setModel(self._rows)
        self.setSortingEnabled(True)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setMinimumHeight(160)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(20)
        self.selectionModel().currentRowChanged.connect(self._choose)

    def add_key(self, key: str, act: Callable[[], object]) -> None:
        """Bind a key, as napari writes it ("Shift-N"), while the table has the focus: else it would search for it."""
        shortcut = QShortcut(QKeySequence(key.upper().replace("-", "+")), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(lambda: act())

    def show_frame(self, frame: pd.DataFrame, heads: Mapping[str, Head] = _NO_HEADS) -> None:
        """Show a DataFrame, in its own order; a column without a head shows its name."""
        self.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self._rows.replace(frame, heads)
        for column in range(frame.shape[1]):
            self.setColumnWidth(column, self._width(column))

    def show_values(self, column: str, values: np.ndarray) -> None:
        """Show other values in a column; order and selection stay."""
        self._rows.change(column, values)

    def _width(self, column: int) -> int:
        """Return the width at which the title and the words of a column can be read."""
        metrics = self.fontMetrics()
        title = str(self._rows.headerData(column, Qt.Orientation.Horizontal))
        widest = max((metrics.horizontalAdvance(word) for word in self._rows.words(column)), default=0)
        return max(28, metrics.horizontalAdvance(title) + 22, widest + 14)

    @property
    def count(self) -> int:
        """Number of rows."""
        return self._rows.rowCount()

    @property
    def position(self) -> int | None:
        """Position in the DataFrame of the row that is chosen; None where none is."""
        current = self.currentIndex()
        return self._rows.position(current.row()) if current.isValid() else None

    def step(self, by: int) -> None:
        """Choose the row so many further on from the current one."""
        if self.count:
            current = self.currentIndex().row()
            self.selectRow(min(max(current + by, 0), self.count - 1))

    def _choose(self, current: QModelIndex, before: QModelIndex) -> None:
        del before
        if current.isValid():
            self.chosen.emit(self._rows.position(current.row()))


class _Rows(QAbstractTableModel):
    def __init__(self) -> None:
        super().__init__()
        self._frame = pd.DataFrame()
        self._heads: Mapping[str, Head] = _NO_HEADS
        self._order = np.arange(0)

    def replace(self, frame: pd.DataFrame, heads: Mapping[str, Head]) -> None:
        self.beginResetModel()
        self._frame, self._heads, self._order = frame, heads, np.arange(len(frame))
        self.endResetModel()

    def change(self, column: str, values: np.ndarray) -> None:
        self._frame = self._frame.assign(**{column: values})
        at = [*self._frame.columns].index(column)
        self.dataChanged.emit(self.index(0, at), self.index(self.rowCount() - 1, at))

    def position(self, row: int) -> int:
        return int(self._order[row])

    def words(self, column: int) -> list[str]:
        """Return what a column says, each once; of numbers one that is as wide as they come."""
        values = self._frame.iloc[:, column]
        if pd.api.types.is_bool_dtype(values):
            return []
        if pd.api.types.is_numeric_dtype(values):
            return ["0.0000"]
        return values.astype(str).unique().tolist()

    def rowCount(self, parent: Any = None) -> int:  # noqa: N802 - Qt's name
        return 0 if parent is not None and parent.isValid() else len(self._order)

    def columnCount(self, parent: Any = None) -> int:  # noqa: N802 - Qt's name
        return 0 if parent is not None and parent.isValid() else self._frame.shape[1]

    def data(self, index: Any, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        value: Any = self._frame.iat[int(self._order[index.row()]), index.column()]  # noqa: PD009 - one cell
        if isinstance(value, (bool, np.bool_)):
            return "✓" if value else ""
        if isinstance(value, (float, np.floating)):
            return "–" if np.isnan(value) else f"{value:.4g}"
        return str(value)

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        name = str(self._frame.columns[section])
        head = self._heads.get(name, Head(name.replace("_", " ")))
        texts: dict[int, str] = {Qt.ItemDataRole.DisplayRole: head.title, Qt.ItemDataRole.ToolTipRole: head.tip}
        return texts.get(role)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        if 0 <= column < self._frame.shape[1]:
            self.layoutAboutToBeChanged.emit()
            values = self._frame.iloc[:, column]
            ascending = order == Qt.SortOrder.AscendingOrder
            ranks = values.reset_index(drop=True).sort_values(ascending=ascending, kind="stable", na_position="last")
            self._order = ranks.index.to_numpy()
            self.layoutChanged.emit()
