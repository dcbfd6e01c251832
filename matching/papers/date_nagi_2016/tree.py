"""Section 2.3: the sequential alternating-tree variant, with a stack.

The search grows trees from all unmatched rows and keeps for each column the least slack to a row of the trees. The
paper pushes the predecessor row of a column whose slack became zero, to look through all its pairs again; here the
column enters at once with the row it is matched with, which is what that second look finds.
"""

# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

from ...jit.compiled import compiled
from ...paths.shortest_paths import NO_PATH, unassigned_sink
from .state import augment, forget, free_rows, key_of, with_lists


@compiled
def match_by_trees(rows, indptr, indices, data, state, trees, counts):
    """Match every given row, one path a search.

    Parameters
    ----------
    rows : int (k,)
        Rows that reach no column which others reach.
    indptr, indices, data : the graph
        `indices` is None when the k-th entry of a row is column k.
    state, trees : TreeState, Trees
        Updated; reduced (Algorithm 1).
    counts : int64 (3,)
        Incremented: searches, rows scanned, dual updates.

    Returns
    -------
    int
        -1, or a row that must be matched and cannot be.
    """
    trees = with_lists(rows, indptr, trees)
    while True:
        roots = free_rows(rows, state)
        if len(roots) == 0:
            return -1
        counts[0] += 1
        sink, delta, n_reached, n_covered = _search(roots, indptr, indices, data, state, trees, counts)
        if sink == NO_PATH:
            return roots[0]
        update_duals(delta, roots, trees.covered_cols[:n_covered], state, trees)
        augment(sink, state, trees)
        forget(trees.reached[:n_reached], state, trees)


@compiled
def _search(roots, indptr, indices, data, state, trees, counts):
    """Grow trees until a path ends; return (its sink or `NO_PATH`, Δ, how many columns are reached and covered)."""
    delta = state.r[roots[0]] - state.r[roots[0]]
    unassigned, unassigned_key = -1, state.none
    n_stack = n_reached = n_covered = 0
    for i in roots:
        trees.entered[i] = delta
        trees.stack[n_stack] = i
        n_stack += 1
    while True:
        while n_stack > 0:
            n_stack -= 1
            i = trees.stack[n_stack]
            counts[1] += 1
            if (
                state.row_bound[i] < state.none
                and trees.entered[i] + (state.row_bound[i] - state.r[i]) < unassigned_key
            ):
                unassigned, unassigned_key = i, trees.entered[i] + (state.row_bound[i] - state.r[i])
                if unassigned_key <= delta:
                    return unassigned_sink(unassigned), delta, n_reached, n_covered
            lo = indptr[i]
            for e in range(lo, indptr[i + 1]):
                j = e - lo if indices is None else indices[e]
                if trees.covered[j] or data[e] >= state.none:
                    continue
                key = key_of(trees.entered[i], data[e], state.v[j], state.r[i])
                if key >= trees.key[j]:
                    continue
                if trees.key[j] >= state.none:
                    trees.reached[n_reached] = j
                    n_reached += 1
                trees.key[j], trees.pred[j], trees.pred_cost[j] = key, i, data[e]
                if key <= delta:
                    if state.row_of_col[j] < 0:
                        return j, delta, n_reached, n_covered
                    n_stack = _enter(j, delta, n_stack, n_covered, state, trees)
                    n_covered += 1
        counts[2] += 1
        delta = unassigned_key
        for k in range(n_reached):
            if not trees.covered[trees.reached[k]]:
                delta = min(delta, trees.key[trees.reached[k]])
        if delta >= state.none:
            return NO_PATH, delta, n_reached, n_covered
        if unassigned_key <= delta:
            return unassigned_sink(unassigned), delta, n_reached, n_covered
        for k in range(n_reached):
            j = trees.reached[k]
            if not trees.covered[j] and trees.key[j] <= delta:
                if state.row_of_col[j] < 0:
                    return j, delta, n_reached, n_covered
                n_stack = _enter(j, delta, n_stack, n_covered, state, trees)
                n_covered += 1


@compiled
def _enter(j, delta, n_stack, n_covered, state, trees):
    """Cover column j, and uncover the row it is matched with."""
    trees.covered[j] = True
    trees.covered_cols[n_covered] = j
    i = state.row_of_col[j]
    trees.entered[i] = delta
    trees.stack[n_stack] = i
    return n_stack + 1


@compiled
def update_duals(delta, roots, covered_cols, state, trees):
    """Update the duals after a search: rows of the trees rise and their columns fall by Δ since they entered."""
    for i in roots:
        state.r[i] += delta
    for j in covered_cols:
        i = state.row_of_col[j]
        if i >= 0:
            state.v[j] -= delta - trees.key[j]
            state.r[i] = state.matched_cost[i] - state.v[j]
