"""What is ahead of some particles: how far the next frame's nearest is, how many are near, and whether steps go on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from ...points import Points
from .spacing import ENOUGH, nearest_two_of_first, spacing_of

LONG = 2.0
"""Times the median beyond which a step is taken for one to another particle."""


@dataclass(frozen=True)
class Ahead:
    """What some particles have ahead, each as often as there are such: dense places count by what they hold.

    Attributes
    ----------
    nearest : float
        Median distance to the nearest of the next frame, in medians of that to the nearest of the same.
    near, squared : float
        Mean, and mean square, of how many of the next frame are within a radius.
    goes_on : float
        Correlation of steps to the nearest with the next such steps; NaN where no third frame follows.
    """

    nearest: float
    near: float
    squared: float
    goes_on: float = np.nan


def ahead_of(points: Points, radius: float, most: int) -> Ahead | None:
    """Return what is ahead of the particles of the first frames, until `ENOUGH`; None where no frame follows another.

    Parameters
    ----------
    points : Points
    radius : float
        In spacings.
    most : int
        Particles within it that count at most.
    """
    apart = nearest_two_of_first(points)
    spacing = spacing_of(apart, points.ndim) if len(apart) else 0.0
    seen, steps = [np.empty((0, most))], [np.empty((2, 0, points.ndim))]
    for some, tree, later in _frames_ahead(points):
        found: Any = tree.query(some, k=range(1, most + 1))
        seen.append(found[0])
        if later is not None:
            there = tree.data[found[1][:, 0]]
            steps.append(np.stack([there - some, later.data[later.query(there)[1]] - there]))
        if sum(map(len, seen)) >= ENOUGH:
            break
    distance = np.concatenate(seen)
    if not len(distance) or spacing == 0.0:
        return None
    near = (distance <= radius * spacing).sum(axis=1)
    nearest = float(np.median(distance[:, 0]) / (np.median(apart[:, 0]) or np.inf))
    return Ahead(nearest, float(near.mean()), float((near**2).mean()), _correlation(*np.concatenate(steps, axis=1)))


def _frames_ahead(points: Points) -> Iterator[tuple[np.ndarray, cKDTree, cKDTree | None]]:
    """Yield some positions of each frame that another follows, with trees of that and of the one after it, if any."""
    frames = list(points.rows_by_frame())

    @lru_cache(2)
    def tree(k: int) -> cKDTree:
        return cKDTree(points.positions_of(frames[k][1]), balanced_tree=False, compact_nodes=False)

    follows = [after - frame == points.frame_step for (frame, _), (after, _) in pairwise(frames)] + [False]
    for k in np.flatnonzero(follows).tolist():
        own = points.positions_of(frames[k][1])
        yield own[:: max(len(own) // ENOUGH, 1)], tree(k + 1), tree(k + 2) if follows[k + 1] else None


def _correlation(step: np.ndarray, after: np.ndarray) -> float:
    """Return how steps correlate with the next ones, those left out that are long beside the others."""
    if not len(step):
        return np.nan
    lengths = np.linalg.norm([step, after], axis=2)
    is_own = (lengths <= LONG * np.median(lengths[0])).all(axis=0)
    both, squares = (step * after)[is_own].sum(), [(each[is_own] ** 2).sum() for each in (step, after)]
    return float(both / np.sqrt(np.prod(squares))) if all(squares) else np.nan
