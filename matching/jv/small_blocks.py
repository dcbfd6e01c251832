"""Jonker and Volgenant's method on many small matrices, one after the other, without a call or an array for each.

The method is that of `dense_paths`, where calls, slices and vectors of eight columns pay; in rows of a few columns they
take longer than the columns do. Where a row waits for a shortest path, the columns that are still open are a list, and
choices are made without branches, which the processor could not predict.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# A conditional expression vectorises where max() does not.
# ruff: noqa: ANN001, ANN201, ANN202, FURB136

from __future__ import annotations

from ..jit.compiled import compiled

WIDEST = 64
"""Columns of a block up to which this is the faster way."""

LONGEST_CHAIN = 30
"""Rows that displace each other in turn before the last one waits for a shortest path."""


@compiled
def match_small_blocks(run, offsets, data, none, found, scratch, counts):
    """As `blocks._match_each`, of blocks without more rows than columns and without an unmatched cost, and no limit."""
    (first, end, lo), (row_offsets, col_offsets) = run, offsets
    col_of_row, row_of_col, r, v, cost, terms = found
    dist, pred, open_cols, waiting = scratch
    for b in range(first, end):
        r0, r1, c0, c1 = row_offsets[b], row_offsets[b + 1], col_offsets[b], col_offsets[b + 1]
        own, own_v = data[lo : lo + (r1 - r0) * (c1 - c0)], v[c0:c1]
        lo += len(own)
        own_cols, own_rows = col_of_row[r0:r1], row_of_col[c0:c1]
        _begin(own, none, r1 - r0, own_v)
        failed, n_waiting = _bid(own, none, own_cols, own_rows, own_v, waiting, counts)
        if n_waiting > 0:
            failed = _augment(waiting, n_waiting, own, none, own_cols, own_rows, own_v, dist, pred, open_cols, counts)
        if failed >= 0:
            return b, failed
        _read_duals(own, none, own_cols, own_v, r0, r, cost, terms)
    return -1, -1


@compiled
def _begin(cost, none, n, v):
    """Set column duals to the column's least cost where all columns are matched in the end, else to 0.

    Also to 0 where a column has no pair.
    """
    m = len(v)
    for j in range(m):
        least = none
        for i in range(n if n == m else 0):
            least = cost[i * m + j] if cost[i * m + j] < least else least
        v[j] = least if least < none else 0


@compiled
def _bid(cost, none, col_of_row, row_of_col, v, waiting, counts):
    """Let each row bid, then the row that it displaces, and so on; return (a row without a pair or -1, rows that wait).

    What waits for a shortest path is filled in.
    """
    m, n_waiting, bids = len(v), 0, 0
    for row in range(len(col_of_row)):
        i, last = row, bids + LONGEST_CHAIN
        while i >= 0:
            bids += 1
            best, second, best_col = none, none, -1
            for j in range(m):  # each column waits for the least value so far, and for nothing else
                value = cost[i * m + j] - v[j]
                larger = value if value > best else best
                second = larger if larger < second else second
                best_col = j if value < best else best_col
                best = value if value < best else best
            if best_col < 0:
                return i, 0
            k = row_of_col[best_col]
            if k >= 0 and second <= best:
                best_col = _unassigned_if_any(i, best, best_col, cost, row_of_col, v)
                k = row_of_col[best_col]
            lowered = v[best_col]
            if second < none:
                lowered = min(lowered, best - best + cost[i * m + best_col] - second)
            if k >= 0 and (bids > last or lowered >= v[best_col]):
                waiting[n_waiting] = i
                n_waiting += 1
                break
            v[best_col] = lowered
            row_of_col[best_col], col_of_row[i] = i, best_col
            if k >= 0:
                col_of_row[k] = -1
            i = k
    counts[0] += bids
    return -1, n_waiting


@compiled
def _unassigned_if_any(i, best, best_col, cost, row_of_col, v):
    """Return an unassigned column that is as good for row i as its best one, else the best one."""
    m = len(v)
    for j in range(m):
        if row_of_col[j] < 0 and cost[i * m + j] - v[j] <= best:
            return j
    return best_col


@compiled
def _augment(waiting, n_waiting, cost, none, col_of_row, row_of_col, v, dist, pred, open_cols, counts):
    """Match the rows that wait along shortest paths; return one that has none, or -1."""
    m = len(v)
    for k in range(n_waiting):
        j, scans = _search(waiting[k], cost, none, row_of_col, v, dist, pred, open_cols)
        if j < 0:
            return waiting[k]
        counts[1] += 1
        counts[2] += scans
        for scanned in open_cols[m - scans + 1 : m]:
            v[scanned] += dist[scanned] - dist[j]
        while j >= 0:
            i = pred[j]
            row_of_col[j], col_of_row[i], j = i, j, col_of_row[i]
    return -1


@compiled
def _search(row, cost, none, row_of_col, v, dist, pred, open_cols):
    """Dijkstra's search from a row to the nearest unassigned column: (column or -1, rows scanned).

    The columns that were scanned are left at the end of `open_cols`, the last one first.
    """
    m = len(v)
    least = none
    for j in range(m):
        value = cost[row * m + j] - v[j]
        least = value if value < least else least
    if least >= none:
        return -1, 0
    nearest, at = none, -1
    for j in range(m):
        d = cost[row * m + j] - v[j] - least
        dist[j], pred[j], open_cols[j] = d, row, j
        at = j if d < nearest else at
        nearest = d if d < nearest else nearest
    for n_open in range(m - 1, -1, -1):
        if at < 0:
            return -1, m - n_open
        j, reach = open_cols[at], nearest
        open_cols[at], open_cols[n_open] = open_cols[n_open], j
        i = row_of_col[j]
        if i < 0:
            return j, m - n_open
        dual = cost[i * m + j] - v[j] - reach
        nearest, at = none, -1
        for k in range(n_open):
            other = open_cols[k]
            through, d = cost[i * m + other] - v[other] - dual, dist[other]
            through = reach if through < reach else through
            pred[other] = i if through < d else pred[other]
            d = through if through < d else d
            dist[other] = d
            at = k if d < nearest else at
            nearest = d if d < nearest else nearest
    return -1, m


@compiled
def _read_duals(cost, none, col_of_row, v, first, r, matched_cost, terms):
    """Fill in the best row duals beside v, the cost of each matched edge, and the terms, from row `first` on."""
    m = len(v)
    for i in range(len(col_of_row)):
        at, least = -1, none
        for j in range(m):
            value = cost[i * m + j] - v[j]
            at = j if value < least else at
            least = value if value < least else least
        r[first + i] = least
        matched_cost[first + i] = cost[i * m + col_of_row[i]]
        terms[first + i] = max(abs(cost[i * m + at]), abs(v[at]))
