"""As `near_pairs`, in device memory: the few edges of a matrix or graph that may decide a doubt, fetched."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..problem import Problem
from ..problem.gpu_graph import CostGraph
from .near_pairs import MOST, of_edges

THREADS = 256


def near_pairs(graph: CostGraph, block: Problem, r: Any, v: Any, within: float) -> Problem | None:
    """Return a block by its edges with c_ij - r_i - v_j up to `within`, sparse and on the host; None if they are many.

    Parameters
    ----------
    graph : CostGraph
        Of the block, real costs.
    block : Problem
        One block, dense or sparse, on the device.
    r, v : float64 (rows,), (columns,)
        Feasible duals on the device.
    within : float
        More than rounding may take from a reduced cost.
    """
    cp, most = graph.cp, MOST * graph.n_rows
    edges, found = cp.empty(most, cp.int64), cp.zeros(1, cp.uint64)
    kernel = graph.kernel("certificate/near_pairs.cu", "edges_within")
    blocks = max(1, min(-(-32 * graph.n_rows // THREADS), 1 << 16))
    arguments = np.int32(graph.n_rows), *graph.edges(), r, v, np.float64(within), np.int64(most), edges, found
    kernel((blocks,), (THREADS,), arguments)
    count = int(found.get()[0])
    return of_edges(block, cp.sort(edges[:count]), cp).on_host() if count <= most else None
