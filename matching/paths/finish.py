"""The exact finish: from an auction's prices to complementary slackness without ε.

Rows whose column is not their very best are released and matched again, first by bids without an increment, then by
shortest augmenting paths (`shortest_paths`). A column that the auction left unassigned below its bound, which scaled
phases do when sides are unequal, is settled the same way with the sides exchanged: a shortest path that starts in the
column raises its dual until it is matched or reaches its bound.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

import numpy as np
from numba import njit

from .shortest_paths import State, augment_rows, bid_rows, start

TOO_HARD = -2
NO_LIMIT = 2**62
_PASSES = 4
_ROWS_AT_A_TIME = 16
_ULPS = 4 * np.finfo(np.float64).eps


@njit(cache=True, nogil=True)
def take_prices(rows, indptr, indices, forbidden, prices, state):
    """Copy the auction's prices of the columns that some rows may be matched with, rounded where costs are integers."""
    v = state.v
    for i in rows:
        lo = indptr[i]
        for e in range(lo, indptr[i + 1]):
            if forbidden is None or not forbidden[e]:
                j = e - lo if indices is None else indices[e]
                v[j] = prices.v[j] if isinstance(state.none, float) else np.int64(np.rint(prices.v[j]))


@njit(cache=True, nogil=True)
def unassign(rows, state):
    """Take all the given rows' columns from them."""
    for i in rows:
        if state.col_of_row[i] >= 0:
            state.row_of_col[state.col_of_row[i]] = -1
            state.col_of_row[i] = -1


@njit(cache=True, nogil=True)
def match_if_easy(rows, indptr, indices, data, forbidden, state, counts, most_scans):
    """As `shortest_paths.assign_rows`, but `TOO_HARD`, some rows unassigned, once paths scan more than `most_scans`."""
    waiting = bid_rows(rows, indptr, indices, data, forbidden, state, counts)
    end = counts[2] + most_scans
    for first in range(0, len(waiting), _ROWS_AT_A_TIME):
        few = waiting[first : first + _ROWS_AT_A_TIME]
        infeasible_row = augment_rows(few, indptr, indices, data, forbidden, state, counts)
        if infeasible_row >= 0:
            return infeasible_row
        if counts[2] > end:
            return TOO_HARD
    return -1


@njit(cache=True, nogil=True)
def finish_rows(rows, indptr, indices, data, forbidden, state, counts, most_scans):
    """Make the given rows' links tight and match those that are left; as `match_if_easy` otherwise.

    Unlike there, `rows` may be matched, loosely too: their components are then finished whole.
    """
    waiting = release_slack(rows, indptr, indices, data, forbidden, state)
    return match_if_easy(waiting, indptr, indices, data, forbidden, state, counts, most_scans)


@njit(cache=True, nogil=True)
def repair_rows(rows, indptr, indices, data, forbidden, state, counts, most_scans):
    """As `finish_rows`, for few loose rows, as new pairs make them: one row after the other takes its shortest path.

    Its own column is then at hand, no farther than the new pair is better, so the search stays small; released all at
    once, rows would bid the free columns away from each other. Rows that still wait for their turn are searched through
    as if tight, so what is found need not be shortest, and passes follow until no row is loose.
    """
    one = np.empty(1, np.int64)
    end = counts[2] + most_scans
    for _ in range(_PASSES):
        repaired = 0
        for i in rows:
            if _settle_row(i, indptr, indices, data, forbidden, state):
                one[0] = i
                failed = augment_rows(one, indptr, indices, data, forbidden, state, counts)
                if failed >= 0:
                    return failed
                if counts[2] > end:
                    return TOO_HARD
                repaired += 1
        if repaired == 0:
            return -1
    return finish_rows(rows, indptr, indices, data, forbidden, state, counts, end - counts[2])


@njit(cache=True, nogil=True)
def release_slack(rows, indptr, indices, data, forbidden, state):
    """Unassign the rows that have a better choice than their column, beyond rounding; return all that want a column."""
    waiting = np.empty(len(rows), np.int64)
    n_waiting = 0
    for i in rows:
        if _settle_row(i, indptr, indices, data, forbidden, state):
            waiting[n_waiting] = i
            n_waiting += 1
    return waiting[:n_waiting]


@njit(cache=True, nogil=True)
def _settle_row(i, indptr, indices, data, forbidden, state):
    """Take row i's column if it has a better choice, else note the link's cost; return whether it wants a column."""
    v = state.v
    own = state.col_of_row[i]
    nothing = state.none - state.none if state.none < np.inf else 0.0
    least, largest = state.row_bound[i], abs(nothing)
    paid, own_cost = state.none, nothing
    lo = indptr[i]
    for e in range(lo, indptr[i + 1]):
        if forbidden is not None and forbidden[e]:
            continue
        j = e - lo if indices is None else indices[e]
        value = data[e] - v[j]
        if value < least:
            least, largest = value, max(abs(nothing + data[e]), abs(v[j]))
        if j == own:
            paid, own_cost = value, nothing + data[e]
    if own >= 0:
        state.matched_cost[i] = own_cost
        if paid - least <= _rounding(max(largest, abs(own_cost), abs(v[own]))):
            return False
        state.row_of_col[own] = -1
        state.col_of_row[i] = -1
    return least < state.row_bound[i] or state.row_bound[i] >= state.none


@njit(cache=True, nogil=True, inline="always")
def _rounding(largest):
    """Return what rounding may leave of a difference of terms up to `largest`: nothing in integers."""
    return largest * _ULPS if isinstance(largest, float) else largest * 0


def settle_unassigned_columns(indptr, indices, data, state: State, col_bound: np.ndarray, counts: np.ndarray) -> int:
    """Raise the duals of unassigned columns to their bound, or match them, by shortest paths that start in the columns.

    Parameters
    ----------
    indptr, indices, data
        The whole graph as CSR; every row matched tightly, or alone at its bound.
    state : State
        Updated.
    col_bound : ndarray (columns,)
        Of the dtype of `state.v`.
    counts : int64 (3,)
        As in `assign_rows`.

    Returns
    -------
    int
        Columns that had to be settled.
    """
    below = np.flatnonzero((state.row_of_col < 0) & (state.v < col_bound))
    if not len(below):
        return 0
    t_indptr, t_indices, t_data = _transposed(indptr, indices, data, len(state.v))
    r = _row_duals(indptr, indices, data, state)
    turned = start(col_bound, r)._replace(col_of_row=state.row_of_col, row_of_col=state.col_of_row)
    matched = np.flatnonzero(state.col_of_row >= 0)
    turned.matched_cost[state.col_of_row[matched]] = state.matched_cost[matched]
    augment_rows(below, t_indptr, t_indices, t_data, None, turned, counts)
    matched = np.flatnonzero(state.col_of_row >= 0)
    state.matched_cost[matched] = turned.matched_cost[state.col_of_row[matched]]
    cols = state.col_of_row[matched]
    np.copyto(state.v, col_bound, where=state.row_of_col < 0)
    state.v[cols] = np.minimum(turned.matched_cost[cols] - turned.v[matched], col_bound[cols])
    return len(below)


@njit(cache=True, nogil=True)
def _row_duals(indptr, indices, data, state):
    """Return min_j (c_ij - v_j) of every row, its bound at most."""
    r = state.row_bound.copy()
    for i in range(len(r)):
        for e in range(indptr[i], indptr[i + 1]):
            r[i] = min(r[i], data[e] - state.v[indices[e]])
    return r


@njit(cache=True, nogil=True)
def _transposed(indptr, indices, data, n_cols):
    """Return the CSR graph with rows and columns exchanged."""
    t_indptr = np.zeros(n_cols + 1, np.int64)
    for j in indices:
        t_indptr[j + 1] += 1
    for j in range(n_cols):
        t_indptr[j + 1] += t_indptr[j]
    fill = t_indptr[:-1].copy()
    t_indices, t_data = np.empty(len(indices), np.int32), np.empty(len(indices), data.dtype)
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            at = fill[indices[e]]
            fill[indices[e]] += 1
            t_indices[at], t_data[at] = i, data[e]
    return t_indptr, t_indices, t_data
