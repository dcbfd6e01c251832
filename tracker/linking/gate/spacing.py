"""How far apart particles are: the measure of every search range."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.spatial import cKDTree

from ...points import Points

WIDEST = 1.3
"""In spacings: beyond about 1.35 the candidate links of randomly placed particles join into one cluster."""
ENOUGH = 2_000
"""Particles whose nearest neighbour is looked up."""
FAR_APART = 10.0
"""Medians of the distance to the nearest neighbour beyond which a particle has none: of uniform ones none is so far."""
PAIRED = 0.25
"""Share of the distance to the second neighbour below which the first makes a pair: 6 % do of uniform ones in 2D."""


def mean_spacing(points: Points) -> float | None:
    """Return the mean distance of a particle to its nearest neighbour in the same frame, in the calibration's unit.

    Where most are in pairs, as if these were one (`spacing_of`). Measured on the first frames with two particles or
    more, until `ENOUGH` particles were seen; None without such.
    """
    nearest = nearest_two_of_first(points)
    return spacing_of(nearest, points.ndim) if len(nearest) else None


def spacing_of(nearest: np.ndarray, ndim: int) -> float:
    """Return the mean distance of nearest neighbours, of those to the nearest two, (n, 2), infinite without a second.

    How far apart the two of a pair are, as where each particle is found twice, says nothing of how far the others are:
    where most are in pairs the second neighbours say it, which are 1 + 1/d times as far among uniform particles.
    """
    first, second = nearest.T
    has_second = np.isfinite(second)
    in_pairs = has_second & (first < PAIRED * second)
    if in_pairs.mean() > 0.5:
        return mean_of_near(second[has_second]) * ndim / (ndim + 1)
    return mean_of_near(first)


def mean_of_near(nearest: np.ndarray) -> float:
    """Return the mean of distances to nearest neighbours, of those beyond `FAR_APART` medians as if they were so long.

    One detection a million spacings from all others would else make what is between these nothing.
    """
    apart = nearest[nearest > 0]
    return float(np.minimum(nearest, FAR_APART * np.median(apart)).mean()) if len(apart) else 0.0


def nearest_distances(points: Points, enough: int = ENOUGH) -> np.ndarray:
    """Return how far particles are from their nearest neighbour in the same frame, of the first frames until enough."""
    return nearest_two_of_first(points, enough)[:, 0]


def nearest_two_of_first(points: Points, enough: int = ENOUGH) -> np.ndarray:
    """Return how far particles are from the nearest two of the same frame, (n, 2), of the first frames until enough."""
    nearest = [np.empty((0, 2))]
    frames = (points.positions_of(rows) for _, rows in points.rows_by_frame())
    for positions in itertools.islice((own for own in frames if len(own) > 1), enough):
        nearest.append(nearest_two(positions, max(len(positions) // enough, 1)))
        if sum(map(len, nearest)) >= enough:
            break
    return np.concatenate(nearest)


def nearest_two(positions: np.ndarray, step: int) -> np.ndarray:
    """Return how far every `step`-th of these particles is from the nearest two others, (n, 2), infinite without."""
    tree = cKDTree(positions, balanced_tree=False, compact_nodes=False)
    distance, _ = tree.query(positions[::step], k=[2, 3])
    return np.atleast_2d(distance)


def automatic_range(points: Points) -> float:
    """Return the search range that "auto" stands for: `WIDEST` spacings, or the extent of the data if it has none.

    Coincident particles (spacing 0) count as having none.
    """
    spacing = mean_spacing(points)
    if spacing:
        return WIDEST * spacing
    extent = np.ptp(points.positions, axis=0) if len(points) else np.zeros(1)
    return float(np.linalg.norm(extent)) or 1.0
