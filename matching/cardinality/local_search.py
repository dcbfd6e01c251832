"""Bounded local searches: augment each free row along a shortest path if a free column is near.

Not a paper's algorithm but the first phases of Hopcroft–Karp taken one root at a time: where the matching fails only
here and there (well-ordered meshes after the cheap start) a search that gives up after `limit` rows completes
almost all of it without touching the rest of the graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit.compiled import compiled
from .graph import BipartiteGraph, IntArray


def local_search(graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray, limit: int) -> int:
    """Augment in place every free row that sees a free column within `limit` rows; returns how many stay free."""
    return _local_search(graph.indptr, graph.indices, col_of_row, row_of_col, limit)


@compiled
def _local_search(indptr: IntArray, indices: IntArray, col_of_row: IntArray, row_of_col: IntArray, limit: int) -> int:
    seen_by = np.full(len(row_of_col), -1, np.int32)
    parent = np.empty(len(row_of_col), np.int32)
    queue = np.empty(limit, np.int32)
    n_free = 0
    for root in range(len(col_of_row)):
        if col_of_row[root] >= 0 or indptr[root] == indptr[root + 1]:
            continue
        queue[0] = root
        head, tail = 0, 1
        sink = np.int32(-1)
        while head < tail and sink < 0:
            i = queue[head]
            head += 1
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                if seen_by[j] == root:
                    continue
                seen_by[j] = root
                parent[j] = i
                if row_of_col[j] < 0:
                    sink = j
                    break
                if tail < limit:
                    queue[tail] = row_of_col[j]
                    tail += 1
        if sink < 0:
            n_free += 1
            continue
        augment_back(sink, parent, col_of_row, row_of_col)
    return n_free


@compiled
def augment_back(sink: Any, parent: IntArray, col_of_row: IntArray, row_of_col: IntArray) -> None:
    """Match a free column with its parent, the column that this had with its own parent, and so on to a free row."""
    while sink >= 0:
        i = parent[sink]
        previous = col_of_row[i]
        col_of_row[i] = sink
        row_of_col[sink] = i
        sink = previous
