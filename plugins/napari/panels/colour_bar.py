"""What the colours of the tracks stand for: a bar with its numbers and their unit."""

from __future__ import annotations

import numpy as np
from qtpy.QtCore import QPointF, QRectF, Qt
from qtpy.QtGui import QColor, QLinearGradient, QPainter, QPaintEvent, QPalette
from qtpy.QtWidgets import QSizePolicy, QWidget

from ..draw.colours import COLOUR_OF_MISSING, Colouring, colormap_for

_TITLE, _BAR, _NUMBERS, _SWATCH = 17, 12, 17, 60  # pixels: heights, and the width for what has no value
_STOPS = 16


class ColourBar(QWidget):
    """A bar from the least to the greatest colour under its title, hidden where colours stand for no numbers.

    Attributes
    ----------
    title : str
        Name and unit.
    numbers : tuple of str
        Those at the left end, in the middle, and at the right end.
    """

    def __init__(self) -> None:
        super().__init__()
        self.title = ""
        self.numbers = ("", "", "")
        self._colours = np.empty((0, 4))
        self._has_missing = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(_TITLE + _BAR + _NUMBERS)
        self.hide()

    def show_colours(self, feature: str, title: str, colouring: Colouring) -> None:
        """Show what the colours of a feature mean; numbers at which others lie beyond say so."""
        self.setVisible(colouring.limits is not None)
        if colouring.limits is None:
            return
        low, high = colouring.limits
        below, above = colouring.is_beyond
        self.title = title
        self.numbers = (f"{'≤ ' * below}{low:.4g}", f"{(low + high) / 2:.4g}", f"{'≥ ' * above}{high:.4g}")
        self._colours = np.asarray(colormap_for(feature).map(np.linspace(0, 1, _STOPS)))
        self._has_missing = colouring.n_missing > 0
        self.update()

    def paintEvent(self, event: QPaintEvent | None) -> None:  # noqa: ARG002, N802 - Qt's name
        """Draw everything (called by Qt)."""
        painter = QPainter(self)
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        wide = self.width() - (_SWATCH + 8 if self._has_missing else 0)
        bar = QRectF(0, _TITLE, wide, _BAR)
        numbers = QRectF(0, bar.bottom(), wide, _NUMBERS)
        painter.drawText(QRectF(0, 0, self.width(), _TITLE), Qt.AlignmentFlag.AlignLeft, self.title)
        sides = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignHCenter, Qt.AlignmentFlag.AlignRight
        for side, number in zip(sides, self.numbers, strict=True):
            painter.drawText(numbers, side | Qt.AlignmentFlag.AlignBottom, number)
        painter.fillRect(bar, self._gradient(wide))
        if self._has_missing:
            swatch = QRectF(wide + 8, _TITLE, _SWATCH, _BAR)
            painter.fillRect(swatch, QColor.fromRgbF(*COLOUR_OF_MISSING))
            painter.drawText(swatch.translated(0, _BAR + 4), Qt.AlignmentFlag.AlignHCenter, "no value")
        painter.end()

    def _gradient(self, wide: float) -> QLinearGradient:
        gradient = QLinearGradient(QPointF(0, 0), QPointF(wide, 0))
        for place, colour in zip(np.linspace(0, 1, _STOPS), self._colours, strict=True):
            gradient.setColorAt(float(place), QColor.fromRgbF(*map(float, colour)))
        return gradient
