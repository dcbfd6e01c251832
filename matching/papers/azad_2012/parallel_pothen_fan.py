"""Parallel Pothen–Fan: many depth-first searches at once, with lookahead and fairness.

Azad, Halappanavar, Rajamanickam, Boman, Khan & Pothen, "Multithreaded algorithms for maximum matching in bipartite
graphs", IPDPS 2012 (PPF+; P-PFP in the Euro-Par paper). As in P-DBFS a column belongs to the thread that claims it
atomically, so searches stay disjoint. A free column met by lookahead is claimed before it is used, and a column that
is free but claimed will be matched by its owner, so the lookahead cursors never need to go back.
A phase without an augmentation proves the maximum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...cardinality.graph import BipartiteGraph, IntArray
from ...cardinality.pothen_fan import augment
from ...jit.compiled import compiled
from .atomics import claim, fetch_add
from .multicore import ROOTS_PER_TURN, search_in_phases, share, thread_count


def parallel_pothen_fan(
    graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray, *, threads: int | None = None
) -> dict[str, Any]:
    """Augment a matching in place to a maximum one, on `threads` threads (default: all). Size exact, pairs may vary."""
    owner = np.zeros(graph.n_columns, np.int32)
    lookahead = graph.indptr[:-1].copy()
    edge_of_row = np.empty(graph.n_rows, graph.indptr.dtype)
    n_threads = thread_count(threads)
    stacks = np.empty((n_threads, max(graph.n_rows, 1)), np.int32)
    arrays = graph.indptr, graph.indices, col_of_row, row_of_col, owner, lookahead, edge_of_row, stacks

    def phase(free_rows: IntArray, number: int) -> int:
        arguments = arrays, free_rows, number, number % 2 == 0
        return share(_phase, arguments, len(free_rows), n_threads, per_turn=ROOTS_PER_TURN)

    return search_in_phases(phase, col_of_row, n_threads)


@compiled
def _phase(
    thread: int, counter: IntArray, arrays: tuple[IntArray, ...], free_rows: IntArray, phase: int, backwards: bool
) -> int:
    """One thread's part: search from the free rows it takes and augment. Returns how many paths it found."""
    indptr, indices, col_of_row, row_of_col, owner, lookahead, edge_of_row, stacks = arrays
    stack = stacks[thread]
    n_augmented = 0
    while True:
        first = fetch_add(counter, 0, ROOTS_PER_TURN)
        if first >= len(free_rows):
            return n_augmented
        for root in free_rows[first : first + ROOTS_PER_TURN]:
            stack[0] = root
            depth, j = _search(indptr, indices, row_of_col, owner, lookahead, edge_of_row, stack, phase, backwards)
            n_augmented += depth >= 0
            augment(stack, depth, j, col_of_row, row_of_col)


@compiled
def _search(
    indptr: IntArray,
    indices: IntArray,
    row_of_col: IntArray,
    owner: IntArray,
    lookahead: IntArray,
    edge_of_row: IntArray,
    stack: IntArray,
    phase: int,
    backwards: bool,
) -> tuple[int, int]:
    """Search from ``stack[0]``; returns the depth of the path's last row and its free column, or (-1, -1)."""
    depth = 0
    edge_of_row[stack[0]] = _first_edge(indptr, stack[0], backwards)
    is_new = True
    while depth >= 0:
        i = stack[depth]
        if is_new:
            column = _look_ahead(indptr, indices, row_of_col, owner, lookahead, i, phase)
            if column >= 0:
                return depth, column
        is_new = False
        k = edge_of_row[i]
        j = -1
        while indptr[i] <= k < indptr[i + 1] and not is_new:
            j = indices[k]
            k += -1 if backwards else 1
            is_new = owner[j] != phase and claim(owner, j, phase)
        edge_of_row[i] = k
        if is_new:
            depth += 1
            stack[depth] = row_of_col[j]
            edge_of_row[stack[depth]] = _first_edge(indptr, stack[depth], backwards)
        else:
            depth -= 1
    return -1, -1


@compiled
def _first_edge(indptr: IntArray, i: int, backwards: bool) -> int:
    return indptr[i + 1] - 1 if backwards else indptr[i]


@compiled
def _look_ahead(
    indptr: IntArray, indices: IntArray, row_of_col: IntArray, owner: IntArray, lookahead: IntArray, i: int, phase: int
) -> int:
    """The next free column of row i that this thread can claim, or -1."""
    k = lookahead[i]
    column = -1
    while k < indptr[i + 1] and column < 0:
        j = indices[k]
        k += 1
        if row_of_col[j] < 0 and owner[j] != phase and claim(owner, j, phase):
            column = j
    lookahead[i] = k
    return int(column)
