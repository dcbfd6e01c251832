"""Where an axis that Qt draws has its numbers, and how they are written below or above it."""

from __future__ import annotations

import numpy as np
from qtpy.QtCore import QRectF, Qt
from qtpy.QtGui import QPainter


def whole_ticks(low: float, high: float, most: int) -> np.ndarray:
    """Return whole numbers from `low` to `high`, evenly apart (1, 2 or 5 times a power of ten), `most` at most."""
    tens = 10.0 ** np.arange(20)
    steps = np.ravel([tens, 2 * tens, 5 * tens], order="F")
    fit = np.floor(high / steps) - np.ceil(low / steps) < most
    step = steps[int(np.argmax(fit))]
    return step * np.arange(np.ceil(low / step), np.floor(high / step) + 1) + 0.0  # or what is -0 would be written so


def draw_tick(painter: QPainter, text: str, x: float, top: float, height: float, width: float) -> None:
    """Write a number centred at `x`, or as near to it as the width of the widget leaves room for."""
    wide = painter.fontMetrics().horizontalAdvance(text) + 2.0
    box = QRectF(min(max(x - wide / 2, 0.0), width - wide), top, wide, height)
    painter.drawText(box, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter, text)
