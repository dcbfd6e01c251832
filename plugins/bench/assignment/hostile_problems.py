"""Seeded problems that break one method or another: with unmatched costs, unequal, sparse, of points, in batches."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from ....matching.problem import Problem
from .differing_points import cube_and_slab
from .gated_pairs import Scatter, scattered_pair
from .hostile_costs import (
    inner_products,
    machol_wien,
    one_far_point,
    permuted_blocks,
    power_law,
    squared_on_a_line,
    two_blobs,
)


def one_more_column(n: int, seed: int) -> Problem:
    """Return distances of independent sets, with one column too many."""
    rng = np.random.default_rng(seed)
    return Problem.dense(cdist(rng.random((n, 3)), rng.random((n + 1, 3))))


def machol_wien_one_more(n: int, seed: int) -> Problem:
    """Return Machol and Wien's costs, with one column too many."""
    return Problem.dense(machol_wien(n + 1, seed)[:n])


def squares_five_more(n: int, seed: int) -> Problem:
    """Return squared distances of independent sets on a line, with five columns too many."""
    return Problem.dense(squared_on_a_line(n + 5, seed)[:n])


def blobs_with_unmatched_cost(n: int, seed: int) -> Problem:
    """Return two blobs apart, and an unmatched cost at which about half of them stay unassigned."""
    return Problem.dense(two_blobs(n, seed), unmatched_cost=2.0)


def far_point_with_unmatched_cost(n: int, seed: int) -> Problem:
    """Return sets with one far point, and an unmatched cost far above all other costs."""
    return Problem.dense(one_far_point(n, seed), unmatched_cost=1e6)


def wide_gate(n: int, seed: int) -> Problem:
    """Return a gate that must be matched whole, of differing noise and 29 candidates a row."""
    return scattered_pair(n, Scatter(0.6, degree=28.8), seed)


def heavy_columns(n: int, seed: int) -> Problem:
    """Return a user-item graph: whole costs as floats, columns asked for by a power law, and a way out for each row."""
    rng = np.random.default_rng(seed)
    wanted = np.minimum(rng.zipf(1.3, (n, 12)) - 1, n - 1)
    cols = np.concatenate([rng.permutation(n)[wanted], np.arange(n)[:, None]], axis=1)
    rows = np.repeat(np.arange(n), cols.shape[1])
    pairs, first = np.unique(rows * n + cols.ravel(), return_index=True)
    costs = np.hstack([rng.integers(1, 100, (n, 12)), np.full((n, 1), 100)]).ravel().astype(float)
    indptr = np.searchsorted(pairs, np.arange(n + 1) * n)
    return Problem.sparse((indptr, (pairs % n).astype(np.int32), costs[first]), shape=(n, n))


def nearly_full(n: int, seed: int) -> Problem:
    """Return a sparse problem of which hardly a pair is absent, whole costs as floats."""
    rng = np.random.default_rng(seed)
    allowed = rng.random((n, n)) < 0.98
    np.fill_diagonal(allowed, val=True)
    indptr = np.concatenate([[0], np.cumsum(allowed.sum(axis=1))])
    costs = rng.integers(1, 1000, (n, n))[allowed].astype(float)
    return Problem.sparse((indptr, np.nonzero(allowed)[1].astype(np.int32), costs), shape=(n, n))


def points_of_a_line(n: int, seed: int) -> Problem:
    """Return independent points of a line in space, squared distances."""
    x, y = np.random.default_rng(seed).random((2, n, 1)) * np.array([1.0, 2.0, 3.0])
    return Problem.points(x, y, metric="squared")


def points_of_blobs(n: int, seed: int) -> Problem:
    """Return two normal blobs, 3 standard deviations apart, squared distances."""
    x, y = np.random.default_rng(seed).normal(size=(2, n, 3))
    y[:, 0] += 3.0
    return Problem.points(x, y, metric="squared")


def points_of_clusters(n: int, seed: int) -> Problem:
    """Return 8³ dense clusters, drawn separately for each side."""
    rng = np.random.default_rng(seed)
    x, y = (rng.integers(8, size=(n, 3)) + 1e-3 * rng.normal(size=(n, 3)) for _ in range(2))
    return Problem.points(x, y)


def points_of_a_lattice(n: int, seed: int) -> Problem:
    """Return a lattice and itself half a step further: every distance ties with others."""
    del seed
    side = round(n ** (1 / 3))
    x = np.stack(np.meshgrid(*[np.arange(float(side))] * 3), axis=-1).reshape(-1, 3)
    return Problem.points(x, x + 0.5)


def points_of_a_slab(n: int, seed: int) -> Problem:
    """Return a cube and a slab through it, distances."""
    return Problem.points(*cube_and_slab(n, seed))


def mixed_batch(n: int, seed: int) -> Problem:
    """Return n blocks of 100 rows, of which each is hard in a way and a unit of its own."""
    makers = machol_wien, inner_products, permuted_blocks, two_blobs, one_far_point
    return Problem.batch(
        [Problem.dense(makers[k % len(makers)](100, seed + k) * 10.0 ** (k % 13 - 6)) for k in range(n)]
    )


def large_batch(n: int, seed: int) -> Problem:
    """Return four blocks of n rows: inner products, blobs apart, squares on a line, and independent costs."""
    makers = inner_products, two_blobs, squared_on_a_line, power_law
    return Problem.batch([Problem.dense(make(n, seed + k)) for k, make in enumerate(makers)])
