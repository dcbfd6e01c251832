"""Components and alternating reach on the GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..device import cuda
from .gpu_forest import cover
from .gpu_graph import THREADS, DeviceGraph, blocks
from .gpu_initial import given


def components_gpu(graph: DeviceGraph) -> tuple[Any, Any, int]:
    """Label the connected components as `components` does on the CPU.

    Returns
    -------
    row_label, col_label : cupy.ndarray of int32
    n_components : int
    """
    cp = cuda.cupy()
    n = graph.n_rows + graph.n_columns
    vertices = cp.arange(n, dtype=cp.int32)
    parent = vertices.copy()
    kernels = graph.kernels("cardinality/components.cu")
    kernels["cardinality_components_unite"](
        (blocks(8 * graph.n_rows),), (THREADS,), (graph.indptr, graph.indices, np.int32(graph.n_rows), parent)
    )
    kernels["cardinality_components_flatten"]((blocks(n),), (THREADS,), (np.int32(n), parent))
    number = cp.cumsum(parent == vertices, dtype=cp.int32) - 1  # roots are the first vertices of their components
    label = number[parent]
    return label[: graph.n_rows], label[graph.n_rows :], int(number[-1]) + 1 if n else 0


def alternating_reach_gpu(graph: DeviceGraph, col_of_row: Any) -> tuple[Any, Any]:
    """Rows and columns on alternating paths that start at free rows of a maximum matching, as boolean device arrays."""
    covered_rows, covered_columns = cover(graph, given(graph, col_of_row))
    return ~covered_rows, covered_columns
