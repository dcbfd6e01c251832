"""Jonker and Volgenant's method on many small matrices, one after the other, without a call or an array for each.

The method is that of `dense_paths`, where calls, slices and blocks of 64 columns pay. Here a row is read eight columns
at a time, and beyond its end: column duals of -inf there let nothing that follows count. Choices that the processor
could not predict are made without branches. Eight blocks of one shape are sooner matched by `eight_blocks`.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

import numpy as np

from ..jit.compiled import BORROWING, compiled
from ..jit.eight import (
    LANES,
    both,
    either,
    filled,
    least,
    less,
    lesser,
    load,
    minus,
    numbered,
    pick,
    same,
    store,
    two_least,
)

WIDEST = 128
"""Columns of a block up to which this is the faster way."""

LONGEST_CHAIN = 30
"""Rows that displace each other in turn before the last one waits for a shortest path."""

NO_PLACE = np.int64(2**31)
"""Above every column."""

BEYOND = 2**61
"""What added to the greatest integer cost leaves room for costs below 0, and in 64 bits for those above."""


@compiled
def scratch_of_small_blocks(data, v):
    """Return what `match_one_by_one` writes to."""
    last = np.empty(WIDEST * WIDEST + LANES, data.dtype)
    own_v, dist = np.empty(WIDEST, v.dtype), np.empty(WIDEST, v.dtype)
    pred, place, open_cols = np.empty(WIDEST, np.int64), np.empty(WIDEST, np.int64), np.empty(WIDEST, np.int64)
    return last, own_v, (dist, pred, place, open_cols)


@compiled(**BORROWING)
def match_one_by_one(run, offsets, data, none, found, scratch, counts):
    """As `blocks._match_each`, of blocks without more rows than columns and without an unmatched cost, and no limit."""
    (first, end, lo), (row_offsets, col_offsets) = run, offsets
    col_of_row, row_of_col, r, v, cost, terms = found
    last, own_v, paths = scratch
    for b in range(first, end):
        r0, r1, c0, c1 = row_offsets[b], row_offsets[b + 1], col_offsets[b], col_offsets[b + 1]
        n, m = r1 - r0, c1 - c0
        own, own_cols, own_rows = data[lo:], col_of_row[r0:r1], row_of_col[c0:c1]
        if len(own) < n * m + LANES:  # nothing is read beyond the last costs of all
            for k in range(n * m):
                last[k] = own[k]
            for k in range(n * m, n * m + LANES):
                last[k] = 0
            own = last
        lo += n * m
        _begin(own, none, n, m, own_v)
        failed, some_wait = _bid(own, none, own_cols, own_rows, own_v, counts)
        if some_wait:
            failed = augment(own, none, own_cols, own_rows, own_v, paths, counts)
        if failed >= 0:
            return b, failed
        for j in range(m):
            v[c0 + j] = own_v[j]
        _read_duals(own, none, own_cols, m, own_v, r0, r, cost, terms)
    return -1, -1


@compiled(**BORROWING)
def _begin(cost, none, n, m, v):
    """Set column duals to the column's least cost where all columns are matched in the end, else to 0.

    Also to 0 where a column has no pair.
    """
    nones = filled(none)
    zeros = filled(v.dtype.type(0))
    beyond = filled(-none - BEYOND)
    for first in range(0, m, LANES):
        lowest = nones
        for i in range(n if n == m else 0):
            x = load(cost, i * m + first, nones)
            lowest = pick(less(x, lowest), x, lowest)
        lowest = pick(less(lowest, nones), lowest, zeros)
        store(v, first, pick(less(numbered(first), filled(np.int64(m))), lowest, beyond))


@compiled(**BORROWING)
def _two_least(cost, lo, m, v, none):
    """Return the least and the second least c - v of the row that begins at `lo`, and the first column of the least."""
    best = second = filled(none)
    at = nowhere = filled(NO_PLACE)
    for first in range(0, m, LANES):
        value = minus(load(cost, lo + first, best), load(v, first, best))
        lower = less(value, best)
        larger = pick(lower, best, value)
        second = pick(less(larger, second), larger, second)
        at = pick(lower, numbered(first), at)
        best = pick(lower, value, best)
    low, next_low = two_least(best, second)
    return low, next_low, least(pick(same(best, filled(low)), at, nowhere))


@compiled(**BORROWING)
def _bid(cost, none, col_of_row, row_of_col, v, counts):
    """Let each row bid, then the row that it displaces, and so on; return (a row without a pair or -1, some wait).

    What is left without a column waits for a shortest path. Which row is next is not a branch: the processor could not
    predict it. Places are unsigned where bids wait for them: numba else looks whether they count from the end.
    """
    m, bids, some_wait = len(row_of_col), 0, False
    row = i = chain = 0
    while row < len(col_of_row):
        bids += 1
        chain += 1
        best, second, best_col = _two_least(cost, i * m, m, v, none)
        if best_col == NO_PLACE:
            return i, False
        k = np.int64(row_of_col[np.uint64(best_col)])
        if second <= best and k >= 0:
            best_col = _unassigned_if_any(i, best, best_col, cost, row_of_col, v)
            k = np.int64(row_of_col[best_col])
        before = lowered = v[np.uint64(best_col)]
        if second < none:
            lowered = min(lowered, best - best + cost[np.uint64(i * m + best_col)] - second)
        if k >= 0 and (chain > LONGEST_CHAIN or lowered >= before):
            col_of_row[i] = -1
            some_wait = True
            row += 1
            i, chain = row, 0
            continue
        _lower(v, best_col, lowered, none)
        row_of_col[np.uint64(best_col)], col_of_row[np.uint64(i)] = i, best_col
        is_free = k >> 63  # all bits or none
        row -= is_free
        i = k ^ ((k ^ row) & is_free)
        chain &= ~is_free
    counts[0] += bids
    return -1, some_wait


@compiled(**BORROWING)
def _lower(v, j, lowered, none):
    """Lower the dual of column j, and write the seven beside it too: the next bid reads all eight at once."""
    first = j & -LANES
    offered = pick(same(numbered(first), filled(np.int64(j))), filled(lowered), filled(none))
    store(v, first, lesser(offered, load(v, first, offered)))


@compiled(**BORROWING)
def _unassigned_if_any(i, best, best_col, cost, row_of_col, v):
    """Return an unassigned column that is as good for row i as its best one, else the best one."""
    m = len(row_of_col)
    for j in range(m):
        if row_of_col[j] < 0 and cost[i * m + j] - v[j] <= best:
            return j
    return best_col


@compiled(**BORROWING)
def augment(cost, none, col_of_row, row_of_col, v, paths, counts):
    """Match the rows without a column along shortest paths; return one that has none, or -1."""
    m, (dist, pred, _, open_cols) = len(row_of_col), paths
    for row in range(len(col_of_row)):
        if col_of_row[row] >= 0:
            continue
        j, scans = _search(row, cost, none, row_of_col, v, paths)
        if j < 0:
            return row
        counts[1] += 1
        counts[2] += scans
        for place in range(m - scans + 1, m):
            v[open_cols[place]] += dist[open_cols[place]] - dist[j]
        while j >= 0:
            i = pred[j]
            row_of_col[j], col_of_row[i], j = i, j, col_of_row[i]
    return -1


@compiled(**BORROWING)
def _search(row, cost, none, row_of_col, v, paths):
    """Dijkstra's search from a row to the nearest unassigned column: (column or -1, rows scanned).

    The columns that were scanned are left at the end of `open_cols`, the last one first; `place` says where each is.
    """
    m, (dist, pred, place, open_cols) = len(row_of_col), paths
    nones, nowhere = filled(none), filled(NO_PLACE)
    lowest = nones
    for first in range(0, m, LANES):
        value = minus(load(cost, row * m + first, nones), load(v, first, nones))
        lowest = pick(less(value, lowest), value, lowest)
    dual = least(lowest)
    if dual >= none:
        return -1, 0
    reach = dual - dual
    for j in range(m):
        open_cols[j] = j
    for first in range(0, m, LANES):
        store(dist, first, nones)
        store(pred, first, nowhere)
        store(place, first, numbered(first))
    i = row
    for n_open in range(m - 1, -1, -1):
        nearest, at, from_i, duals, reached = nones, nowhere, filled(i), filled(dual), filled(reach)
        for first in range(0, m, LANES):
            value, d = minus(load(cost, i * m + first, nones), load(v, first, nones)), load(dist, first, nones)
            through = minus(value, duals)
            through = pick(less(through, reached), reached, through)
            shorter = less(through, d)
            d = pick(shorter, through, d)
            store(pred, first, pick(shorter, from_i, load(pred, first, nowhere)))
            store(dist, first, d)
            own = load(place, first, nowhere)
            d = pick(less(filled(n_open), own), nones, d)
            nearer = either(less(d, nearest), both(same(d, nearest), less(own, at)))
            at = pick(nearer, own, at)
            nearest = pick(nearer, d, nearest)
        reach = least(nearest)
        if reach >= none:
            return -1, m - n_open
        p = least(pick(same(nearest, filled(reach)), at, nowhere))
        j, last = open_cols[p], open_cols[n_open]
        open_cols[p], open_cols[n_open] = last, j
        place[last], place[j] = p, n_open
        i = np.int64(row_of_col[j])
        if i < 0:
            return j, m - n_open
        dual = cost[i * m + j] - v[j] - reach
    return -1, m


@compiled(**BORROWING)
def _read_duals(cost, none, col_of_row, m, v, first, r, matched_cost, terms):
    """Fill in the best row duals beside v, the cost of each matched edge, and the terms, from row `first` on."""
    for i in range(len(col_of_row)):
        low, _, at = _two_least(cost, i * m, m, v, none)
        r[first + i] = low
        matched_cost[first + i] = cost[i * m + col_of_row[i]]
        terms[first + i] = max(abs(cost[i * m + at]), abs(v[at]))
