"""Initial matchings on the GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..device import cuda
from .gpu_graph import THREADS, DeviceGraph, DeviceMatching, blocks

LONG_ROW = 512  # from here on a row is read by a whole warp
_PERSISTENT_THREADS = 1024


def cheap(graph: DeviceGraph) -> DeviceMatching:
    """Give each row, in order, its first free column: simple greedy, the same matching as on the CPU.

    Source: Duff, Kaya, Uçar, ACM TOMS 38(2), 2011; the start of both papers of Deveci et al. (2013).
    """
    cp = cuda.cupy()
    col_of_row = cp.full(graph.n_rows, -1, cp.int32)
    row_of_col = cp.full(graph.n_columns, -1, cp.int32)
    free_rows = cp.empty(graph.n_rows, cp.int32)
    n_free = cp.zeros(1, cp.int32)
    lanes = 32 if graph.largest_degree > LONG_ROW else 1
    kernels = graph.kernels("cardinality/initial.cu")
    kernels[f"cardinality_initial_cheap_{lanes}"](
        (blocks(lanes * graph.n_rows),),
        (THREADS,),
        (graph.indptr, graph.indices, np.int32(graph.n_rows), row_of_col, free_rows, n_free),
    )
    kernels["cardinality_initial_partners"](
        (blocks(graph.n_columns),), (THREADS,), (np.int32(graph.n_columns), row_of_col, col_of_row)
    )
    return DeviceMatching(col_of_row, row_of_col, free_rows, int(n_free[0]))


def given(graph: DeviceGraph, col_of_row: Any) -> DeviceMatching:
    """Start from a matching that the caller has checked; -1 everywhere starts from nothing."""
    cp = cuda.cupy()
    col_of_row = cp.array(col_of_row, dtype=cp.int32)
    row_of_col = cp.full(graph.n_columns, -1, cp.int32)
    matched = cp.flatnonzero(col_of_row >= 0).astype(cp.int32)
    row_of_col[col_of_row[matched]] = matched
    free_rows = cp.empty(graph.n_rows, cp.int32)
    n_free = cp.zeros(1, cp.int32)
    kernel = graph.kernels("cardinality/initial.cu")["cardinality_initial_free_rows"]
    kernel((blocks(graph.n_rows),), (THREADS,), (graph.indptr, np.int32(graph.n_rows), col_of_row, free_rows, n_free))
    return DeviceMatching(col_of_row, row_of_col, free_rows, int(n_free[0]))


def karp_sipser(graph: DeviceGraph, share: int = 16) -> DeviceMatching:
    """Match vertices of degree one first, they cannot go wrong; else rows and columns of lowest degree.

    Source: Karp & Sipser, FOCS 1981. Best on irregular and random graphs, poor on ordered planar ones. Transposes the
    graph.
    """
    cp = cuda.cupy()
    n_rows, n_columns, other = graph.n_rows, graph.n_columns, graph.transposed
    row_total = cp.empty(n_rows, cp.uint64)
    column_total = cp.empty(n_columns, cp.uint64)
    col_of_row = cp.full(n_rows, -1, cp.int32)
    row_of_col = cp.full(n_columns, -1, cp.int32)
    kernels = graph.kernels("cardinality/karp_sipser.cu", cooperative=True)
    for side, total in ((graph, row_total), (other, column_total)):
        totals = kernels["cardinality_karp_sipser_totals"]
        grid = (cuda.resident_blocks(totals, THREADS),)
        totals(grid, (THREADS,), (side.indptr, side.indices, np.int32(side.n_rows), total))
    kernel = kernels["cardinality_karp_sipser"]
    kernel(
        (cuda.resident_blocks(kernel, _PERSISTENT_THREADS),),
        (_PERSISTENT_THREADS,),
        (
            graph.indptr,
            graph.indices,
            other.indptr,
            other.indices,
            np.int32(n_rows),
            np.int32(n_columns),
            row_total,
            column_total,
            col_of_row,
            row_of_col,
            cp.empty(n_rows + n_columns, cp.int32),
            cp.empty(n_rows, cp.int32),
            cp.empty(n_rows, cp.int32),
            cp.full(n_columns, np.uint64(2**64 - 1), cp.uint64),
            cp.empty(n_rows, cp.int32),
            np.int32(share),
            cp.zeros(4, cp.int32),
        ),
    )
    return given(graph, col_of_row)
