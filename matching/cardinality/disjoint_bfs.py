"""P-DBFS: many breadth-first searches at once, disjoint because a column belongs to the thread that claims it.

Azad, Halappanavar, Rajamanickam, Boman, Khan & Pothen, "Multithreaded algorithms for maximum matching in bipartite
graphs", IPDPS 2012; the multicore baseline P-DBFS of both GPU papers. Each free row grows an alternating tree; a
column, and the row matched to it, is entered only by the thread that claims it atomically. A thread augments at once
when it meets a free column: nobody else can touch its tree. A phase without an augmentation proves the maximum: then
all trees failed, and together they hold every vertex on an alternating path from a free row.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from numba import njit, prange
from numba.np.ufunc import get_thread_id

from .atomics import claim
from .graph import BipartiteGraph, IntArray
from .threads import limited_threads


def p_dbfs(
    graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray, *, threads: int | None = None
) -> dict[str, Any]:
    """Augment a matching in place to a maximum one, on `threads` threads (default: all). Size exact, pairs may vary."""
    owner = np.zeros(graph.n_columns, np.int32)
    parent = np.empty(graph.n_columns, np.int32)
    free_rows = np.flatnonzero(col_of_row < 0).astype(np.int32)
    augmentations: list[int] = []
    seconds: list[float] = []
    with limited_threads(threads) as n_threads:
        queues = np.empty((n_threads, max(graph.n_rows, 1)), np.int32)
        while not augmentations or augmentations[-1]:
            begin = perf_counter()
            phase = len(augmentations) + 1
            _phase(graph.indptr, graph.indices, col_of_row, row_of_col, owner, parent, free_rows, queues, phase)
            still_free = free_rows[col_of_row[free_rows] < 0]
            augmentations.append(len(free_rows) - len(still_free))
            free_rows = still_free
            seconds.append(perf_counter() - begin)
    return {
        "phases": len(augmentations),
        "augmentations": augmentations,
        "phase_seconds": seconds,
        "threads": n_threads,
    }


@njit(cache=True, nogil=True, parallel=True)
def _phase(
    indptr: IntArray,
    indices: IntArray,
    col_of_row: IntArray,
    row_of_col: IntArray,
    owner: IntArray,
    parent: IntArray,
    free_rows: IntArray,
    queues: IntArray,
    phase: int,
) -> None:
    for f in prange(len(free_rows)):
        end = _search(indptr, indices, row_of_col, owner, parent, free_rows[f], queues[get_thread_id()], phase)
        while end >= 0:
            i = parent[end]
            previous = col_of_row[i]
            col_of_row[i] = end
            row_of_col[end] = i
            end = previous


@njit(cache=True, nogil=True)
def _search(
    indptr: IntArray,
    indices: IntArray,
    row_of_col: IntArray,
    owner: IntArray,
    parent: IntArray,
    root: int,
    queue: IntArray,
    phase: int,
) -> int:
    """Grow one tree; returns the free column it met, or -1."""
    queue[0] = root
    head, tail = 0, 1
    while head < tail:
        i = queue[head]
        head += 1
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if owner[j] == phase or not claim(owner, j, phase):
                continue
            parent[j] = i
            if row_of_col[j] < 0:
                return j
            queue[tail] = row_of_col[j]
            tail += 1
    return -1
