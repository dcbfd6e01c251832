"""As `above_least`, in device memory: whether a matching costs barely more than what every answer pays."""

from __future__ import annotations

import numpy as np

from ..problem.gpu_graph import CostGraph, Prices
from ..tolerance import SHARE

THREADS = 128
ROWS_OF_A_PART, MOST_PARTS = 16, 4096
"""Rows that a warp looks at one after the other of a problem by itself, at least, and the most warps."""


def barely_above_least(graph: CostGraph, prices: Prices, row_offsets: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """Return the blocks whose gap is more than a `SHARE` of what rows pay above their least, bool (blocks,).

    Parameters
    ----------
    graph : CostGraph
        Real costs; without prices no more rows than columns, as solvers have it.
    prices : Prices
        With a matching of all that must be matched.
    row_offsets : int64 (blocks + 1,)
    gap : float64 (blocks,)
        On the host.
    """
    cp, single = graph.cp, len(gap) == 1
    parts = max(1, min(-(-graph.n_rows // ROWS_OF_A_PART), MOST_PARTS))
    offsets = np.arange(parts + 1) * graph.n_rows // parts if single else row_offsets
    blocks = len(offsets) - 1
    above = cp.empty(blocks, cp.float64)
    enough = cp.asarray(np.broadcast_to(gap / SHARE, (blocks,)).copy())
    kernel = graph.kernel("certificate/above_least.cu", "rows_above_least")
    kernel(
        (-(-32 * blocks // THREADS),),
        (THREADS,),
        (
            *(np.int32(blocks), cp.asarray(offsets), *graph.edges(), graph.row_bound, graph.col_bound),
            *(prices.col_of_row, np.int32(graph.has_unmatched_cost), enough, above),
        ),
    )
    found = above.get().sum(keepdims=True) if single else above.get()
    return (found > 0) & (SHARE * found < gap)
