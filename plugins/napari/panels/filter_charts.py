"""The filters of the results: a histogram for each measure of tracks, with the range that is kept."""

from __future__ import annotations

import numpy as np
from qtpy.QtCore import Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import QVBoxLayout, QWidget

from ..session.filters import MeasuredTracks, Range
from .chart import Chart

_OPEN: Range = (-np.inf, np.inf)


class FilterCharts(QWidget):
    """Signals: `moved()` when a range has become another one.

    Attributes
    ----------
    charts : mapping of str to Chart
        By measure.
    """

    moved = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.charts: dict[str, Chart] = {}
        self._data: MeasuredTracks | None = None
        self._column = QVBoxLayout(self)

    def show_tracks(self, data: MeasuredTracks) -> None:
        """Show new tracks; limits that the user has moved stay, the others are open."""
        moved = self._moved()
        self.clear()
        self._data = data
        self.charts = {name: self._chart(data, name, moved.get(name, _OPEN)) for name in data.filters}

    def _moved(self) -> dict[str, Range]:
        """Return the limits that leave something out, the others infinite."""
        spans = {name: _span(self._data, name) for name in self.charts} if self._data is not None else {}
        return {
            name: (low if low > spans[name][0] else -np.inf, high if high < spans[name][1] else np.inf)
            for name, (low, high) in self.ranges.items()
            if name in spans
        }

    def clear(self) -> None:
        """Show no charts: there are no tracks."""
        for chart in self.charts.values():
            self._column.removeWidget(chart)
            chart.deleteLater()
        self.charts, self._data = {}, None

    def _chart(self, data: MeasuredTracks, measure: str, moved: Range) -> Chart:
        chart = Chart(data.title(measure), height=84)
        low, high = _span(data, measure)
        limits = min(max(low, moved[0]), high), max(min(high, moved[1]), low)
        chart.show_values(data.measures[measure].to_numpy(dtype=np.float64), limits=limits)
        chart.moved.connect(self._move)
        self._column.addWidget(chart)
        return chart

    @property
    def ranges(self) -> dict[str, Range]:
        """The ranges that the charts say."""
        return {
            name: (chart.limits[0], chart.limits[1]) for name, chart in self.charts.items() if len(chart.limits) == 2
        }

    @property
    def shortest(self) -> int:
        """Shortest track kept, in detections; 1 while no track is too short."""
        limit = self.ranges.get("length", (1.0, 1.0))[0]
        leaves_out = self._data is not None and bool((self._data.measures["length"] < limit).any())
        return int(np.ceil(limit)) if leaves_out else 1

    @property
    def others(self) -> tuple[str, ...]:
        """The filters other than a least length that leave something out."""
        data = self._data
        if data is None:
            return ()
        names = {"length": "greatest length"}
        spans = {name: (0.0 if name in names else low, high) for name, (low, high) in self.ranges.items()}
        n = len(data.measures)
        return tuple(names.get(name, name) for name, span in spans.items() if len(data.kept({name: span})) < n)

    def _move(self, limits: list[float]) -> None:
        del limits
        self.moved.emit()


def _span(data: MeasuredTracks, measure: str) -> Range:
    """Return the least and the greatest value that tracks have of a measure."""
    values = data.measures[measure].to_numpy(dtype=np.float64)
    known = values[np.isfinite(values)]
    return (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
