"""Dense costs that no solver was tuned for: what breaks one method or another, named and seeded.

A library is judged by its worst answer, so the table shows every solver of ours, what `auto` takes, and the peers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ....matching.problem import Problem
from ..benchmark import Effort
from ..measure.harness import Case, Experiment, Facts, Variant
from .instance import Instance
from .peer_solvers import DenseInput, check_dense, emd_dense, lapx_dense, not_installed, scipy_dense
from .problem_variants import on_cpu, on_gpu, sizes_of

Costs = Callable[[int, int], np.ndarray]
"""make(n, seed) returns float64 costs (n, n)."""


def machol_wien(n: int, seed: int) -> np.ndarray:
    """Return (i + 1)(j + 1), which takes Hungarian methods O(n²) augmentations (Machol and Wien, 1976)."""
    del seed
    numbers = np.arange(1.0, n + 1)
    return np.outer(numbers, numbers)


def squared_on_a_line(n: int, seed: int) -> np.ndarray:
    """Return squared distances of two independent sets on a line: sorting solves it, prices do not see how."""
    x, y = np.random.default_rng(seed).random((2, n))
    return (x[:, None] - y) ** 2


def roots_on_a_line(n: int, seed: int) -> np.ndarray:
    """Return √|x − y| of two sorted sets: a concave cost, whose optimum nests instead of sorting."""
    x, y = np.sort(np.random.default_rng(seed).random((2, n)), axis=1)
    return np.sqrt(np.abs(x[:, None] - y))


def inner_products(n: int, seed: int) -> np.ndarray:
    """Return inner products of rank 3: every row ranks the columns by one direction in space."""
    x, y = np.random.default_rng(seed).normal(size=(2, n, 3))
    return x @ y.T


def tight_clusters(n: int, seed: int) -> np.ndarray:
    """Return distances of points in 8³ tight clusters, drawn anew for each side: crowds that differ by a few."""
    rng = np.random.default_rng(seed)
    centres = np.stack(np.meshgrid(*[np.arange(8.0)] * 3), axis=-1).reshape(-1, 3)
    x, y = (centres[rng.integers(len(centres), size=n)] + 1e-3 * rng.normal(size=(n, 3)) for _ in range(2))
    return _distances(x, y)


def two_blobs(n: int, seed: int) -> np.ndarray:
    """Return squared distances of two normal blobs, 3 standard deviations apart."""
    x, y = np.random.default_rng(seed).normal(size=(2, n, 3))
    y[:, 0] += 3.0
    return _distances(x, y) ** 2


def ball_to_shell(n: int, seed: int) -> np.ndarray:
    """Return distances of a ball's points to a sphere's: all must move outwards."""
    rng = np.random.default_rng(seed)
    x, y = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in rng.normal(size=(2, n, 3)))
    return _distances(x * rng.random((n, 1)) ** (1 / 3), y)


def power_law(n: int, seed: int) -> np.ndarray:
    """Return independent costs over twelve decades."""
    return 10.0 ** np.random.default_rng(seed).uniform(-6, 6, (n, n))


def near_ties(n: int, seed: int) -> np.ndarray:
    """Return costs of 1, 2 or 3 that differ by 1e-12: what decides is twelve digits down."""
    rng = np.random.default_rng(seed)
    return rng.integers(1, 4, (n, n)) + 1e-12 * rng.random((n, n))


def permuted_blocks(n: int, seed: int) -> np.ndarray:
    """Return cheap blocks of 50 rows, shuffled, in a matrix of dear costs; 5 % of the rows sit in the wrong block."""
    rng = np.random.default_rng(seed)
    row_block, col_block = np.arange(n) // 50, rng.permutation(n) // 50
    moved = rng.random(n) < 0.05
    row_block[moved] = rng.permutation(row_block[moved])
    return rng.random((n, n)) + 100.0 * (row_block[:, None] != col_block)


def one_far_point(n: int, seed: int) -> np.ndarray:
    """Return squared distances in a unit box, with one point of a side a thousand boxes away."""
    x, y = np.random.default_rng(seed).random((2, n, 3))
    y[0] += 1000.0
    return _distances(x, y) ** 2


HOSTILE: dict[str, tuple[Costs, int]] = {
    "Machol and Wien": (machol_wien, 2000),
    "squares on a line": (squared_on_a_line, 4000),
    "roots on a line": (roots_on_a_line, 4000),
    "inner products of rank 3": (inner_products, 5000),
    "8³ tight clusters": (tight_clusters, 5000),
    "two blobs apart": (two_blobs, 5000),
    "a ball and a shell": (ball_to_shell, 5000),
    "twelve decades": (power_law, 5000),
    "near-ties": (near_ties, 3000),
    "permuted blocks": (permuted_blocks, 5000),
    "one far point": (one_far_point, 3000),
}
"""make(n, seed), and the largest n, by the name of the series."""

SMALL = 100
SOLVERS = ("auto", "jv", "auction", "hungarian-classical", "hungarian-tree")


def hostile(effort: Effort, gpu: str) -> Experiment:
    """Return the experiment: every solver of ours on both devices, and the peers.

    Each series grows to its size in two doublings, so that a solver that is far too slow is not tried on the largest.
    """
    cases = [case for name, (make, n) in HOSTILE.items() for case in _sizes(name, make, n, effort, gpu)]
    peers = [
        _peer("SciPy", scipy_dense),
        _peer("lapx", lapx_dense, not_installed("lap", "lapx")),
        _peer("POT", emd_dense, not_installed("ot", "POT")),
    ]
    ours = [*(on_cpu(solver) for solver in SOLVERS), *on_gpu([s for s in SOLVERS if s != "jv"], gpu)]
    return Experiment("hostile", cases, [*ours, *peers], effort.times(3, 1))


def _sizes(name: str, make: Costs, n: int, effort: Effort, gpu: str) -> list[Case]:
    sizes = effort.of_sizes((n // 4, n // 2, n), (SMALL,))
    return [Case(name, k, lambda seed, k=k: _Given(Problem.dense(make(k, seed)), gpu)) for k in sizes]


@dataclass(frozen=True)
class _Given(Instance):
    """An instance whose proven optimum the peers' answers are held against."""

    @cached_property
    def dense(self) -> DenseInput:
        return DenseInput(self.problem.cost_matrix)


def _peer(name: str, solve: Callable[[np.ndarray], np.ndarray], missing: str | None = None) -> Variant:
    def check(given: _Given, columns: np.ndarray) -> Facts:
        return {**check_dense(given.dense, columns), **sizes_of(given.problem.n_rows, given.n_bytes)}

    return Variant(name, solve, check, prepare=lambda given: given.problem.cost_matrix, missing=missing)


def _distances(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import cdist

    return cdist(x, y)
