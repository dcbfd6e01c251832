"""How much denser it is around particles than their mean distance says: most of a swarm are in its middle."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import gammaln, psi

from ..detections.ordered import Ordered
from ..detections.rounding import NARROWEST


def crowding(movie: Ordered) -> float:
    """Return the mean log of the density around particles, less the log of that of the movie; 0 where they lie evenly.

    By the logarithms of the distances to nearest neighbours (L. Kozachenko, N. Leonenko, 1987), where the density of
    the movie goes by their mean, which the few that are far apart make long.
    """
    nearest, ndim = _log_of_nearest(movie), movie.ndim
    if len(nearest) == 0:
        return 0.0
    log_ball = ndim / 2 * np.log(np.pi) - gammaln(ndim / 2 + 1)
    return max(float(psi(1) - log_ball - ndim * nearest.mean()) - movie.log_density, 0.0)


def _log_of_nearest(movie: Ordered) -> np.ndarray:
    """Return the log of how far each detection is from the nearest of its frame, or from what rounding hides."""
    hidden, logs = max(NARROWEST, float(np.sqrt(movie.rounding.max(initial=0.0)))), [np.empty(0)]
    for first, last in zip(movie.starts[:-1].tolist(), movie.starts[1:].tolist(), strict=True):
        if last - first > 1:
            distance, _ = cKDTree(movie.position[first:last]).query(movie.position[first:last], k=[2])
            logs.append(np.log(np.maximum(np.ravel(distance), hidden)))
    return np.concatenate(logs)
