"""Whole matrices matched, and the terms of their proof found, in one call of compiled code.

A call from Python, and each array that is made there, takes a microsecond; a problem of ten rows takes as long.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

import numpy as np
from numba import njit

from ..certificate.certify import Terms
from ..certificate.hall import infeasible
from ..certificate.matched import Matched
from ..errors import Infeasible
from ..jit.threads import side_by_side
from ..paths.dense_paths import assign_dense_rows, lower_dense_to_cheapest
from ..paths.finish import NO_LIMIT, TOO_HARD
from ..paths.shortest_paths import State, named_counts
from ..problem import INT_LIMIT, Problem
from ..problem.costs import dense_minima
from ..problem.flat_graph import allowed_pairs, flat_graph
from .limit import out_of_scans

PAIRS_OF_A_RUN = 30_000
"""Pairs that are worth a thread: it takes some 50 microseconds to wake one."""

MOST_RUNS = 64
"""Runs of blocks that the threads share at most."""


def match_blocks(problem: Problem, most_scans: int | None) -> Matched:
    """Match a dense problem without a mask, and find the terms of its proof; otherwise as `JV.match`."""
    n, m = problem.shape
    dtype, blocks = problem.dual_dtype, problem.n_blocks
    links = np.full(n, -1, np.int32), np.full(m, -1, np.int32)
    duals = r, v, cost, sizes = np.empty(n, dtype), np.empty(m, dtype), np.zeros(n, dtype), np.zeros(n, dtype)
    runs = min(MOST_RUNS, blocks, 1 + len(problem.data) // PAIRS_OF_A_RUN)
    cuts = [run * blocks // runs for run in range(runs + 1)]
    counts = np.zeros((runs, 3), np.int64)
    batch = problem.row_offsets, problem.col_offsets, problem.dense_offsets, problem.data
    limits = INT_LIMIT if problem.is_integer else np.inf, NO_LIMIT if most_scans is None else int(most_scans)
    given = *batch, problem.row_unmatched, problem.col_unmatched, *limits
    ends = side_by_side(lambda k: _match_run(cuts[k], cuts[k + 1], *given, *links, *duals, counts[k]), range(runs))
    failed = [end for end in ends if end[0] >= 0]
    if not failed:
        stats = named_counts(counts.sum(axis=0))
        return Matched(problem, links[0], v, stats, terms=Terms(links[1], r, cost, sizes))
    if any(row == TOO_HARD for _, row in failed):
        raise out_of_scans(most_scans)
    raise _infeasible_block(problem, *failed[0], links)


def _infeasible_block(problem: Problem, b: int, row: int, links: tuple[np.ndarray, np.ndarray]) -> Infeasible:
    block = problem.block(b)
    offsets = problem.row_offsets, problem.col_offsets
    own = (side[slice(*of[b : b + 2])] for side, of in zip(links, offsets, strict=True))
    error = infeasible(block, row, *flat_graph(block)[:2], allowed_pairs(block), *own)
    return error.in_block(b) if problem.n_blocks > 1 else error


@njit(cache=True, nogil=True)
def _match_run(
    first,
    end,
    row_offsets,
    col_offsets,
    edge_offsets,
    data,
    row_price,
    col_price,
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
    """Match blocks `first` to `end`; fill in links, duals, costs and terms.

    Returns the block at which that ended, -1 for none, and a row of it that cannot be matched, or `TOO_HARD` where it
    takes more than `most_scans` a row.
    """
    width = 0
    for b in range(first, end):
        width = max(width, col_offsets[b + 1] - col_offsets[b])
    free = np.empty(width, v.dtype)
    free[:] = none
    dist, pred_cost = np.empty(width, v.dtype), np.empty(width, v.dtype)
    pred, place = np.empty(width, np.int32), np.empty(width, np.int32)
    for b in range(first, end):
        r0, r1, c0, c1 = row_offsets[b], row_offsets[b + 1], col_offsets[b], col_offsets[b + 1]
        n, m = r1 - r0, c1 - c0
        own, own_v = data[edge_offsets[b] : edge_offsets[b + 1]], v[c0:c1]
        row_bound = free[:n] if row_price is None else row_price[r0:r1]
        if col_price is None:
            own_v[:] = none if n == m else 0
        else:
            own_v[:] = col_price[c0:c1]
        links = col_of_row[r0:r1], row_of_col[c0:c1]
        state = State(none, row_bound, own_v, *links, cost[r0:r1], dist[:m], pred[:m], pred_cost[:m], place[:m])
        matrix = own.reshape((n, m))
        lower_dense_to_cheapest(matrix, own_v, none)
        scans = most_scans * max(n, 1) if most_scans < NO_LIMIT else NO_LIMIT
        failed = assign_dense_rows(matrix, state, counts, scans)
        if failed != -1:
            return b, failed
        for j in range(m):
            if col_price is not None:
                own_v[j] = min(own_v[j], col_price[c0 + j])
            elif n < m:
                own_v[j] = min(own_v[j], 0)
        r[r0:r1] = row_bound
        dense_minima(row_offsets[b : b + 2], col_offsets[b : b + 2], own, None, v, r, terms)
        for i in range(n):
            if state.col_of_row[i] >= 0:
                cost[r0 + i] = matrix[i, state.col_of_row[i]]
    return -1, -1
