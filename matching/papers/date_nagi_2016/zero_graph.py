"""The classical variant in dual phases: the duals change once for many paths, a maximum matching on zero slack.

Section 2.2 of Date & Nagi in larger steps. A dual phase finds for every column the dual change Δ at which its slack is
zero (its key), fixes Δ, lists the pairs of zero slack at that Δ, matches as many free rows on them as can be
(`zero_trees`), and changes the duals once. The paper fixes Δ at the least uncovered slack, again and again until a path
ends. Here Δ is the least key within which there are sinks enough for the share `SINKS` of the free rows,
so that a dual phase finds hundreds of paths where costs are real numbers, too.

Where every column must be matched, as in a square problem without unmatched cost, a free column may be passed by:
its dual falls like that of any column in the trees. Where some may stay unassigned, sinks stay at their bound, and
every row changes by its distance to its nearest sink (`nearest_sinks`).

The keys do not depend on the order in which they are found, nor do the distances.
`hungarian/classical.cu` does the same steps; this is its twin in the tests. Only where its lists of cheap pairs
reach fewer sinks than wanted does it take the last of those as Δ.
"""

# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from ...jit.compiled import compiled
from ...paths.shortest_paths import grown
from .nearest_sinks import keep_shortest_paths
from .state import forget, free_rows, key_of, with_lists
from .zero_trees import match_on_zeros

SINKS = (3, 4)
"""Share of the free rows for which Δ reaches a sink each. Rounds and levels of a GPU at n = 8,000 with 1/2, 3/4,
9/10 and 1: uniform [0, n] 1727, 1231, 1397, 1303; [0, 10n] 3777, 2688, 3386, 3651; point sets 655, 533, 317, 367."""


@compiled
def match_by_dual_phases(rows, indptr, indices, data, state, trees, zeros, counts):
    """Match every given row; parameters and result as `tree.match_by_trees`.

    `counts`, int64 (5,), is incremented: dual phases, rows scanned, dual updates, phases, levels.
    """
    trees = with_lists(rows, indptr, trees)
    within = np.empty(len(trees.reached), np.int32)
    roots = free_rows(rows, state)
    while len(roots) > 0:
        delta, n_reached, n_within = _search(roots, indptr, indices, data, within, state, trees, counts)
        if delta >= state.none:
            forget(trees.reached[:n_reached], state, trees)
            return roots[0]
        covered = within[:n_within]
        cols, costs = _list_zeros(roots, covered, indptr, indices, data, delta, state, trees, zeros)
        if state.is_bounded:
            keep_shortest_paths(delta, roots, _rows_of(covered, state), cols, costs, state, zeros)
        roots = match_on_zeros(roots, cols, costs, state, trees, zeros, counts)
        _move_duals(delta, roots, covered, state, trees, zeros)
        forget(trees.reached[:n_reached], state, trees)
        counts[0] += 1
        counts[2] += delta > 0
    return -1


@compiled
def _search(roots, indptr, indices, data, within, state, trees, counts):
    """List the columns `within` Δ; return Δ or `none`, how many columns are reached, and how many are within Δ."""
    zero = state.r[roots[0]] - state.r[roots[0]]
    wanted = len(roots) * SINKS[0] // SINKS[1] + 1
    heap = [(zero, np.int32(-1))]
    heap.pop()
    delta = last_sink = state.none
    n_cols = len(state.v)
    n_reached = n_within = n_sinks = 0
    for i in roots:
        n_reached = _scan(i, zero, n_reached, heap, indptr, indices, data, state, trees)
        if state.row_bound[i] < state.none:
            heappush(heap, (key_of(zero, state.row_bound[i], 0, state.r[i]), np.int32(n_cols + i)))
    counts[1] += len(roots)
    while len(heap) > 0 and heap[0][0] <= delta:
        key, j = heappop(heap)
        if j < n_cols:
            if trees.covered[j] or key > trees.key[j]:
                continue
            trees.covered[j] = True
            within[n_within] = j
            n_within += 1
            if state.row_of_col[j] >= 0:
                counts[1] += 1
                n_reached = _scan(state.row_of_col[j], key, n_reached, heap, indptr, indices, data, state, trees)
                continue
        n_sinks += 1
        last_sink = key
        if n_sinks == wanted:
            delta = key
    delta = last_sink
    while n_within > 0 and trees.key[within[n_within - 1]] > delta:
        n_within -= 1
    return delta, n_reached, n_within


@compiled
def _scan(i, entered, n_reached, heap, indptr, indices, data, state, trees):
    """Row i enters: lower the keys of its columns; return how many are reached."""
    trees.entered[i] = entered
    lo = indptr[i]
    for e in range(lo, indptr[i + 1]):
        j = e - lo if indices is None else indices[e]
        if data[e] >= state.none or trees.covered[j]:
            continue
        key = key_of(entered, data[e], state.v[j], state.r[i])
        if key < trees.key[j]:
            if trees.key[j] >= state.none:
                trees.reached[n_reached] = j
                n_reached += 1
            trees.key[j] = key
            heappush(heap, (key, np.int32(j)))
    return n_reached


@compiled
def _list_zeros(roots, covered, indptr, indices, data, delta, state, trees, zeros):
    """List the pairs of zero slack at Δ of every row in the trees; return their columns and costs.

    Where some may stay unassigned: all pairs within Δ, and no distance to a sink is known yet but that of staying
    unassigned.
    """
    cols, costs = np.empty(64, np.int32), np.empty(64, state.v.dtype)
    n_zeros = 0
    for k in range(len(roots) + len(covered)):
        i = roots[k] if k < len(roots) else state.row_of_col[covered[k - len(roots)]]
        if k >= len(roots):
            zeros.col_dist[covered[k - len(roots)]] = 0 if i < 0 else _unassigned_dist(i, state)
        if i < 0:
            continue
        entered = trees.entered[i]
        zeros.row_dist[i] = _unassigned_dist(i, state)
        zeros.first[i] = n_zeros
        lo = indptr[i]
        if n_zeros + indptr[i + 1] - lo > len(cols):
            cols, costs = grown(cols, n_zeros + indptr[i + 1] - lo), grown(costs, n_zeros + indptr[i + 1] - lo)
        for e in range(lo, indptr[i + 1]):
            j = e - lo if indices is None else indices[e]
            if trees.key[j] > delta or data[e] >= state.none:
                continue
            key = key_of(entered, data[e], state.v[j], state.r[i])
            if key == trees.key[j] or (state.is_bounded and key <= delta):
                cols[n_zeros], costs[n_zeros] = j, data[e]
                n_zeros += 1
        zeros.last[i] = n_zeros
    return cols[:n_zeros], costs[:n_zeros]


@compiled
def _unassigned_dist(i, state):
    """Return how far row i is from staying unassigned; `none` if it may not."""
    return state.none if state.row_bound[i] >= state.none else max(state.row_bound[i] - state.r[i], 0)


@compiled
def _rows_of(cols, state):
    """Return the rows that the columns are matched with."""
    rows = state.row_of_col[cols]
    return rows[rows >= 0]


@compiled
def _move_duals(delta, roots, covered, state, trees, zeros):
    """Update the duals: free rows rise, columns within Δ fall, and matched edges get zero slack."""
    for i in roots:
        state.r[i] += min(delta, zeros.row_dist[i]) if state.is_bounded else delta
    for j in covered:
        fall = delta - trees.key[j]
        state.v[j] -= min(fall, zeros.col_dist[j]) if state.is_bounded else fall
        i = state.row_of_col[j]
        if i >= 0:
            state.r[i] = state.matched_cost[i] - state.v[j]
