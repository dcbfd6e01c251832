"""The cheap matching: every row takes its first free column.

The "simple greedy" start of both papers (Duff, Kaya & Uçar 2011, section 3: "cheap assignment"). Maximal, so at
least half of the maximum; one sequential pass over the rows.
"""

from __future__ import annotations

from ..jit.compiled import compiled
from .graph import BipartiteGraph, IntArray


def cheap(graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray) -> None:
    """Extend a matching in place to a maximal one."""
    _cheap(graph.indptr, graph.indices, col_of_row, row_of_col)


@compiled
def _cheap(indptr: IntArray, indices: IntArray, col_of_row: IntArray, row_of_col: IntArray) -> None:
    for i in range(len(col_of_row)):
        if col_of_row[i] >= 0:
            continue
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if row_of_col[j] < 0:
                col_of_row[i] = j
                row_of_col[j] = i
                break
