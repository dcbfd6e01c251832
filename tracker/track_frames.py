"""The track and the frame of each row: both in one number, and whether a track is twice in a frame."""

from __future__ import annotations

import numpy as np

from ..matching.jit.compiled import SMALL, compiled

FEW_NUMBERS = 4
"""Numbers, for each row, up to which rows are counted by number."""


def comes_twice(track: np.ndarray, frames: np.ndarray) -> bool:
    """Return whether a track has two rows in one frame; rows of a negative track have none."""
    if len(track) and (frames[1:] >= frames[:-1]).all() and track.max() < FEW_NUMBERS * len(track):
        return _comes_again(track, frames, np.full(max(int(track.max()) + 1, 0), -1))
    named = np.flatnonzero(track >= 0)
    key = np.sort(in_one(track[named], frames[named]))
    return bool((key[1:] == key[:-1]).any())


@compiled(plain=SMALL)
def _comes_again(track, frames, last):  # noqa: ANN001, ANN202
    """Return whether a track has two rows in one frame, of rows in time; `last` is filled with each track's last."""
    for row in range(len(track)):
        if track[row] >= 0:
            before = last[track[row]]
            if before >= 0 and frames[before] == frames[row]:
                return True
            last[track[row]] = row
    return False


def in_one(track: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """Return one whole number a row, int64 (n,), that sorts as track and then frame do; tracks are not negative."""
    if len(track) == 0:
        return np.empty(0, np.int64)
    first = int(frames.min())
    count = int(frames.max()) - first + 1
    if (int(track.max()) + 1) * count >= 2**63:  # renumbered, however large names and frame numbers are
        _, track = np.unique(track, return_inverse=True)
        _, frames = np.unique(frames, return_inverse=True)
        first, count = 0, int(frames.max()) + 1
    return track * count + (frames - first)
