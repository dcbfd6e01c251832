"""Section 2.2: the sequential classical variant, with a stack and an adjacency list of the pairs of zero slack.

The list is compressed again only after a dual update, as section 4.3.1 advises.
"""

# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

import numpy as np

from ...jit.compiled import compiled
from ...paths.shortest_paths import NO_PATH, grown, unassigned_sink
from ...paths.state import FREE, UNASSIGNED
from .state import augment, forget, free_rows, key_of, with_lists
from .tree import update_duals


@compiled
def match_by_zeros(rows, indptr, indices, data, state, trees, first, last, counts):
    """Match every given row, one path a search; parameters and result as `tree.match_by_trees`.

    `first`, `last`, int64 (rows,), are scratch: where each row's pairs of zero slack lie in their list. `counts`, int64
    (4,), is incremented: searches, rows scanned, dual updates, compressions.
    """
    trees = with_lists(rows, indptr, trees)
    zeros, costs = np.empty(64, np.int32), np.empty(64, state.v.dtype)
    changed = True
    while True:
        roots = free_rows(rows, state)
        if len(roots) == 0:
            return -1
        counts[0] += 1
        delta = state.r[roots[0]] - state.r[roots[0]]
        n_reached = 0
        for i in roots:
            trees.entered[i] = delta
        n_stack = _uncovered_rows(roots, n_reached, state, trees)
        while True:
            if changed:
                counts[3] += 1
                zeros, costs = _compress(rows, indptr, indices, data, delta, state, trees, first, last, zeros, costs)
                changed = False
            if delta > 0:
                n_stack = _uncovered_rows(roots, n_reached, state, trees)
            sink, n_reached = _search(delta, n_stack, n_reached, first, last, zeros, costs, state, trees, counts)
            if sink != NO_PATH:
                break
            counts[2] += 1
            delta = _least_slack(roots, n_reached, indptr, indices, data, state, trees)
            changed = True
            if delta >= state.none:
                forget(trees.reached[:n_reached], state, trees)
                return roots[0]
        update_duals(delta, roots, trees.reached[:n_reached], state, trees)
        augment(sink, state, trees)
        forget(trees.reached[:n_reached], state, trees)
        changed = delta > 0


@compiled
def _uncovered_rows(roots, n_reached, state, trees):
    """Stack all rows of the trees; return how many."""
    n_stack = 0
    for i in roots:
        trees.stack[n_stack] = i
        n_stack += 1
    for k in range(n_reached):
        trees.stack[n_stack] = state.row_of_col[trees.reached[k]]
        n_stack += 1
    return n_stack


@compiled
def _search(delta, n_stack, n_reached, first, last, zeros, costs, state, trees, counts):
    """Follow pairs of zero slack; return the sink of a path, or `NO_PATH` without one, and how much is reached."""
    while n_stack > 0:
        n_stack -= 1
        i = trees.stack[n_stack]
        counts[1] += 1
        if state.row_bound[i] < state.none and trees.entered[i] + (state.row_bound[i] - state.r[i]) <= delta:
            return unassigned_sink(i), n_reached
        for e in range(first[i], last[i]):
            j = zeros[e]
            if trees.covered[j] or state.col_of_row[i] == j:
                continue
            trees.pred[j], trees.pred_cost[j], trees.key[j] = i, costs[e], delta
            if state.row_of_col[j] < 0:
                return j, n_reached
            trees.covered[j] = True
            trees.reached[n_reached] = j
            n_reached += 1
            i_new = state.row_of_col[j]
            trees.entered[i_new] = delta
            trees.stack[n_stack] = i_new
            n_stack += 1
    return NO_PATH, n_reached


@compiled
def _compress(rows, indptr, indices, data, delta, state, trees, first, last, zeros, costs):
    """List the pairs of zero slack, row by row; a row that is not in the trees yet would enter at the present Δ."""
    n_zeros = 0
    for i in rows:
        first[i] = last[i] = n_zeros
        if state.col_of_row[i] == UNASSIGNED:
            continue
        entered = trees.entered[i] if _in_trees(i, state, trees) else delta
        lo = indptr[i]
        if n_zeros + indptr[i + 1] - lo > len(zeros):
            zeros, costs = grown(zeros, n_zeros + indptr[i + 1] - lo), grown(costs, n_zeros + indptr[i + 1] - lo)
        for e in range(lo, indptr[i + 1]):
            j = e - lo if indices is None else indices[e]
            if (
                data[e] < state.none
                and not trees.covered[j]
                and key_of(entered, data[e], state.v[j], state.r[i]) <= delta
            ):
                zeros[n_zeros], costs[n_zeros] = j, data[e]
                n_zeros += 1
        last[i] = n_zeros
    return zeros, costs


@compiled
def _least_slack(roots, n_reached, indptr, indices, data, state, trees):
    """Return the least Δ at which an uncovered row has a new zero slack or becomes unassigned; `none` for never."""
    least = state.none
    for k in range(_uncovered_rows(roots, n_reached, state, trees)):
        i = trees.stack[k]
        if state.row_bound[i] < state.none:
            least = min(least, trees.entered[i] + (state.row_bound[i] - state.r[i]))
        lo = indptr[i]
        for e in range(lo, indptr[i + 1]):
            j = e - lo if indices is None else indices[e]
            if not trees.covered[j] and data[e] < state.none:
                least = min(least, key_of(trees.entered[i], data[e], state.v[j], state.r[i]))
    return least


@compiled
def _in_trees(i, state, trees):
    return state.col_of_row[i] == FREE or trees.covered[state.col_of_row[i]]
