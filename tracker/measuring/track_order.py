"""The rows of a table along each track, in the order of time."""

from __future__ import annotations

import numpy as np

from ...matching.jit.compiled import compiled
from ..errors import InvalidInput
from ..points import Tracks, require

FEW_NUMBERS = 4
"""Numbers, for each row, up to which rows are counted by number."""


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
    if not _are_few(names):
        different, which, count = np.unique(names, return_inverse=True, return_counts=True)
        return different, which, count
    count = np.bincount(names)
    different = np.flatnonzero(count)
    place = np.empty(len(count), np.int64)
    place[different] = np.arange(len(different))
    return different, place[names], count[different]


def track_lengths(track: np.ndarray) -> np.ndarray:
    """Return how many rows each track has, int64 (tracks,), by their numbers; a negative one means none."""
    named = track if track.min(initial=0) >= 0 else track[track >= 0]
    if not _are_few(named):
        return np.unique(named, return_counts=True)[1]
    count = np.bincount(named)
    return count[count > 0]


def _are_few(names: np.ndarray) -> bool:
    """Whether names are low enough to be counted by number, which takes a third of the time of sorting them."""
    return len(names) > 0 and int(names.max()) < FEW_NUMBERS * len(names)


def in_one(track: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """Return one whole number a row, int64 (n,), that sorts as track and then frame do; tracks are not negative."""
    if len(track) == 0:
        return np.empty(0, np.int64)
    first = int(frames.min())
    count = int(frames.max()) - first + 1
    if (int(track.max()) + 1) * count >= 2**63:  # numbered anew, however large names and frame numbers are
        _, track = np.unique(track, return_inverse=True)
        _, frames = np.unique(frames, return_inverse=True)
        first, count = 0, int(frames.max()) + 1
    return track * count + (frames - first)


def by_track(tracks: Tracks) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows by track and frame, and where in them each track starts."""
    require(Tracks, tracks)
    track_id = tracks.table["track_id"].to_numpy()
    order = track_order(track_id, tracks.frames)
    return order, np.flatnonzero(np.diff(track_id[order], prepend=-1))
