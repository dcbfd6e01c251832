"""Whole matrices matched, and the terms of their proof found, in one call of compiled code.

A call from Python, and each array that is made there, takes a microsecond; a problem of ten rows takes as long.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

import numpy as np

from ..certificate.certify import Slackness, Terms, prove_matrices
from ..certificate.hall import infeasible
from ..certificate.matched import Matched
from ..errors import Infeasible
from ..jit.compiled import compiled
from ..jit.eight import LANES
from ..jit.threads import side_by_side
from ..paths.dense_paths import assign_dense_rows, lower_dense_to_cheapest
from ..paths.finish import FAR_TOO_HARD, NO_LIMIT, TOO_HARD
from ..paths.shortest_paths import State, named_counts
from ..problem import INT_LIMIT, Problem
from ..problem.costs import dense_minima
from ..problem.flat_graph import allowed_pairs, flat_graph
from .eight_blocks import match_small_blocks, scratch_of_eight_blocks
from .limit import out_of_scans
from .small_blocks import WIDEST, match_one_by_one, scratch_of_small_blocks

PAIRS_OF_A_RUN = 30_000
"""Pairs that are worth a thread: it takes some 50 microseconds to wake one."""

SMALL_PAIRS_OF_A_RUN = 250_000
"""As `PAIRS_OF_A_RUN`, of small blocks: eight side by side are sooner done."""

TIES_PAY = 256
"""Columns from which it pays to match along pairs without slack: of whole numbers below n/10, 1,000 rows take 7.3 ms in
place of 16, 400 rows 1.5 in place of 2.0, 150 rows 0.21 in place of 0.20."""

SEEN = 5
"""Costs among which equal ones are looked for, times the fourth root of their number: of n × n whole numbers below n
all of these differ once in 200,000 times."""

MOST_RUNS = 64
"""Runs of blocks that the threads share at most."""


def match_blocks(problem: Problem, most_scans: int | None) -> Matched:
    """Match a dense problem without a mask, and find the terms of its proof; otherwise as `JV.match`."""
    (n, m), dtype, blocks = problem.shape, problem.dual_dtype, problem.n_blocks
    partners = np.empty(n, np.int32), np.empty(m, np.int32)
    r, cost, terms = np.zeros(n, dtype), np.zeros(n, dtype), np.zeros(n, dtype)
    v = np.empty(m, dtype)
    sums, rounding, in_doubt = np.zeros((4, blocks), dtype), np.zeros(blocks), np.zeros(blocks, np.bool_)
    found = *partners, r, v, cost, terms, sums, rounding, in_doubt
    offsets = problem.row_offsets, problem.col_offsets
    none = INT_LIMIT if problem.is_integer else np.inf
    scans = NO_LIMIT if most_scans is None else int(most_scans)
    is_small = most_scans is None and not problem.has_unmatched_cost and _widest(problem) <= WIDEST
    runs = min(MOST_RUNS, blocks, 1 + len(problem.data) // (SMALL_PAIRS_OF_A_RUN if is_small else PAIRS_OF_A_RUN))
    counts = np.zeros((runs, 3), np.int64)
    is_many = is_small and blocks >= LANES
    kind = (not is_many or None, is_many or None, None, None) if is_small else (None, None, True, _may_tie(problem))
    is_float = None if problem.is_integer else True

    def work(k: int) -> tuple[int, int, bool, bool]:
        first = k * blocks // runs
        run = first, (k + 1) * blocks // runs, problem.dense_offsets[first] if first else 0
        costs = problem.data, problem.row_unmatched, problem.col_unmatched
        return _match_run(*run, *offsets, *costs, none, scans, *kind, is_float, *found, counts[k])

    ends = side_by_side(work, range(runs))
    failed = [end[:2] for end in ends if end[0] >= 0]
    if not failed:
        _, _, has_zero_slack, proves = zip(*ends, strict=True)
        stats = named_counts(counts[0] if runs == 1 else counts.sum(axis=0))
        if not all(has_zero_slack):  # which blocks have, only the certificate asks
            return Matched(problem, partners[0], v, stats)
        zero = np.ones(blocks, np.bool_)
        slackness = Slackness(sums[0], sums[2], sums[3], rounding, zero, in_doubt, all(proves))
        return Matched(problem, partners[0], v, stats, terms=Terms(partners[1], r, slackness))
    hardest = min(row for _, row in failed)
    if hardest <= TOO_HARD:
        raise out_of_scans(most_scans, is_far=hardest == FAR_TOO_HARD)
    raise _infeasible_block(problem, *failed[0], partners)


def _may_tie(problem: Problem) -> bool | None:
    """Return True where many costs are equal, as far as some of them tell, and blocks are wide; else None."""
    if _widest(problem) < TIES_PAY:
        return None
    seen = problem.data[:: int(len(problem.data) ** 0.75 / SEEN) | 1].tolist()
    return len(set(seen)) < len(seen) or None


def _widest(problem: Problem) -> int:
    """Return the columns of the widest block."""
    return problem.n_cols if problem.n_blocks == 1 else int(problem.n_cols_of_block.max())


def _infeasible_block(problem: Problem, b: int, row: int, partners: tuple[np.ndarray, np.ndarray]) -> Infeasible:
    block = problem.block(b)
    offsets = problem.row_offsets, problem.col_offsets
    own = (side[slice(*of[b : b + 2])] for side, of in zip(partners, offsets, strict=True))
    error = infeasible(block, row, *flat_graph(block)[:2], allowed_pairs(block), *own)
    return error.in_block(b) if problem.n_blocks > 1 else error


@compiled
def _match_run(
    first,
    end,
    lo,
    row_offsets,
    col_offsets,
    data,
    row_unmatched,
    col_unmatched,
    none,
    scans,
    is_few,
    is_many,
    is_large,
    may_tie,
    is_float,
    col_of_row,
    row_of_col,
    r,
    v,
    cost,
    terms,
    sums,
    rounding,
    in_doubt,
    counts,
):
    """Match blocks `first` to `end`, whose costs begin at `lo`; fill in what is found, and the sums of its proof.

    Returns the block at which that ended, -1 for none, and a row of it that cannot be matched, or `TOO_HARD` or
    `FAR_TOO_HARD` where it takes more than `scans` a row; and what `add_terms` returns. The five flags are True or
    None: numba compiles nothing below a condition that None decides. One by one, as Python hands them over: taking
    tuples apart there would compile for half a second more.
    """
    run, offsets = (first, end, lo), (row_offsets, col_offsets)
    found, proof = (col_of_row, row_of_col, r, v, cost, terms), (sums, rounding, in_doubt)
    col_of_row[row_offsets[first] : row_offsets[end]] = -1
    row_of_col[col_offsets[first] : col_offsets[end]] = -1
    at = failed = -1
    has_zero_slack = proves = False
    costs = data, row_unmatched, col_unmatched
    if is_few is not None:
        at, failed = match_one_by_one(run, offsets, data, none, found, scratch_of_small_blocks(data, v), counts)
    if is_many is not None:
        scratch = scratch_of_small_blocks(data, v), scratch_of_eight_blocks(v)
        at, failed, has_zero_slack, proves = match_small_blocks(
            run, offsets, data, none, is_float, found, proof, scratch, counts
        )
    if is_large is not None:
        scratch = _scratch(first, end, col_offsets, none, v)
        at, failed = _match_each(run, offsets, *costs, none, scans, may_tie, found, scratch, counts)
    if is_many is None and failed == -1:
        has_zero_slack, proves = prove_matrices(run, offsets, costs, is_float, found, proof)
    return at, failed, has_zero_slack, proves


@compiled
def _scratch(first, end, col_offsets, none, v):
    """Return what `_match_each` reads and writes besides: bounds of nothing, and what a search keeps of each column."""
    width = 0
    for b in range(first, end):
        width = max(width, col_offsets[b + 1] - col_offsets[b])
    free = np.empty(width, v.dtype)
    free[:] = none
    dist, pred_cost = np.empty(width, v.dtype), np.empty(width, v.dtype)
    pred, place = np.empty(width, np.int32), np.empty(width, np.int32)
    return free, dist, pred, pred_cost, place


@compiled
def _match_each(run, offsets, data, row_unmatched, col_unmatched, none, most_scans, may_tie, found, scratch, counts):
    """Match blocks until one ends without an answer; return it and its row as `_match_run`, or -1 twice."""
    (first, end, lo), (row_offsets, col_offsets) = run, offsets
    col_of_row, row_of_col, r, v, cost, terms = found
    free, dist, pred, pred_cost, place = scratch
    for b in range(first, end):
        r0, r1, c0, c1 = row_offsets[b], row_offsets[b + 1], col_offsets[b], col_offsets[b + 1]
        n, m = r1 - r0, c1 - c0
        own, own_v = data[lo : lo + n * m], v[c0:c1]
        lo += n * m
        row_bound = free[:n] if row_unmatched is None else row_unmatched[r0:r1]
        if col_unmatched is None:
            own_v[:] = none if n == m else 0
        else:
            for j in range(m):
                own_v[j] = col_unmatched[c0 + j]
        partners = col_of_row[r0:r1], row_of_col[c0:c1]
        state = State(none, row_bound, own_v, *partners, cost[r0:r1], dist[:m], pred[:m], pred_cost[:m], place[:m])
        matrix = own.reshape((n, m))
        lower_dense_to_cheapest(matrix, own_v, none)
        scans = most_scans * max(n, 1) if most_scans < NO_LIMIT else NO_LIMIT
        failed = assign_dense_rows(matrix, state, counts, scans, may_tie)
        if failed != -1:
            return b, failed
        for j in range(m):
            if col_unmatched is not None:
                own_v[j] = min(own_v[j], col_unmatched[c0 + j])
            elif n < m:
                own_v[j] = min(own_v[j], 0)
        for i in range(n):  # an array assigned to a slice would compile numba's message for unlike shapes, 1.6 CPU-s
            r[r0 + i] = row_bound[i]
        dense_minima(row_offsets[b : b + 2], col_offsets[b : b + 2], own, None, v, r, terms)
        for i in range(n):
            if state.col_of_row[i] >= 0:
                cost[r0 + i] = matrix[i, state.col_of_row[i]]
    return -1, -1
