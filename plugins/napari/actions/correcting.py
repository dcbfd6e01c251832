"""Corrections at the press of a key or a button: each is proven again in another thread, and shown."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from qtpy.QtCore import QObject
from qtpy.QtWidgets import QFileDialog

from ....matching.errors import AuctrackError
from ....tracker.editing.session import Session as EditSession
from ...cli.compiling import COMPILED
from ..session.corrections import Act, Acted, Corrected
from ..session.session import Work
from ..threads.connections import Connections
from ..threads.job import Desk, Failure
from .parts import Parts
from .showing import Showing


class Correcting(QObject):
    """Confirms and breaks the link chosen, joins, adds and deletes particles on the canvas, undoes, redoes."""

    def __init__(self, parts: Parts, showing: Showing, connections: Connections, parent: QObject) -> None:
        super().__init__(parent)
        self._parts = parts
        self._showing = showing
        self._clicked: list[tuple[int, int]] = []
        self._next: int | None = None
        self._desk = Desk(self)
        self._desk.compiling.connect(lambda: parts.bar.say(f"Proving again: compiling {COMPILED}…"))
        self._desk.reported.connect(self._show_act)
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
        for key, act in (
            ("j", self.join),
            ("l", results.link_button.click),
            ("i", self.add_particle),
            ("x", self.delete_particle),
        ):
            connections.add_key(parts.viewer, key, _without_viewer(act))
        results.link_button.toggled.connect(self._switch_clicks)

    def confirm_link(self) -> None:
        """Keep the link chosen, whatever else changes."""
        self._correct_link(EditSession.confirm_link)

    def break_link(self) -> None:
        """Forbid the link chosen."""
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
        self._clicked = []
        self._start(lambda: self._parts.session.correcting(EditSession.add_link, source, target))

    def add_particle(self) -> None:
        """Add a particle under the mouse, in the frame and the plane that are shown."""
        linked = self._parts.session.linked
        at = None if linked is None else self._parts.overlay.cursor(linked.linking.tracks.ndim)
        if at is None:
            self._parts.bar.say("Put the mouse where a particle is missing, in a 2D view of tracks, and press I.")
            return
        act = partial(EditSession.add_detection, frame=at[0], position=at[1])
        self._start(lambda: self._parts.session.correcting(act))

    def delete_particle(self) -> None:
        """Take the particle clicked last away."""
        row = self._parts.session.row_of(*self._clicked[-1]) if self._clicked else None
        if row is None:
            self._parts.bar.say("Click a particle first, then press X to delete it.")
            return
        self._clicked = []
        self._start(lambda: self._parts.session.correcting(EditSession.delete_detection, row))

    def replay(self, path: str) -> None:
        """Make the corrections of a file."""
        self._start(lambda: self._parts.session.replaying(path))

    def _correct_link(self, act: Act) -> None:
        link = self._parts.session.link
        if link is None:
            self._parts.bar.say("Choose a link first: in the list (N goes to the next one), or click one.")
            return
        listed = self._parts.results.suspicious
        self._next = listed.currentIndex().row() if listed.selectionModel().hasSelection() else None
        self._start(lambda: self._parts.session.correcting(act, *link))

    def _start(self, plan: Callable[[], Work]) -> None:
        try:
            work = plan()
        except AuctrackError as error:
            self._parts.bar.fail(Failure(str(error), ""))
            return
        if self._desk.is_busy:
            self._parts.bar.say("The last correction is still being taken over into the tracks: press again after it.")
            return
        self._parts.bar.say("Proving again…")
        self._desk.start(work)

    def _show_act(self, acted: Acted) -> None:
        """Draw the links that a correction changed at once; the tracks, of a large movie, take seconds to follow."""
        linked = self._parts.session.linked
        if linked is not None and (acted.gone or acted.made):
            self._parts.overlay.show_changes(linked.linking.tracks, acted.made, acted.gone)
        self._parts.bar.say(acted.said)

    def _made(self, corrected: Corrected) -> None:
        """Show what a correction gave, and what it changed besides; where that is nothing, go on to the next link."""
        parts = self._parts
        parts.session.keep_corrected(corrected)
        self._showing.show_tracks()
        parts.results.mark(() if parts.session.chosen is None else (parts.session.chosen,))
        parts.bar.say(corrected.said)
        if corrected.gone or corrected.made:
            parts.overlay.show_changes(corrected.linked.linking.tracks, corrected.made, corrected.gone)
        elif self._next is not None and parts.results.suspicious.count:
            parts.results.suspicious.selectRow(min(self._next, parts.results.suspicious.count - 1))
        self._next = None

    def _note_click(self, track_id: int, frame: int) -> None:
        self._clicked = [*self._clicked[-1:], (track_id, frame)]
        if not self._parts.results.link_button.isChecked():
            return
        if len(self._clicked) == 2:
            self.join()
        else:
            self._parts.bar.say("Now click the particle that it is linked to, in another frame.")

    def _switch_clicks(self, on: bool) -> None:
        """Begin or end linking by clicks."""
        self._clicked = []
        self._parts.bar.say("Linking by clicks: click a particle, then the same one in another frame." if on else "")

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
