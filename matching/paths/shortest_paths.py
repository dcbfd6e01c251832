"""Jonker and Volgenant's method on any set of rows: bid first, then shortest augmenting paths for the rows left over.

One definition serves CSR graphs and dense blocks (`indices` is None: the k-th entry of a row is column k); numba
specialises it for either. Column duals v only fall, so a column once matched stays matched, a column never matched
keeps its starting dual, and a row that prefers to stay unassigned never changes its mind: complementary slackness holds
for what is unassigned by construction.

Source: R. Jonker, A. Volgenant, "A shortest augmenting path algorithm for dense and sparse linear assignment problems",
Computing 38 (1987): augmenting row reduction and augmentation. The unmatched cost is ours: a path may also end
in a row that becomes unassigned, at its bound.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# A conditional expression has no branch where max() has one.
# ruff: noqa: ANN001, ANN201, ANN202, FURB136

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit.column_heap import UNSEEN, append, pop, rise
from ..jit.compiled import BORROWING, compiled
from ..problem import INT_LIMIT

BIDS_PER_ROW = 6
"""Bids spent per row before the rest is left to shortest paths; the tracking problem needs about 1.2."""

_SCANNED = -2
"""Place of a column that left the heap, its distance final."""

NO_PATH = -1
"""Sink of a search that found no path; else an unassigned column, or `unassigned_sink` of a row that leaves its own."""


class State(NamedTuple):
    """Matching, duals and scratch space of a solve; calls on disjoint components may share one.

    `none` is +inf, or 2**62 in integers: no bound, no path. `row_bound` (rows,) is the unmatched cost,
    `none` where a row must be matched; `v` (columns,) the column duals; `matched_cost` (rows,) the cost of each row's
    matched edge; `dist`, `pred`, `pred_cost`, `place` (columns,) belong to the shortest path search: distance, row it
    came from, cost of that edge, place in the heap.
    """

    none: float | int
    row_bound: np.ndarray
    v: np.ndarray
    col_of_row: np.ndarray
    row_of_col: np.ndarray
    matched_cost: np.ndarray
    dist: np.ndarray
    pred: np.ndarray
    pred_cost: np.ndarray
    place: np.ndarray


def start(row_bound: np.ndarray, v: np.ndarray) -> State:
    """Return the state in which nothing is matched and the column duals are `v` (copied)."""
    n, m, dtype = len(row_bound), len(v), v.dtype
    return State(
        np.inf if dtype.kind == "f" else INT_LIMIT,
        row_bound,
        v.copy(),
        np.full(n, -1, np.int32),
        np.full(m, -1, np.int32),
        np.zeros(n, dtype),
        np.empty(m, dtype),
        np.empty(m, np.int32),
        np.empty(m, dtype),
        np.full(m, UNSEEN, np.int32),
    )


def lower_to_cheapest(indptr, indices, data, state):
    """Lower unbounded column duals, which are `none`, to the column's cheapest cost; 0 for a column without a pair."""
    unbounded = state.v == state.none
    if unbounded.any():
        _lower(indptr, indices, data, unbounded, state.v)
        state.v[state.v == state.none] = 0


@compiled
def _lower(indptr, indices, data, unbounded, v):
    for i in range(len(indptr) - 1):
        lo = indptr[i]
        for e in range(lo, indptr[i + 1]):
            j = e - lo if indices is None else indices[e]
            if unbounded[j]:
                v[j] = min(v[j], data[e])


@compiled
def bid_rows(rows, indptr, indices, data, state, counts):
    """Match unmatched rows by bids alone, as `finish.match_rows` says; return those that wait for a shortest path."""
    waiting = np.empty(len(rows), np.int64)
    n_waiting = 0
    bids = 0
    none, row_bound, v = state.none, state.row_bound, state.v
    col_of_row, row_of_col, matched_cost = state.col_of_row, state.row_of_col, state.matched_cost
    for row in rows:
        i = row
        while i >= 0:
            bids += 1
            may_displace = bids < BIDS_PER_ROW * len(rows)
            i, waits = _bid(
                i, may_displace, indptr, indices, data, none, row_bound, v, col_of_row, row_of_col, matched_cost
            )
            if waits >= 0:
                waiting[n_waiting] = waits
                n_waiting += 1
    counts[0] += bids
    return waiting[:n_waiting]


@compiled
def augment_rows(rows, indptr, indices, data, state, counts):
    """Match unmatched rows as `finish.match_rows` says, by shortest paths alone."""
    heap = np.empty(64, np.int32)
    scanned = np.empty(64, np.int32)
    for row in rows:
        sink, length, n_heap, n_scanned, heap, scanned = _search(row, indptr, indices, data, state, heap, scanned)
        counts[1] += 1
        counts[2] += n_scanned + 1
        if sink == NO_PATH:
            _forget(heap[:n_heap], scanned[:n_scanned], state.place)
            return row
        for k in range(n_scanned):
            state.v[scanned[k]] += state.dist[scanned[k]] - length
        _forget(heap[:n_heap], scanned[:n_scanned], state.place)
        augment_path(row, sink, state)
    return -1


@compiled(forceinline=True, **BORROWING)
def _bid(i, may_displace, indptr, indices, data, none, row_bound, v, col_of_row, row_of_col, matched_cost):
    """Give row i its best column, whose dual falls to where the second is as good; or that one, if tied and free.

    The arrays come one by one: numba counts the references of those that it takes out of a tuple or hands on, which
    takes longer than the bid. The best pair is found without branches, which could not be predicted, and places are
    unsigned, as numba else asks whether they count from the end.

    Returns (the row displaced or -1, row i if it must wait for a shortest path or -1).
    """
    own = np.uint64(i)
    lo, hi = np.uint64(indptr[own]), np.uint64(indptr[own + np.uint64(1)])
    best, second, at = row_bound[own], none, hi
    for e in range(lo, hi):
        value = data[e] - v[np.uint64(e - lo if indices is None else indices[e])]
        larger = value if value > best else best
        second = larger if larger < second else second
        at = e if value < best else at
        best = value if value < best else best
    if at == hi:
        return -1, (i if best >= none else -1)
    best_col, best_cost = np.uint64(at - lo if indices is None else indices[at]), best * 0 + data[at]
    second_col, second_cost = best_col, best_cost  # costs in the type of the duals
    if second <= best:
        for e in range(at + np.uint64(1), hi):
            j = np.uint64(e - lo if indices is None else indices[e])
            if data[e] - v[j] <= best:
                second_col, second_cost = j, best * 0 + data[e]
                break
    choice = best_col, best_cost, second_col, second_cost, second, best
    return take(i, may_displace, choice, none, v, col_of_row, row_of_col, matched_cost)


@compiled(inline="always")
def take(i, may_displace, choice, none, v, col_of_row, row_of_col, matched_cost):
    """Give row i its best column, whose dual falls to where the second is as good; or that one, if tied and free.

    Returns (the row displaced or -1, row i if it must wait for a shortest path or -1).
    """
    best_col, best_cost, second_col, second_cost, second, best = choice
    k = row_of_col[best_col]
    if k >= 0 and second <= best and second_col >= 0 and row_of_col[second_col] < 0:
        best_col, best_cost, k = second_col, second_cost, -1
    lowered = min(v[best_col], best_cost - second) if second < none else v[best_col]
    if k >= 0 and (not may_displace or lowered >= v[best_col]):
        return -1, i
    v[best_col] = lowered
    row_of_col[best_col] = i
    col_of_row[i] = best_col
    matched_cost[i] = best_cost
    if k >= 0:
        col_of_row[k] = -1
    return k, -1


@compiled(inline="always")
def unassigned_sink(row):
    """Return the sink of a path whose row becomes unassigned; `unassigned_sink` of it is the row again."""
    return -2 - row


@compiled
def _search(start_row, indptr, indices, data, state, heap, scanned):
    """Dijkstra's search from a row to the nearest sink of an alternating path.

    Returns (sink, length, sizes of heap and scanned, the two arrays, grown when they had to).
    """
    v, dist, place, pred, pred_cost = state.v, state.dist, state.place, state.pred, state.pred_cost
    none, row_bound, row_of_col, matched_cost = state.none, state.row_bound, state.row_of_col, state.matched_cost
    n_heap = n_scanned = 0
    i = start_row
    dual = least_of_row(i, indptr, indices, data, v, row_bound)
    if dual >= none:
        return NO_PATH, dual, n_heap, n_scanned, heap, scanned
    zero = dual - dual  # in the type of the duals
    reach = zero
    sink, length = NO_PATH, none
    while True:
        if row_bound[i] < none and reach + (row_bound[i] - dual) < length:
            sink, length = unassigned_sink(i), reach + (row_bound[i] - dual)
        lo = indptr[i]
        if n_heap + indptr[i + 1] - lo > len(heap):
            heap = grown(heap, n_heap + indptr[i + 1] - lo)
        for e in range(lo, indptr[i + 1]):
            j = e - lo if indices is None else indices[e]
            if place[j] == _SCANNED:
                continue
            through = reach + max(data[e] - v[j] - dual, zero)
            if through >= length or (place[j] != UNSEEN and through >= dist[j]):
                continue
            pred[j] = i
            pred_cost[j] = data[e]
            if row_of_col[j] < 0:  # nothing as far as the nearest sink is of use: it does not enter the heap
                sink, length = j, through
                continue
            if place[j] == UNSEEN:
                n_heap = append(j, heap, n_heap, place)
            dist[j] = through
            rise(heap, place[j], dist, place)
        if n_heap == 0 or dist[heap[0]] >= length:
            return sink, length, n_heap, n_scanned, heap, scanned
        j = heap[0]
        n_heap = pop(heap, n_heap, dist, place)
        place[j] = _SCANNED
        if n_scanned == len(scanned):
            scanned = grown(scanned, n_scanned + 1)
        scanned[n_scanned] = j
        n_scanned += 1
        i = row_of_col[j]
        reach = dist[j]
        dual = matched_cost[i] - v[j]


@compiled(**BORROWING)
def least_of_row(i, indptr, indices, data, v, row_bound):
    """Return the best feasible dual of row i: min over its pairs of c - v, and its bound."""
    least = row_bound[i]
    lo = indptr[i]
    for e in range(lo, indptr[i + 1]):
        least = min(least, data[e] - v[e - lo if indices is None else indices[e]])
    return least


@compiled
def least_of_rows(indptr, indices, data, v, row_bound):
    """Return `least_of_row` of every row."""
    r = row_bound.copy()
    for i in range(len(r)):
        r[i] = least_of_row(i, indptr, indices, data, v, row_bound)
    return r


@compiled(**BORROWING)
def augment_path(start_row, sink, state):
    """Augment along the path to `sink`: a column, or `unassigned_sink` of the row that becomes unassigned."""
    pred, pred_cost = state.pred, state.pred_cost
    col_of_row, row_of_col, matched_cost = state.col_of_row, state.row_of_col, state.matched_cost
    j = sink
    if sink < NO_PATH:
        leaving = unassigned_sink(sink)
        j = col_of_row[leaving]
        col_of_row[leaving] = -1
        if leaving == start_row:
            return
    while True:
        i = pred[j]
        j_before = col_of_row[i]
        row_of_col[j] = i
        col_of_row[i] = j
        matched_cost[i] = pred_cost[j]
        if i == start_row:
            return
        j = j_before


@compiled
def _forget(in_heap, scanned, place):
    for j in in_heap:
        place[j] = UNSEEN
    for j in scanned:
        place[j] = UNSEEN


@compiled
def grown(array, needed):
    """Return a copy with room for twice as many as needed."""
    larger = np.empty(2 * needed, array.dtype)
    for k in range(len(array)):  # a slice would compile the text of every broadcasting error, in seconds
        larger[k] = array[k]
    return larger


def named_counts(counts: np.ndarray) -> dict[str, int]:
    """Return the counts of `finish.match_rows` under their names."""
    bids, shortest_paths, rows_scanned = counts.tolist()
    return {"bids": bids, "shortest_paths": shortest_paths, "rows_scanned": rows_scanned}
