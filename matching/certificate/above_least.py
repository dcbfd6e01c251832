"""Whether a matching's cost above the unavoidable least is so small that rounding of the gap would hide a cheaper one.

No answer pays less than each row's least, with the unmatched cost of every column taken as paid. Beside unmatched
costs near 1 two edges of 0.1 that differ in the last digit are the same number, and the one at hand may be the dearer:
its gap is far below 1e-9 of 0.1, but all that there was to save. Rows are looked at until what they pay above their
least is enough; of most problems the first few do.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

import numpy as np

from ..jit.compiled import SMALL, compiled
from ..points.box_tree import cheapest_columns
from ..problem import Problem
from ..problem.convert import transposed, unmasked
from ..problem.costs import edge_costs, pair_cost, pair_costs
from ..tolerance import FLOAT_SCREEN, SHARE
from .float_pairs import difference

MOST_PAIRS = 4_000_000
"""Pairs up to which the costs of two point sets are written out for a proof without rounding."""

FIRST_ROWS = 16
"""Rows of large point sets that are looked at before all of them, through a tree: mostly they pay enough."""


def barely_above_least(problem: Problem, col_of_row: np.ndarray, row_of_col: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """Return the blocks whose gap is more than a `SHARE` of what rows pay above their least, bool (blocks,).

    Where every row pays its least, to the last digit, nothing is cheaper, and no gap is a doubt. Where rows may stay
    unassigned free of charge, columns are asked in their place.

    Parameters
    ----------
    problem : Problem
        Real costs on the host.
    col_of_row, row_of_col : int32 (rows,), (columns,)
    gap : float64 (blocks,)
    """
    tall = (problem.n_rows_of_block > problem.n_cols_of_block) & (not problem.has_unmatched_cost)
    if tall.all():
        return _barely_above_rows(transposed(problem), row_of_col, gap)
    found = _barely_above_rows(problem, col_of_row, gap)
    return np.where(tall, _barely_above_rows(transposed(problem), row_of_col, gap), found) if tall.any() else found


def _barely_above_rows(problem: Problem, col_of_row: np.ndarray, gap: np.ndarray) -> np.ndarray:
    if problem.kind == "points" and problem.n_edges > MOST_PAIRS:
        parts = np.split(col_of_row, problem.row_offsets[1:-1])
        return np.fromiter(map(_points_barely_above, problem.blocks(), parts, gap), np.bool_)
    found = np.zeros(problem.n_blocks, np.bool_)
    look_above_least(
        *((0, problem.n_blocks, 0), (problem.row_offsets, problem.col_offsets)),
        *(problem.row_unmatched, problem.col_unmatched, unmasked(problem).data, problem.indptr, problem.indices),
        *(problem.x, problem.y, problem.metric == "squared", col_of_row, gap, found),
    )
    return found


def _points_barely_above(block: Problem, col_of_row: np.ndarray, gap: float) -> bool:
    """As `barely_above_least`, for one block of two point sets with too many pairs to go through.

    Where unmatched costs of columns differ, rounding may choose a column that is not each row's least: a doubt, if no
    row pays more than for that.
    """
    if gap == 0:
        return False
    unmatched = np.zeros(block.n_cols) if block.col_unmatched is None else block.col_unmatched.astype(np.float64)
    assert block.x is not None
    assert block.y is not None
    differing = unmatched - unmatched[0]  # 0 where all are one number, beside which a cost could lose its digits
    few = pair_costs(block.x[:FIRST_ROWS], block.y, block.metric) - differing
    if SHARE * _above(block, few.argmin(axis=1), unmatched, col_of_row) >= gap:
        return False
    least = cheapest_columns(block.x, block.y, differing, block.metric == "squared")
    above = _above(block, least, unmatched, col_of_row)
    return SHARE * above < gap and (above > 0 or bool(differing.any()))


def _above(block: Problem, least: np.ndarray, unmatched: np.ndarray, col_of_row: np.ndarray) -> float:
    """Return by how much the first rows pay more than for the columns given, or for staying unassigned; at least 0."""
    rows, col_of_row = np.arange(len(least)), col_of_row[: len(least)]
    bound = block.dual_bounds()[0][: len(least)]

    def paid(cols: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        cost = edge_costs(block, rows, np.zeros(len(rows), np.int64), cols)
        return difference.py_func(cost, 0.0, unmatched[cols], 0.0)

    matched = col_of_row >= 0
    pays, pays_low = (np.where(matched, *each) for each in zip(paid(col_of_row), (bound, 0.0), strict=True))
    most = np.zeros(len(rows))
    for high, low in (paid(least), (bound, np.zeros(len(rows)))):
        is_there = np.isfinite(high) & np.isfinite(pays)
        above, rest = difference.py_func(pays[is_there], pays_low[is_there], high[is_there], low[is_there])
        most[is_there] = np.maximum(most[is_there], above + rest)
    return float(most.sum())


@compiled(plain=SMALL)
def look_above_least(
    run, offsets, row_unmatched, col_unmatched, data, indptr, indices, x, y, squared, col_of_row, gap, found
):
    """Add to the blocks found, among those of the run (first, end, where their dense costs begin)."""
    (first, end, lo), (row_offsets, col_offsets) = run, offsets
    for b in range(first, end):
        r0, c0 = row_offsets[b], col_offsets[b]
        n, m = row_offsets[b + 1] - r0, col_offsets[b + 1] - c0
        above = 0.0
        for i in range(r0, r0 + n):
            if SHARE * above >= gap[b] > 0:
                break
            bound = (0.0 if n > m else np.inf) if row_unmatched is None else row_unmatched[i]
            at = lo + (i - r0) * m if indptr is None else indptr[i]
            to = at + m if indptr is None else indptr[i + 1]
            costs = data[at:to] if x is None else _costs_to_all(x, i, y[c0 : c0 + m], squared)
            above += _above_least(costs, indices, at, col_unmatched, c0, bound, col_of_row[i])
        found[b] |= 0.0 < SHARE * above < gap[b]
        lo += n * m


@compiled
def _costs_to_all(x, i, y, squared):
    costs = np.empty(len(y))
    for j in range(len(y)):
        costs[j] = pair_cost(x, i, y, j, squared)
    return costs


@compiled
def _above_least(costs, indices, at, unmatched, first_col, bound, col):
    """Return by how much a row pays more than its least, the unmatched costs of columns taken off; no less than 0.

    Its columns stand in `indices` from `at` on, their unmatched costs from `first_col` on. As a pair of floats the
    difference of two costs is exact.
    """
    pays, pays_low = bound, 0.0
    if col >= 0:
        own = col if indices is None else 0
        while indices is not None and indices[at + own] != col:
            own += 1
        taken_off = 0.0 if unmatched is None else unmatched[first_col + col]
        pays, pays_low = difference(float(costs[own]), 0.0, taken_off, 0.0)
    if pays == np.inf:  # unassigned though it must not be
        return 0.0
    most = 0.0
    if bound < np.inf:
        high, low = difference(pays, pays_low, bound, 0.0)
        most = max(most, high + low)
    near = 0
    for k in range(len(costs)):
        j = k if indices is None else indices[at + k]
        taken_off = 0.0 if unmatched is None else unmatched[first_col + j]
        near += (costs[k] - taken_off) - pays <= FLOAT_SCREEN * (abs(costs[k]) + abs(taken_off) + abs(pays))
    for k in range(len(costs) if near > 1 or col < 0 else 0):  # the matched edge itself is near
        j = k if indices is None else indices[at + k]
        taken_off = 0.0 if unmatched is None else unmatched[first_col + j]
        if costs[k] < np.inf:
            high, low = difference(float(costs[k]), 0.0, taken_off, 0.0)
            high, low = difference(pays, pays_low, high, low)
            most = max(most, high + low)
    return most
