"""Numbers of tracks that stay through corrections: of a track that falls apart, the largest part keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..links import are_only_links, track_ids
from ..measuring.track_order import track_order
from .change import Change
from .corrected import Corrected

NONE = -1
"""The number of a detection that is in no track."""
_NOBODY = np.arange(0)


@dataclass(frozen=True)
class Renumbered:
    """What an act did to the numbers.

    Attributes
    ----------
    before, after : mapping of int to int64 (k,)
        By number, the detections of the tracks that it touched, in the order of time.
    next_before, next_after : int
        The first number that no track has had.
    """

    before: Mapping[int, np.ndarray]
    after: Mapping[int, np.ndarray]
    next_before: int
    next_after: int

    def reversed(self) -> Renumbered:
        """Return what its undoing does."""
        return Renumbered(self.after, self.before, self.next_after, self.next_before)


class TrackNumbers:
    """The numbers of the tracks of a movie under correction.

    After every act, a number goes to the track that holds most of the detections that had it, the earliest of equals.
    A track to which several numbers would go takes the one of which it holds most, the lowest of equals; one to which
    none goes gets a number that no track has had. Numbers follow from the acts in effect alone, not from those undone.

    Parameters
    ----------
    movie : Corrected
    begun : int64 (n,)
        The number that each detection of the table had; negative for none.

    Attributes
    ----------
    of : int64
        Number of each detection by its id, `NONE` where it never was in a track; of one that is away the last. It may
        be longer than there are detections.
    """

    def __init__(self, movie: Corrected, begun: np.ndarray) -> None:
        self._movie = movie
        frames = movie.detections.points.frames
        source, target = movie.links()
        only = are_only_links(source, target, len(frames))
        tracks = track_ids(frames, source[only], target[only])
        self.of = tracks if np.array_equal(tracks, begun) else _carried_over(begun, tracks)
        self._next = max(int(begun.max(initial=NONE)), int(self.of.max(initial=NONE))) + 1
        self._order = track_order(self.of, frames)
        self._in_order = self.of[self._order]
        self._changed: dict[int, np.ndarray] = {}

    def follow(self, change: Change) -> Renumbered:
        """Number the tracks that an act has changed."""
        self._make_room()
        near, added = self._near(change), set(change.added)
        before = {int(number): self._members(number) for number in {self.of[one] for one in near - added}}
        pieces = [piece for members in before.values() for piece in self._pieces(members, near)]
        former = [int(self.of[piece[0]]) for piece in pieces]
        new = [np.array([one]) for one in added if self._movie.detections.is_there(one)]
        pieces, former = [*pieces, *new], [*former, *[NONE] * len(new)]
        tracks = self._joined(pieces)
        numbers, following = self._numbers(tracks, [len(piece) for piece in pieces], former)
        members = [np.concatenate([pieces[k] for k in track]) for track in tracks]
        renumbered = Renumbered(before, dict(zip(numbers, members, strict=True)), self._next, following)
        self._put(renumbered)
        return renumbered

    def take_back(self, renumbered: Renumbered) -> Renumbered:
        """Undo what an act did to the numbers, the last one first; return what takes this back in turn."""
        self._put(renumbered.reversed())
        return renumbered.reversed()

    def _put(self, renumbered: Renumbered) -> None:
        self._changed.update(dict.fromkeys(renumbered.before, _NOBODY))
        self._changed.update(renumbered.after)
        for number, members in renumbered.after.items():
            self.of[members] = number
        self._next = renumbered.next_after

    def _make_room(self) -> None:
        """Have a place for the number of every detection."""
        lacking = len(self._movie.detections) - len(self.of)
        if lacking > 0:
            self.of = np.append(self.of, np.full(max(lacking, len(self.of) // 8), NONE))

    def _members(self, number: int) -> np.ndarray:
        """Return the detections of a track in the order of time."""
        if number in self._changed:
            return self._changed[number]
        low, high = np.searchsorted(self._in_order, [number, number + 1])
        return self._order[low:high]

    def _near(self, change: Change) -> set[int]:
        """Return where tracks may have been cut or joined: the ends of links that changed, and what is linked there."""
        movie = self._movie
        ends = {*change.added, *change.removed, *(end for link in (*change.gone, *change.made) for end in link)}
        there = list(filter(movie.detections.is_there, ends))
        return ends.union(*map(movie.targets, there), *map(movie.sources, there))

    def _pieces(self, members: np.ndarray, near: Iterable[int]) -> list[np.ndarray]:
        """Return what has become of a track: its stretches that are still linked, without detections that are away."""
        at = np.flatnonzero(np.isin(members, [*near]))
        places = np.unique([at, at + 1])
        inside = places[(places > 0) & (places < len(members))].tolist()
        cuts = [place for place in inside if self._follower(int(members[place - 1])) != members[place]]
        is_there = self._movie.detections.is_there
        return [piece for piece in np.split(members, cuts) if is_there(int(piece[0]))]

    def _follower(self, detection: int) -> int | None:
        """Return what goes on with the track of a detection."""
        following = set(self._movie.targets(detection))
        if len(following) != 1 or len(set(self._movie.sources(*following))) != 1:
            return None
        return following.pop()

    def _joined(self, pieces: Sequence[np.ndarray]) -> list[list[int]]:
        """Return which pieces follow each other in the tracks, which are in the order of their beginnings."""
        begins = {int(piece[0]): k for k, piece in enumerate(pieces)}
        ends = (self._follower(int(piece[-1])) for piece in pieces)
        followers = [NONE if following is None else begins.get(following, NONE) for following in ends]
        frame = self._movie.detections.frame
        heads = sorted((frame(one), one, k) for one, k in begins.items() if k not in followers)
        tracks = [[k] for _, _, k in heads]
        for track in tracks:
            while (following := followers[track[-1]]) != NONE:
                track.append(following)
        return tracks

    def _numbers(
        self, tracks: Sequence[Sequence[int]], sizes: Sequence[int], former: Sequence[int]
    ) -> tuple[list[int], int]:
        """Return the number of each track by its pieces' sizes and former numbers, and the next one that is free."""
        held: dict[tuple[int, int], int] = {}
        for place, track in enumerate(tracks):
            for k in track:
                held[former[k], place] = held.get((former[k], place), 0) + sizes[k]
        holds = [(*key, size) for key, size in held.items() if key[0] != NONE]
        number, which, size = np.array(holds, np.int64).reshape(-1, 3).T
        kept = _kept(number, which, size, len(tracks))
        numbers = _with_new(kept, self._next)
        return numbers.tolist(), max(self._next, int(numbers.max(initial=NONE)) + 1)


def _carried_over(begun: np.ndarray, tracks: np.ndarray) -> np.ndarray:
    """Return the number of each detection where tracks (`tracks`, from 0) take over those that there were (`begun`)."""
    had = begun >= 0
    number, code = np.unique(begun[had], return_inverse=True)
    n_tracks = int(tracks.max(initial=NONE)) + 1
    pairs, size = np.unique(code * n_tracks + tracks[had], return_counts=True)
    of, track = np.divmod(pairs, n_tracks)
    return _with_new(_kept(number[of], track, size, n_tracks), int(begun.max(initial=NONE)) + 1)[tracks]


def _kept(number: np.ndarray, track: np.ndarray, size: np.ndarray, n_tracks: int) -> np.ndarray:
    """Return the number that each track keeps, int64 (n_tracks,), `NONE` where it keeps none.

    Parameters
    ----------
    number, track, size : int64 (k,)
        How many of the detections that had a number are in a track; tracks are in the order of time.
    n_tracks : int
    """
    by_number = np.lexsort((track, -size, number))
    largest = by_number[np.unique(number[by_number], return_index=True)[1]]
    by_track = largest[np.lexsort((number[largest], -size[largest], track[largest]))]
    holders, first = np.unique(track[by_track], return_index=True)
    kept = np.full(n_tracks, NONE)
    kept[holders] = number[by_track[first]]
    return kept


def _with_new(kept: np.ndarray, following: int) -> np.ndarray:
    """Return numbers with new ones, from `following` on, for the tracks that keep none."""
    is_new = kept == NONE
    return np.where(is_new, following - 1 + np.cumsum(is_new), kept)
