"""The same problem in another form, so that every solver takes every kind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import InvalidProblem
from ..points.grid import pairs_within
from ..tolerance import GATE_MARGIN
from .costs import edge_costs, pair_costs
from .csr import rows_of, transposed_csr
from .flat_graph import allowed_pairs, global_columns
from .problem import Problem

DENSE_LIMIT_BYTES = 8 * 2**30
"""Largest cost matrix that is made on the caller's behalf; whoever wants more passes one."""

NEARLY_FULL = 4
"""Pairs of a sparse problem's matrix, for each edge, up to which the matrix is made: its bids and searches read four
columns in the time that a graph's take for an edge."""

MATRIX_PAIRS = 2**27
"""Pairs of such a matrix at most: 1 GiB."""

MOST_OVER = 1.15
"""Columns per row up to which a matrix is made square, by rows that take what is left over at no cost. One H200,
seconds of the auction so and of the classical method, two densities: 2,000 x 2,040 0.066 and 3.0, x 2,200 0.15 and
1.4, 3,000 x 3,900 0.89 and 1.6; inner products 0.027 and 0.29, 0.17 and 0.27. The rows added bid against each other.
On a CPU `jv` takes 1.9 seconds for 2,500 x 2,550 and for x 2,750 of two densities, these 0.5 and 0.7."""


def are_nearly_square(rows: int, cols: int) -> bool:
    """Whether so few of the longer side stay unassigned that the auction makes a matrix square."""
    shorter, longer = sorted((rows, cols))
    return longer <= MOST_OVER * shorter


def fills_its_matrix(problem: Problem) -> bool:
    """Whether a sparse problem's matrix is read sooner than its edges are searched, and no burden on memory."""
    return problem.n_pairs <= min(NEARLY_FULL * problem.n_edges, MATRIX_PAIRS)


def as_dense(problem: Problem) -> Problem:
    """Return the problem with its costs as full matrices.

    Raises
    ------
    InvalidProblem
        If they would take more than `DENSE_LIMIT_BYTES`.
    """
    if problem.kind == "dense":
        return problem
    if 8 * problem.n_pairs > DENSE_LIMIT_BYTES:
        raise InvalidProblem(
            f"problem would need a cost matrix of {8 * problem.n_pairs / 2**30:.0f} GiB for this solver; "
            "use solver='auto', or 'jv' with form='sparse'."
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
    at = rows_of(block.indptr) * m + block.indices
    costs = np.full(n * m, 0 if block.is_integer else np.inf, dtype=block.data.dtype)
    costs[at] = block.data
    if not block.is_integer:
        return costs, None
    mask = np.ones(n * m, dtype=bool)
    mask[at] = False
    return costs, mask


def as_sparse(problem: Problem) -> Problem:
    """Return the problem with its allowed pairs as edges.

    Point sets with an `unmatched_cost` keep the pairs that are worth matching (cost below u_i + u_j), which is exact;
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


def unmasked(problem: Problem) -> Problem:
    """Return a problem without a mask: what it forbids costs +inf, or of integers is an absent edge."""
    if problem.forbidden is None:
        return problem
    if problem.is_integer:
        return as_sparse(problem)
    return replace(
        problem, data=np.where(problem.forbidden, problem.data.dtype.type(np.inf), problem.data), forbidden=None
    )


def _sparse_block(block: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (edges of each row, columns, costs) of one dense block."""
    pairs = allowed_pairs(block)
    assert pairs is not None
    allowed = pairs.reshape(block.shape)
    return np.count_nonzero(allowed, axis=1), np.nonzero(allowed)[1].astype(np.int32), block.cost_matrix[allowed]


def _sparse_points(problem: Problem) -> Problem:
    """Gate each block at the largest cost worth matching; without `unmatched_cost` every pair is an edge."""
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
        allows_all=not problem.has_unmatched_cost,
    )


def _gated_block(block: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    assert block.x is not None
    assert block.y is not None
    n, m = block.shape
    if block.row_unmatched is None or block.col_unmatched is None:
        cost = pair_costs(block.x, block.y, block.metric).reshape(-1)
        return np.arange(n + 1, dtype=np.int64) * m, np.tile(np.arange(m, dtype=np.int32), n), cost
    indptr, indices, distance = pairs_within(block.x, block.y, gate_radius(block) * (1 + GATE_MARGIN))
    if block.metric == "distance":
        return indptr, indices, distance
    rows = rows_of(indptr)
    return indptr, indices, edge_costs(block, rows, np.zeros_like(rows), indices)


def gate_radius(block: Problem) -> float:
    """Return the distance beyond which no matched edge of two point sets with an `unmatched_cost` is worth its cost."""
    assert block.row_unmatched is not None
    assert block.col_unmatched is not None
    worth = max(float(block.row_unmatched.max(initial=0) + block.col_unmatched.max(initial=0)), 0.0)
    return float(np.sqrt(worth)) if block.metric == "squared" else worth


def transposed(problem: Problem) -> Problem:
    """Return a problem, or each block of a batch, with rows and columns exchanged."""
    swapped = replace(
        problem,
        row_offsets=problem.col_offsets,
        col_offsets=problem.row_offsets,
        row_unmatched=problem.col_unmatched,
        col_unmatched=problem.row_unmatched,
        x=problem.y,
        y=problem.x,
    )
    if problem.kind == "points":
        return swapped
    if problem.kind == "dense":
        mask = None if problem.forbidden is None else _transposed_matrices(problem, problem.forbidden)
        return replace(swapped, data=_transposed_matrices(problem, problem.data), forbidden=mask)
    assert problem.indptr is not None
    assert problem.indices is not None
    indptr, rows, data = transposed_csr(problem.indptr, global_columns(problem), problem.data, problem.n_cols)
    first = np.repeat(problem.row_offsets[:-1].astype(np.int32), np.diff(indptr[problem.col_offsets]))
    return replace(swapped, indptr=indptr, indices=rows - first, data=data)


def _transposed_matrices(problem: Problem, flat: np.ndarray) -> np.ndarray:
    """Transpose matrices that lie one after the other."""
    rows, cols = np.diff(problem.row_offsets), np.diff(problem.col_offsets)
    if (rows == rows[0]).all() and (cols == cols[0]).all():
        return flat.reshape(len(rows), rows[0], cols[0]).transpose(0, 2, 1).reshape(-1)  # a copy, on the device too
    ends = np.cumsum(rows * cols)[:-1]
    shapes = zip(np.split(flat, ends), rows.tolist(), cols.tolist(), strict=True)
    return np.concatenate([matrix.reshape(n, m).T.reshape(-1) for matrix, n, m in shapes])
