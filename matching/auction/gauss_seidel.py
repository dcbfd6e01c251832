"""Gauss-Seidel bidding: one row bids at a time, at the newest prices.

Source: D. P. Bertsekas, "The auction algorithm: a distributed relaxation method for the assignment problem", Annals
of Operations Research 14 (1988). First come, first served: a row that is outbid waits behind the others, which keeps
a price war between few rows from being fought out before the rest have stated their wishes.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN201

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def bid_in_turn(waiting, indptr, indices, data, forbidden, prices, eps, budget):
    """Let the waiting rows bid until every row has a column or the budget is spent.

    Parameters
    ----------
    waiting : int64 (k,)
        Unassigned rows.
    indptr, indices, data, forbidden
        As in `shortest_paths.assign_rows`.
    prices : Prices
        Updated. Every row with a column ends ε-content: c_ij - v_j is within `eps` of its least.
        A row whose bound is below all its c_ij - v_j goes alone for good, since prices only rise.
    eps : float
        Added to every bid.
    budget : int
        Most bids.

    Returns
    -------
    bids, still waiting rows : int, int64 (k,)
    """
    col_of_row, row_of_col = prices.col_of_row, prices.row_of_col
    size = len(waiting)
    queue = waiting.copy()
    head = bids = 0
    left = size
    while left > 0 and bids < budget:
        i = queue[head]
        head = head + 1 if head + 1 < size else 0
        left -= 1
        bids += 1
        best_col, offer = best_offer(i, indptr, indices, data, forbidden, prices, eps)
        if best_col < 0:
            continue
        prices.v[best_col] = offer
        k = row_of_col[best_col]
        row_of_col[best_col] = i
        col_of_row[i] = best_col
        if k >= 0:
            col_of_row[k] = -1
            tail = head + left
            queue[tail if tail < size else tail - size] = k
            left += 1
    rest = np.empty(left, np.int64)
    for k in range(left):
        rest[k] = queue[(head + k) % size]
    return bids, rest


@njit(cache=True, nogil=True, inline="always")
def best_offer(i, indptr, indices, data, forbidden, prices, eps):
    """Return row i's best column (-1: its bound is better) and the price at which the second is better by `eps`."""
    v = prices.v
    best, second = prices.row_bound[i], np.inf
    best_col, best_cost = -1, 0.0
    lo = indptr[i]
    for e in range(lo, indptr[i + 1]):
        if forbidden is not None and forbidden[e]:
            continue
        j = e - lo if indices is None else indices[e]
        value = data[e] - v[j]
        if value < second:
            if value < best:
                second, best = best, value
                best_col, best_cost = j, data[e] * 1.0
            else:
                second = value
    return best_col, best_cost - (second if second < np.inf else best) - eps
