"""Whole matrices without a price: matched, and the terms of their proof found, in one call of compiled code.

A call from Python, and each array that is made there, takes a microsecond; a problem of ten rows takes as long.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

import numpy as np
from numba import njit

from ..certificate.certify import Slackness, slackness_of_links
from ..certificate.not_converged import NotConverged
from ..jit.threads import side_by_side
from ..paths.dense_paths import assign_dense_rows, lower_dense_to_cheapest
from ..paths.finish import NO_LIMIT, TOO_HARD
from ..paths.shortest_paths import State
from ..problem import INT_LIMIT, Problem
from ..problem.costs import dense_minima

PAIRS_OF_A_RUN = 30_000
"""Pairs that are worth a thread: it takes some 50 microseconds to wake one."""

MOST_RUNS = 64
"""Runs of blocks that the threads share at most."""

LinksAndDuals = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def is_solved_at_once(problem: Problem) -> bool:
    """Whether all blocks must match all their rows and may match any pair."""
    if problem.kind != "dense" or problem.has_unmatched_cost or not problem.allows_all:
        return False
    if problem.n_blocks == 1:
        return problem.n_rows <= problem.n_cols
    return bool((problem.n_rows_of_block <= problem.n_cols_of_block).all())


def solve_at_once(problem: Problem, most_scans: int | None) -> tuple[LinksAndDuals, Slackness, np.ndarray]:
    """Return (col_of_row, row_of_col, row duals, column duals), their `Slackness`, and the counts (3,).

    Parameters
    ----------
    problem : Problem
        On the host, for which `is_solved_at_once`.
    most_scans : int, optional
        As of `JV`.

    Raises
    ------
    NotConverged
        When `most_scans` ran out.
    """
    n, m = problem.shape
    dtype, blocks = problem.dual_dtype, problem.n_blocks
    none = INT_LIMIT if problem.is_integer else np.inf
    links = np.full(n, -1, np.int32), np.full(m, -1, np.int32)
    duals = r, v, cost, terms = np.empty(n, dtype), np.empty(m, dtype), np.empty(n, dtype), np.empty(n, dtype)
    runs = min(MOST_RUNS, blocks, 1 + len(problem.data) // PAIRS_OF_A_RUN)
    cuts = [run * blocks // runs for run in range(runs + 1)]
    counts = np.zeros((runs, 3), np.int64)
    batch = problem.row_offsets, problem.col_offsets, problem.dense_offsets, problem.data
    limit = NO_LIMIT if most_scans is None else int(most_scans)
    solved = side_by_side(
        lambda k: _solve_run(cuts[k], cuts[k + 1], *batch, none, limit, *links, *duals, counts[k]), range(runs)
    )
    if not all(solved):
        raise out_of_scans(most_scans)
    sums = slackness_of_links(problem, *links, cost, r, v, terms)
    return (*links, r, v), sums, counts.sum(axis=0)


def out_of_scans(most_scans: int | None) -> NotConverged:
    """Return the error of a solve whose `most_scans` ran out."""
    return NotConverged(f"most_scans={most_scans} rows scanned a row were spent; raise it, or leave it at None.")


@njit(cache=True, nogil=True)
def _solve_run(
    first,
    end,
    row_offsets,
    col_offsets,
    edge_offsets,
    data,
    none,
    most_scans,
    col_of_row,
    row_of_col,
    r,
    v,
    cost,
    terms,
    counts,
):
    """Match blocks `first` to `end`; fill in links, duals, costs and terms; return whether `most_scans` sufficed."""
    width = 0
    for b in range(first, end):
        width = max(width, col_offsets[b + 1] - col_offsets[b])
    free = np.empty(width, v.dtype)
    free[:] = none
    dist, pred_cost = np.empty(width, v.dtype), np.empty(width, v.dtype)
    pred, place = np.empty(width, np.int32), np.empty(width, np.int32)
    scratch = State(none, free, v, col_of_row, row_of_col, cost, dist, pred, pred_cost, place)
    for b in range(first, end):
        r0, r1, c0, c1 = row_offsets[b], row_offsets[b + 1], col_offsets[b], col_offsets[b + 1]
        n, m = r1 - r0, c1 - c0
        own = data[edge_offsets[b] : edge_offsets[b + 1]]
        v[c0:c1] = none if n == m else 0
        r[r0:r1] = none
        state = _part_of(scratch, r0, r1, c0, c1)
        matrix = own.reshape((n, m))
        lower_dense_to_cheapest(matrix, state.v, none)
        scans = most_scans * max(n, 1) if most_scans < NO_LIMIT else NO_LIMIT
        if assign_dense_rows(matrix, state, counts, scans) == TOO_HARD:
            return False
        if n < m:
            for j in range(c0, c1):
                v[j] = min(v[j], 0)
        dense_minima(row_offsets[b : b + 2], col_offsets[b : b + 2], own, None, v, r, terms)
        for i in range(n):
            cost[r0 + i] = matrix[i, col_of_row[r0 + i]]
    return True


@njit(cache=True, nogil=True)
def _part_of(scratch, r0, r1, c0, c1):
    """Return the state of one block: its own links and duals, and as much of the scratch space as it needs."""
    n, m = r1 - r0, c1 - c0
    return State(
        scratch.none,
        scratch.row_bound[:n],
        scratch.v[c0:c1],
        scratch.col_of_row[r0:r1],
        scratch.row_of_col[c0:c1],
        scratch.matched_cost[r0:r1],
        scratch.dist[:m],
        scratch.pred[:m],
        scratch.pred_cost[:m],
        scratch.place[:m],
    )
