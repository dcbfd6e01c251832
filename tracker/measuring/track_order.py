"""The rows of a table along each track, in the order of time."""

from __future__ import annotations

import numpy as np

from ..errors import InvalidInput
from ..points import Tracks, require


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
    order = named[np.argsort(in_one(track[named], frames[named]))]
    twice = np.flatnonzero((np.diff(track[order]) == 0) & (np.diff(frames[order]) == 0))
    if len(twice):
        row = order[twice[0]]
        raise InvalidInput(
            f"a {name} needs at most one row per frame; {name} {track[row]} has several in frame {frames[row]} "
            f"({len(twice)} rows too many)."
        )
    return order


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
