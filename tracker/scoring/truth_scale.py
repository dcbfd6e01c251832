"""Whether a truth is in the unit that it is taken to be in: in voxels where it is taken for lengths, or the reverse."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..points import Points
from .frame_shift import FAR_NEARER, gated


@dataclass(frozen=True)
class TruthScale:
    """What another size of the steps of a truth's coordinates would do.

    Attributes
    ----------
    scale : tuple of float
        Along the axes, in the unit that both are in.
    before, after : float
        Share of the points that have a true one within the tolerance in their frame, by the truth's scale and by this.
    """

    scale: tuple[float, ...]
    before: float
    after: float


def truth_scale(points: Points, truth: Points, tolerance: float) -> TruthScale | None:
    """Return the scale by which the truth lies far nearer to points: 1, or theirs; None where neither does.

    Parameters are those of `frame_shift`.
    """
    if not len(points) or not len(truth):
        return None
    own = tuple(truth.calibration.scale_for(truth.ndim).tolist())
    theirs = tuple(points.calibration.scale_for(truth.ndim).tolist())
    as_it_is = gated(points, truth, tolerance)
    of_other: dict[tuple[float, ...], np.ndarray] = {}
    for scale in {(1.0,) * truth.ndim, theirs} - {own}:
        scaled = replace(truth, calibration=replace(truth.calibration, scale=(1.0, *scale)[-3:]))
        of_other[scale] = gated(points, scaled, tolerance)
    best = min(of_other, key=lambda scale: of_other[scale].mean(), default=None)
    if best is None or of_other[best].mean() >= FAR_NEARER * as_it_is.mean():
        return None
    return TruthScale(best, *(float((far < tolerance).mean()) for far in (as_it_is, of_other[best])))
