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
from numba import njit, prange
from numba.np.ufunc import get_thread_id

from .atomics import claim, fetch_add
from .graph import BipartiteGraph, IntArray
from .threads import limited_threads

_WORTH_THREADS = 2048


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
    rows = graph.indptr, graph.indices
    frontiers: list[list[int]] = []
    augmentations: list[int] = []
    seconds: list[float] = []
    with limited_threads(threads) as n_threads:
        stacks = np.empty((n_threads, max(graph.n_rows, 1)), np.int32)
        while True:
            begin = perf_counter()
            phase = len(frontiers) + 1
            free_rows = np.flatnonzero(col_of_row < 0).astype(np.int32)
            level_of_row[:] = -1
            level_of_row[free_rows] = 0
            queue[: len(free_rows)] = free_rows
            tail[0] = len(free_rows)
            head, found = 0, False
            frontiers.append([])
            while head < tail[0] and not found:
                end = int(tail[0])
                frontiers[-1].append(end - head)
                level = len(frontiers[-1])
                expand = _expand if end - head >= _WORTH_THREADS else _expand_alone
                found = expand(*rows, row_of_col, level_of_row, queue, tail, head, end, met, phase, level) > 0
                head = end
            if not found:
                seconds.append(perf_counter() - begin)
                break
            edge_of_row[:] = graph.indptr[:-1]
            _augment(*rows, col_of_row, row_of_col, level_of_row, edge_of_row, taken, free_rows, stacks, phase)
            augmentations.append(int(np.count_nonzero(col_of_row[free_rows] >= 0)))
            seconds.append(perf_counter() - begin)
    return {
        "phases": len(frontiers),
        "levels": [len(sizes) for sizes in frontiers],
        "frontiers": frontiers,
        "augmentations": augmentations,
        "phase_seconds": seconds,
        "threads": n_threads,
    }


@njit(cache=True, nogil=True, parallel=True)
def _expand(
    indptr: IntArray,
    indices: IntArray,
    row_of_col: IntArray,
    level_of_row: IntArray,
    queue: IntArray,
    tail: IntArray,
    head: int,
    end: int,
    met: IntArray,
    phase: int,
    level: int,
) -> int:
    """Expand ``queue[head:end]`` into the given level. Returns how many of its rows saw a free column."""
    n_found = 0
    for q in prange(head, end):
        n_found += _expand_row(indptr, indices, row_of_col, level_of_row, queue, tail, queue[q], met, phase, level)
    return n_found


@njit(cache=True, nogil=True)
def _expand_alone(
    indptr: IntArray,
    indices: IntArray,
    row_of_col: IntArray,
    level_of_row: IntArray,
    queue: IntArray,
    tail: IntArray,
    head: int,
    end: int,
    met: IntArray,
    phase: int,
    level: int,
) -> int:
    """`_expand` on one thread: starting threads costs more than a small level."""
    n_found = 0
    for q in range(head, end):
        n_found += _expand_row(indptr, indices, row_of_col, level_of_row, queue, tail, queue[q], met, phase, level)
    return n_found


@njit(cache=True, nogil=True)
def _expand_row(
    indptr: IntArray,
    indices: IntArray,
    row_of_col: IntArray,
    level_of_row: IntArray,
    queue: IntArray,
    tail: IntArray,
    i: int,
    met: IntArray,
    phase: int,
    level: int,
) -> int:
    saw_free = 0
    for k in range(indptr[i], indptr[i + 1]):
        r = row_of_col[indices[k]]
        if r < 0:
            saw_free = 1
        elif met[r] != phase and claim(met, r, phase):
            level_of_row[r] = level
            queue[fetch_add(tail, 0, 1)] = r
    return saw_free


@njit(cache=True, nogil=True, parallel=True)
def _augment(
    indptr: IntArray,
    indices: IntArray,
    col_of_row: IntArray,
    row_of_col: IntArray,
    level_of_row: IntArray,
    edge_of_row: IntArray,
    taken: IntArray,
    free_rows: IntArray,
    stacks: IntArray,
    phase: int,
) -> None:
    for f in prange(len(free_rows)):
        stack = stacks[get_thread_id()]
        stack[0] = free_rows[f]
        depth = _search(indptr, indices, row_of_col, level_of_row, edge_of_row, taken, stack, phase)
        while depth >= 0:
            i = stack[depth]
            j = indices[edge_of_row[i] - 1]
            col_of_row[i] = j
            row_of_col[j] = i
            depth -= 1


@njit(cache=True, nogil=True)
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
