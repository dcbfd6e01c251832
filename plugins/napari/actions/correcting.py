"""Corrections at the press of a key or a button: each is proven again in another thread, and shown."""

from __future__ import annotations

from collections.abc import Callable

from qtpy.QtCore import QObject
from qtpy.QtWidgets import QFileDialog

from ....matching.errors import AuctrackError
from ....tracker.editing.session import Session as EditSession
from ...cli.compiling import COMPILED
from ..session.corrections import Act, Corrected
from ..session.session import Work
from ..threads.connections import Connections
from ..threads.job import Desk, Failure
from .parts import Parts
from .showing import Showing


class Correcting(QObject):
    """Confirms and breaks the link chosen in the list, joins the two particles clicked last, undoes, redoes."""

    def __init__(self, parts: Parts, showing: Showing, connections: Connections, parent: QObject) -> None:
        super().__init__(parent)
        self._parts = parts
        self._showing = showing
        self._clicked: list[tuple[int, int]] = []
        self._next: int | None = None
        self._desk = Desk(self)
        self._desk.compiling.connect(lambda: parts.bar.say(f"Proving again: compiling {COMPILED}…"))
        self._desk.returned.connect(self._made)
        self._desk.failed.connect(parts.bar.fail)
        results = parts.results
        parts.overlay.picked.connect(self._note_click)
        results.open_corrections.connect(self._ask_file)
        for key, signal, act in (
            ("c", results.confirm_link, self.confirm_link),
            ("b", results.break_link, self.break_link),
            ("k", results.keep_others, self.keep_others),
            ("u", results.undo, self.undo),
            ("Shift-U", results.redo, self.redo),
        ):
            signal.connect(act)
            connections.add_key(parts.viewer, key, _without_viewer(act))
            results.suspicious.add_key(key, act)
        connections.add_key(parts.viewer, "j", _without_viewer(self.join))

    def confirm_link(self) -> None:
        """Keep the link chosen in the list, whatever else changes."""
        self._correct_link(EditSession.confirm_link)

    def break_link(self) -> None:
        """Forbid the link chosen in the list."""
        self._correct_link(EditSession.break_link)

    def keep_others(self) -> None:
        """Refuse what the last correction changed besides."""
        self._start(lambda: self._parts.session.correcting(EditSession.keep_others))

    def undo(self) -> None:
        """Take the last correction back."""
        self._start(lambda: self._parts.session.correcting(EditSession.undo))

    def redo(self) -> None:
        """Make the correction taken back last again."""
        self._start(lambda: self._parts.session.correcting(EditSession.redo))

    def join(self) -> None:
        """Link the two particles clicked last, the earlier one to the later one."""
        found = (self._parts.session.row_of(*at) for at in sorted(self._clicked, key=lambda at: at[1]))
        rows = [row for row in found if row is not None]
        if len(rows) < 2:
            self._parts.bar.say("Click a particle in one frame and another in a later frame, then press J.")
            return
        source, target = rows
        self._start(lambda: self._parts.session.correcting(EditSession.add_link, source, target))

    def replay(self, path: str) -> None:
        """Make the corrections of a file."""
        self._start(lambda: self._parts.session.replaying(path))

    def _correct_link(self, act: Act) -> None:
        links, row = self._parts.session.suspicious, self._parts.results.suspicious.position
        if links is None or row is None or row >= len(links):
            self._parts.bar.say("Choose a link in the list first (N goes to the next one).")
            return
        source, target = int(links["source"].iloc[row]), int(links["target"].iloc[row])
        self._next = self._parts.results.suspicious.currentIndex().row()
        self._start(lambda: self._parts.session.correcting(act, source, target))

    def _start(self, plan: Callable[[], Work]) -> None:
        try:
            work = plan()
        except AuctrackError as error:
            self._parts.bar.fail(Failure(str(error), ""))
            return
        if not self._desk.is_busy:
            self._parts.bar.say("Proving again…")
            self._desk.start(work)

    def _made(self, corrected: Corrected) -> None:
        """Show what a correction gave, and what it changed besides; where that is nothing, go on to the next link."""
        parts = self._parts
        parts.session.keep_corrected(corrected)
        self._showing.show_tracks()
        parts.bar.say(corrected.said)
        if corrected.gone or corrected.made:
            parts.overlay.show_changes(corrected.linked.linking.tracks, corrected.made, corrected.gone)
        elif self._next is not None and parts.results.suspicious.count:
            parts.results.suspicious.selectRow(min(self._next, parts.results.suspicious.count - 1))
        self._next = None

    def _note_click(self, track_id: int, frame: int) -> None:
        self._clicked = [*self._clicked[-1:], (track_id, frame)]

    def _ask_file(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self._parts.results, "Corrections", "", "Corrections (*.json)")
        if name:
            self.replay(name)


def _without_viewer(act: Callable[[], None]) -> Callable[..., None]:
    """Return the act as napari calls keys."""

    def pressed(viewer: object = None) -> None:
        del viewer
        act()

    return pressed
