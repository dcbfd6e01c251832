"""Matching along pairs without slack: where integers of a short range tie, most rows need no search for a distance.

The pairs are listed in one pass over the matrix; a breadth-first search through the lists then takes a step a pair,
where a search for a shortest path takes a row of the matrix. The duals stay as they are.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

import numpy as np

from ..jit.compiled import compiled
from ..jit.row_scan import BLOCK, least_rank, rank
from .shortest_paths import NO_PATH, augment_path

LISTED = 16
"""Most pairs listed for a row; with so many to choose from, longer lists hardly help."""

MANY = 1 / 32
"""Share of the rows, left waiting by the bids, above which the lists pay."""


@compiled
def match_along_zeros(cost, waiting, state):
    """Match waiting rows of a matrix (rows, columns) where duals need not change for it; return the others."""
    zeros = np.empty((len(cost), LISTED), np.int32)
    n_zeros = np.zeros(len(cost), np.int32)
    _list_zeros(cost, waiting, state, zeros, n_zeros)
    seen, queue = np.zeros(len(state.v), np.bool_), np.empty(len(state.v), np.int32)
    n_left = 0
    for row in waiting:
        sink, n_seen = _search(row, zeros, n_zeros, state, seen, queue)
        if sink == NO_PATH:  # what it has seen leads nowhere for others either
            waiting[n_left] = row
            n_left += 1
            continue
        for j in queue[:n_seen]:
            seen[j] = False
        name_costs(cost, row, sink, state)
        augment_path(row, sink, state)
    return waiting[:n_left]


@compiled
def _list_zeros(cost, waiting, state, zeros, n_zeros):
    for i in range(len(cost)):
        if state.col_of_row[i] >= 0:
            lowest = rank(state.matched_cost[i] - state.v[state.col_of_row[i]])
            n_zeros[i] = _columns_up_to(lowest, cost[i], state.v, zeros[i])
    for i in waiting:
        lowest = least_rank(cost[i], state.v)
        # Since it bid, column duals may have fallen so far that it had better stay unassigned.
        if lowest < rank(state.none) and lowest <= rank(state.row_bound[i]):
            n_zeros[i] = _columns_up_to(lowest, cost[i], state.v, zeros[i])


@compiled
def _columns_up_to(lowest, row, v, columns):
    """Fill in the first columns with a rank of c - v up to `lowest`; return how many."""
    count = 0
    for first in range(0, len(v), BLOCK):
        if least_rank(row[first : first + BLOCK], v[first : first + BLOCK]) > lowest:
            continue
        for j in range(first, min(first + BLOCK, len(v))):
            if rank(row[j] - v[j]) <= lowest:
                columns[count] = j
                count += 1
                if count == len(columns):
                    return count
    return count


@compiled
def _search(start_row, zeros, n_zeros, state, seen, queue):
    """Return the unassigned column that ends an alternating path, or `NO_PATH`, and how many columns are queued."""
    i, head, size = start_row, 0, 0
    while True:
        for j in zeros[i, : n_zeros[i]]:
            if seen[j]:
                continue
            seen[j] = True
            state.pred[j] = i
            queue[size] = j
            size += 1
            if state.row_of_col[j] < 0:
                return j, size
        if head == size:
            return NO_PATH, size
        i = state.row_of_col[queue[head]]
        head += 1


@compiled
def name_costs(cost, start_row, sink, state):
    """Fill in `pred_cost` along the path that ends in column `sink`; -1 when the first row becomes unassigned."""
    j = sink
    while j >= 0:
        i = state.pred[j]
        state.pred_cost[j] = cost[i, j]
        if i == start_row:
            return
        j = state.col_of_row[i]
