"""The filters of the results: a histogram for each column of choice, with the range that is kept."""

from __future__ import annotations

import numpy as np
from qtpy.QtCore import Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import QVBoxLayout, QWidget

from ..session.filters import MEASURES, MeasuredTracks, Range
from ..threads.timers import single_shot
from .chart import Chart
from .columns_button import ColumnsButton
from .range_filter import RangeFilter


class FilterCharts(QWidget):
    """Signals: `moved()` when a range has become another one, `added(RangeFilter)` when a column is chosen.

    Attributes
    ----------
    filters : mapping of str to RangeFilter
        By column; those that are shown.
    columns : ColumnsButton
    """

    moved = Signal()
    added = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.filters: dict[str, RangeFilter] = {}
        self.columns = ColumnsButton("Columns…", "What tracks are filtered by.")
        self._data: MeasuredTracks | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(4, 4, 4, 4)
        self._column.addWidget(self.columns)
        self._column.addStretch(1)
        self.columns.changed.connect(self._choose)
        self._laid_out = single_shot(self, 0, self._tell_of_last)

    def show_tracks(self, data: MeasuredTracks) -> None:
        """Show new tracks; what the user asked for stays."""
        self._data = data
        self.columns.offer({name: data.title(name) for name in data.columns}, MEASURES)
        self._fill()

    def clear(self) -> None:
        """Show no filters: there are no tracks, and the next ones are of another input."""
        self._data = None
        self._drop(tuple(self.filters))

    def _fill(self) -> None:
        """Show a filter for each column chosen that the tracks have."""
        assert self._data is not None  # called for tracks
        for name in self.columns.chosen:
            if name not in self.filters:
                self.filters[name] = RangeFilter(self._data.title(name))
                self.filters[name].moved.connect(self.moved)
                self._column.insertWidget(self._column.count() - 1, self.filters[name])
        for name, one in self.filters.items():
            has_values = name in self._data.measures
            one.setVisible(has_values)
            if has_values:
                one.show_values(self._data.title(name), self._data.measures[name].to_numpy(dtype=np.float64))

    def _drop(self, names: tuple[str, ...]) -> None:
        for name in names:
            one = self.filters.pop(name)
            self._column.removeWidget(one)
            one.deleteLater()

    def _choose(self) -> None:
        self._drop(tuple(name for name in self.filters if name not in self.columns.chosen))
        before = len(self.filters)
        self._fill()
        if len(self.filters) > before:
            self._laid_out.start()
        self.moved.emit()

    def _tell_of_last(self) -> None:
        """Tell of the filter that has come last, once it has its place."""
        if self.filters:
            self.added.emit([*self.filters.values()][-1])

    @property
    def charts(self) -> dict[str, Chart]:
        """The histograms, by column."""
        return {name: one.chart for name, one in self.filters.items()}

    @property
    def ranges(self) -> dict[str, Range]:
        """The range of each filter whose column the tracks have."""
        known = () if self._data is None else self._data.measures.columns
        return {name: one.range for name, one in self.filters.items() if name in known}

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
