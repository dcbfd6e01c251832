"""Two frames of many particles within a gate: the sparse problem that tracking poses, with a price of the lone."""

from __future__ import annotations

import numpy as np

from ...matching.grid import pairs_within
from ...matching.problem import Problem

SPACING = 0.554
"""Mean distance of nearest neighbours of n uniform points in the unit box, times n^(1/3)."""
GATES = {"gate, 7.3 candidates": 7.3, "gate, 28.8 candidates": 28.8}
"""Mean degrees, by the name of the series."""


def gated_pair(n: int, degree: float, seed: int = 1) -> Problem:
    """Return the candidate links of two noisy frames; two lone particles cost as much as a link of the gate's length.

    Costs are distances in float32.

    Parameters
    ----------
    n : int
        Particles before 5 % are missed in either frame; 5 % false detections come into the second.
    degree : float
        Mean number of candidates of a particle, which sets the gate's radius.
    seed : int
    """
    rng = np.random.default_rng(seed)
    first = rng.random((n, 3))
    radius = (degree / (n * 4 / 3 * np.pi)) ** (1 / 3)
    second = first + rng.normal(0, 0.3 * SPACING * n ** (-1 / 3) / 1.6, (n, 3))
    second = np.vstack([second[rng.random(n) >= 0.05], rng.random((int(0.05 * n), 3))])
    second = second[rng.permutation(len(second))]
    first = first[rng.random(n) >= 0.05]
    indptr, indices, distance = pairs_within(first, second, radius)
    edges = indptr, indices, distance.astype(np.float32)
    return Problem.sparse(edges, shape=(len(first), len(second)), unmatched_cost=radius / 2)
