"""The rows of a table along each track, in the order of time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...matching.jit.compiled import compiled
from ..errors import InvalidInput
from ..points import Tracks, require
from ..track_frames import FEW_NUMBERS, comes_twice, in_one

ROWS_AT_ONCE = 1 << 16
"""Rows of whole tracks that are measured at a time: what is made of them stays in a processor's cache, and no memory is
touched for the first time for each of a table's columns, which takes longer than the measures."""


def track_order(track: np.ndarray, frames: np.ndarray, name: str = "track") -> np.ndarray:
    """Sort rows by track, and by frame within a track.

    Parameters
    ----------
    track, frames : ndarray
        Integers (n,): track and frame of every row. A negative track means none.
    name : str
        What an error calls a track.

    Returns
    -------
    ndarray
        int64: the rows that have a track, sorted.

    Raises
    ------
    InvalidInput
        If a track has two rows in one frame.
    """
    named = np.flatnonzero(track >= 0)
    if len(named) and (frames[1:] >= frames[:-1]).all() and track.max() < FEW_NUMBERS * len(track):
        order, comes_twice = _dealt_out(track, frames, named, np.append(0, np.cumsum(np.bincount(track[named]))))
        if not comes_twice:
            return order
    else:
        order = named[np.argsort(in_one(track[named], frames[named]))]
    twice = np.flatnonzero((np.diff(track[order]) == 0) & (np.diff(frames[order]) == 0))
    if len(twice):
        row = order[twice[0]]
        raise InvalidInput(
            f"a {name} needs at most one row per frame; {name} {track[row]} has several in frame {frames[row]} "
            f"({len(twice)} rows too many)."
        )
    return order


def require_once_a_frame(track: np.ndarray, frames: np.ndarray, name: str) -> None:
    """Refuse a track with two rows in one frame, as `track_order` does, without sorting rows that come in time."""
    if comes_twice(track, frames):
        track_order(track, frames, name)


@compiled
def _dealt_out(track, frames, rows, ends):  # noqa: ANN001, ANN202
    """Return the rows by track, in the order in which they come, and whether a track has two in one frame.

    `ends` is where each track begins, and in the end where it ends.
    """
    order, comes_twice, first = np.empty(len(rows), np.int64), False, ends.copy()
    for row in rows:
        at = ends[track[row]]
        comes_twice |= at > first[track[row]] and frames[order[at - 1]] == frames[row]
        order[at] = row
        ends[track[row]] = at + 1
    return order, comes_twice


def numbered(names: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the different names, which of them each is, and how often each comes: int64 (k,), (n,), (k,).

    Parameters
    ----------
    names : int64 (n,)
        Not negative.
    """
    if len(names) == 0 or names.max() >= FEW_NUMBERS * len(names):
        return np.unique(names, return_inverse=True, return_counts=True)
    count = np.bincount(names)
    different = np.flatnonzero(count)
    place = np.empty(len(count), np.int64)
    place[different] = np.arange(len(different))
    return different, place[names], count[different]


def track_lengths(track: np.ndarray) -> np.ndarray:
    """Return how many rows each track has, int64 (tracks,), by their numbers; a negative one means none."""
    named = track if track.min(initial=0) >= 0 else track[track >= 0]
    return numbered(named)[2]


def by_track(tracks: Tracks) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows by track and frame, and where in them each track starts."""
    require(Tracks, tracks)
    track_id = tracks.table["track_id"].to_numpy()
    order = track_order(track_id, tracks.frames)
    return order, np.flatnonzero(np.diff(track_id[order], prepend=-1))


def in_pieces(start: np.ndarray, n: int) -> Iterator[tuple[slice, slice]]:
    """Yield (tracks, rows) of pieces of `ROWS_AT_ONCE` rows and fewer, one track at least; as `by_track` orders `n`."""
    stop = np.append(start, n)[1:]
    first = 0
    while first < len(start):
        last = max(int(np.searchsorted(stop, start[first] + ROWS_AT_ONCE, side="right")), first + 1)
        yield slice(first, last), slice(int(start[first]), int(stop[last - 1]))
        first = last
