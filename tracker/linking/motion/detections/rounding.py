"""What rounding leaves unknown: z in whole planes, places in whole pixels.

Steps of rounded places are whole numbers too, and many are exactly 0. Taken for places without error these make a
class of steps as narrow as a class can be, which is sure of links within a plane and rules out those to the next.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np

from .....matching.device import cuda

NARROWEST = 0.003
"""Smallest standard deviation of steps per axis, in spacings: identical places must not make links infinitely sure."""
FRAMES, ASKED = 10, 2_000
"""Frames that are looked at, and detections of each."""
TIED = 0.5
"""Share of the detections that have another of their frame on the same level, from which an axis is rounded.

Where fewer have, levels are far closer together than particles.
"""
WHOLE, ALL_BUT = 0.1, 0.1
"""How far gaps between levels may be from multiples of the least one, and the share of those that may be farther."""
LEAST_PITCH = 1e-6
"""Distance of levels, in spacings, below which they are one."""

_levels = partial(np.unique, return_counts=True)
"""Different coordinates, and how many have each."""


def rounding_of(position: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the variance that rounding adds to displacements along each axis, float64 (d,).

    Parameters
    ----------
    position : float64 (n, d)
        In spacings, on the host or on a GPU.
    starts : int64 (frames + 1,)

    Notes
    -----
    A place that is rounded to whole levels, a pitch apart, is off by anything up to half of it, with a variance of
    pitch²/12 (Sheppard); a displacement has twice that.
    """
    frames, axes = _some_frames(position, starts), range(position.shape[1])
    if not any(_are_tied([each[:, axis] for each in frames]) for axis in axes):
        return np.zeros(len(axes))  # of most movies, long before those at one place are one
    frames = [np.unique(each, axis=0) for each in frames]
    return np.array([_pitch([each[:, axis] for each in frames]) ** 2 / 6 for axis in axes])


def _some_frames(position: np.ndarray, starts: np.ndarray) -> list[np.ndarray]:
    """Return places of frames spread over the movie, on the host."""
    frames = np.flatnonzero(np.diff(starts) > 1)
    frames = frames[:: max(len(frames) // FRAMES, 1)]
    spans = zip(starts[frames].tolist(), starts[frames + 1].tolist(), strict=True)
    return places_of(position, [slice(first, last, max((last - first) // ASKED, 1)) for first, last in spans])


def places_of(position: np.ndarray, asked: list[slice]) -> list[np.ndarray]:
    """Return some places of several frames, float64 (k, d) each, on the host; from a GPU all in one copy."""
    ranks = [np.arange(each.start, each.stop, each.step) for each in asked]
    places = cuda.to_host(position[np.concatenate([np.empty(0, np.int64), *ranks])])
    return [places[a:b] for a, b in pairwise(np.cumsum([0, *map(len, ranks)]))]


def _are_tied(frames: list[np.ndarray]) -> bool:
    """Whether most coordinates, float64 (n,) of each frame, are those of others of their frame."""
    held = sum(int(count[count > 1].sum()) for _, count in map(_levels, frames))
    return held >= TIED * sum(map(len, frames))


def _pitch(frames: list[np.ndarray]) -> float:
    """Return the distance of the levels that coordinates are rounded to, float64 (n,) of each frame; 0 without."""
    shared = (level[count > 1] for level, count in map(_levels, frames))
    gaps = np.diff(np.unique(np.concatenate([np.empty(0), *shared])))
    gaps = gaps[gaps > LEAST_PITCH]
    if len(gaps) == 0 or not _are_tied(frames):
        return 0.0
    pitch = float(gaps.min())
    off = np.abs(gaps / pitch - np.rint(gaps / pitch))
    return pitch if (off > WHOLE).mean() <= ALL_BUT else 0.0
