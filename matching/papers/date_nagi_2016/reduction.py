"""Algorithm 1: the initial reduction, rows first, then columns; rows are shared among threads."""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

import numpy as np

from ...jit.compiled import compiled
from ...jit.threads import side_by_side
from ...problem.flat_graph import Graph
from .state import TreeState

WORTH_THREADS = 2**21
"""Pairs from which rows are shared."""


def reduce(rows: np.ndarray, graph: Graph, col_bound: np.ndarray, state: TreeState, threads: int) -> np.ndarray:
    """Give rows, then columns without a bound, the largest dual that is feasible.

    A column with a bound is at it, and can only fall. Returns rows with no pair and no bound, or -1.
    """
    shares = np.array_split(rows, threads if len(graph[2]) >= WORTH_THREADS else 1)
    infeasible = side_by_side(lambda share: _reduce_rows(share, *graph, state), shares)
    slack = np.minimum.reduce(side_by_side(lambda share: _least_slack(share, *graph, state), shares))
    raised = (col_bound >= state.none) & (slack < state.none)
    state.v[raised] = slack[raised]
    return np.array(infeasible)


@compiled
def _reduce_rows(rows, indptr, indices, data, state):
    """Give each row the largest dual that is feasible; return a row with no pair and no bound, or -1."""
    for i in rows:
        best = state.row_bound[i]
        lo = indptr[i]
        for e in range(lo, indptr[i + 1]):
            if data[e] < state.none:
                j = e - lo if indices is None else indices[e]
                best = min(best, data[e] - state.v[j])
        if best >= state.none:
            return i
        state.r[i] = best
    return -1


@compiled
def _least_slack(rows, indptr, indices, data, state):
    """Return each column's least slack among the rows, `none` where it has no pair with them."""
    slack = state.v.copy()
    slack[:] = state.none
    for i in rows:
        lo = indptr[i]
        for e in range(lo, indptr[i + 1]):
            if data[e] < state.none:
                j = e - lo if indices is None else indices[e]
                slack[j] = min(slack[j], data[e] - state.r[i])
    return slack
