"""The track scheme: a line for each track over time, children joined to their parents; only what is seen is drawn."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import pandas as pd
from qtpy.QtCore import QPointF, QRectF, QSize, Qt, Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen, QResizeEvent, QShowEvent
from qtpy.QtWidgets import QAbstractScrollArea

from ....tracker.measuring.lineage_order import LineageOrder, order_lineages
from ..session.filters import MeasuredTracks
from .axis_ticks import draw_tick, whole_ticks
from .chart import chart_colours

_LINE, _TOP, _LEFT, _RIGHT = 14, 20, 52, 10  # pixels: of a track's line, and around all of them
_TICKS = 5
_LEAST = 120  # pixels of height
Colours = Callable[[np.ndarray], np.ndarray]
"""Colours, float64 (n, 4), of tracks by their ids, int64 (n,)."""


class LineageView(QAbstractScrollArea):
    """Time to the right, a line a track, lineages that last longest at the top.

    Signals: `chosen(track id, frame)` where a track's line is clicked or reached with the arrow keys,
    `frame_chosen(frame)` where the axis is clicked or dragged.
    """

    chosen = Signal(int, int)
    frame_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._measures = pd.DataFrame()
        self._data: MeasuredTracks | None = None
        self._order: LineageOrder | None = None
        self._marked: frozenset[int] = frozenset()
        self._current: int | None = None
        self._frame = 0
        self._span = 0, 1
        self._colours: Colours | None = None
        self._drags = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumHeight(_LEAST)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the size that Qt lays out with."""
        return QSize(260, _LEAST)

    # --- what is shown -------------------------------------------------------------------------------------------

    def show_tracks(self, data: MeasuredTracks, kept: pd.DataFrame) -> None:
        """Show the tracks of some rows of `data.measures`, none of them marked."""
        self._data, self._measures, self._order = data, kept, None
        self._marked, self._current = frozenset(), None
        if len(kept):
            first, last = int(data.measures["first_frame"].min()), int(data.measures["last_frame"].max())
            self._span = first, max(last, first + 1)
        self._set_range()
        self.viewport().update()

    def clear(self) -> None:
        """Show no tracks."""
        self._data, self._measures, self._order, self._colours = None, pd.DataFrame(), None, None
        self._set_range()
        self.viewport().update()

    def mark(self, tracks: Collection[int]) -> None:
        """Mark tracks, and scroll to the first of them."""
        self._marked = frozenset(tracks)
        self._current = next(iter(tracks), None)
        if self.isVisible():
            self._scroll_to_current()
        self.viewport().update()

    def show_frame(self, frame: int) -> None:
        """Draw the frame that the viewer shows."""
        if frame != self._frame:
            self._frame = frame
            self.viewport().update()

    def show_colours(self, colours: Colours) -> None:
        """Draw tracks in the colours that they have on the canvas."""
        self._colours = colours
        self.viewport().update()

    def line_of(self, track: int) -> int | None:
        """Return the line of a track, counted from the top; None where it is not shown."""
        if not len(self._measures):
            return None
        lines = np.flatnonzero(self._measures["track_id"].to_numpy()[self._ordered().rows] == track)
        return int(lines[0]) if len(lines) else None

    def place_of(self, line: int, frame: int) -> QPointF:
        """Return where a frame of a line is drawn."""
        return QPointF(self._x(frame), self._y(line))

    def _ordered(self) -> LineageOrder:
        """Return the order of the tracks, worked out when it is first needed: while the view is hidden it is not."""
        assert self._data is not None  # asked for where there are tracks
        if self._order is None:
            self._order = order_lineages(self._measures, self._data.tracks.parents)
        return self._order

    # --- drawing -------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent | None) -> None:  # noqa: ARG002, N802 - Qt's name
        """Draw the lines in sight (called by Qt)."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ink = self.palette().color(QPalette.ColorRole.WindowText)
        if len(self._measures):
            painter.save()
            painter.setClipRect(0, _TOP, self.viewport().width(), self.viewport().height())
            first, last = self._seen()
            shown = self._measures.iloc[self._ordered().rows[first:last]]
            self._draw_lines(painter, first, shown, ink)
            self._draw_joints(painter, first, last, ink)
            painter.restore()
            self._draw_axis(painter, ink)
        else:
            painter.setPen(ink)
            painter.drawText(self.viewport().rect(), Qt.AlignmentFlag.AlignCenter, "no tracks to show")
        painter.end()

    def _draw_lines(self, painter: QPainter, first: int, shown: pd.DataFrame, ink: QColor) -> None:
        ids = shown["track_id"].to_numpy()
        columns: Any = zip(ids, shown["first_frame"], shown["last_frame"], self._inks(ids, ink), strict=True)
        band = self.palette().color(QPalette.ColorRole.Highlight)
        for line, (track, begin, end, colour) in enumerate(columns, first):
            y, is_marked = self._y(line), track in self._marked
            if is_marked:
                painter.fillRect(QRectF(0, y - _LINE / 2, self.viewport().width(), _LINE), band)
            painter.setPen(ink)
            box = QRectF(0, y - _LINE / 2, _LEFT - 6, _LINE)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(track))
            painter.setPen(QPen(colour, 4 if is_marked else 2.5, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            painter.drawLine(QPointF(self._x(begin), y), QPointF(self._x(end) + 0.01, y))

    def _draw_joints(self, painter: QPainter, first: int, last: int, ink: QColor) -> None:
        """Draw the joints that pass through lines in sight: upright where the parent ends, then to the child."""
        order = self._ordered()
        joints = order.joints[(order.joints.max(axis=1) >= first) & (order.joints.min(axis=1) < last)]
        ends = self._measures["last_frame"].to_numpy()[order.rows[joints[:, 0]]]
        begins = self._measures["first_frame"].to_numpy()[order.rows[joints[:, 1]]]
        painter.setPen(QPen(ink, 1))
        for (parent, child), end, begin in zip(joints.tolist(), ends.tolist(), begins.tolist(), strict=True):
            corner = QPointF(self._x(end), self._y(child))
            painter.drawPolyline([self.place_of(parent, end), corner, self.place_of(child, begin)])

    def _draw_axis(self, painter: QPainter, ink: QColor) -> None:
        painter.setPen(ink)
        painter.drawText(QRectF(2, 0, _LEFT, _TOP), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, "frame")
        for frame in whole_ticks(*self._span, _TICKS):
            draw_tick(painter, f"{frame:.0f}", self._x(frame), 0, _TOP, self.viewport().width())
        x = self._x(self._frame)
        painter.setPen(QPen(QColor(chart_colours(self)[1]), 2))
        painter.drawLine(QPointF(x, _TOP - 4), QPointF(x, self.viewport().height()))

    def _inks(self, ids: np.ndarray, ink: QColor) -> list[QColor]:
        if self._colours is None:
            return [ink] * len(ids)
        return [QColor.fromRgbF(*map(float, colour)) for colour in self._colours(ids)]

    # --- where things are ----------------------------------------------------------------------------------------

    def _seen(self) -> tuple[int, int]:
        """Return the first line in sight, and the one after the last."""
        first = self.verticalScrollBar().value() // _LINE
        return first, min(first + self.viewport().height() // _LINE + 2, len(self._measures))

    def _x(self, frame: float) -> float:
        low, high = self._span
        share = min(max((frame - low) / (high - low), 0.0), 1.0)
        return _LEFT + share * (self.viewport().width() - _LEFT - _RIGHT)

    def _y(self, line: int) -> float:
        return _TOP + (line + 0.5) * _LINE - self.verticalScrollBar().value()

    def _frame_at(self, x: float) -> int:
        low, high = self._span
        share = (x - _LEFT) / max(self.viewport().width() - _LEFT - _RIGHT, 1)
        return round(low + min(max(share, 0.0), 1.0) * (high - low))

    def _is_current_in_sight(self, room: int) -> bool:
        line, above = self._current_line() if self.isVisible() else None, self.verticalScrollBar().value()
        return line is not None and above <= line * _LINE and (line + 1) * _LINE <= above + room

    def _current_line(self) -> int | None:
        return None if self._current is None else self.line_of(self._current)

    def _scroll_to_current(self) -> None:
        line = self._current_line()
        if line is not None:
            bar, room = self.verticalScrollBar(), self.viewport().height() - _TOP
            bar.setValue(min(max(bar.value(), (line + 1) * _LINE - room), line * _LINE))

    def _set_range(self) -> None:
        bar, room = self.verticalScrollBar(), self.viewport().height() - _TOP
        bar.setRange(0, max(len(self._measures) * _LINE - room, 0))
        bar.setPageStep(max(room, 1))
        bar.setSingleStep(_LINE)

    def showEvent(self, event: QShowEvent | None) -> None:  # noqa: N802 - Qt's name
        """Scroll to what was marked while the view was hidden (called by Qt)."""
        super().showEvent(event)  # pyright: ignore[reportArgumentType]
        self._scroll_to_current()

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        """Scroll as far as the lines reach, and keep what is marked in sight (called by Qt)."""
        super().resizeEvent(event)  # pyright: ignore[reportArgumentType]
        was_in_sight = event is not None and self._is_current_in_sight(event.oldSize().height() - _TOP)
        self._set_range()
        if was_in_sight:
            self._scroll_to_current()

    # --- what the user does --------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        """Choose the track of the line under the mouse, or a frame on the axis (called by Qt)."""
        if event is None or not len(self._measures):
            return
        at = event.position()
        self._drags = at.y() < _TOP
        if self._drags:
            self.frame_chosen.emit(self._frame_at(at.x()))
            return
        line = int(at.y() - _TOP + self.verticalScrollBar().value()) // _LINE
        if line < len(self._measures):
            self._choose(line, self._frame_at(at.x()))

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        """Choose a frame while the axis is held (called by Qt)."""
        if event is not None and self._drags:
            self.frame_chosen.emit(self._frame_at(event.position().x()))

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:  # noqa: ARG002, N802 - Qt's name
        """Let go of the axis (called by Qt)."""
        self._drags = False

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """Choose the track above or below (called by Qt)."""
        by = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key())) if event is not None else None
        if by is None or not len(self._measures):
            super().keyPressEvent(event)  # pyright: ignore[reportArgumentType]
            return
        current = self._current_line()
        line = 0 if current is None else current + by
        self._choose(min(max(line, 0), len(self._measures) - 1), self._frame)

    def _choose(self, line: int, frame: int) -> None:
        """Choose the track of a line, in a frame or the one nearest to it that the track lasts to."""
        row = self._measures.iloc[self._ordered().rows[line]]
        nearest = min(max(frame, int(row["first_frame"])), int(row["last_frame"]))
        self.chosen.emit(int(row["track_id"]), nearest)
