"""Seeded movies of particles that lie evenly, in clusters, or ever denser towards a corner."""

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

from auctrack.tracker.points import Points


def swarm(kind: str, n: int, frames: int, ndim: int, *, step: float, persistence: float = 0.0, seed: int = 0) -> Points:
    """Walks whose steps, along each axis, are `step` medians of the distance to the nearest neighbour."""
    rng = np.random.default_rng(seed)
    position = _PLACES[kind](n, ndim, rng)
    nearest = cKDTree(position).query(position[:: max(n // 3000, 1)], k=[2])[0]
    size = step * float(np.median(nearest))
    velocity, parts = rng.normal(0, size, position.shape), []
    for frame in range(frames):
        shown = position[rng.permutation(n)]
        parts.append(pd.DataFrame(shown, columns=list("zyx")[-ndim:]).assign(frame=frame))
        velocity = persistence * velocity + np.sqrt(1 - persistence**2) * rng.normal(0, size, position.shape)
        position = position + velocity
    return Points(pd.concat(parts, ignore_index=True))


def _even(n: int, ndim: int, rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(0, n ** (1 / ndim), (n, ndim))


def _clusters(n: int, ndim: int, rng: np.random.Generator) -> np.ndarray:
    """A thousand in each cluster, and three of ten anywhere instead."""
    edge = n ** (1 / ndim)
    centres = rng.uniform(0, edge, (max(n // 1000, 3), ndim))
    places = centres[rng.integers(0, len(centres), n)] + rng.normal(0, 0.04 * edge, (n, ndim))
    return np.where(rng.random((n, 1)) < 0.3, rng.uniform(0, edge, (n, ndim)), places)


def _lognormal(n: int, ndim: int, rng: np.random.Generator) -> np.ndarray:
    return np.exp(rng.normal(0, 1.5, (n, ndim)))


_PLACES = {"even": _even, "clusters": _clusters, "log-normal": _lognormal}
