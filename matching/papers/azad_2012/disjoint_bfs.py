"""P-DBFS: many breadth-first searches at once, disjoint because a column belongs to the thread that claims it.

Azad, Halappanavar, Rajamanickam, Boman, Khan & Pothen, "Multithreaded algorithms for maximum matching in bipartite
graphs", IPDPS 2012; the multicore baseline P-DBFS of both GPU papers. Each free row grows an alternating tree; a
column, and the row matched to it, is entered only by the thread that claims it atomically. A thread augments at once
when it meets a free column: no other can touch its tree. A phase without an augmentation proves the maximum: then
all trees failed, and together they hold every vertex on an alternating path from a free row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...cardinality.graph import BipartiteGraph, IntArray
from ...cardinality.local_search import augment_back
from ...jit.compiled import compiled
from .atomics import claim, fetch_add
from .multicore import ROOTS_PER_TURN, search_in_phases, share, thread_count


def p_dbfs(
    graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray, *, threads: int | None = None
) -> dict[str, Any]:
    """Augment a matching in place to a maximum one, on `threads` threads (default: all). Size exact, pairs may vary.

    Each tree has levels of its own; ``frontiers`` counts the rows at each depth of all trees of a phase.
    """
    owner = np.zeros(graph.n_columns, np.int32)
    parent = np.empty(graph.n_columns, np.int32)
    n_threads = thread_count(threads)
    queues = np.empty((n_threads, max(graph.n_rows, 1)), np.int32)
    rows_at = np.zeros((n_threads, graph.n_rows + 1), np.int32)
    arrays = graph.indptr, graph.indices, col_of_row, row_of_col, owner, parent, queues, rows_at
    frontiers: list[list[int]] = []

    def phase(free_rows: IntArray, number: int) -> int:
        rows_at[:] = 0
        n_augmented = share(_phase, (arrays, free_rows, number), len(free_rows), n_threads, per_turn=ROOTS_PER_TURN)
        sizes = rows_at.sum(axis=0)
        frontiers.append(sizes[: np.argmin(sizes)].tolist())
        return n_augmented

    stats = search_in_phases(phase, col_of_row, n_threads)
    return {**stats, "levels": [len(sizes) for sizes in frontiers], "frontiers": frontiers}


@compiled
def _phase(thread: int, counter: IntArray, arrays: tuple[IntArray, ...], free_rows: IntArray, phase: int) -> int:
    """One thread's part: search from the free rows it takes and augment. Returns how many paths it found."""
    indptr, indices, col_of_row, row_of_col, owner, parent, queues, rows_at = arrays
    n_augmented = 0
    while True:
        first = fetch_add(counter, 0, ROOTS_PER_TURN)
        if first >= len(free_rows):
            return n_augmented
        for root in free_rows[first : first + ROOTS_PER_TURN]:
            end = _search(indptr, indices, row_of_col, owner, parent, root, queues[thread], rows_at[thread], phase)
            n_augmented += end >= 0
            augment_back(end, parent, col_of_row, row_of_col)


@compiled
def _search(
    indptr: IntArray,
    indices: IntArray,
    row_of_col: IntArray,
    owner: IntArray,
    parent: IntArray,
    root: int,
    queue: IntArray,
    rows_at: IntArray,
    phase: int,
) -> int:
    """Grow one tree, and count its rows at each depth; returns the free column it met, or -1."""
    queue[0] = root
    head, tail = 0, 1
    depth, end_of_level = 0, 1
    while head < tail:
        if head == end_of_level:
            depth += 1
            end_of_level = tail
        rows_at[depth] += 1
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
