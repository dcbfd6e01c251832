"""Initial matchings on the GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..device import cuda
from .gpu_graph import THREADS, DeviceGraph, DeviceMatching, blocks

LONG_ROW = 512  # from here on a row is read by a whole warp


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
