"""Gauss-Seidel bidding: one row bids at a time, at the newest prices.

Source: D. P. Bertsekas, "The auction algorithm: a distributed relaxation method for the assignment problem", Annals
of Operations Research 14 (1988). A row that is outbid bids next: what it looks at is still in cache. After `TURNS`
bids of such a chain it is put behind the others: where few rows outbid each other time and again, prices would rise in
small steps before the other rows have bid at all.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# Conditional expressions compile to no branches, which here would be guessed wrong.
# ruff: noqa: ANN001, ANN201, ANN202, FURB136

from __future__ import annotations

import numpy as np

from ..jit.compiled import compiled
from ..jit.row_scan import BLOCK, HIGHEST, float_of_rank, lowest_blocks, rank

TURNS = 256
"""Longest chain of bids; the bids are as many as without chains, and take 0.6 times as long (10⁵ points and more)."""


@compiled
def bid_in_turn(waiting, indptr, indices, data, prices, eps, budget):
    """Let the waiting rows bid until every row has a column or the budget is spent.

    Parameters
    ----------
    waiting : int64 (k,)
        Unassigned rows.
    indptr, indices, data
        As in `finish.match_rows`.
    prices : Prices
        Updated. Every row with a column ends ε-content: c_ij - v_j is within `eps` of its least.
        A row whose bound is below all its c_ij - v_j becomes unassigned for good, since prices only rise.
    eps : float
        Added to every bid.
    budget : int
        Most bids.

    Returns
    -------
    bids, still waiting rows : int, int64 (k,)
    """
    size = len(waiting)
    queue = waiting.copy()
    head = bids = 0
    left = size
    while left > 0 and bids < budget:
        i = queue[head]
        head = head + 1 if head + 1 < size else 0
        left -= 1
        turns = 0
        while i >= 0 and turns < TURNS and bids < budget:
            turns += 1
            bids += 1
            i = _bid(i, indptr, indices, data, prices, eps)
        if i >= 0:
            tail = head + left
            queue[tail if tail < size else tail - size] = i
            left += 1
    rest = np.empty(left, np.int64)
    for k in range(left):
        rest[k] = queue[(head + k) % size]
    return bids, rest


@compiled(inline="always")
def _bid(i, indptr, indices, data, prices, eps):
    """Give row i its best column at its offer; return the row that had it, -1 for none."""
    best_col, offer = best_offer(i, indptr, indices, data, prices, eps)
    if best_col < 0:
        return -1
    prices.v[best_col] = offer
    outbid = prices.row_of_col[best_col]
    prices.row_of_col[best_col] = i
    prices.col_of_row[i] = best_col
    if outbid >= 0:
        prices.col_of_row[outbid] = -1
    return outbid


@compiled(forceinline=True)
def best_offer(i, indptr, indices, data, prices, eps):
    """Return row i's best column (-1: its bound is better) and the price at which the second is better by `eps`.

    The two best of a row of a matrix are in the two blocks of columns with the least values.
    """
    v, lo, hi = prices.v, indptr[i], indptr[i + 1]
    if indices is None:
        costs = data[lo:hi]
        lowest, _, _, next_least = lowest_blocks(costs, v)
        first = max(lowest, 0)
        end = min(first + BLOCK, len(v))
    else:
        costs, first, end, next_least = data, lo, hi, HIGHEST
    best, second, at = prices.row_bound[i], np.inf, -1
    for e in range(first, end):
        value = costs[e] - v[e if indices is None else indices[e]]
        loser = value if value > best else best
        second = loser if loser < second else second
        at = e if value < best else at
        best = value if value < best else best
    if at < 0:
        return -1, 0.0
    if next_least < rank(second):
        second = float_of_rank(next_least)
    return at if indices is None else indices[at], costs[at] - (second if second < np.inf else best) - eps
