"""The curve of maximum cardinalities over radii, for pairs that lie on the GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..device import cuda
from .gpu_best import best_gpu
from .gpu_graph import DeviceGraph
from .gpu_initial import cheap, given


def cardinality_over_radii_gpu(
    rows: Any, columns: Any, distances: Any, shape: tuple[int, int], radii: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the maximum cardinality at each radius, as `cardinality_over_radii` does; pairs are CuPy's and checked."""
    cp = cuda.cupy()
    rows, columns, distances = _sorted_pairs(rows, columns, distances, shape)
    sizes = np.zeros(len(radii), np.int64)
    col_of_row = None
    for position in np.argsort(radii, kind="stable"):
        within = distances <= float(radii[position])
        graph = _graph(rows[within], columns[within], shape)
        matching = cheap(graph) if col_of_row is None else given(graph, col_of_row)
        if graph.n_edges:
            best_gpu(graph, matching)
        col_of_row = matching.col_of_row
        sizes[position] = int(cp.count_nonzero(col_of_row >= 0))
    return sizes


def _sorted_pairs(rows: Any, columns: Any, distances: Any, shape: tuple[int, int]) -> tuple[Any, Any, Any]:
    """Sort by row, then column; of a repeated pair the shortest stays."""
    cp = cuda.cupy()
    order = cp.argsort(distances, kind="stable")
    pair = (rows * shape[1] + columns)[order]
    by_pair = cp.argsort(pair, kind="stable")
    pair, order = pair[by_pair], order[by_pair]
    is_first = cp.ones(len(pair), cp.bool_)
    is_first[1:] = pair[1:] != pair[:-1]
    kept = order[is_first]
    return rows[kept], columns[kept], distances[kept]


def _graph(rows: Any, columns: Any, shape: tuple[int, int]) -> DeviceGraph:
    """Make the graph of sorted pairs."""
    cp = cuda.cupy()
    index = cp.int32 if len(rows) < 2**31 else cp.int64
    indptr = cp.searchsorted(rows, cp.arange(shape[0] + 1)).astype(index)
    return DeviceGraph(indptr, columns.astype(cp.int32), *shape)
