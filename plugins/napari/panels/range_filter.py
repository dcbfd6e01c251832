"""One filter: a histogram beside the least and the greatest value that are kept, dragged or typed."""

from __future__ import annotations

import math

import numpy as np
from qtpy.QtCore import Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from ..session.filters import Range
from .chart import Chart
from .number_field import number_in, refuse

OPEN: Range = (-math.inf, math.inf)


class RangeFilter(QWidget):
    """Signals: `moved()` when the range has become another one.

    Attributes
    ----------
    chart : Chart
    least, greatest : QLineEdit
        Empty where that end is open; the values that there are stand pale in them.
    range : (float, float)
        What the user asked for, infinite where an end is open, whatever values there are.
    """

    moved = Signal()

    def __init__(self, title: str) -> None:
        super().__init__()
        self.range = OPEN
        self._span: Range = (0.0, 0.0)
        self.chart = Chart(title, height=84)
        self.least = _field("Least value that is kept; empty: no limit.")
        self.greatest = _field("Greatest value that is kept; empty: no limit.")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.chart, 1)
        fields = QVBoxLayout()
        fields.addWidget(self.least)
        fields.addWidget(self.greatest)
        row.addLayout(fields)
        self.chart.moved.connect(self._drag)
        for field in (self.least, self.greatest):
            field.editingFinished.connect(self._type)

    def show_values(self, title: str, values: np.ndarray) -> None:
        """Show the values of new tracks; the range stays."""
        known = values[np.isfinite(values)]
        self._span = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
        low, high = self._span
        limits = min(max(low, self.range[0]), high), max(min(high, self.range[1]), low)
        self.chart.title = title
        self.chart.show_values(values, limits=limits)
        for field, value in ((self.least, low), (self.greatest, high)):
            field.setPlaceholderText(f"{value:.4g}")
        self._show_range()

    def set_range(self, wanted: Range) -> None:
        """Keep what lies in a range, as if it had been typed."""
        self.range = wanted
        low, high = self._span
        self.chart.set_limits([min(max(end, low), high) for end in wanted])
        self._show_range()
        self.moved.emit()

    def _drag(self, limits: list[float]) -> None:
        """Take limits that were dragged; one at the end of the values is open."""
        (low, high), (least, greatest) = limits, self._span
        self.range = (low if low > least else -math.inf, high if high < greatest else math.inf)
        self._show_range()
        self.moved.emit()

    def _type(self) -> None:
        """Take what was typed, the smaller number as the lower end."""
        fields = self.least, self.greatest
        if not any(field.isModified() for field in fields):
            return
        typed = [number_in(field.text()) if field.text() else end for field, end in zip(fields, OPEN, strict=True)]
        known = [number for number in typed if number is not None]
        if len(known) == len(fields):
            self.set_range((min(known), max(known)))
            return
        wrong = fields[typed.index(None)]
        refuse(wrong, wrong.text(), "a number; empty means no limit")
        self._show_range()

    def _show_range(self) -> None:
        for field, end in zip((self.least, self.greatest), self.range, strict=True):
            field.setText(f"{end:.6g}" if math.isfinite(end) else "")


def _field(tip: str) -> QLineEdit:
    field = QLineEdit()
    field.setToolTip(tip)
    field.setFixedWidth(62)
    return field
