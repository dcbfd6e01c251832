"""Jacobi bidding: all unassigned rows bid at once at the same prices, and each column takes the highest bid.

Source: C. N. Vasconcelos, B. Rosenhahn, "Bipartite graph matching computation on GPU", EMMCVPR 2009, sections 3.2 and
5: their bidding and assignment phase, here one after the other on one core. Ties go to the row with the smallest
number.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

import numpy as np
from numba import njit

from .gauss_seidel import best_offer


@njit(cache=True, nogil=True)
def bid_at_once(waiting, indptr, indices, data, forbidden, prices, eps, budget):
    """As `gauss_seidel.bid_in_turn`, in rounds."""
    rows = np.sort(waiting)
    n_waiting = len(rows)
    target = np.empty(n_waiting, np.int64)
    offer = np.empty(n_waiting)
    winner = prices.winner
    bids = 0
    while n_waiting > 0 and bids < budget:
        for k in range(n_waiting):
            target[k], offer[k] = best_offer(rows[k], indptr, indices, data, forbidden, prices, eps)
        bids += n_waiting
        for k in range(n_waiting):
            j = target[k]
            if j >= 0 and (winner[j] < 0 or offer[k] < offer[winner[j]]):
                winner[j] = k
        n_waiting = _assign(rows, n_waiting, target, offer, prices)
    return bids, rows[:n_waiting].copy()


@njit(cache=True, nogil=True)
def _assign(rows, n_waiting, target, offer, prices):
    """Give every column to its highest bidder; return how many rows wait, gathered in front, ascending."""
    left = 0
    for k in range(n_waiting):
        i, j = rows[k], target[k]
        if j < 0:
            continue
        if prices.winner[j] != k:
            rows[left] = i
            left += 1
            continue
        prices.v[j] = offer[k]
        outbid = prices.row_of_col[j]
        prices.row_of_col[j] = i
        prices.col_of_row[i] = j
        prices.winner[j] = -1
        if outbid >= 0:
            prices.col_of_row[outbid] = -1
            rows[left] = outbid
            left += 1
    rows[:left].sort()
    return left
