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
    order = named[np.lexsort((frames[named], track[named]))]
    twice = np.flatnonzero((np.diff(track[order]) == 0) & (np.diff(frames[order]) == 0))
    if len(twice):
        row = order[twice[0]]
        raise InvalidInput(
            f"a {name} needs at most one row a frame; {name} {track[row]} has several in frame {frames[row]} "
            f"({len(twice)} rows too many)."
        )
    return order


def by_track(tracks: Tracks) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows by track and frame, and where in them each track starts."""
    require(Tracks, tracks)
    track_id = tracks.table["track_id"].to_numpy()
    order = track_order(track_id, tracks.frames)
    return order, np.flatnonzero(np.diff(track_id[order], prepend=-1))
