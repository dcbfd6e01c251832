"""Jonker and Volgenant's method on many small matrices, one after the other, without a call or an array for each.

The method is that of `dense_paths`, where calls, slices and blocks of 64 columns pay. Here a row is read eight columns
at a time, and beyond its end: column duals of -inf there let nothing that follows count. Rows of a few columns are read
one by one, which is sooner over. Choices that the processor could not predict are made without branches.
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

WIDEST = 64
"""Columns of a block up to which this is the faster way."""

LONGEST_CHAIN = 30
"""Rows that displace each other in turn before the last one waits for a shortest path."""

FEW = 12
"""Columns up to which a row that bids is read one by one: of 10, a batch takes 0.94 of its time."""

NO_PLACE = np.int64(2**31)
"""Above every column."""

BEYOND = 2**61
"""What added to the greatest integer cost leaves room for costs below 0, and in 64 bits for those above."""


@compiled
def scratch_of_small_blocks(data, v):
    """Return what `match_small_blocks` writes to."""
    last, waiting = np.empty(WIDEST * WIDEST + LANES, data.dtype), np.empty(WIDEST, np.int64)
    own_v, dist = np.empty(WIDEST, v.dtype), np.empty(WIDEST, v.dtype)
    pred, place, open_cols = np.empty(WIDEST, np.int64), np.empty(WIDEST, np.int64), np.empty(WIDEST, np.int64)
    return last, own_v, waiting, (dist, pred, place, open_cols)


@compiled(**BORROWING)
def match_small_blocks(run, offsets, data, none, found, scratch, counts):
    """As `blocks._match_each`, of blocks without more rows than columns and without an unmatched cost, and no limit."""
    (first, end, lo), (row_offsets, col_offsets) = run, offsets
    col_of_row, row_of_col, r, v, cost, terms = found
    last, own_v, waiting, paths = scratch
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
        failed, n_waiting = _bid(own, none, own_cols, own_rows, own_v, waiting, counts)
        if n_waiting > 0:
            failed = _augment(waiting, n_waiting, own, none, own_cols, own_rows, own_v, paths, counts)
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
def _two_least_of_few(cost, lo, m, v, none):
    """As `_two_least`, one column after the other: each waits for the least value so far, and for nothing else."""
    best, second, at = none, none, NO_PLACE
    for j in range(m):
        value = cost[np.uint64(lo + j)] - v[j]
        larger = value if value > best else best
        second = larger if larger < second else second
        at = np.int64(j) if value < best else at
        best = value if value < best else best
    return best, second, at


@compiled(**BORROWING)
def _bid(cost, none, col_of_row, row_of_col, v, waiting, counts):
    """Let each row bid, then the row that it displaces, and so on; return (a row without a pair or -1, rows that wait).

    What waits for a shortest path is filled in. Which row is next is not a branch: the processor could not predict it.
    Places are unsigned where bids wait for them: numba else looks whether they count from the end.
    """
    m, n_waiting, bids = len(row_of_col), 0, 0
    row = i = chain = 0
    while row < len(col_of_row):
        bids += 1
        chain += 1
        if m <= FEW:
            best, second, best_col = _two_least_of_few(cost, i * m, m, v, none)
        else:
            best, second, best_col = _two_least(cost, i * m, m, v, none)
        if best_col == NO_PLACE:
            return i, 0
        k = np.int64(row_of_col[np.uint64(best_col)])
        if second <= best and k >= 0:
            best_col = _unassigned_if_any(i, best, best_col, cost, row_of_col, v)
            k = np.int64(row_of_col[best_col])
        before = lowered = v[np.uint64(best_col)]
        if second < none:
            lowered = min(lowered, best - best + cost[np.uint64(i * m + best_col)] - second)
        if chain > LONGEST_CHAIN or lowered >= before:
            waiting[n_waiting] = i  # written first, which keeps compilers from asking of every bid whether k < 0
            if k >= 0:
                col_of_row[i] = -1
                n_waiting += 1
                row += 1
                i, chain = row, 0
                continue
        if m <= FEW:
            v[np.uint64(best_col)] = lowered
        else:
            _lower(v, best_col, lowered, none)
        row_of_col[np.uint64(best_col)], col_of_row[np.uint64(i)] = i, best_col
        is_free = k >> 63  # all bits or none
        row -= is_free
        i = k ^ ((k ^ row) & is_free)
        chain &= ~is_free
    counts[0] += bids
    return -1, n_waiting


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
def _augment(waiting, n_waiting, cost, none, col_of_row, row_of_col, v, paths, counts):
    """Match the rows that wait along shortest paths; return one that has none, or -1."""
    m, (dist, pred, _, open_cols) = len(row_of_col), paths
    for k in range(n_waiting):
        j, scans = _search(waiting[k], cost, none, row_of_col, v, paths)
        if j < 0:
            return waiting[k]
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
