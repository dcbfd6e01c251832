"""The exact finish: from an auction's prices to complementary slackness without ε.

Rows whose column is not their very best are released and matched again, first by bids without an increment, then by
shortest augmenting paths (`shortest_paths`). A column that the auction left unassigned below its bound, which scaled
phases do when sides are unequal, is settled the same way with the sides exchanged: a shortest path that starts in the
column raises its dual until it is matched or reaches its bound.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

import math

import numpy as np

from ..jit.compiled import SMALL, compiled
from ..problem.csr import transposed_csr
from ..tolerance import EPS
from .shortest_paths import State, augment_rows, bid_rows, least_of_rows, start

TOO_HARD, FAR_TOO_HARD = -2, -3
"""Of a solve within a limit: others may take less; and where `FAR` times as much would not do either."""
FAR = 5
"""Times the first limit of `jv` in `choice.FIRST_TRIED` from which its second would not do either. Of 16 kinds of 2,500
rows, after 4 scans a row: 23 to 47 are told to be needed where 20 to 100 are, 135 to 180 of roots on a line, 600 and
more of clouds apart, inner products, pixels (400 of 2,000 rows)."""
NO_LIMIT = 2**62
_ROWS_AT_A_TIME = 16
_SURE_AFTER = 8
"""Part of the scans allowed that is spent before those of the rows matched so far tell how many the others take. Of the
rows that wait, a tenth is matched by then between clouds apart and of inner products, which take 3 times what is
allowed and more; a third to nine tenths of costs that stay within it (10 of 80 scans a row, n = 2,000)."""
_GROWING = 4.5
"""Times the scans of the first half of some rows that all of these take, from which on paths grow as columns get fewer:
so many and more in random graphs, among points' neighbours and of inner products once half of the rows are matched. In
grids and honeycombs it is 2 to 3.4, and up to 4.4 where chance has it, as free rows and columns lie as near each other
at the end as before: of 37 in the plane 8 were given up at 3.5; phases take them 4 to 7 times as long."""


@compiled
def take_prices(rows, indptr, indices, prices, state):
    """Copy the auction's prices of the columns that some rows may be matched with, rounded where costs are integers."""
    v = state.v
    for i in rows:
        lo = indptr[i]
        for e in range(lo, indptr[i + 1]):
            j = e - lo if indices is None else indices[e]
            v[j] = prices.v[j] if isinstance(state.none, float) else np.int64(np.rint(prices.v[j]))


@compiled
def unassign(rows, state):
    """Take all the given rows' columns from them."""
    for i in rows:
        if state.col_of_row[i] >= 0:
            state.row_of_col[state.col_of_row[i]] = -1
            state.col_of_row[i] = -1


@compiled(plain=SMALL)
def match_rows(rows, indptr, indices, data, state, counts, most_scans):
    """Match every given row to a column, or leave it unassigned at its bound, and keep `state.v` optimal for it.

    Parameters
    ----------
    rows : int (k,)
        Unmatched rows. Rows that are not given must not reach the same columns, unless matched with zero slack.
    indptr, indices, data : int64 (rows + 1,), int (edges,) or None, (edges,)
        Edges of each row; +inf is never matched.
    state : State
        Updated.
    counts : int64 (3,)
        Incremented: bids, shortest paths, rows scanned by them.
    most_scans : int
        Rows that paths may scan.

    Returns
    -------
    int
        -1, a row that must be matched and cannot be, or `TOO_HARD` where `most_scans` ran out, some rows unassigned.
    """
    waiting = bid_rows(rows, indptr, indices, data, state, counts)
    begun, spent = counts[2], np.zeros(len(waiting) // _ROWS_AT_A_TIME + 1, np.int64)
    for done in range(0, len(waiting), _ROWS_AT_A_TIME):
        turn = done // _ROWS_AT_A_TIME
        now = spent[turn] = counts[2] - begun
        # Where paths do not grow, those that wait may take as many scans as those before.
        if are_too_few(most_scans - now, now, done, len(waiting)) and (
            now > _GROWING * spent[turn // 2] or now * len(waiting) > most_scans * done
        ):
            return TOO_HARD
        few = waiting[done : done + _ROWS_AT_A_TIME]
        infeasible_row = augment_rows(few, indptr, indices, data, state, counts)
        if infeasible_row >= 0:
            return infeasible_row
    return -1


@compiled
def are_too_few(most_scans, spent, done, waiting):
    """Whether those that wait are bound to take more scans than are allowed, as the first `done` of them took so many.

    A path is the longer the fewer columns are left: of k, so that all that wait take as much as the sum of 1 / k.
    """
    return spent > most_scans // _SURE_AFTER and would_exceed(most_scans, spent, done, waiting)


@compiled
def would_exceed(most_scans, spent, done, waiting):
    """Whether all that wait would take more than so many scans at the rate of the first `done`, few as these may be."""
    return spent * math.log(waiting - done) > -most_scans * math.log1p(-done / waiting)


@compiled
def finish_rows(rows, indptr, indices, data, state, counts, most_scans, ulps):
    """Release the given rows' matched edges that have slack, and match what is unassigned; as `match_rows` otherwise.

    Unlike there, `rows` may be matched, with slack too: their components are then finished whole.
    """
    waiting = release_slack(rows, indptr, indices, data, state, ulps)
    return match_rows(waiting, indptr, indices, data, state, counts, most_scans)


@compiled
def release_slack(rows, indptr, indices, data, state, ulps):
    """Unassign rows that have a better choice than their column by more than so many ulp of the largest term.

    Returns all rows that are to be matched. Integers have no ulp: none may have a better choice.
    """
    waiting = np.empty(len(rows), np.int64)
    n_waiting = 0
    for i in rows:
        if _settle_row(i, indptr, indices, data, state, ulps):
            waiting[n_waiting] = i
            n_waiting += 1
    return waiting[:n_waiting]


@compiled
def _settle_row(i, indptr, indices, data, state, ulps):
    """Take row i's column if it has a better choice, else note the edge's cost; return whether it is to be matched."""
    v = state.v
    own = state.col_of_row[i]
    nothing = state.none - state.none if state.none < np.inf else 0.0
    least, largest = state.row_bound[i], abs(nothing)
    paid, own_cost = state.none, nothing
    lo = indptr[i]
    for e in range(lo, indptr[i + 1]):
        j = e - lo if indices is None else indices[e]
        value = data[e] - v[j]
        if value < least:
            least, largest = value, max(abs(nothing + data[e]), abs(v[j]))
        if j == own:
            paid, own_cost = value, nothing + data[e]
    if own >= 0:
        state.matched_cost[i] = own_cost
        if paid - least <= _rounding(max(largest, abs(own_cost), abs(v[own])), ulps):
            return False
        state.row_of_col[own] = -1
        state.col_of_row[i] = -1
    return least < state.row_bound[i] or state.row_bound[i] >= state.none


@compiled(inline="always")
def _rounding(largest, ulps):
    """Return so many ulp of `largest`: nothing in integers."""
    return largest * (ulps * EPS) if isinstance(largest, float) else largest * 0


def settle_unassigned_columns(indptr, indices, data, state: State, col_bound: np.ndarray, counts: np.ndarray) -> int:
    """Raise the duals of unassigned columns to their bound, or match them, by shortest paths that start in the columns.

    Parameters
    ----------
    indptr, indices, data
        The whole graph as CSR; every row matched with zero slack, or unassigned at its bound.
    state : State
        Updated.
    col_bound : ndarray (columns,)
        Of the dtype of `state.v`.
    counts : int64 (3,)
        As in `match_rows`.

    Returns
    -------
    int
        Columns that had to be settled.
    """
    below = np.flatnonzero((state.row_of_col < 0) & (state.v < col_bound))
    if not len(below):
        return 0
    t_indptr, t_indices, t_data = transposed_csr(indptr, indices, data, len(state.v))
    r = least_of_rows(indptr, indices, data, state.v, state.row_bound)
    by_columns = start(col_bound, r)._replace(col_of_row=state.row_of_col, row_of_col=state.col_of_row)
    matched = np.flatnonzero(state.col_of_row >= 0)
    by_columns.matched_cost[state.col_of_row[matched]] = state.matched_cost[matched]
    augment_rows(below, t_indptr, t_indices, t_data, by_columns, counts)
    matched = np.flatnonzero(state.col_of_row >= 0)
    state.matched_cost[matched] = by_columns.matched_cost[state.col_of_row[matched]]
    cols = state.col_of_row[matched]
    np.copyto(state.v, col_bound, where=state.row_of_col < 0)
    state.v[cols] = np.minimum(by_columns.matched_cost[cols] - by_columns.v[matched], col_bound[cols])
    return len(below)
