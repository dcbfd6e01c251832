"""Step 3: the tracks as a table, filtered and coloured without tracking again; export; links to look at."""

from __future__ import annotations

import numpy as np
import pandas as pd
from qtpy.QtCore import Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import QCheckBox, QHBoxLayout, QPushButton, QTabWidget, QVBoxLayout, QWidget

from ..session.curves import Plot
from ..session.filters import MeasuredTracks
from .chart import Chart
from .colour_choice import ColourChoice
from .fields import note, say
from .filter_charts import FilterCharts
from .frame_table import FrameTable, Head

_NO_TRACKS = "No tracks yet: run the steps before."
_NO_TRACK = "Click a particle in the viewer, or a row of the table."


class ResultsPanel(QWidget):
    """Signals.

    `filtered()`, `coloured()`; `track_chosen(id)`; `link_chosen(position in the list)`; `follow(bool)`; `export()`,
    `copy_table()`, `export_table()`, `copy_command()`, `copy_toml()`; `confirm_link()`, `break_link()`,
    `keep_others()`, `undo()`, `redo()`, `open_corrections()`.
    """

    filtered = Signal()
    coloured = Signal()
    track_chosen = Signal(int)
    link_chosen = Signal(int)
    follow = Signal(bool)
    export = Signal()
    copy_table = Signal()
    export_table = Signal()
    copy_command = Signal()
    copy_toml = Signal()
    confirm_link = Signal()
    break_link = Signal()
    keep_others = Signal()
    undo = Signal()
    redo = Signal()
    open_corrections = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.data: MeasuredTracks | None = None
        self.kept: pd.DataFrame | None = None
        self.count = note(_NO_TRACKS)
        self.table = FrameTable()
        self.suspicious = FrameTable()
        self.suspicious_note = note()
        self.progress = note()
        self.progress.setToolTip("Links chosen in the list, and how many of the others are expected to be wrong.")
        self.filters = FilterCharts()
        self.colour = ColourChoice()
        self.drawn = note(warning=True)
        self.plots_title = note(_NO_TRACK)
        self.plots = [Chart(height=110) for _ in range(4)]
        self.confirm_button = _button("Confirm", "This link is right: it stays whatever else changes (key C).")
        self.break_button = _button("Break", "This link is wrong: it goes, and the rest is proven again (key B).")
        self.link_button = _button("By clicks", "A particle that is clicked is linked to the one clicked next (key L).")
        self.link_button.setCheckable(True)
        self.keep_button = _button(
            "Keep others", "Other links stay as they were before the last correction: confirmed, or forbidden (key K)."
        )
        self.undo_button = _button("Undo", "Take the last correction back (key U).")
        self.redo_button = _button("Redo", "Make it again (Shift+U).")
        self.open_button = _button("Open…", "Make the corrections of a file (…corrections.json) on these tracks.")
        self.follow_box = QCheckBox("follow it")
        self.tabs = QTabWidget()
        self.export_button = QPushButton("Export…")
        self.copy_table_button = _button("Copy table", "Copy the tracks that pass the filters, for a spreadsheet.")
        self.export_table_button = _button("Save table…", "Write these measures, one row a track, as auctrack measure.")
        self.command_button = QPushButton("Copy as command")
        self.toml_button = QPushButton("Copy as TOML")
        self._lay_out()
        self._connect()
        self.set_result(is_complete=False, has_command=False)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        top = QHBoxLayout()
        top.addWidget(self.count, 1)
        top.addWidget(self.export_button)
        column.addLayout(top)
        self.tabs.addTab(self.filters, "Filter")
        self.tabs.addTab(_column(self.table, _row(self.copy_table_button, self.export_table_button)), "Tracks")
        self.tabs.addTab(_column(self.plots_title, self.follow_box, *self.plots), "One track")
        acts = _row(*self._acts[:3], self.link_button), _row(*self._acts[3:])
        self.tabs.addTab(_column(self.suspicious_note, self.suspicious, self.progress, *acts), "Check links")
        column.addWidget(self.tabs)
        column.addWidget(self.colour)
        column.addWidget(self.drawn)
        buttons = QHBoxLayout()
        buttons.addWidget(self.command_button)
        buttons.addWidget(self.toml_button)
        column.addLayout(buttons)

    def _connect(self) -> None:
        self.filters.moved.connect(self._filter)
        self.colour.edited.connect(self.coloured)
        self.table.chosen.connect(self._choose_track)
        self.suspicious.chosen.connect(self._choose_link)
        self.follow_box.toggled.connect(self._follow)
        signals = (
            self.confirm_link,
            self.break_link,
            self.keep_others,
            self.undo,
            self.redo,
            self.open_corrections,
        )
        for button, signal in zip(self._acts, signals, strict=True):
            button.clicked.connect(lambda _, signal=signal: signal.emit())
        self.export_button.clicked.connect(self._export)
        self.copy_table_button.clicked.connect(lambda: self.copy_table.emit())
        self.export_table_button.clicked.connect(lambda: self.export_table.emit())
        self.command_button.clicked.connect(self._copy_command)
        self.toml_button.clicked.connect(self._copy_toml)

    @property
    def _acts(self) -> tuple[QPushButton, ...]:
        return (
            self.confirm_button,
            self.break_button,
            self.keep_button,
            self.undo_button,
            self.redo_button,
            self.open_button,
        )

    # --- what is shown -------------------------------------------------------------------------------------------

    def set_result(self, *, is_complete: bool, has_command: bool) -> None:
        """Offer what makes sense for the tracks there are."""
        for button in (self.export_button, self.copy_table_button, self.export_table_button):
            button.setEnabled(self.data is not None)
        self.toml_button.setEnabled(has_command)
        self.command_button.setEnabled(has_command)
        for button in (*self._acts, self.link_button):
            button.setEnabled(is_complete)

    def forget(self) -> None:
        """Show no tracks: those before are of another input."""
        self.data = self.kept = None
        self.filters.clear()
        for table in (self.table, self.suspicious):
            table.show_frame(pd.DataFrame())
        self.show_plots((_NO_TRACK, ()))
        say(self.count, _NO_TRACKS)
        for label in (self.suspicious_note, self.progress, self.drawn):
            say(label, "")
        self.set_result(is_complete=False, has_command=False)

    def show_tracks(self, data: MeasuredTracks) -> None:
        """Show new tracks; filters begin open."""
        self.data = data
        self.filters.show_tracks(data)
        self.colour.show_tracks(data)
        self._apply()

    def show_suspicious(self, links: pd.DataFrame | None, unit: str) -> None:
        """Show the links worth a look."""
        if links is None:
            say(self.suspicious_note, "Margins are known once linking has run to its end.")
            self.suspicious.show_frame(pd.DataFrame())
            return
        say(
            self.suspicious_note,
            "The longest steps, and the links that another set of links could best do without (small margin). "
            "Click one here or in the picture (Shift: where a particle lies over it); N goes to the next, Shift+N to "
            "the one before. C confirms it, B breaks it, J joins the two particles clicked last, X deletes the last, I "
            "adds one under the mouse, U undoes; the rest is proven again each time. The link is yellow, those that "
            "would be made in its place are dashed.",
        )
        assert self.data is not None  # links come with their tracks
        self.suspicious.show_frame(
            links[["looked_at", "frame", "track_id", "why", "margin", "distance"]],
            _link_heads(self.data.tracks.calibration.unit, unit),
        )

    def show_looked_at(self, ticks: np.ndarray, progress: str) -> None:
        """Tick off the links that were looked at."""
        self.suspicious.show_values("looked_at", ticks)
        say(self.progress, progress)

    def show_plots(self, titled: tuple[str, tuple[Plot, ...]]) -> None:
        """Show the curves of one track under its title."""
        title, plots = titled
        say(self.plots_title, title)
        for chart, plot in zip(self.plots, plots, strict=False):
            chart.show_lines(plot.title, plot.curves)
        for number, chart in enumerate(self.plots):
            chart.setVisible(number < len(plots))
            if number >= len(plots):
                chart.clear()

    def show_window(self, text: str) -> None:
        """Say which part is drawn, where it is not everything."""
        say(self.drawn, text)

    def _apply(self) -> None:
        if self.data is None:
            return
        self.kept = kept = self.data.kept(self.filters.ranges)
        self.table.show_frame(kept, {name: _head(name, self.data.title(name)) for name in map(str, kept.columns)})
        n = len(self.data.measures)
        shown = f"{len(kept):,} of {n:,}" if len(kept) < n else f"{n:,}"
        say(self.count, f"{shown} tracks")

    # --- what the user does --------------------------------------------------------------------------------------

    def _filter(self) -> None:
        self._apply()
        self.filtered.emit()

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


def _head(name: str, title: str) -> Head:
    """Return a short title for a column of measures; its unit stands in the tip."""
    return Head(name.replace("_", " "), title)


def _link_heads(length: str, margin: str) -> dict[str, Head]:
    """Return title and explanation of the columns of the suspicious links, with the units of length and margin."""
    return {
        "looked_at": Head("✓", "Looked at: it was chosen in this list."),
        "frame": Head("frame", "Frame in which the link ends."),
        "track_id": Head("track id", "Track that the link is part of."),
        "distance": Head(f"distance ({length})", "Length of the link."),
        "margin": Head(
            f"margin ({margin})",
            "What the best set of links without this one costs more. Near 0: another set is about as good.",
        ),
        "why": Head(
            "why",
            "ambiguous: its margin is among the smallest. long step: it is among the longest. against the odds: the "
            "tracks have it, but linking would not make it.",
        ),
    }


def _button(text: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setToolTip(tip)
    return button


def _row(*widgets: QWidget) -> QWidget:
    side_by_side = QWidget()
    row = QHBoxLayout(side_by_side)
    row.setContentsMargins(0, 0, 0, 0)
    for widget in widgets:
        row.addWidget(widget)
    return side_by_side


def _column(*widgets: QWidget) -> QWidget:
    page = QWidget()
    column = QVBoxLayout(page)
    for widget in widgets:
        column.addWidget(widget)
    return page
