"""Pairs of point sets from different distributions: the duals that match them reach from one end to the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

CLUSTERS, FEW_CLUSTERS = 50, 8
WIDTH = 0.02
"""Standard deviation of a cluster, in a box of side 1."""


def other_clusters(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two sets, each of normal clusters around centres of its own; float64 (n, 3) each."""
    rng = np.random.default_rng(seed)
    first, second = (
        rng.random((CLUSTERS, 3))[rng.integers(CLUSTERS, size=n)] + WIDTH * rng.normal(size=(n, 3)) for _ in range(2)
    )
    return first, second


def box_and_clusters(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a uniform box, and a few normal clusters in it."""
    rng = np.random.default_rng(seed)
    centres = rng.random((FEW_CLUSTERS, 3))[rng.integers(FEW_CLUSTERS, size=n)]
    return rng.random((n, 3)), centres + WIDTH * rng.normal(size=(n, 3))


def clouds_apart(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two uniform boxes of points that lie side by side."""
    rng = np.random.default_rng(seed)
    return rng.random((n, 3)), rng.uniform([1, 0, 0], [2, 1, 1], (n, 3))


def cube_and_slab(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a uniform box, and a slab of a tenth of its height through it."""
    rng = np.random.default_rng(seed)
    return rng.random((n, 3)), rng.uniform([0, 0, 0], [1, 1, 0.1], (n, 3))


Make = Callable[[int, int], tuple[np.ndarray, np.ndarray]]
"""make(n, seed)."""

DIFFERING: dict[str, Make] = {
    "different clusters": other_clusters,
    "clouds side by side": clouds_apart,
    "a cube and a slab": cube_and_slab,
}
CLUSTERED: dict[str, Make] = {"different clusters": other_clusters, "a box and clusters": box_and_clusters}
"""By the name of the series."""
