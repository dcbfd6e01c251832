"""The parallel alternating-tree variant: Algorithm 4 and its dual update, many paths a search, on the threads of a
CPU.

Trees grow from all unmatched rows at once, level by level. A level takes in every column whose slack is zero at the
present Δ; when there is none, Δ rises (Algorithm 9). Once some path has ended, the level is completed without
raising Δ, and each tree augments along one path (Algorithms 5 and 6): the one with the smallest sink. The papers
leave that choice, and the predecessor among rows of the same slack, to a race; here the smallest row of the level
wins, so that the answer depends neither on threads nor on the device. `paths/matrix_forest.cu` does the same
steps, and this is its twin in the tests.
"""

# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...jit.compiled import compiled
from ...paths.shortest_paths import unassigned_sink
from .state import TreeState, augment, forget, free_rows, key_of, with_lists
from .strips import expand
from .tree import update_duals


class Forest(NamedTuple):
    """What growing many trees needs beyond `Trees`.

    `root` (rows,) is the root of each row in the trees, `best` (rows,) each root's smallest sink, -1 for none. `inside`
    lists the rows in the trees, `sinks` the columns where paths ended, row i that becomes unassigned being column
    columns + i; as in `Trees`, all but the lists is shared.
    """

    root: np.ndarray
    best: np.ndarray
    inside: np.ndarray
    sinks: np.ndarray


def no_forest(state: TreeState) -> Forest:
    """Return the scratch space of a forest."""
    n = len(state.r)
    return Forest(np.empty(n, np.int32), np.full(n, -1, np.int64), np.empty(0, np.int32), np.empty(0, np.int64))


@compiled
def match_by_forests(rows, indptr, indices, data, state, trees, forest, strips, counts):
    """Match every given row, a path of every tree a search; parameters and result as `tree.match_by_trees`.

    `strips` is that of `no_strips`; what stays undone of a level is for any thread that takes it by `help_expanding`.
    `counts`, int64 (4 + k,), is incremented: searches, rows scanned, dual updates, levels, and the paths of the first k
    searches.
    """
    trees = with_lists(rows, indptr, trees)
    forest = Forest(
        forest.root, forest.best, np.empty(len(rows), np.int32), np.empty(len(rows) + len(trees.reached), np.int64)
    )
    while True:
        roots = free_rows(rows, state)
        if len(roots) == 0:
            return -1
        delta, n_sinks, n_reached, n_covered = _grow(roots, indptr, indices, data, state, trees, forest, strips, counts)
        if n_sinks == 0:
            return roots[0]
        update_duals(delta, roots, trees.covered_cols[:n_covered], state, trees)
        n_paths = _augment_each_tree(roots, forest.sinks[:n_sinks], state, trees, forest)
        forget(trees.reached[:n_reached], state, trees)
        if counts[0] < len(counts) - 4:
            counts[4 + counts[0]] += n_paths
        counts[0] += 1


@compiled
def _grow(roots, indptr, indices, data, state, trees, forest, strips, counts):
    """Grow trees until paths end; return (Δ, sizes of the lists of sinks, reached columns, covered columns)."""
    delta = state.r[roots[0]] - state.r[roots[0]]
    n_inside = n_sinks = n_reached = n_covered = 0
    for i in roots:
        trees.entered[i] = delta
        forest.root[i] = i
        forest.inside[n_inside] = i
        n_inside += 1
    n_expanded = 0
    while True:
        level = np.sort(forest.inside[n_expanded:n_inside])
        n_expanded = n_inside
        counts[1] += len(level)
        counts[3] += 1
        n_reached, least = _expand(level, n_reached, indptr, indices, data, state, trees, strips)
        if state.is_bounded:
            least = min(least, _least_unassigned(n_inside, state, trees, forest))
        if least >= state.none or (n_sinks > 0 and least > delta):
            return delta, n_sinks, n_reached, n_covered
        if least > delta:
            counts[2] += 1
            delta = least
        if state.is_bounded:
            n_sinks = _leave_unassigned(delta, n_inside, n_sinks, state, trees, forest)
        n_inside, n_sinks, n_covered = _enter(delta, n_inside, n_sinks, n_reached, n_covered, state, trees, forest)


@compiled
def _expand(level, n_reached, indptr, indices, data, state, trees, strips):
    """Lower the keys of the columns that the level's rows reach; return how many are reached, and the least key."""
    if indices is not None:
        n_reached = _expand_edges(level, n_reached, indptr, indices, data, state, trees)
        return n_reached, _least_key(n_reached, state, trees)
    n_cols = len(state.v)
    if n_reached == 0:
        for j in range(n_cols):
            trees.reached[j] = j
    if len(level) == 0:
        return n_cols, _least_key(n_cols, state, trees)
    return n_cols, expand(level, indptr, data, state, trees, strips)


@compiled
def _expand_edges(level, n_reached, indptr, indices, data, state, trees):
    for i in level:
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if trees.covered[j]:
                continue
            key = key_of(trees.entered[i], data[e], state.v[j], state.r[i])
            if key < trees.key[j]:
                if trees.key[j] >= state.none:
                    trees.reached[n_reached] = j
                    n_reached += 1
                trees.key[j], trees.pred[j], trees.pred_cost[j] = key, i, data[e]
    return n_reached


@compiled
def _unassigned_key(i, state, trees):
    """Return the Δ at which row i becomes unassigned."""
    bound = state.row_bound[i]
    return trees.entered[i] + (bound - state.r[i]) if bound < state.none else state.none


@compiled
def _least_key(n_reached, state, trees):
    """Return the least Δ at which a column enters; `none` for never."""
    least = state.none
    for k in range(n_reached):
        j = trees.reached[k]
        if not trees.covered[j]:
            least = min(least, trees.key[j])
    return least


_LEFT_UNASSIGNED = -2


@compiled
def _least_unassigned(n_inside, state, trees, forest):
    """Return the least Δ at which a row becomes unassigned; `none` for never."""
    least = state.none
    for k in range(n_inside):
        i = forest.inside[k]
        if forest.best[i] != _LEFT_UNASSIGNED:
            least = min(least, _unassigned_key(i, state, trees))
    return least


@compiled
def _leave_unassigned(delta, n_inside, n_sinks, state, trees, forest):
    """List the rows that become unassigned at the present Δ as sinks; return how many sinks there are."""
    for k in range(n_inside):
        i = forest.inside[k]
        if forest.best[i] != _LEFT_UNASSIGNED and _unassigned_key(i, state, trees) <= delta:
            forest.best[i] = _LEFT_UNASSIGNED
            forest.sinks[n_sinks] = len(state.v) + i
            n_sinks += 1
    return n_sinks


@compiled
def _enter(delta, n_inside, n_sinks, n_reached, n_covered, state, trees, forest):
    """Take in all columns of zero slack with the rows they are matched with; the unmatched ones are sinks."""
    for k in range(n_reached):
        j = trees.reached[k]
        if trees.covered[j] or trees.key[j] > delta:
            continue
        trees.covered[j] = True
        i = state.row_of_col[j]
        if i < 0:
            forest.sinks[n_sinks] = j
            n_sinks += 1
            continue
        trees.covered_cols[n_covered] = j
        n_covered += 1
        trees.entered[i] = delta
        forest.root[i] = forest.root[trees.pred[j]]
        forest.inside[n_inside] = i
        n_inside += 1
    return n_inside, n_sinks, n_covered


@compiled
def _augment_each_tree(roots, sinks, state, trees, forest):
    """Augment, in every tree where paths ended, the one with the smallest sink; return how many."""
    n_cols = len(state.v)
    for sink in sinks:
        if sink >= n_cols:
            forest.best[sink - n_cols] = -1
    for sink in sinks:
        root = forest.root[sink - n_cols] if sink >= n_cols else forest.root[trees.pred[sink]]
        if forest.best[root] < 0 or sink < forest.best[root]:
            forest.best[root] = sink
    n_paths = 0
    for root in roots:
        sink = forest.best[root]
        if sink >= 0:
            augment(unassigned_sink(sink - n_cols) if sink >= n_cols else sink, state, trees)
            forest.best[root] = -1
            n_paths += 1
    return n_paths
