"""The classical variant in stages: the duals change once for many paths, a maximum matching on zero slack.

Section 2.2 of Date & Nagi in larger steps. A stage finds for every column the dual change Δ at which its slack is zero
(its key), fixes Δ, lists the pairs of zero slack at that Δ, matches as many free rows on them as can be, and changes
the duals once. The paper fixes Δ at the least uncovered slack, again and again until a path ends. Here Δ is the key of
an end at once; and where every column must be matched, as in a square problem without prices of the lone, a free column
may be passed by: its dual falls like that of any column in the trees. Δ is then the key that enough free columns are
within for `ENDS` of the free rows, and a stage finds hundreds of paths where costs are real numbers, too. Where a side
may stay alone, ends stay at their bound, and Δ is the least key of all ends.

The keys do not depend on the order in which they are found, and a column that several rows of a level reach goes to the
one with the least hash: equal costs spread over the rows, and the answer is the same on any device.
`kernels/hungarian_classical.cu` does the same steps; this is its twin in the tests.
"""

# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numba import njit

from ..shortest_paths import alone_end
from .state import augment, forget, free_rows, with_lists

ENDS = (3, 4)
"""Share of the free rows for which Δ reaches a free column each. Rounds and levels of a GPU at n = 8,000 with 1/2, 3/4,
9/10 and 1: uniform [0, n] 1727, 1231, 1397, 1303; [0, 10n] 3777, 2688, 3386, 3651; point sets 655, 533, 317, 367."""

_NO_LEVEL = np.iinfo(np.int32).max


class Zeros(NamedTuple):
    """The pairs of zero slack of a stage, and the trees on them.

    `first`, `last` (rows,) say where a row's pairs lie in the lists of columns and costs; `alone` (rows,) tells the
    rows that may go alone. `level`, `claim` (columns,) are the level at which a column was reached, `_NO_LEVEL` for
    never, and its least claim; `root` (rows,) is a row's root; `end_level`, `end` (rows,) are the level and the column
    (row i that goes alone: columns + i) of the first end of each root.
    """

    first: np.ndarray
    last: np.ndarray
    alone: np.ndarray
    level: np.ndarray
    claim: np.ndarray
    root: np.ndarray
    end_level: np.ndarray
    end: np.ndarray


def no_zeros(n_rows: int, n_cols: int) -> Zeros:
    """Return the scratch space of the stages; searches in disjoint components share it."""
    return Zeros(
        np.zeros(n_rows, np.int64),
        np.zeros(n_rows, np.int64),
        np.zeros(n_rows, np.bool_),
        np.full(n_cols, _NO_LEVEL, np.int32),
        np.zeros(n_cols, np.uint64),
        np.zeros(n_rows, np.int32),
        np.full(n_rows, _NO_LEVEL, np.int32),
        np.zeros(n_rows, np.int64),
    )


@njit(cache=True, nogil=True)
def match_by_stages(rows, indptr, indices, data, state, trees, zeros, counts, found):
    """Match every given row; parameters and result as `tree.match_by_trees`.

    `counts`, int64 (5,), is incremented: stages, rows scanned, dual updates, phases, levels. `found`, int64 (k,),
    counts the paths of the first k stages.
    """
    trees = with_lists(rows, indptr, trees)
    within = np.empty(len(trees.reached), np.int32)
    roots = free_rows(rows, state)
    while len(roots) > 0:
        delta, n_reached, n_within = _search(roots, indptr, indices, data, within, state, trees, counts)
        if delta >= state.none:
            forget(trees.reached[:n_reached], state, trees)
            return roots[0]
        before = len(roots)
        covered = within[:n_within]
        cols, costs = _list_zeros(roots, covered, indptr, indices, data, delta, state, trees, zeros)
        while len(roots) > 0 and _augment(roots, cols, costs, state, trees, zeros, counts) > 0:
            roots = free_rows(roots, state)
        _move_duals(delta, roots, covered, state, trees)
        forget(trees.reached[:n_reached], state, trees)
        if counts[0] < len(found):
            found[counts[0]] += before - len(roots)
        counts[0] += 1
        counts[2] += delta > 0
    return -1


@njit(cache=True, nogil=True)
def _search(roots, indptr, indices, data, within, state, trees, counts):
    """List the columns `within` Δ; return Δ or `none`, how many columns are reached, and how many are within Δ."""
    zero = state.r[roots[0]] - state.r[roots[0]]
    wanted = 1 if state.ends_bound else len(roots) * ENDS[0] // ENDS[1] + 1
    heap = [(zero, np.int32(-1))]
    heap.pop()
    least_alone = delta = last_end = state.none
    n_reached = n_within = n_ends = 0
    for i in roots:
        n_reached, least_alone = _scan(i, zero, n_reached, least_alone, heap, indptr, indices, data, state, trees)
    counts[1] += len(roots)
    while len(heap) > 0 and heap[0][0] <= min(delta, least_alone):
        key, j = heappop(heap)
        if trees.covered[j] or key > trees.key[j]:
            continue
        trees.covered[j] = True
        within[n_within] = j
        n_within += 1
        if state.row_of_col[j] >= 0:
            counts[1] += 1
            i = state.row_of_col[j]
            n_reached, least_alone = _scan(i, key, n_reached, least_alone, heap, indptr, indices, data, state, trees)
            continue
        n_ends += 1
        last_end = key
        if n_ends == wanted:
            delta = key
    delta = min(last_end, least_alone)
    while n_within > 0 and trees.key[within[n_within - 1]] > delta:
        n_within -= 1
    return delta, n_reached, n_within


@njit(cache=True, nogil=True)
def _scan(i, entered, n_reached, least_alone, heap, indptr, indices, data, state, trees):
    """Row i enters: lower the keys of its columns; return how many are reached, and the least key of going alone."""
    trees.entered[i] = entered
    if state.row_bound[i] < state.none:
        least_alone = min(least_alone, _key(entered, state.row_bound[i], 0, state.r[i]))
    lo = indptr[i]
    for e in range(lo, indptr[i + 1]):
        j = e - lo if indices is None else indices[e]
        if data[e] >= state.none or trees.covered[j]:
            continue
        key = _key(entered, data[e], state.v[j], state.r[i])
        if key < trees.key[j]:
            if trees.key[j] >= state.none:
                trees.reached[n_reached] = j
                n_reached += 1
            trees.key[j] = key
            heappush(heap, (key, np.int32(j)))
    return n_reached, least_alone


@njit(cache=True, nogil=True, inline="always")
def _key(entered, cost, v, r):
    return entered + max(cost - v - r, 0)


@njit(cache=True, nogil=True)
def _list_zeros(roots, covered, indptr, indices, data, delta, state, trees, zeros):
    """List the pairs of zero slack at Δ of every row in the trees; return their columns and costs."""
    cols, costs = np.empty(64, np.int32), np.empty(64, state.v.dtype)
    n_zeros = 0
    for k in range(len(roots) + len(covered)):
        i = roots[k] if k < len(roots) else state.row_of_col[covered[k - len(roots)]]
        if i < 0:
            continue
        entered = trees.entered[i]
        bound = state.row_bound[i]
        zeros.alone[i] = bound < state.none and _key(entered, bound, 0, state.r[i]) <= delta
        zeros.first[i] = n_zeros
        lo = indptr[i]
        if n_zeros + indptr[i + 1] - lo > len(cols):
            cols, costs = _grown(cols, n_zeros + indptr[i + 1] - lo), _grown(costs, n_zeros + indptr[i + 1] - lo)
        for e in range(lo, indptr[i + 1]):
            j = e - lo if indices is None else indices[e]
            if trees.key[j] > delta or data[e] >= state.none:
                continue
            if _key(entered, data[e], state.v[j], state.r[i]) == trees.key[j]:
                cols[n_zeros], costs[n_zeros] = j, data[e]
                n_zeros += 1
        zeros.last[i] = n_zeros
    return cols[:n_zeros], costs[:n_zeros]


@njit(cache=True, nogil=True)
def _augment(roots, cols, costs, state, trees, zeros, counts):
    """Grow disjoint trees from all roots, and carry out the first path of each; return how many there were."""
    front = roots.astype(np.int32)
    for i in roots:
        zeros.root[i] = i
    reached = np.empty(0, np.int32)
    level = 0
    while len(front) > 0:
        claimed = _claim(front, level, cols, costs, state, trees, zeros)
        reached = np.concatenate((reached, claimed))
        level += 1
        front = _next_front(claimed, level, state, trees, zeros)
    counts[3] += 1
    counts[4] += level
    n_cols, n_paths = len(state.v), 0
    for i in roots:
        if zeros.end_level[i] < _NO_LEVEL:
            end = zeros.end[i]
            augment(alone_end(end - n_cols) if end >= n_cols else end, state, trees)
            zeros.end_level[i] = _NO_LEVEL
            n_paths += 1
    for j in reached:
        zeros.level[j] = _NO_LEVEL
    return n_paths


@njit(cache=True, nogil=True)
def _claim(front, level, cols, costs, state, trees, zeros):
    """Let the rows of a level claim the columns that they have zero slack with; return those columns."""
    n_claimed = 0
    for i in front:
        n_claimed += zeros.last[i] - zeros.first[i]
    claimed = np.empty(n_claimed, np.int32)
    n_claimed = 0
    for i in front:
        if zeros.alone[i]:
            _end_path(zeros.root[i], level, len(state.v) + i, zeros)
        for e in range(zeros.first[i], zeros.last[i]):
            j = cols[e]
            claim = _claim_of(i, j)
            if zeros.level[j] <= level or (zeros.level[j] == level + 1 and zeros.claim[j] < claim):
                continue
            if zeros.level[j] > level + 1:
                claimed[n_claimed] = j
                n_claimed += 1
            zeros.level[j], zeros.claim[j] = level + 1, claim
            trees.pred[j], trees.pred_cost[j] = i, costs[e]
    return claimed[:n_claimed]


@njit(cache=True, nogil=True)
def _next_front(claimed, level, state, trees, zeros):
    """End paths at the free columns; return the rows of the others whose trees have no end yet."""
    front = np.empty(len(claimed), np.int32)
    n_front = 0
    for j in claimed:
        if state.row_of_col[j] < 0:
            _end_path(zeros.root[trees.pred[j]], level, j, zeros)
    for j in claimed:
        i = state.row_of_col[j]
        if i >= 0:
            zeros.root[i] = zeros.root[trees.pred[j]]
            if zeros.end_level[zeros.root[i]] >= level:
                front[n_front] = i
                n_front += 1
    return front[:n_front]


@njit(cache=True, nogil=True)
def _end_path(root, level, end, zeros):
    """Note an end; the smallest of the first level that has one stays."""
    if level < zeros.end_level[root] or (level == zeros.end_level[root] and end < zeros.end[root]):
        zeros.end_level[root], zeros.end[root] = level, end


@njit(cache=True, nogil=True)
def _claim_of(i, j):
    """Return the number by which rows of one level compare: a hash of 22 bits, then the row."""
    mask = np.uint64(0xFFFFFFFF)
    h = ((np.uint64(i) * np.uint64(0x9E3779B1)) ^ (np.uint64(j) * np.uint64(0x85EBCA77))) & mask
    h = ((h ^ (h >> np.uint64(15))) * np.uint64(0x2C1B3C6D)) & mask
    h = (h ^ (h >> np.uint64(13))) >> np.uint64(10)
    return (h << np.uint64(24)) | np.uint64(i)


@njit(cache=True, nogil=True)
def _move_duals(delta, roots, covered, state, trees):
    """Carry the dual change of the stage out: free rows rise, the columns within Δ fall, links become tight."""
    for i in roots:
        state.r[i] += delta
    for j in covered:
        state.v[j] -= delta - trees.key[j]
        i = state.row_of_col[j]
        if i >= 0:
            state.r[i] = state.link_cost[i] - state.v[j]


@njit(cache=True, nogil=True)
def _grown(array, needed):
    larger = np.empty(2 * needed, array.dtype)
    larger[: len(array)] = array
    return larger
