"""A maximum matching on the pairs of zero slack of a dual phase: phases of disjoint trees, a path of each.

A column that several rows of a level reach goes to the one with the least hash: equal costs spread over the rows, and
the answer is the same on any device.
"""

# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...jit.compiled import compiled
from ...paths.shortest_paths import unassigned_sink
from .state import TreeState, augment, free_rows

_NO_LEVEL = np.iinfo(np.int32).max


class Zeros(NamedTuple):
    """The pairs of zero slack of a dual phase, the trees on them, and the distances to the nearest sinks.

    `first`, `last` (rows,) say where a row's pairs lie in the lists of columns and costs; `may_leave` (rows,) tells the
    rows that may become unassigned. `level`, `claim` (columns,) are the level at which a column was reached,
    `_NO_LEVEL` for never, and its least claim; `root` (rows,) is a row's root; `sink_level`, `sink` (rows,) are the
    level and the column (row i that becomes unassigned: columns + i) of the first sink of each root. `col_dist`
    (columns,), `row_dist` (rows,) are the distances of `nearest_sinks`, where some may stay unassigned.
    """

    first: np.ndarray
    last: np.ndarray
    may_leave: np.ndarray
    level: np.ndarray
    claim: np.ndarray
    root: np.ndarray
    sink_level: np.ndarray
    sink: np.ndarray
    col_dist: np.ndarray
    row_dist: np.ndarray


def no_zeros(state: TreeState) -> Zeros:
    """Return the scratch space of the dual phases; searches in disjoint components share it."""
    n_rows, n_cols, dtype = len(state.r), len(state.v), state.v.dtype
    return Zeros(
        np.zeros(n_rows, np.int64),
        np.zeros(n_rows, np.int64),
        np.zeros(n_rows, np.bool_),
        np.full(n_cols, _NO_LEVEL, np.int32),
        np.zeros(n_cols, np.uint64),
        np.zeros(n_rows, np.int32),
        np.full(n_rows, _NO_LEVEL, np.int32),
        np.zeros(n_rows, np.int64),
        np.zeros(n_cols, dtype),
        np.zeros(n_rows, dtype),
    )


@compiled
def match_on_zeros(roots, cols, costs, state, trees, zeros, counts):
    """Match as many of the free rows `roots` as possible; return those that are left."""
    while len(roots) > 0 and _augment(roots, cols, costs, state, trees, zeros, counts) > 0:
        roots = free_rows(roots, state)
    return roots


@compiled
def _augment(roots, cols, costs, state, trees, zeros, counts):
    """Grow disjoint trees from all roots, and augment along the first path of each; return how many there were."""
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
        if zeros.sink_level[i] < _NO_LEVEL:
            sink = zeros.sink[i]
            augment(unassigned_sink(sink - n_cols) if sink >= n_cols else sink, state, trees)
            zeros.sink_level[i] = _NO_LEVEL
            n_paths += 1
    for j in reached:
        zeros.level[j] = _NO_LEVEL
    return n_paths


@compiled
def _claim(front, level, cols, costs, state, trees, zeros):
    """Let the rows of a level claim the columns that they have zero slack with; return those columns."""
    n_claimed = 0
    for i in front:
        n_claimed += zeros.last[i] - zeros.first[i]
    claimed = np.empty(n_claimed, np.int32)
    n_claimed = 0
    for i in front:
        if zeros.may_leave[i]:
            _note_sink(zeros.root[i], level, len(state.v) + i, zeros)
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


@compiled
def _next_front(claimed, level, state, trees, zeros):
    """Note sinks at the free columns; return the rows of the others whose trees have no sink yet."""
    front = np.empty(len(claimed), np.int32)
    n_front = 0
    for j in claimed:
        if state.row_of_col[j] < 0:
            _note_sink(zeros.root[trees.pred[j]], level, j, zeros)
    for j in claimed:
        i = state.row_of_col[j]
        if i >= 0:
            zeros.root[i] = zeros.root[trees.pred[j]]
            if zeros.sink_level[zeros.root[i]] >= level:
                front[n_front] = i
                n_front += 1
    return front[:n_front]


@compiled
def _note_sink(root, level, sink, zeros):
    """Note a sink; the smallest of the first level that has one stays."""
    if level < zeros.sink_level[root] or (level == zeros.sink_level[root] and sink < zeros.sink[root]):
        zeros.sink_level[root], zeros.sink[root] = level, sink


@compiled
def _claim_of(i, j):
    """Return the number by which rows of one level compare, as in `hungarian/claims.cuh`: 21 bits of hash, the row."""
    mask = np.uint64(0xFFFFFFFF)
    h = ((np.uint64(i) * np.uint64(0x9E3779B1)) ^ (np.uint64(j) * np.uint64(0x85EBCA77))) & mask
    h = ((h ^ (h >> np.uint64(15))) * np.uint64(0x2C1B3C6D)) & mask
    h = (h ^ (h >> np.uint64(13))) >> np.uint64(11)
    return (h << np.uint64(24)) | np.uint64(i)
