"""Parallel Hopcroft–Karp: levels by all threads together, then disjoint depth-first searches along them.

Azad, Halappanavar, Rajamanickam, Boman, Khan & Pothen, "Multithreaded algorithms for maximum matching in bipartite
graphs", IPDPS 2012 (P-HK in the Euro-Par paper). The breadth-first search expands one level at a time; a row enters
the next level by the thread that claims it atomically, at a place of the queue reserved by a fetch-and-add. The
depth-first searches claim rows in the same way; at least one of them succeeds whenever a path exists, so the phases
end with a search that meets no free column: the proof of the maximum.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from ...cardinality.graph import BipartiteGraph, IntArray
from ...jit.compiled import compiled
from ..phases import phase_statistics
from .atomics import claim, fetch_add
from .multicore import ROOTS_PER_TURN, share, thread_count

_ROWS_PER_TURN = 1024


def parallel_hopcroft_karp(
    graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray, *, threads: int | None = None
) -> dict[str, Any]:
    """Augment a matching in place to a maximum one, on `threads` threads (default: all). Size exact, pairs may vary."""
    level_of_row = np.empty(graph.n_rows, np.int32)
    edge_of_row = np.empty(graph.n_rows, graph.indptr.dtype)
    queue = np.empty(graph.n_rows, np.int32)
    tail = np.empty(1, np.int32)
    met = np.zeros(graph.n_rows, np.int32)
    taken = np.zeros(graph.n_columns, np.int32)
    frontiers: list[list[int]] = []
    augmentations: list[int] = []
    seconds: list[float] = []
    n_threads = thread_count(threads)
    stacks = np.empty((n_threads, max(graph.n_rows, 1)), np.int32)
    searching = graph.indptr, graph.indices, row_of_col, level_of_row, queue, tail, met
    augmenting = graph.indptr, graph.indices, col_of_row, row_of_col, level_of_row, edge_of_row, taken, stacks
    found = True
    while found:
        begin = perf_counter()
        phase = len(frontiers) + 1
        free_rows = np.flatnonzero(col_of_row < 0).astype(np.int32)
        level_of_row[:] = -1
        level_of_row[free_rows] = 0
        queue[: len(free_rows)] = free_rows
        tail[0] = len(free_rows)
        sizes, found = _levels(searching, tail, phase, n_threads)
        frontiers.append(sizes)
        if found:
            edge_of_row[:] = graph.indptr[:-1]
            arguments = augmenting, free_rows, phase
            augmentations.append(share(_augment, arguments, len(free_rows), n_threads, per_turn=ROOTS_PER_TURN))
        seconds.append(perf_counter() - begin)
    return {**phase_statistics(frontiers, augmentations, seconds), "threads": n_threads}


def _levels(arrays: tuple[Any, ...], tail: IntArray, phase: int, n_threads: int) -> tuple[list[int], bool]:
    """Breadth-first sizes of the levels, up to the first that sees a free column, and whether one does."""
    sizes: list[int] = []
    head, n_found = 0, 0
    while head < tail[0] and n_found == 0:
        end = int(tail[0])
        sizes.append(end - head)
        n_found = share(_expand, (arrays, head, end, phase, len(sizes)), end - head, n_threads, per_turn=_ROWS_PER_TURN)
        head = end
    return sizes, n_found > 0


@compiled
def _expand(
    _thread: int, counter: IntArray, arrays: tuple[IntArray, ...], head: int, end: int, phase: int, level: int
) -> int:
    """One thread's part of ``queue[head:end]``. Returns how many of its rows saw a free column."""
    indptr, indices, row_of_col, level_of_row, queue, tail, met = arrays
    n_found = 0
    while True:
        first = head + fetch_add(counter, 0, _ROWS_PER_TURN)
        if first >= end:
            return n_found
        for q in range(first, min(first + _ROWS_PER_TURN, end)):
            saw_free = False
            for k in range(indptr[queue[q]], indptr[queue[q] + 1]):
                r = row_of_col[indices[k]]
                if r < 0:
                    saw_free = True
                elif met[r] != phase and claim(met, r, phase):
                    level_of_row[r] = level
                    queue[fetch_add(tail, 0, 1)] = r
            n_found += saw_free


@compiled
def _augment(thread: int, counter: IntArray, arrays: tuple[IntArray, ...], free_rows: IntArray, phase: int) -> int:
    """One thread's part: search from the free rows it takes and augment. Returns how many paths it found."""
    indptr, indices, col_of_row, row_of_col, level_of_row, edge_of_row, taken, stacks = arrays
    stack = stacks[thread]
    n_augmented = 0
    while True:
        first = fetch_add(counter, 0, ROOTS_PER_TURN)
        if first >= len(free_rows):
            return n_augmented
        for root in free_rows[first : first + ROOTS_PER_TURN]:
            stack[0] = root
            depth = _search(indptr, indices, row_of_col, level_of_row, edge_of_row, taken, stack, phase)
            n_augmented += depth >= 0
            while depth >= 0:
                i = stack[depth]
                j = indices[edge_of_row[i] - 1]
                col_of_row[i] = j
                row_of_col[j] = i
                depth -= 1


@compiled
def _search(
    indptr: IntArray,
    indices: IntArray,
    row_of_col: IntArray,
    level_of_row: IntArray,
    edge_of_row: IntArray,
    taken: IntArray,
    stack: IntArray,
    phase: int,
) -> int:
    """Follow rising levels from ``stack[0]`` to a free column; returns the depth of the path's last row, or -1.

    A column is entered by the thread that claims it; the cursors stand just behind the path's edges.
    """
    depth = 0
    while depth >= 0:
        i = stack[depth]
        k = edge_of_row[i]
        if k == indptr[i + 1]:
            depth -= 1
            continue
        edge_of_row[i] = k + 1
        j = indices[k]
        if taken[j] == phase:
            continue
        r = row_of_col[j]
        if r >= 0 and level_of_row[r] != depth + 1:
            continue
        if not claim(taken, j, phase):
            continue
        if r < 0:
            return depth
        depth += 1
        stack[depth] = r
    return -1
