"""A table view over a DataFrame: nothing is copied, so that a million rows show at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from qtpy.QtCore import (
    QAbstractTableModel,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,  # pyright: ignore[reportPrivateImportUsage]
)
from qtpy.QtGui import QKeySequence, QShortcut  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import QAbstractItemView, QTableView


@dataclass(frozen=True)
class ColumnHead:
    """What stands above a column, and what it says when the mouse rests on it."""

    title: str
    tip: str = ""


_LEAST = 120  # pixels of height
_ASIDE = 10  # pixels beside the words of a column
_NO_HEADS: Mapping[str, ColumnHead] = {}


class FrameTable(QTableView):
    """Signals: `chosen(positions)`, those in the DataFrame of the rows selected, whatever the table is sorted by.

    Parameters
    ----------
    many : bool
        Whether more than one row can be selected at a time.
    digits : int
        With which fractions are shown.
    """

    chosen = Signal(list)

    def __init__(self, *, many: bool = False, digits: int = 4) -> None:
        super().__init__()
        self._rows = _Rows(digits)
        self.setModel(self._rows)
        self.setSortingEnabled(True)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        modes = QAbstractItemView.SelectionMode
        self.setSelectionMode(modes.ExtendedSelection if many else modes.SingleSelection)
        self.setMinimumHeight(_LEAST)
        self.horizontalHeader().setHighlightSections(False)  # bold titles are wider
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(20)
        self.selectionModel().selectionChanged.connect(self._choose)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the size asked for: the least, whatever room there is beyond is given (called by Qt)."""
        return QSize(super().sizeHint().width(), _LEAST)

    def add_copying(self, act: Callable[[], object]) -> None:
        """Have the key that copies do something while the table has the focus."""
        shortcut = QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(lambda: act())

    def show_frame(self, frame: pd.DataFrame, heads: Mapping[str, ColumnHead] = _NO_HEADS) -> None:
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
        title = str(self._rows.headerData(column, Qt.Orientation.Horizontal))
        words = [*title.split("\n"), *self._rows.words(column)]
        return max(map(self.fontMetrics().horizontalAdvance, words)) + _ASIDE

    @property
    def count(self) -> int:
        """Number of rows."""
        return self._rows.rowCount()

    @property
    def position(self) -> int | None:
        """Position in the DataFrame of the row that is chosen; None where none is."""
        current = self.currentIndex()
        return self._rows.position(current.row()) if current.isValid() else None

    @property
    def positions(self) -> list[int]:
        """Positions in the DataFrame of the rows that are selected, from the top down."""
        return self.order[sorted(index.row() for index in self.selectionModel().selectedRows())].tolist()

    @property
    def order(self) -> np.ndarray:
        """Positions in the DataFrame of all rows, from the top down, int64 (rows,)."""
        return self._rows.order

    def mark(self, positions: Sequence[int]) -> None:
        """Select the rows of positions in the DataFrame, and no other, without telling anyone."""
        if set(positions) == set(self.positions):
            return
        rows = self._rows.rows(positions)
        chosen = QItemSelection()
        for row in rows:
            chosen.select(self._rows.index(row, 0), self._rows.index(row, self._rows.columnCount() - 1))
        with QSignalBlocker(self):
            first = self._rows.index(rows[0], 0) if rows else QModelIndex()
            self.selectionModel().setCurrentIndex(first, QItemSelectionModel.SelectionFlag.NoUpdate)
            self.selectionModel().select(chosen, QItemSelectionModel.SelectionFlag.ClearAndSelect)
            self.scrollTo(first)

    def choose(self, position: int) -> None:
        """Choose the row of a position in the DataFrame, and tell of it."""
        self.selectRow(self._rows.rows([position])[0])

    def step(self, by: int) -> None:
        """Choose the row so many further on from the current one."""
        if self.count:
            current = self.currentIndex().row()
            self.selectRow(min(max(current + by, 0), self.count - 1))

    def _choose(self, *changed: object) -> None:
        del changed
        positions = self.positions
        if positions:
            self.chosen.emit(positions)


_MOST_ZEROS = 3  # with more, a number is written with an exponent


def _zeros_below_one(values: np.ndarray) -> int:
    """Return how many zeros stand between the point and the first digit of the smallest number; one or more."""
    sizes = np.abs(values[np.isfinite(values) & (values != 0)])
    return int(np.clip(-np.floor(np.log10(sizes.min(initial=0.1))) - 1, 1, _MOST_ZEROS))


class _Rows(QAbstractTableModel):
    def __init__(self, digits: int) -> None:
        super().__init__()
        self._digits = digits
        self._frame = pd.DataFrame()
        self._heads: Mapping[str, ColumnHead] = _NO_HEADS
        self.order = np.arange(0)

    def replace(self, frame: pd.DataFrame, heads: Mapping[str, ColumnHead]) -> None:
        self.beginResetModel()
        self._frame, self._heads, self.order = frame, heads, np.arange(len(frame))
        self.endResetModel()

    def change(self, column: str, values: np.ndarray) -> None:
        self._frame = self._frame.assign(**{column: values})
        at = [*self._frame.columns].index(column)
        self.dataChanged.emit(self.index(0, at), self.index(self.rowCount() - 1, at))

    def position(self, row: int) -> int:
        return int(self.order[row])

    def rows(self, positions: Sequence[int]) -> list[int]:
        return np.flatnonzero(np.isin(self.order, positions)).tolist()

    def words(self, column: int) -> list[str]:
        """Return what a column says, each once; of numbers those that are as wide as they come."""
        values = self._frame.iloc[:, column]
        if pd.api.types.is_bool_dtype(values):
            return []
        if pd.api.types.is_integer_dtype(values):
            return [str(values.min()), str(values.max())] if len(values) else []
        if pd.api.types.is_numeric_dtype(values):
            return [f"0.{'0' * _zeros_below_one(values.to_numpy(np.float64))}{'0' * self._digits}"]
        return values.astype(str).unique().tolist()

    def rowCount(self, parent: Any = None) -> int:  # noqa: N802 - Qt's name
        return 0 if parent is not None and parent.isValid() else len(self.order)

    def columnCount(self, parent: Any = None) -> int:  # noqa: N802 - Qt's name
        return 0 if parent is not None and parent.isValid() else self._frame.shape[1]

    def data(self, index: Any, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        value: Any = self._frame.iat[int(self.order[index.row()]), index.column()]  # noqa: PD009 - one cell
        if isinstance(value, (bool, np.bool_)):
            return "•" if value else ""
        if isinstance(value, (float, np.floating)):
            return f"{value:.{self._digits}g}" if np.isfinite(value) else "–"
        return str(value)

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        name = str(self._frame.columns[section])
        head = self._heads.get(name, ColumnHead(name.replace("_", " ")))
        title = head.title.replace(" (", "\n(")  # units stand below
        texts: dict[int, str] = {Qt.ItemDataRole.DisplayRole: title, Qt.ItemDataRole.ToolTipRole: head.tip}
        return texts.get(role)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        if 0 <= column < self._frame.shape[1]:
            self.layoutAboutToBeChanged.emit()
            before, kept = self.order, self.persistentIndexList()
            values = self._frame.iloc[:, column]
            ascending = order == Qt.SortOrder.AscendingOrder
            ranks = values.reset_index(drop=True).sort_values(ascending=ascending, kind="stable", na_position="last")
            self.order = ranks.index.to_numpy()
            row_of = np.argsort(self.order)
            moved = [self.index(int(row_of[before[index.row()]]), index.column()) for index in kept]
            self.changePersistentIndexList(kept, moved)  # what was selected stays selected
            self.layoutChanged.emit()
