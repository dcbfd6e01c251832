"""Whether tracks and truth number their frames alike: one may count from 0 and the other from 1, or in other steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.spatial import cKDTree

from ..points import Points
from .names import real_names, whole_numbers

_FRAMES = 20
"""Frames of the points that are looked at."""
FAR_NEARER = 0.5
"""How much nearer real particles are, on average, where a shift is not chance: one frame more or less is a step."""


Apart = Callable[[int, np.ndarray], np.ndarray]
"""How far rows of points are from what they may be in a frame of the truth."""


@dataclass(frozen=True)
class FrameShift:
    """What other frame numbers of points would do.

    Attributes
    ----------
    frames : int
        What is to be added to the numbers.
    before, after : float
        Share of the points that have a true one within the tolerance in their frame, by their own numbers and by those.
    times : Fraction
        What the numbers are to be multiplied by first: 1, unless the steps between frames differ.
    """

    frames: int
    before: float
    after: float
    times: Fraction = Fraction(1)


def frame_shift(points: Points, truth: Points, tolerance: float) -> FrameShift | None:
    """Return the frame numbers by which points lie far nearer to true ones; None where there are none.

    Those looked at are a shift by one step, what makes the first or the last frames of both the same, and the truth's
    step between frames in place of the points' own.

    Parameters
    ----------
    points, truth : Points
        Of the same unit and dimension.
    tolerance : float
        Distance beyond which points are no nearer than that.
    """
    return _shift(points, truth, tolerance, _to_nearest) if len(points) and len(truth) else None


def frame_shift_by_name(points: Points, truth: Points, tolerance: float) -> FrameShift | None:
    """Return the frame numbers by which points lie far nearer to the true ones of their `true_id`; as `frame_shift`.

    No row of either is of nobody.
    """
    return _shift(points, truth, tolerance, _to_namesake) if len(points) and len(truth) else None


def gated(points: Points, truth: Points, tolerance: float) -> np.ndarray:
    """Return how far the points of some frames are from true ones of their frame, not more than the tolerance."""
    return _Gated(points, _to_nearest(points, truth, tolerance), tolerance)(Fraction(1), 0)


def _shift(
    points: Points, truth: Points, tolerance: float, apart: Callable[[Points, Points, float], Apart]
) -> FrameShift | None:
    how_far = _Gated(points, apart(points, truth, tolerance), tolerance)
    as_it_is = how_far(Fraction(1), 0)
    of_other = {other: how_far(*other) for other in _others(points, truth)}
    best = min(of_other, key=lambda other: of_other[other].mean(), default=None)
    if best is None or of_other[best].mean() >= FAR_NEARER * as_it_is.mean():
        return None
    shares = (float((far < tolerance).mean()) for far in (as_it_is, of_other[best]))
    return FrameShift(best[1], *shares, times=best[0])


class _Gated:
    """How far the points of some frames are from true ones, not more than the tolerance, by other frame numbers."""

    def __init__(self, points: Points, apart: Apart, tolerance: float) -> None:
        numbers, every = points.frame_numbers, np.arange(len(points))
        self._looked_at = numbers[np.linspace(0, len(numbers) - 1, min(len(numbers), _FRAMES)).astype(int)].tolist()
        self._rows = {frame: every[own] for frame, own in points.rows_by_frame()}
        self._apart, self._tolerance = apart, tolerance

    def __call__(self, times: Fraction, more: int) -> np.ndarray:
        """Return it where numbers are multiplied, and then added to; a part of a frame is none."""
        parts: list[np.ndarray] = []
        for frame in self._looked_at:
            other, rows = frame * times + more, self._rows[frame]
            is_one = other.denominator == 1
            parts.append(self._apart(int(other), rows) if is_one else np.full(len(rows), self._tolerance))
        return np.concatenate(parts)


def _others(points: Points, truth: Points) -> list[tuple[Fraction, int]]:
    """Return what frame numbers may be multiplied by, and what added to them, the least change first."""
    numbers, true_numbers = points.frame_numbers, truth.frame_numbers
    shifts = {-points.frame_step, points.frame_step, *(int(true_numbers[end] - numbers[end]) for end in (0, -1))}
    others = [(Fraction(1), shift) for shift in sorted(shifts - {0}, key=abs)]
    own, real = (int(np.gcd.reduce(np.diff(each))) for each in (numbers, true_numbers))
    if own and real and own != real:
        times = Fraction(real, own)
        first = int(true_numbers[0]) - int(numbers[0]) * times
        others += [(times, 0)] + [(times, int(first))] * (first != 0 and first.denominator == 1)
    return others


def _to_nearest(points: Points, truth: Points, longest: float) -> Apart:
    """Return what tells how far rows are from the nearest true point of a frame, `longest` where none is nearer."""
    rows_of, places, positions = dict(truth.rows_by_frame()), truth.positions, points.positions
    trees: dict[int, cKDTree] = {}

    def distances(frame: int, rows: np.ndarray) -> np.ndarray:
        if frame not in rows_of:
            return np.full(len(rows), longest)
        if frame not in trees:
            trees[frame] = cKDTree(places[rows_of[frame]])
        return np.minimum(trees[frame].query(positions[rows], distance_upper_bound=longest)[0], longest)

    return distances


def _to_namesake(points: Points, truth: Points, longest: float) -> Apart:
    """Return what tells how far rows are from the true point of their name, `longest` where none is nearer."""
    rows_of, every = dict(truth.rows_by_frame()), np.arange(len(truth))
    true_names, names = real_names(truth), whole_numbers(points, "true_id")

    def distances(frame: int, rows: np.ndarray) -> np.ndarray:
        there = every[rows_of.get(frame, slice(0))]
        _, own, other = np.intersect1d(names[rows], true_names[there], return_indices=True)
        apart = np.full(len(rows), longest)
        step = points.positions_of(rows[own]) - truth.positions_of(there[other])
        apart[own] = np.minimum(np.linalg.norm(step, axis=1), longest)
        return apart

    return distances
