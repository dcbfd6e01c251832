"""As `above_least`, in device memory: whether a matching costs barely more than what every answer pays."""

from __future__ import annotations

import numpy as np

from ..device import cuda
from ..problem.gpu_graph import CostGraph, DeviceSolution
from ..tolerance import SHARE

_FILE = "certificate/above_least.cu"
_MOST_THREADS = cuda.declared(_FILE, "MOST_THREADS")
FIRST_ROWS, FIRST_OF_BLOCK = 1024, 4
"""Rows that are looked at first, of a problem by itself and of each block of a batch: mostly they pay enough."""
MORE = 16
"""Times as many rows are looked at where those did not: of a million, some thousands mostly do."""
_WIDE = 1024
"""Edges of a row on average from which on it has more than a warp."""


def barely_above_least(
    graph: CostGraph, matching: DeviceSolution, row_offsets: np.ndarray, gap: np.ndarray
) -> np.ndarray:
    """Return the blocks whose gap is more than a `SHARE` of what rows pay above their least, bool (blocks,).

    Parameters
    ----------
    graph : CostGraph
        Real costs; without unmatched costs no more rows than columns, as solvers have it. Of two point sets it has the
        nearest pairs and all that duals asked for; others are not looked at.
    matching : DeviceSolution
        Of all that must be matched.
    row_offsets : int64 (blocks + 1,)
    gap : float64 (blocks,)
        On the host.
    """
    few, n_rows = FIRST_ROWS if len(gap) == 1 else FIRST_OF_BLOCK, np.diff(row_offsets)
    pay, lacking = np.zeros(len(gap)), np.ones(len(gap), np.bool_)
    while lacking.any():
        ends = row_offsets[:-1] + np.where(lacking, np.minimum(few, n_rows), 0)
        pay = np.where(lacking, _above(graph, matching, row_offsets, ends), pay)
        lacking = (SHARE * pay < gap) & (few < n_rows)
        few *= MORE
    return (pay > 0) & (SHARE * pay < gap)


def _above(graph: CostGraph, matching: DeviceSolution, row_offsets: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return by how much the rows of each block, up to its end here, pay more than their least, (blocks,)."""
    cp, counts = graph.cp, ends - row_offsets[:-1]
    block = np.repeat(np.arange(len(counts)), counts)
    rows = np.arange(len(block)) + (row_offsets[:-1] - np.cumsum(counts) + counts)[block]
    if not len(rows):
        return np.zeros(len(counts))
    above = cp.empty(len(rows), cp.float64)
    kernel = graph.kernel(_FILE, "rows_above_least")
    threads = _MOST_THREADS if len(graph.cost) > _WIDE * graph.n_rows else 32
    arguments = cp.asarray(rows), *graph.edges(), graph.row_bound, graph.col_bound, matching.col_of_row
    kernel((len(rows),), (threads,), (*arguments, np.int32(graph.has_unmatched_cost), above))
    return np.bincount(block, cuda.to_host(above), len(counts))
