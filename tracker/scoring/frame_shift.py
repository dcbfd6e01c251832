"""Whether tracks and truth number their frames alike: one table may count from 0 and the other from 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from ..points import Points

_FRAMES = 20
"""Frames of the points that are looked at."""
_FAR_NEARER = 0.5
"""How much nearer real particles are, on average, where a shift is not chance: one frame more or less is a step."""


@dataclass(frozen=True)
class FrameShift:
    """What a shift of the frame numbers of points would do.

    Attributes
    ----------
    frames : int
        What is to be added to the numbers.
    before, after : float
        Share of the points that have a true one within the tolerance in their frame, without the shift and with it.
    """

    frames: int
    before: float
    after: float


def frame_shift(points: Points, truth: Points, tolerance: float) -> FrameShift | None:
    """Return the shift of frame numbers by which points lie far nearer to true ones; None where there is none.

    Those looked at are one step, and what makes the first or the last frames of both the same.

    Parameters
    ----------
    points, truth : Points
        Of the same unit and dimension.
    tolerance : float
        Distance beyond which points are no nearer than that.
    """
    if not len(points) or not len(truth):
        return None
    numbers, true_numbers = points.frame_numbers, truth.frame_numbers
    shifts = {-points.frame_step, points.frame_step, *(int(true_numbers[end] - numbers[end]) for end in (0, -1))}
    looked_at = numbers[np.linspace(0, len(numbers) - 1, min(len(numbers), _FRAMES)).astype(int)]
    rows = dict(points.rows_by_frame())
    positions, trees = points.positions, _Trees(truth)

    def gated(shift: int) -> np.ndarray:
        """Return how far points are from true ones, not more than the tolerance."""
        found = [trees.distances(frame + shift, positions[rows[frame]], tolerance) for frame in looked_at.tolist()]
        return np.concatenate(found)

    as_it_is = gated(0)
    of_shift = {shift: gated(shift) for shift in sorted(shifts - {0}, key=abs)}
    best = min(of_shift, key=lambda shift: of_shift[shift].mean(), default=0)
    if not best or of_shift[best].mean() >= _FAR_NEARER * as_it_is.mean():
        return None
    return FrameShift(best, *(float((far < tolerance).mean()) for far in (as_it_is, of_shift[best])))


class _Trees:
    """The true points of each frame, as trees that are made when asked for."""

    def __init__(self, truth: Points) -> None:
        self._rows, self._positions = dict(truth.rows_by_frame()), truth.positions
        self._made: dict[int, cKDTree] = {}

    def distances(self, frame: int, positions: np.ndarray, longest: float) -> np.ndarray:
        """Return how far positions are from the nearest true point of a frame, `longest` where there is none nearer."""
        if frame not in self._rows:
            return np.full(len(positions), longest)
        if frame not in self._made:
            self._made[frame] = cKDTree(self._positions[self._rows[frame]])
        return np.minimum(self._made[frame].query(positions, distance_upper_bound=longest)[0], longest)
