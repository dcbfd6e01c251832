"""A small chart drawn by Qt itself: bars or lines, and upright limits that the user can drag.

It redraws in a millisecond, where a Matplotlib canvas takes 50, so that a drag stays smooth while a movie plays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from qtpy.QtCore import QPointF, QRectF, QSize, Qt, Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtGui import QColor, QFont, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from qtpy.QtWidgets import QSizePolicy, QWidget

from ..session.curves import Curve
from .axis_ticks import draw_tick, whole_ticks

_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 8, 16, 20
_LETTERS = 7  # for which there is room left of the area
_GRAB = 8  # pixels within which a limit is caught
_ROUNDING = 1e-9  # relative; of equal lengths worked out in different ways
_BINS = 60
_TICKS = 4
_ON_DARK = ("#4fa3ff", "#ffb03b", "#5fd38d", "#e0659a")
_ON_LIGHT = ("#1a66b8", "#a86200", "#1f7a45", "#a82f66")


def chart_colours(widget: QWidget) -> tuple[str, ...]:
    """Return the colours of lines, in their order, that are seen on the background of a widget."""
    ink = widget.palette().color(QPalette.ColorRole.WindowText)
    return _ON_DARK if ink.lightnessF() > 0.5 else _ON_LIGHT


class Chart(QWidget):
    """Bars or lines under a title.

    Signals: `moved(list of float)` while a limit is dragged.
    """

    moved = Signal(list)

    def __init__(self, title: str = "", height: int = 96) -> None:
        super().__init__()
        self.title = title
        self.limits: list[float] = []
        self._bars: tuple[np.ndarray, np.ndarray] | None = None
        self._lines: tuple[Curve, ...] = ()
        self._marks: list[tuple[float, str]] = []
        self._span = (0.0, 1.0)
        self._log = self._is_whole = False
        self._keeps_below = False
        self._held: int | None = None
        self._height = height
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumHeight(height)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the size that Qt lays out with."""
        return QSize(260, self._height)

    def show_values(
        self,
        values: np.ndarray,
        *,
        limits: Sequence[float] = (),
        marks: Sequence[tuple[float, str]] = (),
        log: bool = False,
        keeps_below: bool = False,
    ) -> None:
        """Show the histogram of some values (finite ones), with limits to drag and fixed marks.

        One limit keeps what is above it (or `keeps_below`), two keep what is between them; the rest is pale.
        """
        self._keeps_below = keeps_below
        known = values[np.isfinite(values)]
        self._log = log and bool((known > 0).any())
        if self._log:
            known = np.log10(known[known > 0])
        self._lines = ()
        self._marks = list(marks)
        self.limits = [float(limit) for limit in limits]
        if len(known) == 0:
            self._bars = None
        else:
            low, high = float(known.min()), float(known.max())
            beyond = [self._to_axis(x) for x in (*self.limits, *(mark for mark, _ in marks)) if math.isfinite(x)]
            low, high = min([low, *beyond]), max([high, *beyond])
            self._span, self._is_whole = _span(low, high), not self._log and _are_whole(known)
            counts, edges = np.histogram(known, bins=_BINS, range=self._span)
            self._bars = counts.astype(np.float64), edges
        self.update()

    def show_lines(self, title: str, lines: Sequence[Curve]) -> None:
        """Show lines over one axis."""
        self.title, self._lines, self._bars, self.limits, self._log = title, tuple(lines), None, [], False
        xs = np.concatenate([line.x for line in lines]) if lines else np.zeros(1)
        low, high = (float(xs.min()), float(xs.max())) if len(xs) else (0.0, 1.0)
        self._span, self._is_whole = _span(low, high), _are_whole(xs)
        self.update()

    def set_limits(self, limits: Sequence[float]) -> None:
        """Move the limits without telling anyone."""
        self.limits = [float(limit) for limit in limits]
        self.update()

    def clear(self) -> None:
        """Show nothing."""
        self._bars, self._lines, self._marks, self.limits = None, (), [], []
        self.update()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return self._bars is None and not self._lines

    # --- drawing -------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent | None) -> None:  # noqa: ARG002, N802 - Qt's name
        """Draw everything (called by Qt)."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ink = self.palette().color(QPalette.ColorRole.WindowText)
        font = QFont(self.font())
        font.setPointSizeF(max(font.pointSizeF() * 0.85, 7.0))
        painter.setFont(font)
        area = self._area()
        painter.setPen(ink)
        painter.drawText(QRectF(2, 0, self.width() - 4, _TOP), Qt.AlignmentFlag.AlignLeft, self.title)
        faint = QColor(ink)
        faint.setAlpha(90)
        painter.setPen(QPen(faint, 1))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        if self.is_empty:
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, "nothing to show yet")
        elif self._bars is not None:
            self._draw_bars(painter, area)
        else:
            self._draw_lines(painter, area, ink)
        if not self.is_empty:
            self._draw_ticks(painter, area, ink)
            self._draw_marks(painter, area, ink)
            self._draw_limits(painter, area)
        painter.end()

    def _draw_bars(self, painter: QPainter, area: QRectF) -> None:
        assert self._bars is not None  # called for bars only
        counts, edges = self._bars
        tallest = math.sqrt(counts.max()) or 1.0
        painter.setPen(Qt.PenStyle.NoPen)
        blue = chart_colours(self)[0]
        inside, outside = QColor(blue), QColor(blue)
        outside.setAlpha(80)
        for count, left, right in zip(counts, edges[:-1], edges[1:], strict=True):
            if count:
                x0, x1 = self._x_of_axis(left, area), self._x_of_axis(right, area)
                tall = area.height() * math.sqrt(count) / tallest  # the square root keeps rare values in sight
                painter.setBrush(inside if self._is_kept((left + right) / 2) else outside)
                painter.drawRect(QRectF(x0, area.bottom() - tall, max(x1 - x0 - 0.5, 0.5), tall))

    def _draw_lines(self, painter: QPainter, area: QRectF, ink: QColor) -> None:
        ys = np.concatenate([line.y[np.isfinite(line.y)] for line in self._lines] or [np.zeros(1)])
        low, high = (float(ys.min()), float(ys.max())) if len(ys) else (0.0, 1.0)
        low, high = (low, high) if high > low else (low - 0.5, high + 0.5)
        colours = chart_colours(self)
        for number, line in enumerate(self._lines):
            painter.setPen(QPen(QColor(colours[number % len(colours)]), 1.5))
            level = area.bottom() - (line.y - low) / (high - low) * area.height()
            dots = [QPointF(self._x_of_axis(float(x), area), float(y)) for x, y in zip(line.x, level, strict=True)]
            painter.drawPolyline(QPolygonF(dots))
            if len(self._lines) > 1:
                painter.drawText(QPointF(area.right() - 12 * (len(self._lines) - number), _TOP - 4), line.name)
        painter.setPen(ink)
        for value, y in ((high, area.top() + 8), (low, area.bottom())):
            box = QRectF(0, y - 8, _LEFT - 4, 12)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, level_text(value))

    def _draw_ticks(self, painter: QPainter, area: QRectF, ink: QColor) -> None:
        painter.setPen(ink)
        for position in self.ticks():
            value = 10**position if self._log else position
            text = f"{value:.0f}" if self._is_whole else f"{value:.3g}"
            draw_tick(painter, text, self._x_of_axis(float(position), area), area.bottom() + 3, 14, self.width())

    def _draw_marks(self, painter: QPainter, area: QRectF, ink: QColor) -> None:
        painter.setPen(QPen(ink, 1, Qt.PenStyle.DotLine))
        for value, name in self._marks:
            x = self._x(value, area)
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
            painter.drawText(QPointF(min(x + 3, area.right() - 60), area.top() + 8), name)

    def _draw_limits(self, painter: QPainter, area: QRectF) -> None:
        colour = QColor(chart_colours(self)[1])
        for limit in self.limits:
            x = self._x(limit, area)
            painter.setPen(QPen(colour, 2))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
            painter.setBrush(colour)
            painter.drawEllipse(QPointF(x, area.top() + 3), 3.5, 3.5)

    def ticks(self) -> np.ndarray:
        """Return where the axis has numbers: at whole ones where all values are, else evenly from end to end."""
        return whole_ticks(*self._span, _TICKS + 1) if self._is_whole else np.linspace(*self._span, _TICKS)

    # --- where things are ----------------------------------------------------------------------------------------

    def _area(self) -> QRectF:
        return QRectF(_LEFT, _TOP, max(self.width() - _LEFT - _RIGHT, 10), max(self.height() - _TOP - _BOTTOM, 10))

    def _to_axis(self, value: float) -> float:
        return math.log10(max(value, 1e-12)) if self._log else value

    def _x_of_axis(self, position: float, area: QRectF) -> float:
        low, high = self._span
        return area.left() + (position - low) / (high - low) * area.width()

    def _x(self, value: float, area: QRectF) -> float:
        return min(max(self._x_of_axis(self._to_axis(value), area), area.left()), area.right())

    def _value_at(self, x: float) -> float:
        area, (low, high) = self._area(), self._span
        share = min(max((x - area.left()) / area.width(), 0.0), 1.0)
        position = low + share * (high - low)
        return 10**position if self._log else position

    def _is_kept(self, position: float) -> bool:
        value = 10**position if self._log else position
        if len(self.limits) == 1:
            return (value <= self.limits[0]) == self._keeps_below
        return len(self.limits) != 2 or self.limits[0] <= value <= self.limits[1]

    # --- dragging ------------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        """Catch the limit nearest to the mouse."""
        if event is None or not self.limits or self.is_empty:
            return
        area, x = self._area(), event.position().x()
        distance = [abs(self._x(limit, area) - x) for limit in self.limits]
        nearest = int(np.argmin(distance))
        if distance[nearest] <= _GRAB or len(self.limits) == 1:
            self._held = nearest
            self._drag_to(x)

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        """Drag the limit that is held."""
        if event is not None and self._held is not None:
            self._drag_to(event.position().x())

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:  # noqa: ARG002, N802 - Qt's name
        """Let the limit go."""
        self._held = None

    def _drag_to(self, x: float) -> None:
        assert self._held is not None  # a limit is held
        value = self._value_at(x)
        if len(self.limits) == 2:
            other = self.limits[1 - self._held]
            value = min(value, other) if self._held == 0 else max(value, other)
        self.limits[self._held] = value
        self.update()
        self.moved.emit(list(self.limits))


def level_text(value: float) -> str:
    """Return a number as there is room for it beside the axis."""
    text = f"{value:.3g}"
    return text if len(text) <= _LETTERS else np.format_float_scientific(value, precision=1, exp_digits=1)


def _span(low: float, high: float) -> tuple[float, float]:
    """Return the ends of an axis; values that are equal but for rounding stand in its middle."""
    is_wide = high - low > _ROUNDING * max(abs(low), abs(high))
    return (low, high) if is_wide else (low - 0.5, high + 0.5)


def _are_whole(values: np.ndarray) -> bool:
    return bool((values == np.round(values)).all())
