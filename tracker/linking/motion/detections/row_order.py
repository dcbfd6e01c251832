"""An order of a movie's detections that goes by frame and place alone, however the rows of the table come."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

STEPS = 2.0**20
"""Of an axis: places are told apart that finely, so that other units and origins leave the order as it is."""
FRAME, *ODD = (
    np.uint64(odd) for odd in (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB)
)
"""Odd numbers of mixed bits, for the frame and for the axes from the last on."""
MIXED = tuple((np.uint64(shift), np.uint64(odd)) for shift, odd in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)))
"""The finalizer of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014)."""


def by_frame_and_place(frame: np.ndarray, axes: Sequence[np.ndarray]) -> np.ndarray:
    """Return the rows by frame, and within a frame as good as shuffled: every n-th is a sample of it.

    Parameters
    ----------
    frame : int64 (n,)
    axes : sequence of float64 (n,)
        Coordinates, in any unit.

    Returns
    -------
    int64 (n,)
        Where the arrays are; that of a GPU is that of a CPU.
    """
    if len(frame) == 0:
        return np.empty(0, np.int64)
    since = frame - frame.min()
    bits = int(since.max()).bit_length()
    return np.argsort((since << (63 - bits)) | (_lots(since, axes) >> bits))


def _lots(since: np.ndarray, axes: Sequence[np.ndarray]) -> np.ndarray:
    """Return a number of 63 bits for each detection, as good as drawn, the same for those at one place of a frame."""
    lot = since.astype(np.uint64) * FRAME
    for along, odd in zip(reversed(axes), ODD, strict=False):
        low = along.min()
        lot += np.rint((along - low) / (float(along.max() - low) or 1.0) * STEPS).astype(np.uint64) * odd
    for shift, odd in MIXED:
        lot = (lot ^ (lot >> shift)) * odd
    return ((lot ^ (lot >> np.uint64(31))) >> np.uint64(1)).astype(np.int64)
