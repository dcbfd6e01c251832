"""Two frames of many particles within a gate: the sparse problem that tracking poses, and harder ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....matching.points.grid import pairs_within
from ....matching.problem import Problem

SPACING = 0.554
"""Mean distance of nearest neighbours of n uniform points in the unit box, times n^(1/3)."""
GATES = {"gate, 7.3 candidates": 7.3, "gate, 28.8 candidates": 28.8}
"""Mean degrees, by the name of the series."""


def gated_pair(n: int, degree: float, seed: int = 1) -> Problem:
    """Return the candidate links of two noisy frames; two unassigned particles cost a link as long as the gate.

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
    radius = _radius(n, degree)
    second = first + rng.normal(0, 0.3 * SPACING * n ** (-1 / 3) / 1.6, (n, 3))
    second = np.vstack([second[rng.random(n) >= 0.05], rng.random((int(0.05 * n), 3))])
    second = second[rng.permutation(len(second))]
    first = first[rng.random(n) >= 0.05]
    return _linked_within(first, second, radius, unmatched_cost=radius / 2)


@dataclass(frozen=True)
class Scatter:
    """How the second frame of a pair without losses differs from the first.

    Attributes
    ----------
    noise : float
        Standard deviation a coordinate, in spacings; no step leaves the gate.
    extra : float
        False detections in the second frame, as a share.
    degree : float
        Mean number of candidates of a particle.
    """

    noise: float
    extra: float = 0.0
    degree: float = 7.3


SCATTERED = {
    "square, noise 0.19": Scatter(0.19),
    "square, noise 0.6": Scatter(0.6),
    "0.1 % more columns, noise 0.6": Scatter(0.6, 0.001),
    "square, 28.8 candidates, noise 0.19": Scatter(0.19, degree=28.8),
}
"""By the name of the series."""


def scattered_pair(n: int, how: Scatter, seed: int = 1) -> Problem:
    """Return the candidate links of two frames whose particles are all in both: every row must be matched.

    Each particle's own partner is within its gate. Costs are distances in float32.
    """
    rng = np.random.default_rng(seed)
    first, radius = rng.random((n, 3)), _radius(n, how.degree)
    step = rng.normal(0, how.noise * SPACING * n ** (-1 / 3), (n, 3))
    step *= np.minimum(1, 0.95 * radius / np.linalg.norm(step, axis=1, keepdims=True))
    second = np.vstack([first + step, rng.random((round(how.extra * n), 3))])
    return _linked_within(first, second[rng.permutation(len(second))], radius)


def gate_with_a_shortage(n: int, seed: int = 1) -> Problem:
    """Return such a pair before whose second frame 1 % of the particles went elsewhere: not all can be matched."""
    how, rng = Scatter(0.19), np.random.default_rng(seed)
    first, radius = rng.random((n, 3)), _radius(n, how.degree)
    second = first + rng.normal(0, how.noise * SPACING * n ** (-1 / 3), (n, 3))
    second[rng.choice(n, n // 100, replace=False)] = rng.random((n // 100, 3))
    return _linked_within(first, second[rng.permutation(n)], radius)


def _radius(n: int, degree: float) -> float:
    """Return the radius of a ball that holds so many of n points in the unit box."""
    return (degree / (n * 4 / 3 * np.pi)) ** (1 / 3)


def _linked_within(
    first: np.ndarray, second: np.ndarray, radius: float, unmatched_cost: float | None = None
) -> Problem:
    indptr, indices, distance = pairs_within(first, second, radius)
    edges = indptr, indices, distance.astype(np.float32)
    return Problem.sparse(edges, shape=(len(first), len(second)), unmatched_cost=unmatched_cost)
