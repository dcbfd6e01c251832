"""A shift that particles of a frame pair share: stage drift and jumps, found by vote before anything is linked.

Every pair of particles votes for its displacement. Where particles move as one, right pairs agree and wrong ones do
not. A near shift is believed where most particles share it (`near_shifts`), however densely they are packed, any other
where its votes are more than chance gives (`shift_votes`).
"""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .....matching.jit.compiled import compiled
from .....matching.jit.threads import side_by_side
from .....matching.points.grid import build_grid, cells_touched, padded
from ..detections.ordered import Ordered
from . import gpu_drift
from .election import elected
from .near_shifts import FINE, WIDTH
from .shift_votes import FEWEST

VOTERS = 400
"""Particles of the earlier frame that vote, and up to twice as many."""
REACH = 10
"""Longest shift that is looked for along an axis, in bins of one spacing."""
CELL = 2.0
"""Edge of the cells, in spacings, in which the later frame's particles are looked up."""
AT_ONCE = 8
"""Frame pairs that a thread holds the votes of, 70 kB each, and some eight times that while it elects.

One by one, calls of NumPy took most of the time.
"""
LEAST = 0.3
"""Shortest shift that is subtracted, in spacings; shorter ones do not hinder linking."""


class Drift(NamedTuple):
    """Shifts that particles share.

    Attributes
    ----------
    of_frames : float64 (frames, d)
        How far each frame has shifted against the first, in spacings.
    repeats : bool
        Whether most frame pairs look the same moved by one of their spacings, as a crystal's do; what is shortest is
        taken.
    """

    of_frames: np.ndarray
    repeats: bool


def drift_of(movie: Ordered) -> Drift:
    """Return how far each frame has shifted, by what their particles share."""
    shifts, repeats = np.zeros((len(movie.number), movie.ndim)), np.zeros(1, bool)
    if len(shifts) > 1:
        shifts[1:], repeats = _later_shifts(movie)
    return Drift(np.cumsum(shifts, axis=0), bool(repeats.mean() > 0.5))


def _later_shifts(movie: Ordered) -> tuple[np.ndarray, np.ndarray]:
    """Return what `common_shifts` does of all frames of a movie."""
    if movie.grid is not None:
        limits = {"VOTERS": VOTERS, "REACH": REACH, "LEAST": LEAST}
        return gpu_drift.common_shifts(movie.grid, movie.starts, movie.number, movie.extent, limits)

    def shifts_after(first: int) -> tuple[np.ndarray, np.ndarray]:
        frames = range(first, min(first + AT_ONCE + 1, len(movie.number)))
        return common_shifts([movie.position[movie.of_frame(f)] for f in frames], movie.extent)

    shifts, repeats = zip(*side_by_side(shifts_after, range(0, len(movie.number) - 1, AT_ONCE)), strict=True)
    return np.concatenate(shifts), np.concatenate(repeats)


def common_shifts(frames: Sequence[np.ndarray], field: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the displacement that most particles share from each frame to the next, zero where none is beyond chance.

    Parameters
    ----------
    frames : list of float64 (n, d)
        The particles of each frame, in spacings.
    field : float64 (d,)
        How far particles are apart at most.

    Returns
    -------
    shift : float64 (frames − 1, d)
    repeats : bool (frames − 1,)
        As that of `Elected`.
    """
    ndim = len(field)
    shifts, repeats = np.zeros((len(frames) - 1, ndim)), np.zeros(len(frames) - 1, bool)
    asked = [f for f, pair in enumerate(pairwise(map(len, frames))) if min(pair) >= FEWEST]
    if not asked:
        return shifts, repeats
    votes = [_votes_between(frames[f], frames[f + 1]) for f in asked]

    def far_of(pairs: np.ndarray) -> np.ndarray:
        return _counted([votes[k] for k in pairs], 1, 2 * REACH + 1, ndim)

    voters = np.array([len(each) for each, *_ in votes])
    elect, within, repeats[asked] = elected(_counted(votes, FINE, WIDTH, ndim), far_of, field, voters)
    for k in np.flatnonzero(within):
        shifts[asked[k]] = _refined(votes[k], elect[k], within[k])[3 - ndim :]
    return shifts, repeats


def _counted(votes: list[tuple[Any, ...]], fine: int, width: int, ndim: int) -> np.ndarray:
    """Return the votes in `width` bins an axis, zero in the middle, `fine` a spacing; the first axis has one in 2D."""
    counts = np.zeros((len(votes), width if ndim == 3 else 1, width, width), np.int32)
    for vote, count in zip(votes, counts, strict=True):
        _count(*vote, fine, count)
    return counts


def _votes_between(earlier: np.ndarray, later: np.ndarray) -> tuple[Any, ...]:
    """Return the voters, and the cells in which the later frame's particles are looked up."""
    voters = padded(np.ascontiguousarray(earlier[:: max(len(earlier) // VOTERS, 1)]))  # one layout, compiled once
    grid = build_grid(np.ascontiguousarray(later), CELL)
    return voters, grid.origin, grid.cell, grid.dims, grid.starts, grid.points


def _refined(vote: tuple[Any, ...], shift: np.ndarray, within: float) -> np.ndarray:
    """Return the median of the votes near a shift that has won; 0 where it is short, or none is near at last."""
    for reach in (within, 2 * within / 3, within / 2):
        votes = _votes_near(*vote, shift, reach)
        if not len(votes):
            return np.zeros(3)
        shift = _median(votes)
    return shift if np.linalg.norm(shift) > LEAST else np.zeros(3)


def _median(votes: np.ndarray) -> np.ndarray:
    """Return the median along each axis; NumPy's own takes four times as long for so few."""
    middle = (len(votes) - 1) // 2, len(votes) // 2
    by_rank = np.partition(votes, middle, axis=0)
    return (by_rank[middle[0]] + by_rank[middle[1]]) / 2


@compiled
def _count(voters, origin, cell, dims, starts, later, fine, counts):
    """Count the votes in bins, `fine` a spacing, zero in the middle; the first axis has one bin in 2D."""
    width = counts.shape[1]
    edge = width / (2 * fine)
    for i in range(len(voters)):
        low, high = cells_touched(voters[i], edge, origin, cell, dims)
        z0, y0, x0 = voters[i, 0] - edge, voters[i, 1] - edge, voters[i, 2] - edge  # the lower edge of the first bin
        for z in range(low[0], high[0] + 1):
            for y in range(low[1], high[1] + 1):
                line = (z * dims[1] + y) * dims[2]
                for j in range(starts[line + low[2]], starts[line + high[2] + 1]):
                    at_z, at_y, at_x = fine * (later[j, 0] - z0), fine * (later[j, 1] - y0), fine * (later[j, 2] - x0)
                    if 0 <= at_z < width and 0 <= at_y < width and 0 <= at_x < width:
                        counts[np.int64(at_z) if len(counts) > 1 else 0, np.int64(at_y), np.int64(at_x)] += 1


@compiled
def _votes_near(voters, origin, cell, dims, starts, later, shift, reach):
    """Return the votes at most `reach` from a shift on every axis."""
    out = np.empty((64 * len(voters), 3))
    n = 0
    for i in range(len(voters)):
        low, high = cells_touched(voters[i] + shift, reach, origin, cell, dims)
        for z, y in np.ndindex(high[0] + 1 - low[0], high[1] + 1 - low[1]):
            line = ((low[0] + z) * dims[1] + low[1] + y) * dims[2]
            for j in range(starts[line + low[2]], starts[line + high[2] + 1]):
                inside = n < len(out)
                for axis in range(3):
                    inside = inside and abs(later[j, axis] - voters[i, axis] - shift[axis]) <= reach
                if inside:
                    for axis in range(3):  # by hand: an expression of arrays would make new ones, pair by pair
                        out[n, axis] = later[j, axis] - voters[i, axis]
                    n += 1
    return out[:n]
