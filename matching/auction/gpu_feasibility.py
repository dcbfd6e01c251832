"""Whether all rows can be matched, asked on the GPU of the cardinality kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import cuda
from ..cardinality import graph_gpu
from ..cardinality.best_gpu import best_gpu
from ..cardinality.initial_gpu import cheap, given
from .gpu_graph import DeviceGraph


def can_match_all_rows(graph: DeviceGraph, col_of_row: Any = None) -> bool:
    """Tell whether a matching of all rows exists.

    Parameters
    ----------
    graph : DeviceGraph
    col_of_row : int32 (rows,) on the device, optional
        A matching to start from; it is not changed.
    """
    if not graph.may_fail:
        return True
    pairs = _pairs_of_matrices(graph) if graph.is_dense else (graph.indptr, graph.indices)
    if pairs is None:
        return True
    indptr, indices = pairs
    offset = np.int32 if len(indices) < 2**31 else np.int64
    bipartite = graph_gpu.DeviceGraph(indptr.astype(offset), indices, graph.n_rows, graph.n_cols)
    if bool((indptr[1:] == indptr[:-1]).any()):
        return False
    matching = cheap(bipartite) if col_of_row is None else given(bipartite, col_of_row)
    best_gpu(bipartite, matching)
    return int((matching.col_of_row >= 0).sum()) == graph.n_rows


def _pairs_of_matrices(graph: DeviceGraph) -> tuple[Any, Any] | None:
    """Return the allowed pairs of dense costs as (indptr, indices), None if they are all."""
    cp = graph.cp
    allowed = graph.cost < graph.none
    if graph.forbidden is not None:
        allowed &= ~graph.forbidden
    if bool(allowed.all()):
        return None
    allowed = allowed.reshape(graph.n_rows, graph.width)
    indptr = cp.zeros(graph.n_rows + 1, cp.int64)
    cp.cumsum(allowed.sum(axis=1), out=indptr[1:])
    cuda.require_memory(20 * int(indptr[-1]), "the pairs that may be matched")
    rows, cols = cp.nonzero(allowed)
    return indptr, (cols + rows // graph.block_rows * graph.width).astype(cp.int32)
