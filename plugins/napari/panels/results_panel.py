"""Step 3: the tracks as a table, filtered and coloured without tracking again; export; links to look at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from qtpy.QtCore import Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import QCheckBox, QHBoxLayout, QMenu, QPushButton, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from ....tracker.calibrating.digits import counted
from ..session.clicked import CLICKED_ACTS
from ..session.curves import MOST_PLOTS, Plot
from ..session.filters import MeasuredTracks
from .chart import Chart
from .colour_choice import ColourChoice
from .correction_help import correction_help
from .fields import note, say
from .filter_charts import FilterCharts
from .frame_table import ColumnHead, FrameTable
from .help_sheet import HelpSheet
from .lineage_view import LineageView
from .pages import Pages
from .scroll import PanelScroll
from .track_table import TrackTable

_LEAST = 150  # pixels of height of the tabs
_NO_TRACKS = "No tracks yet: run the steps before."
_SAVED_TRACKS = "No tracks yet: Check and correct its links shows those that are saved, Run all makes new ones."
_LINEAGE = "One line per track, longest lineages first. Click a line, or a frame on the axis."
_LINK_COLUMNS = ["looked_at", "frame", "track_id", "margin", "distance", "why"]
_DOUBTFUL = "Most doubtful first; • marks those looked at. N next, C confirm, B break, U undo; ? for help."
_COMMAND = "Copies the line of a terminal (auctrack track …) that gives the same tracks; corrected ones are renumbered."
_TOML = (
    "Copies the settings as a file: auctrack track FILE --config this.toml gives the same tracks; corrected ones are "
    "renumbered."
)
_PROGRESS = (
    "A link counts as looked at once it has been shown; whatever was done and not undone counts as corrected, but "
    "not to confirm a link. The number of wrong links is an estimate from how sure each link is; it changes with "
    "each correction, not by looking. Links that are missing are not counted."
)
_NO_TRACK = "Click a particle in the viewer, or a row of the table."


class ResultsPanel(QWidget):
    """Signals.

    `filtered()`, `coloured()`; `track_chosen(id)`, `tracks_chosen(ids)` where they are several;
    `link_chosen(position in the list)`; `follow(bool)`; `export()`, `copy_command()`, `copy_toml()`; `confirm_link()`,
    `break_link()`, `keep_others()`, `undo()`, `redo()`, `open_corrections()`, `act_on_clicked(ClickedAct)`.

    `canvas` is what the help is laid over.
    """

    filtered = Signal()
    coloured = Signal()
    track_chosen = Signal(int)
    tracks_chosen = Signal(list)
    link_chosen = Signal(int)
    follow = Signal(bool)
    export = Signal()
    copy_command = Signal()
    copy_toml = Signal()
    confirm_link = Signal()
    break_link = Signal()
    keep_others = Signal()
    undo = Signal()
    redo = Signal()
    open_corrections = Signal()
    act_on_clicked = Signal(object)

    def __init__(self, canvas: QWidget) -> None:
        super().__init__()
        self.data: MeasuredTracks | None = None
        self.kept: pd.DataFrame | None = None
        self._counted = _NO_TRACKS
        self.count = note(self._counted)
        self.tracks = TrackTable()
        self.lineage = LineageView()
        self.suspicious = FrameTable(digits=3)
        self.suspicious.horizontalHeader().setStretchLastSection(True)
        self._links: pd.DataFrame | None = None
        self._listed = np.arange(0)
        self._link_heads: dict[str, ColumnHead] = {}
        self.chosen: tuple[int, ...] = ()
        self.suspicious_note = note()
        self.left_out = note()
        self.help_button = _button(
            "?", "Explains this list and all keys on a sheet over the canvas; another click or Escape closes it."
        )
        self.help_button.setCheckable(True)
        self.help = HelpSheet(canvas, correction_help())
        self.clicked = note()
        self._about_list = QStackedWidget()  # what was clicked in place of the note: no button moves by it
        self._about_list.addWidget(self.suspicious_note)
        self._about_list.addWidget(self.clicked)
        self._about_list.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.progress = note()
        self.progress.setToolTip(_PROGRESS)
        self.filters = FilterCharts()
        self.colour = ColourChoice()
        self.drawn = note(warning=True)
        self.plots_title = note(_NO_TRACK)
        self.plots = [Chart(height=110) for _ in range(MOST_PLOTS)]
        self._make_acts()
        self.follow_box = QCheckBox("follow the track")
        self.tabs = Pages()
        self.export_button = QPushButton("Export…")
        self.command_button = QPushButton("Copy as command")
        self.toml_button = QPushButton("Copy as TOML")
        self._lay_out()
        self._connect()
        self.set_result(is_complete=False, why_no_command=_NO_TRACKS)

    def _make_acts(self) -> None:
        """Make the buttons that correct links."""
        self.confirm_button = _button("Confirm", "This link is right: it stays whatever else changes (key C).")
        self.break_button = _button("Break", "This link is wrong: it goes, and the rest is proven again (key B).")
        self.link_button = _button("By clicks", "Links each pair of particles that you click (key L).")
        self.link_button.setCheckable(True)
        self.clicked_button = _button("Particles", "What to do with the particles that you clicked last.")
        self.clicked_button.setMenu(self._clicked_menu())
        self.keep_button = _button(
            "Keep others",
            "Puts the other links back as they were before the last correction, and confirms or forbids them (key K).",
        )
        self.undo_button = _button("Undo", "Take the last correction back (key U).")
        self.redo_button = _button("Redo", "Make it again (Shift+U).")
        self.open_button = _button("Open…", "Applies the corrections of a file (…corrections.json) to these tracks.")

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 4, 4, 4)
        top = QHBoxLayout()
        top.addWidget(self.count, 1)
        top.addWidget(self.export_button)
        column.addLayout(top)
        filters = PanelScroll(self.filters, least=_LEAST)
        self.filters.added.connect(filters.ensureWidgetVisible)
        self.tabs.addTab(filters, "Filter")
        self.tabs.addTab(self.tracks, "Tracks")
        self.plots_title.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        foot = QWidget()
        foot.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.one_track = PanelScroll(_column(self.plots_title, self.follow_box, *self.plots, foot), least=_LEAST)
        self.tabs.addTab(self.one_track, "One track")
        self.lineage_page = _column(note(_LINEAGE), self.lineage)
        self.tabs.addTab(self.lineage_page, "Lineage")
        self.doubtful = _column(
            self._about_list,
            self.suspicious,
            self.left_out,
            self.progress,
            _row(*self._acts[:3], self.clicked_button),
            _row(*self._acts[3:], self.link_button, self.help_button),
        )
        self.tabs.addTab(self.doubtful, "Check links")
        column.addWidget(self.tabs, 1)
        column.addWidget(self.colour)
        column.addWidget(self.drawn)
        buttons = QHBoxLayout()
        buttons.addWidget(self.command_button)
        buttons.addWidget(self.toml_button)
        column.addLayout(buttons)

    def _connect(self) -> None:
        self.filters.moved.connect(self._filter)
        self.colour.edited.connect(self.coloured)
        self.tracks.chosen.connect(self._choose_tracks)
        self.suspicious.chosen.connect(self._choose_link)
        self.follow_box.toggled.connect(self.follow)
        self.help_button.toggled.connect(self.help.setVisible)
        self.help.clicked.connect(self.help_button.click)
        signals = (
            self.confirm_link,
            self.break_link,
            self.keep_others,
            self.undo,
            self.redo,
            self.open_corrections,
        )
        for button, signal in zip(self._acts, signals, strict=True):
            button.clicked.connect(signal)
        self.export_button.clicked.connect(self.export)
        self.command_button.clicked.connect(self.copy_command)
        self.toml_button.clicked.connect(self.copy_toml)

    def _clicked_menu(self) -> QMenu:
        menu = QMenu(self)
        for act in CLICKED_ACTS:
            entry = menu.addAction(f"{act.title}\t{act.key.upper()}")
            assert entry is not None  # Qt's annotation allows for none
            entry.triggered.connect(lambda _, act=act: self.act_on_clicked.emit(act))
        return menu

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

    def set_result(self, *, is_complete: bool, why_no_command: str) -> None:
        """Offer what makes sense for the tracks there are, and say why something does not."""
        self.export_button.setEnabled(self.data is not None)
        for button, tip in ((self.command_button, _COMMAND), (self.toml_button, _TOML)):
            button.setEnabled(not why_no_command)
            button.setToolTip(why_no_command or tip)
        for button in (*self._acts, self.link_button, self.clicked_button):
            button.setEnabled(is_complete)

    def forget(self, *, has_saved: bool) -> None:
        """Show no tracks: those before are of another input, which has some that are saved or not."""
        self.data = self.kept = self._links = None
        self.chosen = ()
        self.filters.clear()
        self.tracks.clear()
        self.suspicious.show_frame(pd.DataFrame())
        self.lineage.clear()
        self.colour.clear()
        self.clear_plots()
        self._counted = _SAVED_TRACKS if has_saved else _NO_TRACKS
        say(self.count, self._counted)
        self.suspicious_note.setText("")
        for label in (self.left_out, self.progress, self.drawn):
            say(label, "")
        self.show_clicked(())
        self.set_result(is_complete=False, why_no_command=_NO_TRACKS)

    def show_tracks(self, data: MeasuredTracks) -> None:
        """Show new tracks; filters stay as they are."""
        self.data, self._links, self.chosen = data, None, ()
        self.filters.show_tracks(data)
        self.colour.show_tracks(data)
        self._apply()

    def show_suspicious(self, links: pd.DataFrame | None, unit: str, progress: str) -> None:
        """Show the links worth a look, and how far one has come with them."""
        self._links = links
        say(self.progress, progress)
        if links is None:
            self.suspicious_note.setText("Margins are known once linking has run to its end.")
            say(self.left_out, "")
            self.suspicious.show_frame(pd.DataFrame())
            return
        self.suspicious_note.setText(_DOUBTFUL)
        assert self.data is not None  # links come with their tracks
        self._link_heads = _link_heads(self.data.tracks.calibration.unit, unit)
        self._list_links(links)

    def _list_links(self, links: pd.DataFrame) -> None:
        """List the links of tracks that pass the filters."""
        assert self.kept is not None  # links come with their tracks
        passes = links["track_id"].isin(self.kept["track_id"]).to_numpy()
        self._listed = np.flatnonzero(passes)
        self.suspicious.show_frame(links.loc[passes, _LINK_COLUMNS], self._link_heads)
        n = len(links) - len(self._listed)
        say(
            self.left_out, f"{n} more {'belongs' if n == 1 else 'belong'} to tracks that the filters hide." if n else ""
        )

    def show_looked_at(self, ticks: np.ndarray, progress: str) -> None:
        """Tick off the links that were looked at."""
        assert self._links is not None  # one of them was looked at
        self._links = self._links.assign(looked_at=ticks)
        self.suspicious.show_values("looked_at", ticks[self._listed])
        say(self.progress, progress)

    def choose_open(self) -> bool:
        """Choose the first link of the list that nobody has looked at; say whether there is one."""
        if self._links is None:
            return False
        is_open = ~self._links["looked_at"].to_numpy(bool)[self._listed]
        if is_open.any():
            self.suspicious.choose(int(np.argmax(is_open)))
        return bool(is_open.any())

    def show_clicked(self, particles: Sequence[str]) -> None:
        """Say which particles were clicked last."""
        self.clicked.setText(f"Clicked: {'; '.join(particles)}." if particles else "")
        self._about_list.setCurrentWidget(self.clicked if particles else self.suspicious_note)

    def show_plots(self, titled: tuple[str, tuple[Plot, ...]]) -> None:
        """Show the curves of one track under its title."""
        title, plots = titled
        say(self.plots_title, title)
        for chart, plot in zip(self.plots, plots, strict=False):
            chart.show_lines(f"{plot.title} over {plot.x_label}", plot.curves)
        for number, chart in enumerate(self.plots):
            chart.setVisible(number < len(plots))
            if number >= len(plots):
                chart.clear()

    def clear_plots(self) -> None:
        """Show no track's curves."""
        self.show_plots((_NO_TRACK, ()))

    def show_chosen(self, track_id: int) -> None:
        """Mark a track in the table and among the lineages, and leave the filters for its plots."""
        self.mark((track_id,))
        if self.tabs.currentWidget().isAncestorOf(self.filters):
            self.tabs.setCurrentWidget(self.one_track)

    def mark(self, tracks: tuple[int, ...]) -> None:
        """Mark tracks in the table and among the lineages."""
        self.chosen = tracks
        if self.kept is not None:
            self.tracks.mark(tracks)
            self.lineage.mark(tracks)

    def mark_link(self, link: tuple[int, int]) -> None:
        """Mark a link in the list, where it is listed, without telling anyone."""
        assert self._links is not None  # links come with their tracks
        listed = self._links.iloc[self._listed]
        self.suspicious.mark(np.flatnonzero((listed["source"] == link[0]) & (listed["target"] == link[1])).tolist())

    def show_drawing(self) -> None:
        """Say that the tracks are being drawn, where no button moves by it, until `show_window`."""
        self.count.setText(f"{self._counted}, drawing…")

    def show_window(self, text: str) -> None:
        """Say which part is drawn, where it is not everything."""
        self.count.setText(self._counted)
        say(self.drawn, text)

    def _apply(self) -> None:
        if self.data is None:
            return
        self.kept = kept = self.data.kept(self.filters.ranges)
        self.tracks.show_tracks(self.data, kept)
        self.lineage.show_tracks(self.data, kept)
        self.mark(tuple(np.intersect1d(self.chosen, kept["track_id"]).tolist()))
        n = len(self.data.measures)
        of = f"{len(kept):,} of " if len(kept) < n else ""
        self._counted = f"{of}{counted(n, 'track', ',')}"
        say(self.count, self._counted)

    # --- what the user does --------------------------------------------------------------------------------------

    def _filter(self) -> None:
        self._apply()
        if self._links is not None:
            self._list_links(self._links)
        self.filtered.emit()

    def _choose_tracks(self, tracks: list[int]) -> None:
        self.mark(tuple(tracks))
        if len(tracks) == 1:
            self.track_chosen.emit(tracks[0])
        else:
            self.tracks_chosen.emit(tracks)

    def _choose_link(self, rows: list[int]) -> None:
        self.link_chosen.emit(int(self._listed[rows[0]]))


def _link_heads(length: str, margin: str) -> dict[str, ColumnHead]:
    """Return title and explanation of the columns of the suspicious links, with the units of length and margin."""
    return {
        "looked_at": ColumnHead("•", "Looked at: the link has been shown. Links that you confirm leave the list."),
        "frame": ColumnHead("frame", "Frame in which the link ends."),
        "track_id": ColumnHead("track", "Track that the link is part of."),
        "distance": ColumnHead(f"distance ({length})", "Length of the link."),
        "margin": ColumnHead(
            f"margin ({margin})",
            "What the best set of links without this one costs more. Near 0: another set is about as good.",
        ),
        "why": ColumnHead(
            "why",
            "ambiguous: its margin is among the smallest. long: it is among the longest. both: it is both of these. "
            "unlikely: the tracks contain it, but linking would not make it.",
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
    column.setContentsMargins(4, 4, 4, 4)
    for widget in widgets:
        column.addWidget(widget)
    return page
