"""Whether a truth has the axes that it is taken to have: others may call x what we call y, or count y from below."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from itertools import combinations, permutations

import numpy as np

from ..points import Points
from .frame_shift import FAR_NEARER, gated

_FEW = 0.5
"""Share of points near true ones, below which axes may be others."""


@dataclass(frozen=True)
class TruthAxes:
    """What other axes of a truth would do.

    Attributes
    ----------
    names : mapping of str to str
        Which column of the truth each axis is, where it is another one.
    mirrored : mapping of str to float
        Axes that run the other way, and what a coordinate and its mirror image add up to.
    before, after : float
        Share of the points that have a true one within the tolerance in their frame, by the truth's axes and by these.
    """

    names: dict[str, str]
    mirrored: dict[str, float]
    before: float
    after: float


def truth_axes(points: Points, truth: Points, tolerance: float) -> TruthAxes | None:
    """Return the axes by which the truth lies far nearer to points; None where none do.

    Looked at are all orders of the axes, and one or two axes mirrored. Parameters are those of `frame_shift`.
    """
    if not len(points) or not len(truth):
        return None
    as_it_is = gated(points, truth, tolerance)
    if (as_it_is < tolerance).mean() >= _FEW:
        return None
    best, nearest = None, FAR_NEARER * as_it_is
    for names, mirrored in _others(points, truth):
        columns = {axis: truth.table[name] for axis, name in names.items()}
        columns |= {axis: total - truth.table[axis] for axis, total in mirrored.items()}
        apart = gated(points, replace(truth, table=truth.table.assign(**columns)), tolerance)
        if apart.mean() < nearest.mean():
            best, nearest = (names, mirrored), apart
    return best and TruthAxes(*best, *(float((far < tolerance).mean()) for far in (as_it_is, nearest)))


def _others(points: Points, truth: Points) -> Generator[tuple[dict[str, str], dict[str, float]]]:
    """Yield the orders of axes, and which of them are mirrored so that both have one middle."""
    axes = truth.axes
    for order in permutations(axes):
        if order != tuple(axes):
            yield {axis: name for axis, name in zip(axes, order, strict=True) if axis != name}, {}
    middles = points.positions.mean(axis=0) + truth.positions.mean(axis=0)
    total = dict(zip(axes, np.divide(middles, truth.calibration.scale_for(truth.ndim)).tolist(), strict=True))
    for mirrored in [*combinations(axes, 1), *combinations(axes, 2)]:
        yield {}, {axis: total[axis] for axis in mirrored}
