"""A correction session: acts on the links and detections of a linking, undone and redone, recorded and replayed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from ...matching.certificate.assignment import Assignment
from ...matching.paths.changing import Changes
from ..errors import InvalidEdit, InvalidInput
from ..formats.write import require_path
from ..kinds import is_number, is_whole, require_whole
from ..linking.constraints import constraints_of
from ..linking.link import link_points
from ..linking.result import Linking
from ..stepwise import Progress
from .acts import do, named, problem_among, renamed
from .change import Change, Link
from .corrected import Corrected
from .corrected_linking import as_linking, present
from .doubts import Doubts
from .journal import Entries, taken_back
from .outcome import outcome
from .record import read_acts, write_acts
from .track_numbers import Renumbered, TrackNumbers


@dataclass(frozen=True)
class _Done:
    """An act that is in effect, or was undone: what was said of it, and what takes it back, or makes it again."""

    change: Change
    entries: Entries
    changes: Changes
    renumbered: Renumbered


class Session:
    """Corrections of a linking; what each one touches is solved again at once, and the whole stays proven.

    Detections are named by id: the row of `linking.tracks.table`, and the next numbers for added ones.

    Parameters
    ----------
    linking : Linking
        Made with `editable=True`; any other is linked once more, with its own settings. Links that these pin or forbid
        are confirmed or forbidden from the start.
    progress : callable, optional
        Of linking once more; see `link_points`.

    Raises
    ------
    InvalidInput
        If something other than a linking is given.
    """

    def __init__(self, linking: Linking, *, progress: Progress | None = None) -> None:
        if not isinstance(linking, Linking):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInput(
                f"linking needs what link_points returned; got {type(linking).__name__}. Tracks become that by "
                "auctrack.tracker.editing.reopened.reopened(tracks)."
            )
        self._begun = linking
        given = constraints_of(linking.tracks, linking.settings)
        if linking.solution is None:
            open_ = replace(linking.settings, pinned=None, forbidden=None)
            linking = link_points(linking.tracks, open_, editable=True, progress=progress)
        assert linking.solution is not None
        self._linking = linking
        self._movie = Corrected(linking.tracks, linking.solution)
        self._movie.begin_with(given.pinned.tolist(), given.forbidden.tolist(), self._begun.lacked)
        self._numbers = TrackNumbers(self._movie, self._begun.tracks.table["track_id"].to_numpy())
        self._doubts = Doubts(self._movie, linking)
        if given:
            self._doubts.measure()
        self._done: list[_Done] = []
        self._undone: list[_Done] = []

    def __repr__(self) -> str:
        """Return the counts, and where the rest is."""
        return (
            f"<Session with detections: {len(self.ids())}, corrections: {len(self._done)}, confirmed links: "
            f"{len(self.pinned)}, forbidden links: {len(self.forbidden)}; see .doubtful(), .linking(), .undo()>"
        )

    # ---------------------------------------------------------------- acts

    def break_link(self, source: int, target: int, *, opens_ends: bool = False) -> Change:
        """Forbid a link that is there.

        With `opens_ends`, links of the source and the target that saved tracks lack (`Linking.lacked`) are possible
        again, so that right ones can replace a wrong one; what you or a correction forbade stays forbidden.
        """
        opens = {"opens_ends": True} if opens_ends and self._begun.lacked else {}
        return self._act("break_link", source=source, target=target, **opens)

    def add_link(self, source: int, target: int) -> Change:
        """Confirm a link between any two detections in the order of time, whether or not it was a candidate."""
        return self._act("add_link", source=source, target=target)

    def confirm_link(self, source: int, target: int) -> Change:
        """Confirm a link that is there."""
        return self._act("confirm_link", source=source, target=target)

    def confirm_links(self, links: Sequence[Sequence[int]]) -> Change:
        """Confirm links that are there, such as all of a track, as one act."""
        return self._act("confirm_links", links=_listed(links))

    def hold_links(self, pinned: Sequence[Sequence[int]], forbidden: Sequence[Sequence[int]]) -> Change:
        """Confirm links, whether or not they are there, and forbid others, as one act."""
        return self._act("hold_links", pinned=_listed(pinned), forbidden=_listed(forbidden))

    def keep_others(self) -> Change:
        """Refuse what the last act changed besides: confirm the links that went, and forbid those that came.

        A link that went because the act itself took its place is left out.
        """
        if not self._done:
            raise InvalidEdit("there is no correction yet that could have changed other links.")
        pinned, forbidden = self._others()
        if not pinned and not forbidden:
            raise InvalidEdit("the last correction changed no other link that could be kept as it was.")
        return self.hold_links(pinned, forbidden)

    @property
    def can_keep_others(self) -> bool:
        """Whether there is anything that `keep_others` would refuse."""
        return any(self._others())

    def _others(self) -> tuple[list[Link], list[Link]]:
        """Return the links that the last act took away and that there is room for, and those that it made, besides."""
        if not self._done:
            return [], []
        last = self._done[-1].change
        return [link for link in last.others_gone if self._movie.has_room(link)], [*last.others_made]

    def swap_links(self, first: Sequence[int], second: Sequence[int]) -> Change:
        """Exchange the targets of two links; the new ones are confirmed, the old ones forbidden."""
        return self._act("swap_links", first=_listed(first), second=_listed(second))

    def release_link(self, source: int, target: int) -> Change:
        """Leave a confirmed or forbidden link to the data again."""
        return self._act("release_link", source=source, target=target)

    def split_track(self, detection: int) -> Change:
        """End a track with a detection; what follows is a track of its own that begins there."""
        return self._act("split_track", detection=detection)

    def mark_division(self, mother: int, daughters: Sequence[int]) -> Change:
        """Confirm that a particle divides, whether or not the settings look for divisions."""
        return self._act("mark_division", mother=mother, daughters=_listed(daughters))

    def add_detection(
        self, frame: int, position: Sequence[float], measures: Mapping[str, float] | None = None
    ) -> Change:
        """Add a detection at z, y, x (or y, x) in the table's coordinates; its id is `added[0]` of the change.

        Its links are weighed by the length, or by the learned model without contexts. `measures` are what is known of
        it beside its place, by the names of the table's columns; what is left out is NaN.
        """
        return self._act("add_detection", frame=frame, position=_listed(position), **_given(measures))

    def move_detection(
        self, detection: int, position: Sequence[float], measures: Mapping[str, float] | None = None
    ) -> Change:
        """Give a detection another position; its links are weighed again, as those of an added one.

        `measures` as of an added one; what is left out stays.
        """
        return self._act("move_detection", detection=detection, position=_listed(position), **_given(measures))

    def delete_detection(self, detection: int) -> Change:
        """Take a detection away with its links, confirmed ones too."""
        return self._act("delete_detection", detection=detection)

    def merge_detections(self, detections: Sequence[int]) -> Change:
        """Make detections of one frame one: the first stays, at their mean."""
        return self._act("merge_detections", detections=_listed(detections))

    def together(self, acts: Sequence[Mapping[str, Any]]) -> Change:
        """Do acts, each as in `acts`, as one that is undone as one; if one cannot be done, none is."""
        _require_known(parts := _listed(acts))
        return self._act("together", acts=parts)

    def replay(self, acts: Iterable[Mapping[str, Any]]) -> list[Change]:
        """Do recorded acts, in their order.

        Raises
        ------
        InvalidEdit
            If one has no known name, or does not fit what stands; those before it are in effect.
        """
        changes: list[Change] = []
        if not isinstance(acts, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            _require_known(acts)
        for act in acts:
            _require_known([act])
            changes.append(self._recorded(act))
        return changes

    def undo(self) -> Change | None:
        """Take the last act back, so that all stands exactly as before it; None where there is none."""
        return self._step(self._done, self._undone, is_undone=True)

    def redo(self) -> Change | None:
        """Do the act that was last taken back again; None where there is none."""
        return self._step(self._undone, self._done, is_undone=False)

    def _recorded(self, act: Mapping[str, Any]) -> Change:
        arguments = dict(act)
        return self._act(arguments.pop("act"), **arguments)

    def _act(self, name: str, **arguments: Any) -> Change:
        act = renamed({"act": name, **_plain(arguments)}, _as_id)
        _require_known([act])
        self._movie.journal.begin()
        self._movie.matching.begin()
        try:
            do(self._movie, act)
        except (TypeError, ValueError) as error:
            self._take_back(self._entries())
            if isinstance(error, InvalidEdit):
                raise
            raise InvalidEdit(f"correction {name} cannot be made: {error}.") from error
        entries, changes = self._entries()
        change = outcome(self._movie, act, {*named(act)}, entries, changes)
        self._done.append(_Done(change, entries, changes, self._numbers.follow(change)))
        self._undone.clear()
        self._doubts.note(change)
        return change

    def _entries(self) -> tuple[Entries, Changes]:
        return self._movie.journal.entries(), self._movie.matching.changes()

    def _take_back(self, of: tuple[Entries, Changes]) -> tuple[Entries, Changes]:
        return taken_back(of[0]), self._movie.matching.take_back(of[1])

    def _step(self, of: list[_Done], into: list[_Done], *, is_undone: bool) -> Change | None:
        if not of:
            return None
        last = of.pop()
        before = self._doubts.near(last.change)  # an act that is undone takes the candidates that it made along
        back = self._take_back((last.entries, last.changes))
        into.append(_Done(last.change.reversed(), *back, self._numbers.take_back(last.renumbered)))
        self._doubts.note(into[-1].change, before, is_undone=is_undone)
        return into[-1].change

    # ---------------------------------------------------------------- looking

    @property
    def acts(self) -> list[dict[str, Any]]:
        """The acts in effect, in their order: `act`, its name, and its arguments, all plain values."""
        return [dict(done.change.act) for done in self._done]

    @property
    def pinned(self) -> np.ndarray:
        """Confirmed links, int64 (k, 2): sources and targets."""
        return np.array(sorted(self._movie.pins), np.int64).reshape(-1, 2)

    @property
    def forbidden(self) -> np.ndarray:
        """Forbidden links between detections that are there, int64 (k, 2): sources and targets."""
        there = self._movie.detections.is_there
        bans = sorted(link for link in self._movie.bans if all(map(there, link)))
        return np.array(bans, np.int64).reshape(-1, 2)

    def is_pinned(self, source: int, target: int) -> bool:
        """Whether a link is confirmed."""
        return self.is_there(source) and self.is_there(target) and (source, target) in self._movie.pins

    def is_there(self, detection: int) -> bool:
        """Whether there is a detection of this id now."""
        return self._movie.detections.is_there(detection)

    def frame(self, detection: int) -> int:
        """Return the frame number of a detection, which a deleted one keeps."""
        self._movie.detections.require_id(detection)
        return self._movie.detections.frame(detection)

    def position(self, detection: int) -> tuple[float, ...]:
        """Return the position z, y, x (or y, x) of a detection, in the table's coordinates."""
        self._movie.detections.require(detection)
        return self._movie.detections.place(detection)

    def near(self, frame: int, position: Sequence[float], radius: float) -> list[int]:
        """Return the detections of a frame within a physical distance of a position, the nearest first."""
        detections = self._movie.detections
        if not is_whole(frame):
            raise InvalidEdit(f"frame needs a whole number; got {frame!r}.")
        if not is_number(radius) or not radius >= 0:
            raise InvalidEdit(f"radius needs a number of at least 0; got {radius!r}.")
        place = np.array(detections.checked(position)) * detections.points.calibration.scale_for(detections.ndim)
        found = detections.near(frame, place, radius)
        return sorted(found, key=lambda one: float(np.linalg.norm(detections.physical(one) - place)))

    def successors(self, detection: int) -> tuple[int, ...]:
        """Return the detections that follow one."""
        self._movie.detections.require(detection)
        return tuple(sorted(self._movie.targets(detection)))

    def predecessors(self, detection: int) -> tuple[int, ...]:
        """Return the detections that one follows."""
        self._movie.detections.require(detection)
        return tuple(sorted(self._movie.sources(detection)))

    def track_of(self, detection: int) -> list[int]:
        """Return the detections of a track, in the order of time; it ends where particles divide or merge."""
        track = [detection]
        while (before := self._only(track[0], self.predecessors, self.successors)) is not None:
            track.insert(0, before)
        while (after := self._only(track[-1], self.successors, self.predecessors)) is not None:
            track.append(after)
        return track

    def track_number(self, detection: int) -> int:
        """Return the number of a detection's track, of one that is away the last; −1 if it never was in one.

        Numbers are those of the linking that the corrections began with, and stay: after an act the number of a track
        goes to the one that now holds most of its detections, and tracks that are new get numbers that none has had.
        """
        self.frame(detection)  # refuses what never was one
        return int(self._numbers.of[detection])

    def margin(self, source: int, target: int) -> float:
        """Return what the best links without this one lose: in nats, or with motion "none" in the unit of the cost.

        inf for a confirmed link.
        """
        return self._doubts.margin(self._link(source, target))

    def rivals(self, source: int, target: int) -> tuple[Link, ...]:
        """Return the links that would be made if this one were not; none where both its ends would stay unlinked."""
        return self._doubts.rivals(self._link(source, target))

    def doubtful(self, count: int = 100) -> pd.DataFrame:
        """Return the least sure links that are not confirmed: `source`, `target`, `margin`, `probability`.

        `probability` is NaN with motion "none". Wrong links come together: one that meets a link that an act made or
        took away stands where a link of half its log-odds does. Links at what an act touched, and at the candidates
        there, are measured again; an act may have changed margins beyond, which `linking` measures again.
        """
        return self._doubts.least(require_whole(count, 0, "count"))

    def proof(self) -> Assignment:
        """Return the assignment of the whole, confirmed links left out, its certificate recomputed."""
        return self._movie.matching.proof()

    def ids(self) -> np.ndarray:
        """Return the id behind every row of the tables of `linking`, int64 (n,)."""
        return present(self._movie)

    def linking(self, *, remeasure: bool = True) -> Linking:
        """Return what stands now as a linking of its own, with rows for ids: to write, measure and score.

        Its tracks are numbered as `track_number` says.

        Parameters
        ----------
        remeasure : bool
            Whether all margins are measured again after acts, which takes longest; else as in `doubtful`.
        """
        return as_linking(self._movie, self._linking, self._doubts.all(remeasure=remeasure), self._numbers.of)

    def _link(self, source: int, target: int) -> Link:
        self._movie.detections.require(source, target)
        if not self._movie.is_link((source, target)):
            raise self._movie.detections.refusal(f"there is no link {source} → {target}.", "no link", source, target)
        return source, target

    @property
    def begun(self) -> Linking:
        """The linking that the corrections began with."""
        return self._begun

    # ---------------------------------------------------------------- saving

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the acts in effect into a file.

        Parameters
        ----------
        path : str or Path
        overwrite : bool
            Whether a file that stands there may be replaced.

        Raises
        ------
        InvalidSetting
            If the path is no name of a file.
        OutputExists, OutputFailed
            As of `write_tracks`.
        """
        require_path(path)
        write_acts(Path(path), self.acts, self._linking.tracks, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path, linking: Linking, *, progress: Progress | None = None) -> Self:
        """Return a session of a linking with the acts of a file in effect, on the same detections in any order.

        Raises
        ------
        InvalidInput
            If the file cannot be read, or names detections that the linking does not have.
        InvalidEdit
            If an act in it does not fit the linking.
        InvalidSetting
            If the path is no name of a file.
        """
        require_path(path)
        session = cls(linking, progress=progress)
        for act in read_acts(Path(path), linking.tracks):
            session._recorded(act)
        return session

    def _only(self, detection: int, ahead: Any, back: Any) -> int | None:
        """Return the one neighbour in time whose only neighbour back is the detection, else None."""
        near = ahead(detection)
        return near[0] if len(near) == 1 and len(back(near[0])) == 1 else None


def _require_known(acts: object) -> None:
    if problem := problem_among(_plain(acts)):
        raise InvalidEdit(problem)


def _given(measures: Mapping[str, float] | None) -> dict[str, Any]:
    """Return measures as an act records them; nothing where there are none."""
    return {} if measures is None else {"measures": dict(measures) if hasattr(measures, "keys") else measures}


def _listed(value: Any) -> Any:
    """Return what holds several as a list; what holds none stays, and is refused as what it is."""
    return [*value] if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)) else value


def _as_id(value: Any) -> Any:
    """Return an id as an int where a row of `doubtful`, taken out of its table, has made a float of it."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _plain(value: Any) -> Any:
    """Return NumPy's numbers, and what holds them, as Python's, which JSON knows."""
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value
