"""Algorithm 1: the initial reduction, rows first, then columns."""

# ruff: noqa: ANN001, ANN201

from __future__ import annotations

from ...jit.compiled import compiled


@compiled
def reduce_rows(rows, indptr, indices, data, state):
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
def reduce_columns(rows, indptr, indices, data, col_bound, state):
    """Raise the dual of every column without a bound until one of its pairs has no slack.

    A column with a bound is at it, and can only fall.
    """
    slack = state.v.copy()
    slack[:] = state.none
    for i in rows:
        lo = indptr[i]
        for e in range(lo, indptr[i + 1]):
            if data[e] < state.none:
                j = e - lo if indices is None else indices[e]
                slack[j] = min(slack[j], data[e] - state.r[i])
    for j in range(len(slack)):
        if col_bound[j] >= state.none and slack[j] < state.none:
            state.v[j] = slack[j]
