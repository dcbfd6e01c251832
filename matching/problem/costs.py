"""Reading costs: one definition of c_ij for every kind of problem, shared by solvers' proofs and `verify`."""

# Types of numba kernels live in their docstrings: numba infers them.
# A conditional expression has no branch where min() has one.
# ruff: noqa: ANN001, ANN201, ANN202, FURB136

from __future__ import annotations

from typing import Any

import numpy as np

from ..device import cuda
from ..jit.compiled import SMALL, compiled
from ..jit.row_scan import cheapest_column
from ..points.box_tree import cheapest_columns
from . import device_problem
from .host_problem import INT_LIMIT, largest_size
from .problem import Problem

ALL_PAIRS = 2**18
"""Pairs of two point sets up to which row duals are found by trying all; above, through a tree of boxes."""


def absent_cost(problem: Problem) -> Any:
    """Return what stands for a pair that must not be matched: +inf, or 2**62 in integers."""
    return np.int64(INT_LIMIT) if problem.is_integer else np.inf


def edge_costs(problem: Problem, rows: np.ndarray, block: np.ndarray, cols: np.ndarray) -> np.ndarray:
    """Return the cost of each given pair, (k,) of `dual_dtype`; `absent_cost` where the problem does not allow it.

    Parameters
    ----------
    problem : Problem
    rows : int64 (k,)
        Rows, counted over all blocks.
    block : int64 (k,)
        Their blocks; not read of a sparse problem.
    cols : int (k,)
        A column for each, local to the block and within its range.
    """
    absent = absent_cost(problem)
    if problem.kind == "sparse":
        out = np.full(len(rows), absent, dtype=problem.dual_dtype)
        _sparse_edge_costs(problem.indptr, problem.indices, problem.data, rows, cols, out)
    elif problem.kind == "dense":
        out = np.empty(len(rows), problem.dual_dtype)
        offsets = problem.dense_offsets, problem.row_offsets, problem.n_cols_of_block
        _dense_edge_costs(problem.data, problem.forbidden, *offsets, rows, block, cols, absent, out)
    else:
        out = np.empty(len(rows))
        _point_edge_costs(
            problem.x, problem.y, problem.metric == "squared", rows, problem.col_offsets[block] + cols, out
        )
    return out


def best_row_duals(problem: Problem, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest row duals that are feasible beside given column duals: min(bound, min_j (c_ij - v_j)).

    Parameters
    ----------
    problem : Problem
    v : ndarray (columns,)
        Column duals, of `dual_dtype`.

    Returns
    -------
    r : ndarray (rows,)
        Of `dual_dtype`; the bound (see `Problem.dual_bounds`) where no pair is lower.
    terms : ndarray (rows,)
        Larger of |c_ij| and |v_j| of the pair that set r, the measure of its rounding error; 0 where the bound did.
    """
    r = problem.dual_bounds()[0].copy()
    terms = np.zeros_like(r)
    offsets = problem.row_offsets, problem.col_offsets
    if problem.kind == "sparse":
        _sparse_minima(*offsets, problem.indptr, problem.indices, problem.data, v, r, terms)
    elif problem.kind == "dense":
        dense_minima(*offsets, problem.data, problem.forbidden, v, r, terms)
    else:
        _minima_of_points(problem, v, r, terms)
    return r, terms


def _minima_of_points(problem: Problem, v: np.ndarray, r: np.ndarray, terms: np.ndarray) -> None:
    assert problem.x is not None
    assert problem.y is not None
    for b in range(problem.n_blocks):
        rows = slice(int(problem.row_offsets[b]), int(problem.row_offsets[b + 1]))
        cols = slice(int(problem.col_offsets[b]), int(problem.col_offsets[b + 1]))
        own = v[cols], r[rows], terms[rows]
        points = problem.x[rows], problem.y[cols], problem.metric == "squared"
        if len(points[0]) * len(points[1]) <= ALL_PAIRS:
            _minima_of_pairs(*points, *own)
        else:
            _minima_at(*points, cheapest_columns(*points[:2], own[0], points[2]), *own)


def largest_cost(problem: Problem) -> float:
    """Return an upper bound of the size of all costs, unmatched costs too; for points, from a bounding box."""
    unmatched_costs = (side for side in (problem.row_unmatched, problem.col_unmatched) if side is not None)
    return max(largest_edge_cost(problem), *map(_largest_size, unmatched_costs), 0.0)


def largest_edge_cost(problem: Problem, first: int | None = None) -> float:
    """Return an upper bound of the absolute value of every cost, or of those that the first costs or points make.

    The first are fetched where they lie on a GPU: that takes less time than to ask for their range there.
    """
    held = [problem.data] if problem.x is None or problem.y is None else [problem.x, problem.y]
    if first is not None:
        held = [cuda.to_host(part[:first]) for part in held]
    if problem.kind != "points":
        return _largest_size(held[0])
    diagonal = _diagonal([part for part in held if len(part)])
    return diagonal**2 if problem.metric == "squared" else diagonal


def _largest_size(values: Any) -> float:
    """Return the largest absolute finite value, looked for where they are."""
    return float((device_problem.largest_size if cuda.is_device_array(values) else largest_size)(values))


def _diagonal(point_sets: list[Any]) -> float:
    """Return the diagonal of the bounding box of point sets, 0 of none, looked for where they are."""
    if not point_sets:
        return 0.0
    low = np.min([cuda.to_host(points.min(axis=0)) for points in point_sets], axis=0)
    high = np.max([cuda.to_host(points.max(axis=0)) for points in point_sets], axis=0)
    return float(np.linalg.norm(high - low))


def row_costs(problem: Problem, row: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns (counted over all blocks) that `row` may match, and their costs in `dual_dtype`."""
    b = int(np.searchsorted(problem.row_offsets, row, side="right")) - 1
    i, first, width = (
        row - int(problem.row_offsets[b]),
        int(problem.col_offsets[b]),
        int(problem.n_cols_of_block[b]),
    )
    if problem.kind == "sparse":
        assert problem.indptr is not None
        assert problem.indices is not None
        edges = slice(int(problem.indptr[row]), int(problem.indptr[row + 1]))
        return problem.indices[edges].astype(np.int64) + first, problem.data[edges].astype(problem.dual_dtype)
    cols = np.arange(width)
    if problem.kind == "points":
        block = np.full(width, b)
        return cols + first, edge_costs(problem, np.full(width, row), block, cols)
    at = int(problem.dense_offsets[b]) + i * width
    allowed = problem.data[at : at + width] < np.inf
    if problem.forbidden is not None:
        allowed &= ~problem.forbidden[at : at + width]
    return cols[allowed] + first, problem.data[at : at + width][allowed].astype(problem.dual_dtype)


def pair_costs(x: np.ndarray, y: np.ndarray, metric: str) -> np.ndarray:
    """Return the full matrix of costs between two point sets, float64 (n, m)."""
    out = np.empty((len(x), len(y)))
    _point_matrix(x, y, metric == "squared", out)
    return out


@compiled(inline="always")
def pair_cost(x, i, y, j, squared):
    """Euclidean distance (or its square) of x[i] and y[j] in float64: differences first, axes summed in order.

    Every CPU path and, written the same way without contraction, every kernel computes the cost like this;
    |a|² + |b|² - 2ab would lose the digits that decide between near neighbours.
    """
    total = 0.0
    for axis in range(x.shape[1]):
        d = x[i, axis] - y[j, axis]
        total += d * d
    return total if squared else np.sqrt(total)


@compiled(plain=SMALL)
def _sparse_edge_costs(indptr, indices, data, rows, cols, out):
    for k in range(len(rows)):
        for e in range(indptr[rows[k]], indptr[rows[k] + 1]):
            if indices[e] == cols[k]:
                out[k] = data[e]
                break


@compiled
def _dense_edge_costs(data, forbidden, dense_offsets, row_offsets, widths, rows, block, cols, absent, out):
    for k in range(len(rows)):
        b = block[k]
        at = dense_offsets[b] + (rows[k] - row_offsets[b]) * widths[b] + cols[k]
        out[k] = absent if forbidden is not None and forbidden[at] else data[at]


@compiled
def _point_edge_costs(x, y, squared, rows, cols, out):
    for k in range(len(rows)):
        out[k] = pair_cost(x, rows[k], y, cols[k], squared)


@compiled(plain=SMALL)
def _sparse_minima(row_offsets, col_offsets, indptr, indices, data, v, r, terms):
    for b in range(len(row_offsets) - 1):
        first = col_offsets[b]
        for i in range(row_offsets[b], row_offsets[b + 1]):
            at, least = -1, r[i]
            for e in range(indptr[i], indptr[i + 1]):
                value = data[e] - v[first + indices[e]]
                at, least = (e if value < least else at), (value if value < least else least)
            if at >= 0:
                r[i], terms[i] = least, max(abs(data[at]), abs(v[first + indices[at]]))


@compiled
def dense_minima(row_offsets, col_offsets, data, forbidden, v, r, terms):
    """Lower r to min_j (c_ij - v_j) where that is less, with its terms as in `best_row_duals`; blocks in order."""
    lo = 0
    for b in range(len(row_offsets) - 1):
        own = v[col_offsets[b] : col_offsets[b + 1]]
        for i in range(row_offsets[b], row_offsets[b + 1]):
            row = data[lo : lo + len(own)]
            if forbidden is None:
                at = cheapest_column(row, own, r[i])
            else:
                at = _cheapest_allowed(row, forbidden[lo : lo + len(own)], own, r[i])
            if at >= 0:
                r[i] = row[at] - own[at]
                terms[i] = max(abs(row[at]), abs(own[at]))
            lo += len(own)


@compiled
def _cheapest_allowed(row, forbidden, v, bound):
    best, at = bound, -1
    for j in range(len(v)):
        if not forbidden[j] and row[j] - v[j] < best:
            best, at = row[j] - v[j], j
    return at


@compiled
def _minima_of_pairs(x, y, squared, v, r, terms):
    """As `dense_minima`, of all pairs of two point sets, none of which is written out."""
    for i in range(len(r)):
        at = -1
        for j in range(len(v)):
            value = pair_cost(x, i, y, j, squared) - v[j]
            if value < r[i]:
                r[i], at = value, j
        if at >= 0:
            terms[i] = max(pair_cost(x, i, y, at, squared), abs(v[at]))


@compiled
def _minima_at(x, y, squared, cols, v, r, terms):
    for i in range(len(r)):
        cost = pair_cost(x, i, y, cols[i], squared)
        if cost - v[cols[i]] < r[i]:
            r[i] = cost - v[cols[i]]
            terms[i] = max(cost, abs(v[cols[i]]))


@compiled
def _point_matrix(x, y, squared, out):
    for i in range(len(x)):
        for j in range(len(y)):
            out[i, j] = pair_cost(x, i, y, j, squared)
