"""Corrections of the links that are shown: each proven again at once, taken back, kept in a file. No Qt here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....tracker.editing.change import Change, Link
from ....tracker.editing.looked_at import are_among, expected_wrong
from ....tracker.editing.reopened import reopened
from ....tracker.editing.session import Session as EditSession
from ....tracker.editing.session_file import SavedSession, write_session
from ....tracker.linking.result import Linking
from ....tracker.settings import Settings
from .filters import measured_links
from .steps import Linked
from .suspicious import suspicious_links

Act = Callable[..., Change | None]
"""One correction, of a session and the ids of detections; None where there was nothing to undo or redo."""

_OF_DETECTIONS = ("add_detection", "move_detection", "delete_detection", "merge_detections")
_NAMES = {
    "break_link": "broken link",
    "confirm_link": "confirmed link",
    "add_link": "linked particles",
    "hold_links": "links kept",
    "swap_links": "swapped tracks",
    "split_track": "ended track",
    "mark_division": "marked division",
    "add_detection": "added particle",
    "move_detection": "moved particle",
    "delete_detection": "deleted particle",
    "merge_detections": "merged particles",
}


@dataclass(frozen=True)
class Corrected:
    """Tracks and links after a correction.

    Attributes
    ----------
    linked : Linked
    said : str
        What it changed, in a sentence or two.
    gone, made : tuple of (source, target)
        Links that it changed besides, as rows of the table of tracks.
    """

    linked: Linked
    said: str
    gone: tuple[Link, ...] = ()
    made: tuple[Link, ...] = ()


@dataclass(frozen=True)
class Acted:
    """What a correction did, before tracks and margins are made anew from it.

    Attributes
    ----------
    gone, made : tuple of (source, target)
        All links that it changed, as rows of the table that is still shown; those of added particles are left out.
    said : str
    """

    gone: tuple[Link, ...]
    made: tuple[Link, ...]
    said: str


@dataclass(frozen=True)
class LookedAt:
    """A link that is looked at.

    Attributes
    ----------
    link : (source, target)
        Rows of the table of tracks.
    rivals : tuple of (source, target)
        Links that would be made in its place.
    ticks : bool (doubtful links,)
        Which of the links in the list were looked at, this one among them.
    progress : str
    """

    link: Link
    rivals: tuple[Link, ...]
    ticks: np.ndarray
    progress: str


class Corrections:
    """Corrections of one run; particles are named by their rows in the table that is shown.

    Its methods are called in several threads, one at a time.

    Parameters
    ----------
    linked : Linked
        Of a run. Before the first link is looked at it is linked once more, for what corrections need is too much to
        keep for those who make none. Of tracks that were taken up, what it pins is to be looked at like any other link.
    """

    def __init__(self, linked: Linked) -> None:
        self._linking, self._is_given = linked.linking, linked.is_given
        self._held = {(int(source), int(target)) for source, target in linked.linking.settings.pinned or ()}
        self._edits: EditSession | None = None
        self._shown, self._ids = linked, np.arange(len(linked.linking.tracks))
        self._looked_at: set[Link] = set()
        self._lock = threading.Lock()

    @classmethod
    def of(cls, saved: SavedSession) -> tuple[Corrections, Linked]:
        """Return the corrections of a session as it was left, and the tracks as they stand."""
        begun = saved.session.begun
        margins = begun.links["margin"].to_numpy()
        doubtful = suspicious_links(begun, margins, held=begun.settings.pinned or ())
        taken_up = cls(Linked(begun, measured_links(begun), doubtful, is_given=True))
        taken_up._edits, taken_up._looked_at = saved.session, {*saved.looked_at}
        return taken_up, taken_up._linked()

    @property
    def count(self) -> int:
        """How many corrections are in effect."""
        return 0 if self._edits is None else len(self._edits.acts)

    @property
    def edit_detections(self) -> bool:
        """Whether particles were added, moved or taken away."""
        return self._edits is not None and any(act["act"] in _OF_DETECTIONS for act in self._edits.acts)

    def make(self, act: Act, rows: tuple[int, ...], report: Callable[[Any], None]) -> Corrected:
        """Make a correction of the detections in some rows (work); what it changed is reported at once, as `Acted`.

        Raises
        ------
        InvalidEdit
            If it cannot be made; nothing has changed then.
        """
        with self._lock:
            change = act(self._opened(), *self._ids[[*rows]].tolist())
            if change is not None:
                gone, made = (tuple(self._rows_of(links)) for links in (change.gone, change.made))
                report(Acted(gone, made, _said(change)))
            linked = self._linked()
            gone, made = ((), ()) if change is None else (change.others_gone, change.others_made)
            said = f"{_said(change)} Corrections in effect: {self.count}."
            return Corrected(linked, said, tuple(self._rows_of(gone)), tuple(self._rows_of(made)))

    def look_at(self, rows: Link, report: Callable[[Any], None]) -> LookedAt:
        """Return a link between two rows with what would be made in its place, and tick it off (work)."""
        del report
        with self._lock:
            source, target = self._ids[[*rows]].tolist()
            rivals = self._opened().rivals(source, target)
            self._looked_at.add((source, target))
            here = self._rows_of(self._looked_at)
            wrong = expected_wrong(self._shown.linking.links, here)
            said = "" if wrong is None else f", {wrong:.1f} wrong links expected to remain"
            progress = f"{len(self._looked_at):,} looked at{said}."
            ticks = are_among(self._shown.suspicious, here)
            return LookedAt(rows, tuple(self._rows_of(rivals)), ticks, progress)

    def replay(self, path: str, report: Callable[[Any], None]) -> Corrected:
        """Make the corrections of a file, in place of those there are (work); errors as of `editing.Session.load`."""
        del report
        with self._lock:
            self._edits = EditSession.load(path, _editable(self._linking))
            return Corrected(self._linked(), f"Corrections of {path} in effect: {self.count}.")

    def save(self, path: str) -> None:
        """Write the corrections in effect, for `replay`."""
        with self._lock:
            self._opened().save(path)

    def save_session(self, path: str, settings: Settings) -> str:
        """Write all of it into one file, and say so."""
        with self._lock:
            write_session(self._opened(), path, settings=settings, looked_at=self._looked_at, overwrite=True)
        return f"Wrote all tracks, {self.count} corrections and {len(self._looked_at)} links looked at to {path}."

    def _opened(self) -> EditSession:
        if self._edits is None:
            self._edits = EditSession(_editable(self._linking))
        return self._edits

    def _rows_of(self, links: Collection[Link]) -> list[Link]:
        """Return links between ids as links between rows; those of detections that are away are left out."""
        ids = np.array([*links], np.int64).reshape(-1, 2)
        rows = np.searchsorted(self._ids, ids)
        is_there = (self._ids[np.minimum(rows, len(self._ids) - 1)] == ids).all(axis=1)
        return [(source, target) for source, target in rows[is_there].tolist()]

    def _linked(self) -> Linked:
        """Return tracks and links as they stand; what was confirmed needs no second look."""
        edits = self._opened()
        linking = edits.linking(anew=False)
        self._ids = edits.ids()
        margins = linking.links["margin"].to_numpy()
        confirmed = {(act["source"], act["target"]) for act in edits.acts if act["act"] == "confirm_link"}
        held = self._rows_of(self._held - confirmed)
        pinned = self._rows_of([(source, target) for source, target in edits.pinned.tolist()])
        doubtful = suspicious_links(linking, margins, held=held)
        is_open = are_among(doubtful, held) | ~are_among(doubtful, pinned)
        doubtful = doubtful[is_open].reset_index(drop=True)
        doubtful["looked_at"] = are_among(doubtful, self._rows_of(self._looked_at))
        data = measured_links(linking)
        self._shown = Linked(linking, data, doubtful, is_given=self._is_given)
        return self._shown


def _editable(linking: Linking) -> Linking:
    """Return the same links as what corrections begin with: those of Jaqaman's two steps are held like a table's."""
    return linking if linking.settings.linking == "auctrack" else reopened(linking.tracks)


def _said(change: Change | None) -> str:
    if change is None:
        return "Nothing to take back or to make again."
    what = _NAMES.get(change.act["act"], str(change.act["act"]).replace("_", " "))
    gone, made = len(change.others_gone), len(change.others_made)
    if not gone and not made:
        return f"Proven again after: {what}. Nothing else changed."
    are_gone, are_new = ("is" if count == 1 else "are" for count in (gone, made))
    others = f"Of the other links {gone} {are_gone} gone (drawn dashed) and {made} {are_new} new"
    return f"Proven again after: {what}. {others}; K keeps those as they were, U takes it all back."
