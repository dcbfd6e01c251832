"""Trees on a graph in device memory, from all free rows at once, each to its own sink (`paths/trees.cu`).

Where some may stay unassigned, the sparse Hungarian methods are made of them, and match the auction's last rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..device import cuda
from ..device.structs import struct
from ..problem.gpu_graph import CostGraph, DeviceSolution

THREADS = 512
_NO_SINK = cuda.declared("paths/trees.cu", "NO_SINK")
_WORDS = struct("paths/trees.cu", "Words")


def kernel_of(graph: CostGraph, name: str) -> Any:
    """Return a kernel of `paths/trees.cu` in the form for this graph's types."""
    return graph.kernel("paths/trees.cu", name, lanes=True, cooperative=True)


def blocks_of(graph: CostGraph, kernel: Any) -> int:
    """Return a block for each multiprocessor, fewer where there is less to do: barriers of few are faster."""
    work = -(-max(graph.n_rows * graph.lanes, graph.n_cols) // THREADS)
    return max(1, min(work, cuda.multiprocessors(), cuda.resident_blocks(kernel, THREADS)))


def grow_trees(graph: CostGraph, matching: DeviceSolution, free: Any, stats: dict[str, Any] | None = None) -> int:
    """Match the given free rows, and others again where a path needs their columns.

    Parameters
    ----------
    graph : CostGraph
        Sparse.
    matching : DeviceSolution
        Updated, what was spent on it too; matched edges have zero slack, all other unmatched rows at their bound.
    free : cupy.ndarray of int32 (k,)
    stats : dict, optional
        Counts and seconds are added, for the statistics.

    Returns
    -------
    int
        -1, or a row that must be matched and cannot be.
    """
    cp, n, m = graph.cp, graph.n_rows, graph.n_cols
    if len(free) == 0:
        return -1
    dtype, none = graph.dual_dtype, graph.none
    words = np.zeros(1, _WORDS)
    words["infeasible_row"] = _NO_SINK
    on_device = cp.asarray(words.view(np.uint8))
    sources = cp.empty(n, np.int32)
    sources[: len(free)] = free
    columns = (
        *(cp.full(m, none, dtype), cp.full(m, np.iinfo(np.uint64).max, np.uint64), cp.full(m, -1, np.int32)),
        *(cp.full(m, none, dtype), cp.empty(m, np.int32), cp.empty(m, np.int32)),
    )
    rows = (*(cp.empty(n, dtype) for _ in range(3)), cp.empty(n, np.int32), cp.empty(n, np.int32))
    kernel = kernel_of(graph, "hungarian_sparse")
    kernel(
        (blocks_of(graph, kernel),),
        (THREADS,),
        (
            *(np.int32(n), np.int32(m), *graph.edges(), graph.row_bound),
            *(matching.v, matching.col_of_row, matching.row_of_col, *columns, *rows),
            *(cp.empty(2 * n, np.int32), on_device),
            *(sources, np.int32(len(free)), cp.empty(n, np.int32), cp.empty(2 * n, np.int32), cp.empty(2 * n, dtype)),
        ),
    )
    done = on_device.get().view(_WORDS)[0]
    matching.spent.rows_scanned += int(done["rows_scanned"])
    if stats is not None:
        _add(stats, done)
    return -1 if done["infeasible_row"] == _NO_SINK else int(done["infeasible_row"])


def _add(stats: dict[str, Any], done: np.void) -> None:
    """Add what one launch counted; each search ends in a dual update."""
    more = {name: int(done[name]) for name in ("searches", "rows_scanned", "levels", "sweeps")}
    more["dual_updates"] = int(done["searches"])
    more |= {f"{step}_s": done[f"{clock}_ns"] / 1e9 for step, clock in _CLOCKS.items()}
    for name, number in more.items():
        stats[name] = stats.get(name, 0) + number


_CLOCKS = {"grow": "grow", "dual_update": "settle", "augment": "augment"}
