"""The filters of the results: a histogram for each measure of tracks, with the range that is kept."""

from __future__ import annotations

import numpy as np
from qtpy.QtCore import Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import QVBoxLayout, QWidget

from ..session.filters import MeasuredTracks, Range
from .chart import Chart


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
        """Show new tracks; every range begins open."""
        self.clear()
        self._data = data
        self.charts = {name: self._chart(data, name) for name in data.filters}

    def clear(self) -> None:
        """Show no charts: there are no tracks."""
        for chart in self.charts.values():
            self._column.removeWidget(chart)
            chart.deleteLater()
        self.charts, self._data = {}, None

    def _chart(self, data: MeasuredTracks, measure: str) -> Chart:
        values = data.measures[measure].to_numpy(dtype=np.float64)
        known = values[np.isfinite(values)]
        chart = Chart(data.title(measure), height=84)
        limits = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
        chart.show_values(values, limits=limits)
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
