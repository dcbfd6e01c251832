"""Step 3: the tracks as a table, filtered and coloured without tracking again; export; links to look at."""

from __future__ import annotations

import numpy as np
import pandas as pd
from qtpy.QtCore import QSignalBlocker, Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QPushButton,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from .chart import Chart
from .colours import BY_TRACK, PERCENTILES, Colouring, colour_features
from .curves import Plot
from .fields import note, say
from .filters import MeasuredTracks, Range
from .frame_table import FrameTable


class ResultsPanel(QWidget):
    """Signals.

    `filtered()`, `coloured()`; `track_chosen(id)`; `link_chosen(position in the list)`; `follow(bool)`; `export()`,
    `copy_command()`, `copy_toml()`.
    """

    filtered = Signal()
    coloured = Signal()
    track_chosen = Signal(int)
    link_chosen = Signal(int)
    follow = Signal(bool)
    export = Signal()
    copy_command = Signal()
    copy_toml = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.data: MeasuredTracks | None = None
        self.kept: pd.DataFrame | None = None
        self.count = note("No tracks yet: run the steps before.")
        self.table = FrameTable()
        self.suspicious = FrameTable()
        self.suspicious_note = note()
        self.charts: dict[str, Chart] = {}
        self.colour = QComboBox()
        self.percentiles = [_percentile(value) for value in PERCENTILES]
        self.legend = note()
        self.drawn = note(warning=True)
        self.plots_title = note("Click a particle in the viewer, or a row of the table.")
        self.plots = [Chart(height=110) for _ in range(4)]
        self.follow_box = QCheckBox("follow it")
        self.tabs = QTabWidget()
        self.export_button = QPushButton("Export…")
        self.command_button = QPushButton("Copy as command")
        self.toml_button = QPushButton("Copy as TOML")
        self._lay_out()
        self._connect()
        self.set_result(has_command=False)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.addWidget(self.count)
        self._filters = _column()
        filters = self._filters.layout()
        assert filters is not None  # just made
        self.tabs.addTab(self._filters, "Filter")
        self.tabs.addTab(_column(self.table), "Tracks")
        self.tabs.addTab(_column(self.plots_title, self.follow_box, *self.plots), "One track")
        self.tabs.addTab(_column(self.suspicious_note, self.suspicious), "Suspicious links")
        column.addWidget(self.tabs)
        form = QFormLayout()
        form.addRow("Colour by", self.colour)
        row = QHBoxLayout()
        for field in self.percentiles:
            row.addWidget(field)
        form.addRow("Percentiles", row)
        column.addLayout(form)
        column.addWidget(self.legend)
        column.addWidget(self.drawn)
        buttons = QHBoxLayout()
        buttons.addWidget(self.command_button)
        buttons.addWidget(self.toml_button)
        column.addWidget(self.export_button)
        column.addLayout(buttons)

    def _connect(self) -> None:
        self.colour.currentIndexChanged.connect(self._recolour)
        for field in self.percentiles:
            field.valueChanged.connect(self._recolour)
        self.table.chosen.connect(self._choose_track)
        self.suspicious.chosen.connect(self._choose_link)
        self.follow_box.toggled.connect(self._follow)
        self.export_button.clicked.connect(self._export)
        self.command_button.clicked.connect(self._copy_command)
        self.toml_button.clicked.connect(self._copy_toml)

    # --- what is shown -------------------------------------------------------------------------------------------

    def set_result(self, *, has_command: bool) -> None:
        """Offer what makes sense for the tracks there are."""
        self.export_button.setEnabled(self.data is not None)
        self.toml_button.setEnabled(has_command)
        self.command_button.setEnabled(has_command)

    def show_tracks(self, data: MeasuredTracks) -> None:
        """Show new tracks; filters begin open."""
        self.data = data
        filters = self._filters.layout()
        assert filters is not None  # made with the panel
        for chart in self.charts.values():
            filters.removeWidget(chart)
            chart.deleteLater()
        self.charts = {}
        for name in data.filters:
            values = data.measures[name].to_numpy(dtype=np.float64)
            known = values[np.isfinite(values)]
            chart = Chart(data.title(name), height=84)
            limits = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
            chart.show_values(values, limits=limits)
            chart.moved.connect(self._filter)
            filters.addWidget(chart)
            self.charts[name] = chart
        chosen = self.colour.currentText() or BY_TRACK
        features = colour_features(data.tracks, data.measures)
        with QSignalBlocker(self.colour):
            self.colour.clear()
            self.colour.addItems(list(features))
            self.colour.setCurrentText(chosen if chosen in features else BY_TRACK)
        self._apply()

    def show_suspicious(self, links: pd.DataFrame | None, unit: str) -> None:
        """Show the links worth a look."""
        if links is None:
            say(self.suspicious_note, "Margins are known once linking has run to its end.")
            self.suspicious.show_frame(pd.DataFrame())
            return
        say(
            self.suspicious_note,
            f"The longest steps, and the links that another assignment replaces most cheaply (margin, in {unit}). "
            "Click one to go there; N goes to the next, Shift+N to the one before.",
        )
        self.suspicious.show_frame(links[["frame", "track_id", "distance", "margin", "why"]])

    def show_plots(self, titled: tuple[str, tuple[Plot, ...]]) -> None:
        """Show the curves of one track under its title."""
        title, plots = titled
        say(self.plots_title, title)
        for chart, plot in zip(self.plots, plots, strict=False):
            chart.show_lines(plot.title, plot.curves)
        for number, chart in enumerate(self.plots):
            chart.setVisible(number < len(plots))

    def show_legend(self, colouring: Colouring) -> None:
        """Say what the colours mean."""
        if colouring.limits is None:
            say(self.legend, "" if not colouring.n_missing else "All values are missing: drawn grey.")
            return
        low, high = colouring.limits
        grey = f"; {colouring.n_missing:,} points without a value are grey" if colouring.n_missing else ""
        say(self.legend, f"dark {low:.4g} to bright {high:.4g}{grey}")

    def show_window(self, text: str) -> None:
        """Say which part is drawn, where it is not everything."""
        say(self.drawn, text)

    @property
    def other_filters(self) -> tuple[str, ...]:
        """The filters other than length that leave something out."""
        if self.data is None or self.kept is None:
            return ()
        n = len(self.data.measures)
        return tuple(
            name for name, span in self.ranges.items() if name != "length" and len(self.data.kept({name: span})) < n
        )

    @property
    def ranges(self) -> dict[str, Range]:
        """The ranges that the charts say."""
        return {
            name: (chart.limits[0], chart.limits[1]) for name, chart in self.charts.items() if len(chart.limits) == 2
        }

    @property
    def colour_by(self) -> tuple[str, tuple[float, float]]:
        """Feature and percentiles of the colours."""
        low, high = (float(field.value()) for field in self.percentiles)
        return self.colour.currentText() or BY_TRACK, (min(low, high - 1), high)

    @property
    def shortest(self) -> int:
        """Shortest track kept, in detections."""
        limit = self.ranges.get("length", (1.0, 1.0))[0]
        return max(1, int(np.ceil(limit)))

    def _apply(self) -> None:
        if self.data is None:
            return
        self.kept = self.data.kept(self.ranges)
        self.table.show_frame(self.kept)
        n = len(self.data.measures)
        shown = f"{len(self.kept):,} of {n:,}" if len(self.kept) < n else f"{n:,}"
        say(self.count, f"{shown} tracks")

    # --- what the user does --------------------------------------------------------------------------------------

    def _filter(self, limits: list[float]) -> None:
        del limits
        self._apply()
        self.filtered.emit()

    def _recolour(self, value: object = None) -> None:
        del value
        self.coloured.emit()

    def _choose_track(self, row: int) -> None:
        if self.kept is not None and 0 <= row < len(self.kept):
            self.track_chosen.emit(int(self.kept["track_id"].iloc[row]))

    def _choose_link(self, row: int) -> None:
        self.link_chosen.emit(row)

    def _follow(self, on: bool) -> None:
        self.follow.emit(on)

    def _export(self) -> None:
        self.export.emit()

    def _copy_command(self) -> None:
        self.copy_command.emit()

    def _copy_toml(self) -> None:
        self.copy_toml.emit()


def _column(*widgets: QWidget) -> QWidget:
    page = QWidget()
    column = QVBoxLayout(page)
    for widget in widgets:
        column.addWidget(widget)
    return page


def _percentile(value: float) -> QDoubleSpinBox:
    field = QDoubleSpinBox()
    field.setRange(0, 100)
    field.setDecimals(1)
    field.setValue(value)
    field.setKeyboardTracking(False)
    return field
