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
def match_small_blocks(
    first,
    end,
    lo,
    row_offsets,
    col_offsets,
    data,
    none,
    col_of_row,
    row_of_col,
    r,
    v,
    cost,
    terms,
    dist,
    pred,
    open_cols,
    waiting,
    counts,
):
    """As `blocks._match_each`, of blocks without more rows than columns and without an unmatched cost, and no limit."""
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
        v[j] = none if n == m else 0
    if n == m:
        for i in range(n):
            for j in range(m):
                v[j] = cost[i * m + j] if cost[i * m + j] < v[j] else v[j]
        for j in range(m):
            v[j] = 0 if v[j] == none else v[j]


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
            best, second = none, none
            best_col, second_col = -1, -1
            for j in range(m):
                value = cost[i * m + j] - v[j]
                is_best, is_second = value < best, value < second
                second_col = best_col if is_best else (j if is_second else second_col)
                second = best if is_best else (value if is_second else second)
                best_col = j if is_best else best_col
                best = value if is_best else best
            if best_col < 0:
                return i, 0
            k = row_of_col[best_col]
            if k >= 0 and second <= best and second_col >= 0 and row_of_col[second_col] < 0:
                best_col, k = second_col, -1
            price = v[best_col]
            if second < none:
                price = min(price, best - best + cost[i * m + best_col] - second)
            if k >= 0 and (bids > last or price >= v[best_col]):
                waiting[n_waiting] = i
                n_waiting += 1
                break
            v[best_col] = price
            row_of_col[best_col], col_of_row[i] = i, best_col
            if k >= 0:
                col_of_row[k] = -1
            i = k
    counts[0] += bids
    return -1, n_waiting


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
    for j in range(m):
        dist[j] = cost[row * m + j] - v[j] - least
        pred[j], open_cols[j] = row, j
    for n_open in range(m - 1, -1, -1):
        reach, at = none, -1
        for k in range(n_open + 1):
            d = dist[open_cols[k]]
            at = k if d < reach else at
            reach = d if d < reach else reach
        if at < 0:
            return -1, m - n_open
        j = open_cols[at]
        open_cols[at], open_cols[n_open] = open_cols[n_open], j
        i = row_of_col[j]
        if i < 0:
            return j, m - n_open
        dual = cost[i * m + j] - v[j] - reach
        for k in range(n_open):
            other = open_cols[k]
            through = cost[i * m + other] - v[other] - dual
            through = reach if through < reach else through
            pred[other] = i if through < dist[other] else pred[other]
            dist[other] = through if through < dist[other] else dist[other]
    return -1, m


@compiled
def _read_duals(cost, none, col_of_row, v, first, r, link_cost, terms):
    """Fill in the best row duals beside v, the cost of each link, and the terms, from row `first` on."""
    m = len(v)
    for i in range(len(col_of_row)):
        at, least = -1, none
        for j in range(m):
            value = cost[i * m + j] - v[j]
            at = j if value < least else at
            least = value if value < least else least
        r[first + i] = least
        link_cost[first + i] = cost[i * m + col_of_row[i]]
        terms[first + i] = max(abs(cost[i * m + at]), abs(v[at]))
