"""Hopcroft–Karp: phases of shortest augmenting paths, disjoint and maximal in number.

Hopcroft & Karp, "An n^5/2 algorithm for maximum matchings in bipartite graphs", SIAM J. Comput. 1973; the
sequential baseline HK of both GPU papers. O(sqrt(n) · edges): each phase is one breadth-first search from all free
rows, level by level up to the first level with a free column, then one depth-first search over the level graph.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from ...cardinality.graph import BipartiteGraph, IntArray
from ...jit.compiled import compiled
from ..phases import phase_statistics


def hopcroft_karp(graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray) -> dict[str, Any]:
    """Augment a matching in place to a maximum one; returns the statistics of the run."""
    level_of_row = np.empty(graph.n_rows, np.int32)
    edge_of_row = np.empty(graph.n_rows, graph.indptr.dtype)
    queue = np.empty(graph.n_rows, np.int32)
    level_starts = np.empty(graph.n_rows + 2, np.int32)
    augmented: list[int] = []
    frontiers: list[list[int]] = []
    seconds: list[float] = []
    arrays = graph.indptr, graph.indices, col_of_row, row_of_col, level_of_row
    while True:
        begin = perf_counter()
        n_levels, found = levels_from_free_rows(*arrays, queue, level_starts)
        frontiers.append(np.diff(level_starts[: n_levels + 1]).tolist())
        if not found:
            seconds.append(perf_counter() - begin)
            break
        n_free = int(level_starts[1])
        augmented.append(augment_along_levels(*arrays, edge_of_row, queue[:n_free].copy(), queue, n_levels))
        seconds.append(perf_counter() - begin)
    return phase_statistics(frontiers, augmented, seconds)


@compiled
def levels_from_free_rows(
    indptr: IntArray,
    indices: IntArray,
    col_of_row: IntArray,
    row_of_col: IntArray,
    level_of_row: IntArray,
    queue: IntArray,
    level_starts: IntArray,
) -> tuple[int, bool]:
    """Breadth-first levels of rows, ended by the first level from which a free column is seen.

    Level l occupies ``queue[level_starts[l]:level_starts[l + 1]]``; unreached rows have level -1.
    Returns the number of levels and whether a free column was seen.
    """
    tail = 0
    for i in range(len(col_of_row)):
        if col_of_row[i] < 0:
            level_of_row[i] = 0
            queue[tail] = i
            tail += 1
        else:
            level_of_row[i] = -1
    level_starts[0] = 0
    head = 0
    level = 0
    found = False
    while head < tail and not found:
        end = tail
        level_starts[level + 1] = end
        while head < end:
            i = queue[head]
            head += 1
            for k in range(indptr[i], indptr[i + 1]):
                r = row_of_col[indices[k]]
                if r < 0:
                    found = True
                elif level_of_row[r] < 0:
                    level_of_row[r] = level + 1
                    queue[tail] = r
                    tail += 1
        level += 1
    return level, found


@compiled
def augment_along_levels(
    indptr: IntArray,
    indices: IntArray,
    col_of_row: IntArray,
    row_of_col: IntArray,
    level_of_row: IntArray,
    edge_of_row: IntArray,
    free_rows: IntArray,
    stack: IntArray,
    n_levels: int,
) -> int:
    """A maximal set of disjoint shortest augmenting paths; `edge_of_row` is a cursor, so every edge is tried once."""
    for i in range(len(col_of_row)):
        edge_of_row[i] = indptr[i]
    augmented = 0
    for root in free_rows:
        stack[0] = root
        depth = 0
        while depth >= 0:
            i = stack[depth]
            k = edge_of_row[i]
            if k == indptr[i + 1]:
                depth -= 1
                continue
            edge_of_row[i] = k + 1
            r = row_of_col[indices[k]]
            if r < 0:
                # the cursors stand just behind the path's edges
                for d in range(depth + 1):
                    s = stack[d]
                    j = indices[edge_of_row[s] - 1]
                    col_of_row[s] = j
                    row_of_col[j] = s
                augmented += 1
                break
            if level_of_row[r] == depth + 1 and depth + 1 < n_levels:
                depth += 1
                stack[depth] = r
    return augmented
