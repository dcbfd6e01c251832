"""Linear assignment problems: the papers' uniform integer costs, and pairs of point sets, from one hash.

Every cost is a hash of the seed and its place: a matrix can be made in strips, on any machine, the same to the bit
(points: up to the rounding of log and cos).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....matching.jit.compiled import compiled

RANGES: dict[str, tuple[int, int]] = {"n/10": (1, 10), "n": (1, 1), "10n": (10, 1)}
"""Cost range [0, …] of Date & Nagi's families, as the fraction of n that is its upper end."""

POINT_SCALE = 2**20
"""Distances in the unit box are multiplied by this and rounded."""


def uniform_costs(n: int, cost_range: str, seed: int) -> np.ndarray:
    """Return integer costs drawn uniformly from [0, n/10], [0, n] or [0, 10n], int32 (n, n)."""
    numerator, denominator = RANGES[cost_range]
    costs = np.empty(n * n, np.int32)
    _fill(costs, _start(seed), np.uint64(numerator * n // denominator + 1))
    return costs.reshape(n, n)


def uniform_block(xp: Any, n: int, cost_range: str, seed: int, rows: range, cols: range) -> Any:
    """Return a part of the matrix of `uniform_costs`, made where it shall lie by `xp`, NumPy or CuPy; uint64."""
    numerator, denominator = RANGES[cost_range]
    place = xp.arange(rows.start, rows.stop, dtype=xp.uint64)[:, None] * np.uint64(n)
    place = place + xp.arange(cols.start, cols.stop, dtype=xp.uint64)
    bits = _mixed(place + _start(seed)) >> np.uint64(32)
    return (bits * np.uint64(numerator * n // denominator + 1)) >> np.uint64(32)


def point_costs(n: int, seed: int) -> np.ndarray:
    """Return rounded distances between the two point sets of `point_pair`, int32 (n, n)."""
    costs = np.empty((n, n), np.int32)
    _round_distances(*point_pair(n, seed), costs)
    return costs


DENSE_FAMILIES: dict[str, Callable[[int, int], np.ndarray]] = {
    "uniform [0, n]": lambda n, seed: uniform_costs(n, "n", seed),
    "uniform [0, 10n]": lambda n, seed: uniform_costs(n, "10n", seed),
    "point sets": point_costs,
}
"""make(n, seed) of the families that GPU solvers and peers are measured on."""


def uniform_reals(n: int, seed: int) -> np.ndarray:
    """Return costs drawn uniformly from [0, 1), float64 (n, n)."""
    return _unit(seed, np.arange(n * n, dtype=np.uint64)).reshape(n, n)


def point_distances(n: int, seed: int) -> np.ndarray:
    """Return the distances between the two point sets of `point_pair`, float64 (n, n)."""
    from scipy.spatial.distance import cdist

    return cdist(*point_pair(n, seed))


REAL_FAMILIES: dict[str, Callable[[int, int], np.ndarray]] = {
    "uniform [0, 1), float32": lambda n, seed: uniform_reals(n, seed).astype(np.float32),
    "uniform [0, 1), float64": uniform_reals,
    "distances, float32": lambda n, seed: point_distances(n, seed).astype(np.float32),
    "distances, float64": point_distances,
}
"""make(n, seed) of dense costs that are no integers."""


def point_pair(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return uniform points in the unit box and the same points after noise, shuffled; float64 (n, 3) each.

    The noise is normal with 0.3·n^(-1/3) an axis: about half the mean distance of nearest neighbours.
    """
    k = np.arange(3 * n, dtype=np.uint64)
    radius = np.sqrt(-2 * np.log(1 - _unit(seed ^ 0xAAAA, 2 * k)))
    noise = radius * np.cos(2 * np.pi * _unit(seed ^ 0xAAAA, 2 * k + np.uint64(1)))
    x = _unit(seed, k).reshape(n, 3)
    y = np.empty((n, 3))
    y[_shuffled(n, seed)] = x + 0.3 * n ** (-1 / 3) * noise.reshape(n, 3)
    return x, y


def _shuffled(n: int, seed: int) -> np.ndarray:
    """Fisher and Yates's shuffle of 0 … n - 1."""
    order = np.arange(n)
    draws = _hash(seed ^ 0x5555, np.arange(n, dtype=np.uint64))
    for i in range(n - 1, 0, -1):
        j = int(draws[i] % np.uint64(i + 1))
        order[i], order[j] = order[j], order[i]
    return order


def _unit(seed: int, counter: np.ndarray) -> np.ndarray:
    """Numbers in [0, 1), float64."""
    return (_hash(seed, counter) >> np.uint64(11)).astype(np.float64) / 2.0**53


def _hash(seed: int, counter: np.ndarray) -> np.ndarray:
    """SplitMix64 of a seed and a counter, uint64."""
    return _mixed(counter + _start(seed))


def _start(seed: int) -> np.uint64:
    return np.uint64(seed * 0xD1342543DE82EF95 % 2**64)


def _mixed(x):  # noqa: ANN001, ANN202 - of arrays, and of numbers within numba
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


_mixed_number = compiled(inline="always")(_mixed)


@compiled
def _fill(costs: np.ndarray, start: np.uint64, values: np.uint64) -> None:
    """Set cost k to the hash of k, scaled to the range of `values`."""
    for k in range(len(costs)):
        bits = _mixed_number(np.uint64(k) + start) >> np.uint64(32)
        costs[k] = (bits * values) >> np.uint64(32)


@compiled
def _round_distances(x: np.ndarray, y: np.ndarray, costs: np.ndarray) -> None:
    for i in range(len(x)):
        for j in range(len(y)):
            squares = (x[i, 0] - y[j, 0]) ** 2 + (x[i, 1] - y[j, 1]) ** 2 + (x[i, 2] - y[j, 2]) ** 2
            costs[i, j] = np.rint(np.sqrt(squares) * POINT_SCALE)
