"""Jonker and Volgenant's method on one full matrix: what `shortest_paths` does on any graph, written for long rows.

A row is read as a whole and in order, so that eight columns go through the processor at a time: a bid looks for its
two best columns in the two blocks with the least values, and the search for a shortest path keeps its distances in an
array instead of a heap. Duals, sinks and the unmatched cost are those of `shortest_paths`.

Source: R. Jonker, A. Volgenant, Computing 38 (1987).
"""

# Types of numba kernels live in their docstrings: numba infers them.
# A conditional expression vectorises where max() does not.
# ruff: noqa: ANN001, ANN201, ANN202, FURB136

from __future__ import annotations

import numpy as np

from ..jit.compiled import BORROWING, compiled
from ..jit.eight import (
    LANES,
    both,
    filled,
    greater,
    how_many,
    least,
    less,
    lesser,
    load,
    minus,
    pick,
    plus,
    same,
    store,
)
from ..jit.row_scan import BLOCK, HIGHEST, cheapest_column, column_of_rank, lowest_blocks, rank
from .dense_zeros import MANY, match_along_zeros, name_costs
from .finish import FAR, FAR_TOO_HARD, TOO_HARD, are_too_few, release_slack, would_exceed
from .shortest_paths import BIDS_PER_ROW, NO_PATH, augment_path, bid_rows, take, unassigned_sink

LONGEST_CHAIN = 30
"""Rows that displace each other in turn before the last one waits for a shortest path. On real costs, rows that outbid
each other over a few columns would spend all bids, and paths are cheaper (500 to 2,000 points: 0.6 of the time; 15, 100
are slower)."""


@compiled
def lower_dense_to_cheapest(cost, v, none):
    """Lower unbounded column duals, which are `none`, to the column's least cost; 0 for a column without a pair."""
    if len(v) == 0 or v[0] != none:
        return
    for i in range(len(cost)):
        row = cost[i]
        for j in range(len(v)):
            v[j] = row[j] if row[j] < v[j] else v[j]
    for j in range(len(v)):
        if v[j] == none:
            v[j] = 0


@compiled
def assign_dense_rows(cost, state, counts, most_scans, may_tie):
    """As `finish.match_rows` for all rows of a matrix (rows, columns).

    Also `TOO_HARD` or `FAR_TOO_HARD` where the rows matched by paths so far took so many scans that the others are
    bound to take more than `most_scans` without them: what is spent is no reason to give up. `may_tie` is True where
    many costs may be equal, else None, with which numba compiles less.
    """
    n = len(cost)
    waiting = np.empty(n, np.int64)
    n_waiting = 0
    bids = 0
    for row in range(n):
        i = row
        last = min(bids + LONGEST_CHAIN, BIDS_PER_ROW * n)
        while i >= 0:
            bids += 1
            i, waits = _bid(cost[i], i, bids < last, state)
            if waits >= 0:
                waiting[n_waiting] = waits
                n_waiting += 1
    counts[0] += bids
    return _match_waiting(cost, waiting[:n_waiting], state, counts, most_scans, may_tie)


@compiled
def finish_dense_rows(rows, indptr, data, state, counts, most_scans, ulps):
    """As `finish.finish_rows`, for all rows of one full matrix; or `FAR_TOO_HARD`."""
    waiting = bid_rows(release_slack(rows, indptr, None, data, state, ulps), indptr, None, data, state, counts)
    cost = data.reshape((len(rows), len(state.v)))
    return _match_waiting(cost, waiting, state, counts, most_scans, True)


@compiled
def _match_waiting(cost, waiting, state, counts, most_scans, may_tie):
    """As `assign_dense_rows` for rows that wait: along pairs of zero slack where many do, then by paths."""
    if may_tie is not None and len(waiting) > MANY * len(cost):
        waiting = match_along_zeros(cost, waiting, state)
    key, scanned = np.empty(len(state.v), state.v.dtype), np.empty(len(state.v), np.int32)
    begun = counts[2]
    for done in range(len(waiting)):
        row = waiting[done]
        spent = counts[2] - begun
        if are_too_few(most_scans + spent, spent, done, len(waiting)):
            return FAR_TOO_HARD if would_exceed(FAR * most_scans, spent, done, len(waiting)) else TOO_HARD
        sink, length, n_scanned = _search(cost, row, state, key, scanned)
        counts[1] += 1
        counts[2] += n_scanned + 1
        if sink == NO_PATH:
            return row
        for k in range(n_scanned):
            state.v[scanned[k]] += state.dist[scanned[k]] - length
        if sink >= 0:
            name_costs(cost, row, sink, state)
        else:
            name_costs(cost, row, state.col_of_row[unassigned_sink(sink)], state)
        augment_path(row, sink, state)
    return -1


@compiled
def _bid(row, i, may_displace, state):
    """Give row i its best column; as `shortest_paths._bid`."""
    v = state.v
    best, second = state.row_bound[i], state.none
    best_col, second_col = -1, -1
    lowest, next_lowest, next_least = 0, -1, HIGHEST
    if len(v) > BLOCK:
        lowest, next_lowest, _, next_least = lowest_blocks(row, v)
    first = max(lowest, 0)
    for j in range(first, min(first + BLOCK, len(v))):
        value = row[j] - v[j]
        if value < second:
            if value < best:
                second, second_col = best, best_col
                best, best_col = value, j
            else:
                second, second_col = value, j
    if best_col < 0:
        return -1, (i if best >= state.none else -1)
    if next_least < rank(second):
        second_col = column_of_rank(row, v, next_lowest, next_least)
        second = row[second_col] - v[second_col]
    if second <= best and second_col >= 0 and state.row_of_col[best_col] >= 0 and state.row_of_col[second_col] >= 0:
        second_col = _unassigned_column(row, v, best, state.row_of_col, second_col)
    best_cost = best * 0 + row[best_col]
    second_cost = best * 0 + row[second_col] if second_col >= 0 else best_cost
    choice = best_col, best_cost, second_col, second_cost, second, best
    return take(i, may_displace, choice, state.none, v, state.col_of_row, state.row_of_col, state.matched_cost)


@compiled
def _unassigned_column(row, v, value, row_of_col, otherwise):
    """Return the first unassigned column whose c - v is the row's least, `value`; integers of short range tie often."""
    for j in range(len(v)):
        if row_of_col[j] < 0 and row[j] - v[j] <= value:
            return j
    return otherwise


@compiled
def _search(cost, start_row, state, key, scanned):
    """Dijkstra's search from a row to the nearest sink of an alternating path: (sink, length, columns scanned).

    `key` holds the distance of every column, -1 once it is scanned: below any distance, so that nothing improves it.
    """
    v = state.v
    key[:] = state.none
    n_scanned = 0
    i = start_row
    favourite = cheapest_column(cost[i], v, state.row_bound[i])
    dual = state.row_bound[i] if favourite < 0 else v[favourite] * 0 + cost[i, favourite] - v[favourite]
    if dual >= state.none:
        return NO_PATH, dual, 0
    reach = dual - dual
    shortest_unassigned, leaving = state.none, -1
    while True:
        if state.row_bound[i] < state.none and reach + (state.row_bound[i] - dual) < shortest_unassigned:
            shortest_unassigned, leaving = reach + (state.row_bound[i] - dual), i
        nearest = _relax(cost[i], v, np.int32(i), dual, reach, key, state.pred, state.none)
        j = _column_at(nearest, key, state.row_of_col)
        if j < 0 or nearest >= shortest_unassigned:
            return (unassigned_sink(leaving) if leaving >= 0 else NO_PATH), shortest_unassigned, n_scanned
        reach = nearest
        state.dist[j] = reach
        if state.row_of_col[j] < 0:
            return j, reach, n_scanned
        key[j] = -1
        scanned[n_scanned] = j
        n_scanned += 1
        i = state.row_of_col[j]
        dual = state.matched_cost[i] - v[j]


@compiled(**BORROWING)
def _relax(row, v, i, dual, reach, key, pred, none):
    """Shorten the distances that a path through row i shortens; return the least of columns that are not scanned."""
    nones, nothing, own = filled(none), filled(reach - reach), filled(i)
    duals, reaches = filled(dual), filled(reach)
    low = nones
    in_lanes = len(v) - len(v) % LANES
    for j in range(0, in_lanes, LANES):
        before = load(key, j, nones)
        slack = minus(minus(load(row, j, nones), load(v, j, nones)), duals)
        through = plus(reaches, greater(slack, nothing))
        is_shorter = less(through, before)
        after = pick(is_shorter, through, before)
        store(key, j, after)
        store(pred, j, pick(is_shorter, own, load(pred, j, own)))
        low = lesser(pick(less(after, nothing), nones, after), low)
    nearest = least(low)
    for j in range(in_lanes, len(v)):
        through = reach + max(row[j] - v[j] - dual, reach - reach)
        if through < key[j]:
            key[j], pred[j] = through, i
        if 0 <= key[j] < nearest:
            nearest = key[j]
    return nearest


@compiled(**BORROWING)
def _column_at(nearest, key, row_of_col):
    """Return the first column at a distance, of those that are unassigned if any is; -1 for none."""
    first, sought, nobody = -1, filled(nearest), filled(np.int32(0))
    in_lanes = len(key) - len(key) % LANES
    for lo in range(0, in_lanes, LANES):
        there = same(load(key, lo, sought), sought)
        if how_many(there) == 0:
            continue
        is_free = both(there, less(load(row_of_col, lo, nobody), nobody))
        if first < 0 or how_many(is_free) > 0:
            for j in range(lo, lo + LANES):
                if key[j] == nearest:
                    if row_of_col[j] < 0:
                        return j
                    first = j if first < 0 else first
    for j in range(in_lanes, len(key)):  # by itself: with ends that vary the loop above takes up to 1.08 times as long
        if key[j] == nearest:
            if row_of_col[j] < 0:
                return j
            first = j if first < 0 else first
    return first
