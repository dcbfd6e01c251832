"""Taking the result away: export, the command line and the settings file that give the same tracks."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from qtpy.QtCore import QObject
from qtpy.QtGui import QGuiApplication

from ....matching.errors import AuctrackError
from ....tracker.formats.registry import FORMATS
from ..session.session import SESSION
from ..threads.job import Desk, Failure
from .asking_where import ask_where
from .parts import Parts

_CSV, _SESSION = "CSV", "Session, to go on correcting"
_NAMES = {
    "csv": _CSV,
    "napari": "napari CSV",
    "parquet": "Parquet",
    "trackmate": "TrackMate",
    "motile": "napari-track-edit, motile-tracker",
    "isbi": "ISBI 2012 challenge",
    "geff": "GEFF",
    "ctc": "Cell Tracking Challenge, folder",
}
KINDS = {name: FORMATS[key].endings[0] for key, name in _NAMES.items()} | {_SESSION: SESSION}


class TakingAway(QObject):
    """What the buttons at the foot of the results do."""

    def __init__(self, parts: Parts, parent: QObject) -> None:
        super().__init__(parent)
        self._parts = parts
        self.exports = Desk(self)
        self.exports.returned.connect(parts.bar.say)
        self.exports.failed.connect(self._fail)
        parts.results.export.connect(self._ask_export)
        parts.results.tracks.copy.connect(self.copy_table)
        parts.results.tracks.save.connect(self._ask_table)
        parts.results.copy_command.connect(self.copy_command)
        parts.results.copy_toml.connect(self.copy_toml)

    def _ask_export(self) -> None:
        path = ask_where(self._parts.results, "Export tracks", self._named(".tracks.csv"), KINDS, _CSV)
        if path is not None:
            self.export(path)

    def ask_session(self) -> str | None:
        """Ask where corrections are saved, as a session if nothing else is chosen; None for nowhere."""
        return ask_where(self._parts.results, "Save corrections", self._named(SESSION), KINDS, _SESSION)

    def _named(self, ending: str) -> str:
        """Return the name of the layer that was tracked with another ending, as the command line names its files."""
        layer = self._parts.input.layer
        name = "movie" if layer is None else re.sub(r"(\.tracks)?(\.csv|\.auctrack)?$", "", layer.name, count=1)
        return re.sub(r'[\\/:*?"<>|]', "_", name) + ending

    def export(self, path: str) -> None:
        """Write the tracks that pass the filters; what stood there is replaced (the user was asked)."""
        results, place = self._parts.results, self._parts.overlay.place()
        if results.data is not None and results.kept is not None:
            shortest = results.filters.shortest
            self.exports.start(partial(self._parts.session.write, results.data, results.kept, path, shortest, place))

    def copy_table(self) -> None:
        """Copy the rows and columns of the table that are shown or selected, under titles with units."""
        data = self._parts.results.data
        if data is not None:
            shown = self._parts.results.tracks.shown()
            titles = {name: data.title(str(name)) for name in shown}
            _to_clipboard(shown.rename(columns=titles).to_csv(sep="\t", index=False))
            self._parts.bar.say(f"Copied: {len(shown):,} tracks and what they measure.")

    def _ask_table(self) -> None:
        path = ask_where(self._parts.results, "Save table", self._named(".measures.csv"), {_CSV: ".csv"}, _CSV)
        if path is not None:
            self.export_table(path)

    def export_table(self, path: str) -> None:
        """Write the rows and columns of the table that are shown or selected, with their units beside them."""
        results = self._parts.results
        if results.data is not None:
            measures = results.tracks.shown()
            self.exports.start(partial(self._parts.session.write_measures, results.data, measures, path))

    def copy_command(self) -> None:
        """Copy the `auctrack track` line that gives these tracks."""
        self._copy(self._parts.session.command, "Copied: this line gives the same tracks.")

    def copy_toml(self) -> None:
        """Copy the settings file that gives these tracks."""
        said = "Copied: auctrack track FILE --config this.toml gives the same tracks."
        self._copy(self._parts.session.toml, said)

    def _copy(self, text_of: Callable[[int], str], said: str) -> None:
        results, bar = self._parts.results, self._parts.bar
        try:
            text = text_of(results.filters.shortest)
        except AuctrackError as error:
            self._fail(Failure(str(error), ""))
            return
        _to_clipboard(text)
        others = results.filters.others
        left_out = [f"The filters {', '.join(others)} are not part of it."] if others else []
        bar.say(" ".join([said, *left_out]))

    def _fail(self, failure: Failure) -> None:
        """Say what could not be taken away, in the place of what was before: below it stood "Wrote …"."""
        self._parts.bar.say("")
        self._parts.bar.fail(failure)


def _to_clipboard(text: str) -> None:
    clipboard = QGuiApplication.clipboard()
    assert clipboard is not None  # there is one while the application runs
    clipboard.setText(text)
