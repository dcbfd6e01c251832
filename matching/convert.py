"""The same problem in another form, so that every solver takes every kind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .costs import link_costs, pair_costs
from .errors import InvalidProblem
from .grid import pairs_within
from .problem import INT_LIMIT, Problem

DENSE_LIMIT_BYTES = 8 * 2**30
"""Largest cost matrix that is made on the caller's behalf; whoever wants more passes one."""


def as_dense(problem: Problem) -> Problem:
    """Return the problem with its costs as full matrices.

    Raises
    ------
    InvalidProblem
        If they would take more than `DENSE_LIMIT_BYTES`.
    """
    if problem.kind == "dense":
        return problem
    sizes = np.diff(problem.row_offsets) * np.diff(problem.col_offsets)
    if 8 * int(sizes.sum()) > DENSE_LIMIT_BYTES:
        raise InvalidProblem(
            f"problem would need a cost matrix of {8 * int(sizes.sum()) / 2**30:.0f} GiB for this solver; "
            "use solver='sparse-jv' or 'auto'."
        )
    parts = [_dense_block(block) for block in problem.blocks()]
    data = np.concatenate([costs for costs, _ in parts])
    forbidden = None if parts[0][1] is None else np.concatenate([mask for _, mask in parts if mask is not None])
    return replace(problem, kind="dense", data=data, forbidden=forbidden, indptr=None, indices=None, x=None, y=None)


def _dense_block(block: Problem) -> tuple[np.ndarray, np.ndarray | None]:
    """Return flat costs and, for integers, the mask of forbidden pairs of one sparse or matrix-free block."""
    n, m = block.shape
    if block.kind == "points":
        assert block.x is not None
        assert block.y is not None
        return pair_costs(block.x, block.y, block.metric).reshape(-1), None
    assert block.indptr is not None
    assert block.indices is not None
    at = np.repeat(np.arange(n), np.diff(block.indptr)) * m + block.indices
    costs = np.full(n * m, 0 if block.is_integer else np.inf, dtype=block.data.dtype)
    costs[at] = block.data
    if not block.is_integer:
        return costs, None
    mask = np.ones(n * m, dtype=bool)
    mask[at] = False
    return costs, mask


def as_sparse(problem: Problem) -> Problem:
    """Return the problem with its allowed pairs as edges.

    Point sets with an `unmatched_cost` keep the pairs that are worth a link (cost below u_i + u_j), which is exact;
    without one, all pairs are edges.
    """
    if problem.kind == "sparse":
        return problem
    if problem.kind == "points":
        return _sparse_points(problem)
    blocks = [_sparse_block(block) for block in problem.blocks()]
    indptr = np.concatenate([[0], np.cumsum(np.concatenate([counts for counts, _, _ in blocks]))]).astype(np.int64)
    return replace(
        problem,
        kind="sparse",
        data=np.concatenate([data for _, _, data in blocks]),
        forbidden=None,
        indptr=indptr,
        indices=np.concatenate([indices for _, indices, _ in blocks]),
    )


def _sparse_block(block: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (edges of each row, columns, costs) of one dense block."""
    allowed = block.cost_matrix < (INT_LIMIT if block.is_integer else np.inf)
    if block.forbidden is not None:
        allowed &= ~block.forbidden.reshape(block.shape)
    return np.count_nonzero(allowed, axis=1), np.nonzero(allowed)[1].astype(np.int32), block.cost_matrix[allowed]


def _sparse_points(problem: Problem) -> Problem:
    """Gate each block at the largest cost worth a link; without `unmatched_cost` every pair is an edge."""
    parts = [_gated_block(block) for block in problem.blocks()]
    counts = np.concatenate([np.diff(indptr) for indptr, _, _ in parts])
    return replace(
        problem,
        kind="sparse",
        data=np.concatenate([cost for _, _, cost in parts]),
        indptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        indices=np.concatenate([indices for _, indices, _ in parts]),
        x=None,
        y=None,
    )


def _gated_block(block: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    assert block.x is not None
    assert block.y is not None
    n, m = block.shape
    if block.row_unmatched is None or block.col_unmatched is None:
        cost = pair_costs(block.x, block.y, block.metric).reshape(-1)
        return np.arange(n + 1, dtype=np.int64) * m, np.tile(np.arange(m, dtype=np.int32), n), cost
    indptr, indices, distance = pairs_within(block.x, block.y, gate_radius(block) * (1 + 1e-12))
    if block.metric == "distance":
        return indptr, indices, distance
    rows = np.repeat(np.arange(n), np.diff(indptr))
    return indptr, indices, link_costs(block, rows, np.zeros_like(rows), indices)


def gate_radius(block: Problem) -> float:
    """Return the distance beyond which no link of two point sets with an `unmatched_cost` is worth its cost."""
    assert block.row_unmatched is not None
    assert block.col_unmatched is not None
    worth = max(float(block.row_unmatched.max(initial=0) + block.col_unmatched.max(initial=0)), 0.0)
    return float(np.sqrt(worth)) if block.metric == "squared" else worth


def transposed(block: Problem) -> Problem:
    """Return a single problem with rows and columns exchanged."""
    swapped = replace(
        block,
        row_offsets=block.col_offsets,
        col_offsets=block.row_offsets,
        row_unmatched=block.col_unmatched,
        col_unmatched=block.row_unmatched,
        x=block.y,
        y=block.x,
    )
    if block.kind == "points":
        return swapped
    n, m = block.shape
    if block.kind == "dense":
        mask = None if block.forbidden is None else np.ascontiguousarray(block.forbidden.reshape(n, m).T).reshape(-1)
        return replace(swapped, data=np.ascontiguousarray(block.cost_matrix.T).reshape(-1), forbidden=mask)
    assert block.indptr is not None
    assert block.indices is not None
    order = np.argsort(block.indices, kind="stable")
    rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(block.indptr))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(block.indices, minlength=m))]).astype(np.int64)
    return replace(swapped, indptr=indptr, indices=rows[order], data=block.data[order])
