"""Corrections of the links that are shown: each proven again at once, undone, kept in a file. No Qt here.

A correction takes milliseconds; what is shown of all tracks, of a million links, a second. So there are two jobs:
`make` corrects, `follow` gives tracks, table and list as they then stand, of however many corrections there were since.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from ....tracker.calibrating.digits import counted, expected
from ....tracker.editing.change import Change, Link
from ....tracker.editing.looked_at import are_among, expected_wrong
from ....tracker.editing.reopened import reopened
from ....tracker.editing.session import Session as EditSession
from ....tracker.editing.session_file import SavedSession, write_session
from ....tracker.errors import InvalidEdit, InvalidInput
from ....tracker.linking.result import Linking
from ....tracker.points import Tracks
from ....tracker.settings import Settings
from ....tracker.stepwise import Progress
from ....tracker.suffixes import CORRECTIONS
from ..threads.stopped import Stopped
from .act_subject import ActSubject, subject_of
from .act_words import Seen, act_words, refusal_words
from .filters import measured_links
from .outcome_words import far_words, joined_words, others_words
from .placing import Noted
from .recovery import Left, find_left, free_file, take_over
from .steps import Linked
from .suspicious import suspicious_links

Act = Callable[..., Change | Noted | None]
"""One correction, of a session and the ids of detections; None where there was nothing to undo or redo."""

_AGAIN: Mapping[Act, str] = {EditSession.undo: "Undone", EditSession.redo: "Redone"}
"""What is said of acts that are about an earlier one."""
_OF_DETECTIONS = ("add_detection", "move_detection", "delete_detection", "merge_detections", "together")
_CONFIRMATIONS = ("confirm_link", "confirm_links")


@dataclass(frozen=True)
class Preparing:
    """How far linking again is, where a run kept nothing to correct from."""

    done: int
    total: int


@dataclass(frozen=True)
class Acted:
    """What a correction did, before tracks, table and list have followed.

    Attributes
    ----------
    gone, made : float64 (k, 2, 1 + d)
        Both ends (frame, z, y, x or y, x, in steps) of the links that it took away, and of those that it made, the one
        that is chosen again before them.
    has_others : bool
        Whether it changed links besides those that it was about.
    said : str
        What it changed, in a sentence or two.
    details : str
        That the rest is proven, and how many corrections there are.
    subject : ActSubject or None
        What it was about; None where nothing of it has a place.
    is_again : bool
        Whether that is an earlier act, which was undone or made again: the user may have chosen something else since.
    """

    gone: np.ndarray
    made: np.ndarray
    has_others: bool
    said: str
    details: str = ""
    subject: ActSubject | None = None
    is_again: bool = False


@dataclass(frozen=True)
class CorrectedTracks:
    """Tracks and links as they stand after corrections.

    Attributes
    ----------
    linked : Linked
    ids : int64 (n,)
        Of the detection in each row of the table of tracks.
    version : int
        How many acts, undone and redone ones included, they hold.
    wrong : float or None
        Wrong links that are expected among those that nobody has confirmed or made.
    judged : frozenset of (source, target)
        Rows of the links that the user has confirmed or made.
    """

    linked: Linked
    ids: np.ndarray
    version: int
    wrong: float | None
    judged: frozenset[Link] = frozenset()


@dataclass(frozen=True)
class LookedAt:
    """A link that is looked at.

    Attributes
    ----------
    link, rivals : float64 (k, 2, 1 + d)
        Both ends of the link, and of those that would be made in its place, as in `Acted`.
    """

    link: np.ndarray
    rivals: np.ndarray


class Corrections:
    """Corrections of one run.

    What is shown of it, and the names of detections by their rows there, are for the window's thread; `prepare`,
    `make`, `follow`, `look_at`, `replay` and the saving are work for other threads, one at a time.

    Parameters
    ----------
    linked : Linked
        Of a run. Where it kept nothing to correct from (on a GPU, say, or by Jaqaman's two steps), it is linked once
        more before the first link is looked at. Of tracks that were taken up, what it pins is to be looked at like any
        other link.
    """

    def __init__(self, linked: Linked) -> None:
        self._linking, self._is_given = linked.linking, linked.is_given
        self._held = {(int(source), int(target)) for source, target in linked.linking.settings.pinned or ()}
        self._edits: EditSession | None = None
        wrong = expected_wrong(linked.linking.links, ())
        self._shown = CorrectedTracks(linked, np.arange(len(linked.linking.tracks)), 0, wrong)
        self._version = 0
        self._looked_at: set[Link] = set()
        self._saved: list[Any] = []
        self._kept: Path | None = None
        self._lock = threading.Lock()

    @classmethod
    def of(cls, saved: SavedSession) -> tuple[Corrections, Linked]:
        """Return the corrections of a session as it was left, and the tracks as they stand."""
        begun = saved.session.begun
        margins = begun.links["margin"].to_numpy()
        doubtful = suspicious_links(begun, margins, held=begun.settings.pinned or ())
        taken_up = cls(Linked(begun, measured_links(begun), doubtful, is_given=True))
        taken_up._edits, taken_up._looked_at = saved.session, {*saved.looked_at}
        taken_up._saved = saved.session.acts
        taken_up.show(taken_up.follow(lambda _: None))
        return taken_up, taken_up._shown.linked

    # --- what is shown (window's thread) -------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """How many corrections are in effect."""
        return 0 if self._edits is None else len(self._edits.acts)

    @property
    def n_unsaved(self) -> int:
        """How many corrections were made, or taken back, since a file held those in effect."""
        acts = [] if self._edits is None else self._edits.acts
        in_both = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(acts, self._saved, strict=False)))
        return len(acts) + len(self._saved) - 2 * in_both

    @property
    def can_keep_others(self) -> bool:
        """Whether the last correction changed other links that can be put back, while none is being made."""
        return self._edits is not None and self._edits.can_keep_others

    @property
    def is_ready(self) -> bool:
        """Whether everything is prepared."""
        return self._edits is not None

    @property
    def is_behind(self) -> bool:
        """Whether what is shown lacks a correction."""
        return self._version != self._shown.version

    @property
    def edit_detections(self) -> bool:
        """Whether particles were added, moved or taken away."""
        return self._edits is not None and any(act["act"] in _OF_DETECTIONS for act in self._edits.acts)

    def show(self, corrected: CorrectedTracks) -> None:
        """Take note that these tracks are shown from now on."""
        self._shown = corrected

    def is_judged(self, link: Link) -> bool:
        """Whether the user has confirmed or made a link between two rows of the table that is shown."""
        return link in self._shown.judged

    def ids_of(self, rows: Sequence[int]) -> tuple[int, ...]:
        """Return the detections in rows of the table that is shown."""
        return tuple(self._shown.ids[[*rows]].tolist())

    def rows_of(self, ids: Sequence[int]) -> tuple[int, ...] | None:
        """Return the rows of detections in the table that is shown; None where one is away."""
        rows = _rows_of([(one, one) for one in ids], self._shown.ids)
        return tuple(row for row, _ in rows) if len(rows) == len(ids) else None

    def ticks(self) -> np.ndarray:
        """Return which of the doubtful links that are shown were looked at."""
        return are_among(self._shown.linked.suspicious, _rows_of(self._looked_at, self._shown.ids))

    @property
    def progress(self) -> str:
        """How many links were looked at, how often more than confirmed, and how many are expected to be wrong."""
        acts, wrong = [] if self._edits is None else self._edits.acts, self._shown.wrong
        corrected = sum(act["act"] not in _CONFIRMATIONS for act in acts)
        remain = "" if wrong is None else f"; {expected(wrong)} wrong links expected"
        return f"{len(self._looked_at):,} looked at, {corrected:,} corrected{remain}."

    # --- work ----------------------------------------------------------------------------------------------------

    def prepare(self, report: Callable[[Any], None]) -> None:
        """Make everything ready for the first of what follows."""
        with self._lock:
            self._opened(report)

    def make(self, act: Act, ids: tuple[int, ...], report: Callable[[Any], None]) -> Acted:
        """Make a correction of some detections.

        Raises
        ------
        InvalidEdit
            If it cannot be made, by tracks and frames; nothing has changed then.
        """
        with self._lock:
            edits = self._opened(report)
            with self._by_track_and_frame():
                done = act(edits, *ids)
            change, note = (done.change, done.note) if isinstance(done, Noted) else (done, "")
            if change is None:
                what = "undo" if act is EditSession.undo else "redo"
                return self._of_none(f"There is nothing to {what}.")
            self._version += 1
            said, details = _say(change, note, edits, self.count, _AGAIN.get(act, ""))
            has_others = bool(change.others_gone or change.others_made)
            subject, is_again = subject_of(change, edits, self._place), act in _AGAIN
            chosen = (subject.link,) if is_again and subject is not None and subject.link is not None else ()
            gone, made = self._ends(change.gone, as_shown=True), self._ends(dict.fromkeys((*chosen, *change.made)))
            return Acted(gone, made, has_others, said, details, subject, is_again)

    def _of_none(self, said: str) -> Acted:
        """Return what is said where no link changed that could be shown."""
        return Acted(self._ends(()), self._ends(()), has_others=False, said=said)

    def follow(self, report: Callable[[Any], None]) -> CorrectedTracks:
        """Return tracks and links as they stand; what was confirmed or made needs no second look.

        `report` is called between the parts of it; a `Stopped` that it raises leaves for a correction that waits.
        """
        with self._lock:
            edits, shown = self._opened(report), self._shown
            linking, ids, version = edits.linking(remeasure=False), edits.ids(), self._version
            confirmed = {(act["source"], act["target"]) for act in edits.acts if act["act"] == "confirm_link"}
            held, looked_at = _rows_of(self._held - confirmed, ids), _rows_of(self._looked_at, ids)
            pinned = _rows_of([(source, target) for source, target in edits.pinned.tolist()], ids)
        report(None)
        judged = {*pinned} - {*held}
        doubtful = suspicious_links(linking, linking.links["margin"].to_numpy(), held=held)
        doubtful = doubtful[~are_among(doubtful, judged)].reset_index(drop=True)
        doubtful["looked_at"] = are_among(doubtful, looked_at)
        report(None)
        data = replace(measured_links(linking, shown.linked.data), margins_are_near=True)
        wrong = expected_wrong(linking.links, judged)
        linked = Linked(linking, data, doubtful, is_given=self._is_given)
        return CorrectedTracks(linked, ids, version, wrong, frozenset(judged))

    def look_at(self, link: Link, report: Callable[[Any], None], *, ticks_off: bool) -> LookedAt:
        """Return a link between two detections with what would be made in its place; `ticks_off`: it is looked at."""
        with self._lock:
            with self._by_track_and_frame():
                rivals = self._opened(report).rivals(*link)
            if ticks_off:
                self._looked_at.add(link)
            return LookedAt(self._ends([link]), self._ends(rivals))

    def replay(self, path: str, report: Callable[[Any], None], *, is_saved: bool) -> Acted:
        """Make the corrections of a file, in place of those there are; errors as of `editing.Session.load`.

        `is_saved` says whether the file holds them for good; else it is the one that `keep` goes on with.
        """
        with self._lock:
            progress = partial(_prepared, report)
            try:
                with self._by_track_and_frame():
                    self._edits = EditSession.load(path, _editable(self._linking, progress), progress=progress)
            except InvalidEdit as error:
                hint = "If these tracks were saved after the corrections were made, they already contain them."
                raise InvalidEdit(f"{error} {hint}") from error
            made = counted(self.count, "correction", ",")
            said = f"Applied {made} from {path}."
            if is_saved:
                self._saved = self._edits.acts
            else:
                self._kept = take_over(Path(path), self._linking.tracks)
                said = f"Recovered {made}, which you have not saved yet."
            self._version += 1
            return self._of_none(said)

    def keep(self, folder: Path, report: Callable[[Any], None]) -> None:
        """Have a file in a folder hold the corrections in effect while no other does; errors as of saving them."""
        del report
        with self._lock:
            if self.n_unsaved:
                folder.mkdir(parents=True, exist_ok=True)
                self._kept = self._kept or free_file(folder, self._linking.tracks)
                self._opened().save(self._kept, overwrite=True)
            else:
                self.keep_no_longer()

    def keep_no_longer(self) -> None:
        """Take away what `keep` wrote: another file holds it, or the user has discarded it."""
        if self._kept is not None:
            self._kept.unlink(missing_ok=True)

    def find_kept(self, folder: Path, report: Callable[[Any], None]) -> Left:
        """Return what others have kept of corrections of these detections."""
        del report
        return find_left(folder, self._linking.tracks)

    def write(self, path: str, write: Callable[[Tracks], Any]) -> None:
        """Have the tracks shown written, the margins of all links measured, and the corrections in effect beside them.

        Corrections of tracks that stood there before go.

        Raises
        ------
        InvalidInput
            If they lack a correction.
        """
        with self._lock:
            write(self._measured().tracks)
            beside = Path(f"{path}{CORRECTIONS}")
            if not self.count:
                beside.unlink(missing_ok=True)
            else:
                self._opened().save(beside, overwrite=True)
                self._saved = self._opened().acts
                self.keep_no_longer()

    def measured(self) -> Linking:
        """Return the links shown with all margins measured; raises as `write`."""
        with self._lock:
            return self._measured()

    def _measured(self) -> Linking:
        self._require_followed()
        shown = self._shown.linked.linking
        return shown if shown is self._linking else self._opened().linking()

    def save_session(self, path: str, settings: Settings, place: Sequence[float] | None) -> str:
        """Write all of it into one file, with the place that is shown, and say so; raises as `write`."""
        with self._lock:
            self._require_followed()
            edits = self._opened()
            write_session(edits, path, settings=settings, looked_at=self._looked_at, place=place, overwrite=True)
            self._saved = edits.acts
            self.keep_no_longer()
        corrections = counted(self.count, "correction", ",")
        return f"Wrote all tracks and {corrections} to {path}; links looked at: {len(self._looked_at):,}."

    def _require_followed(self) -> None:
        if self.is_behind:
            raise InvalidInput("The last correction is still being worked into the tracks: try again in a second.")

    def _opened(self, report: Callable[[Any], None] = lambda _: None) -> EditSession:
        if self._edits is None:
            progress = partial(_prepared, report)
            self._edits = EditSession(_editable(self._linking, progress), progress=progress)
        return self._edits

    @contextmanager
    def _by_track_and_frame(self) -> Generator[None]:
        """Have what cannot be done said by the tracks and frames that the user sees."""
        try:
            yield
        except InvalidEdit as error:
            raise InvalidEdit(refusal_words(error, self._track)) from error

    def _track(self, detection: int) -> int | None:
        """Return the track that a detection is shown in; None where it is not shown."""
        rows = self.rows_of([detection])
        return None if rows is None else int(self._shown.linked.linking.tracks.table["track_id"].iloc[rows[0]])

    def _ends(self, links: Collection[Link], *, as_shown: bool = False) -> np.ndarray:
        """Return frame and place of both ends of links between detections that are there or are shown.

        `as_shown`: at the places that are shown, where a moved one was before; else where they are now.
        """
        ends = [[self._place(one, as_shown=as_shown) for one in link] for link in links]
        width = 1 + self._shown.linked.linking.tracks.ndim
        return np.array([link for link in ends if None not in link], dtype=np.float64).reshape(-1, 2, width)

    def _place(self, detection: int, *, as_shown: bool = False) -> list[float] | None:
        """Return frame and place of a detection as of `_ends`; None where it neither is there nor is shown."""
        edits, tracks = self._opened(), self._shown.linked.linking.tracks
        rows = self.rows_of([detection])
        if edits.is_there(detection) and (rows is None or not as_shown):
            return [edits.frame(detection), *edits.position(detection)]
        columns = ["frame", *tracks.axes]  # one by one: a row of pandas takes five times as long
        return None if rows is None else [float(tracks.table[name].iloc[rows[0]]) for name in columns]


def break_link(edits: EditSession, source: int, target: int) -> Change:
    """Break a link; of tracks that were taken up, links that they lack may come in its place."""
    return edits.break_link(source, target, opens_ends=True)


def _say(change: Change, note: str, edits: EditSession, count: int, again: str) -> tuple[str, str]:
    """Return what an act changed, in a sentence or two, and what else there is to know.

    `again`: "Undone" or "Redone", empty if it is new.
    """
    words = act_words(change.act, lambda detection: Seen(edits.track_number(detection), edits.frame(detection)))
    begun = words.told_again(again) if again else str(words)
    so_far = f"Corrections so far: {count}."
    if again == "Undone":
        return f"{begun}.", f"All links are again as they were before it. {so_far}"
    others = others_words(change, can_keep=edits.can_keep_others)
    said = f"{begun}{joined_words(change, edits.track_number)}{far_words(change, edits)}; {others}{note}"
    return said, f"All links are proven optimal again. {so_far}"


def _found(links: Collection[Link], ids: np.ndarray) -> list[tuple[Link, Link]]:
    """Return links between detections, and between their rows, but for those of which a detection is away."""
    ends = np.array([*links], np.int64).reshape(-1, 2)
    rows = np.searchsorted(ids, ends)
    is_there = (ids[np.minimum(rows, len(ids) - 1)] == ends).all(axis=1)
    pairs = zip(ends[is_there].tolist(), rows[is_there].tolist(), strict=True)
    return [((a, b), (c, d)) for (a, b), (c, d) in pairs]


def _rows_of(links: Collection[Link], ids: np.ndarray) -> list[Link]:
    """Return links between detections as links between rows; those of detections that are away are left out."""
    return [rows for _, rows in _found(links, ids)]


def _editable(linking: Linking, progress: Progress) -> Linking:
    """Return the same links as what corrections begin with: those of Jaqaman's two steps are held like a table's."""
    return linking if linking.settings.linking == "auctrack" else reopened(linking.tracks, progress=progress)


def _prepared(report: Callable[[Any], None], done: int, total: int) -> None:
    """Report how far linking again is; it is not broken off, as whatever comes next needs it too."""
    with suppress(Stopped):
        report(Preparing(done, total))
