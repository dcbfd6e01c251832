"""What both variants work on: duals, matching, and the alternating trees of one search."""

# ruff: noqa: ANN001, ANN201

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...jit.compiled import compiled
from ...paths.shortest_paths import NO_PATH, unassigned_sink
from ...paths.state import FREE, UNASSIGNED
from ...problem import INT_LIMIT


class TreeState(NamedTuple):
    """Duals and matching; searches in disjoint components may share one.

    `none` is +inf, or 2**62 in integers: no bound, no path. `row_bound` (rows,) is the unmatched cost. `r`, `v`
    are the row and column duals, `col_of_row`, `row_of_col` int32 the matching, `matched_cost` (rows,) the cost of each
    row's matched edge. `is_bounded` tells whether some row or column may stay unassigned at a bound.
    """

    none: float | int
    is_bounded: bool
    row_bound: np.ndarray
    r: np.ndarray
    v: np.ndarray
    col_of_row: np.ndarray
    row_of_col: np.ndarray
    matched_cost: np.ndarray


class Trees(NamedTuple):
    """The alternating trees of one search, in the papers' words.

    `entered` (rows,) is the dual change Δ at which a row was uncovered, `key` (columns,) the Δ at which a column's
    slack is zero, `none` if no tree reaches it. `pred`, `pred_cost` (columns,) are the predecessor row and the cost of
    that pair. `covered` (columns,) tells the columns in the trees. `reached` and `covered_cols` list columns,
    `stack` rows; their lengths are passed beside them, and searches in disjoint components share all but these lists.
    """

    entered: np.ndarray
    key: np.ndarray
    pred: np.ndarray
    pred_cost: np.ndarray
    covered: np.ndarray
    reached: np.ndarray
    covered_cols: np.ndarray
    stack: np.ndarray


def start(row_bound: np.ndarray, col_bound: np.ndarray) -> TreeState:
    """Return the state in which nothing is matched, columns are at their bound or 0, and rows at 0."""
    n, m, dtype = len(row_bound), len(col_bound), col_bound.dtype
    none = np.inf if dtype.kind == "f" else INT_LIMIT
    return TreeState(
        none,
        bool((row_bound < none).any() or (col_bound < none).any()),
        row_bound,
        np.zeros(n, dtype),
        np.where(col_bound < none, col_bound, 0).astype(dtype),
        np.full(n, FREE, np.int32),
        np.full(m, -1, np.int32),
        np.zeros(n, dtype),
    )


def no_trees(state: TreeState) -> Trees:
    """Return trees without a member."""
    n, m, dtype = len(state.r), len(state.v), state.v.dtype
    return Trees(
        np.zeros(n, dtype),
        np.full(m, state.none, dtype),
        np.full(m, -1, np.int32),
        np.zeros(m, dtype),
        np.zeros(m, np.bool_),
        *(np.empty(0, np.int32) for _ in range(3)),
    )


@compiled
def with_lists(rows, indptr, trees):
    """Return the trees with lists of their own, long enough for a search among the given rows."""
    n_pairs = 0
    for i in rows:
        n_pairs += indptr[i + 1] - indptr[i]
    n_cols = min(n_pairs, len(trees.key))
    return Trees(
        trees.entered,
        trees.key,
        trees.pred,
        trees.pred_cost,
        trees.covered,
        np.empty(n_cols, np.int32),
        np.empty(len(rows), np.int32),
        np.empty(len(rows), np.int32),
    )


@compiled
def free_rows(rows, state):
    """Return those of the rows that are not matched yet."""
    left = np.empty(len(rows), np.int64)
    n_left = 0
    for i in rows:
        if state.col_of_row[i] == FREE:
            left[n_left] = i
            n_left += 1
    return left[:n_left]


@compiled(inline="always")
def key_of(entered, cost, v, r):
    """Return the Δ at which a pair has no slack, if its row entered the trees at Δ = `entered`."""
    return entered + max(cost - v - r, 0)


@compiled
def augment(sink, state, trees):
    """Augment along the path to `sink`: a column, or `unassigned_sink` of the row that becomes unassigned."""
    j = sink
    if sink < NO_PATH:
        leaving = unassigned_sink(sink)
        j = state.col_of_row[leaving]
        state.col_of_row[leaving] = UNASSIGNED
        state.r[leaving] = state.row_bound[leaving]
    while j >= 0:
        i = trees.pred[j]
        before = state.col_of_row[i]
        state.col_of_row[i] = j
        state.row_of_col[j] = i
        state.matched_cost[i] = trees.pred_cost[j]
        state.r[i] = trees.pred_cost[j] - state.v[j]
        j = before


@compiled
def forget(reached, state, trees):
    """Take every member out of the trees."""
    for j in reached:
        trees.key[j] = state.none
        trees.covered[j] = False
