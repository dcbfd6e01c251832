"""Shortest augmenting paths on a graph in device memory: one search a block, or all rows at once without bounds.

Each call waits for its kernel, whose counts it needs, so a clock on the host measures it.
"""

from __future__ import annotations

from time import perf_counter_ns
from typing import Any

import numpy as np

from ..device import cuda
from ..device.arrays import ascending
from ..problem.gpu_graph import PATH_BYTES, CostGraph, DeviceSolution

THREADS = 512
REACHED_PER_SCAN = 64
"""Columns that a search may reach per row it may scan; one that reaches more is too long."""
EDGES_OF_A_THREAD = 16
"""Edges of a graph for each thread of a forest of more than a block a multiprocessor: every phase reads them all."""
UNLIMITED = 2**31 - 1
_UNCLAIMED = UNLIMITED


def augment(graph: CostGraph, matching: DeviceSolution, rows: Any, most_scans: int) -> tuple[int, Any]:
    """Match the given rows by shortest augmenting paths, many at once.

    Needs matched edges of zero slack, and what is unassigned at its bound; `rows` ascending.

    Returns
    -------
    infeasible_row, left
        -1, or a row that must be matched and cannot be; and the rows, ascending, whose searches were given up after
        `most_scans` rows (UNLIMITED: none).
    """
    cp, m, n_rows = graph.cp, graph.n_cols, len(rows)
    if n_rows == 0:
        return -1, rows
    began = perf_counter_ns()
    kernel = graph.kernel("paths/path.cu", "auction_path", cooperative=True)
    threads = min(1024, max(64, -(-m // 1024) * 32)) if graph.is_dense else 64
    size = m if most_scans == UNLIMITED else min(m, REACHED_PER_SCAN * most_scans)
    per_slot = 4 * m + 16 * size + 1
    slots = min(cuda.resident_blocks(kernel, threads), n_rows, max(1, PATH_BYTES // per_slot))
    place = cp.zeros(slots * m, cp.int32)
    column, start_row = cp.empty(slots * size, cp.int32), cp.empty(slots * size, cp.int32)
    dist = cp.empty(slots * size, graph.dual_dtype)
    claim = cp.full(m, _UNCLAIMED, cp.int32)
    window, done = rows[:slots].copy(), cp.empty(slots, cp.int32)
    counts = cp.zeros(5, cp.uint64)  # three counts; as words: rows drawn, infeasible row, barrier, left
    words = counts[3:].view(cp.uint32)
    left = cp.empty(n_rows, cp.int32)
    kernel(
        (slots,),
        (threads,),
        (
            *(np.int32(m), *graph.edges(), graph.row_bound, matching.v, matching.col_of_row, matching.row_of_col),
            *(rows, np.int32(n_rows), window, done, words, claim, place, column, start_row, dist),
            *(np.int32(size), words[1:], left, words[3:], np.int32(most_scans), counts, words[2:]),
        ),
    )
    host = counts.get()
    steps, paths, scanned = map(int, host[:3])
    matching.spent.rows_scanned += scanned
    matching.count(path_steps=steps, shortest_paths=paths, paths_ns=perf_counter_ns() - began)
    infeasible_row, n_left = (int(word) for word in host.view(np.uint32)[[7, 9]])
    return _UNCLAIMED - infeasible_row if infeasible_row else -1, ascending(cp, left[:n_left])


def grow_forest(
    graph: CostGraph, matching: DeviceSolution, rows: Any, most_scans: int | None = None
) -> tuple[int, Any]:
    """Match the given rows where no dual has a bound, from all of them at once; return as `augment` does.

    Columns beyond the number of rows stay unassigned at whatever dual they have. Rows are left over once `most_scans`
    have been scanned.
    """
    cp, n, m, n_rows = graph.cp, graph.n_rows, graph.n_cols, len(rows)
    if n_rows == 0:
        return -1, rows
    began = perf_counter_ns()
    kernel = graph.kernel("paths/graph_forest.cu", "auction_forest", lanes=True, cooperative=True)
    dtype = graph.dual_dtype
    queues, bases, duals = cp.empty(2 * n, cp.int32), cp.empty(2 * n, dtype), cp.empty(n, dtype)
    dist, parent = cp.empty(m, dtype), cp.empty(m, cp.uint64)
    lowered, root = cp.empty(m, cp.int32), cp.empty(m, cp.int32)
    root_dist, root_col = cp.empty(n, dtype), cp.empty(n, cp.int32)
    counts = cp.zeros(16, cp.uint64)  # four counts, four lengths; as words: twelve sizes, infeasible row, barrier, left
    words = counts[8:].view(cp.uint32)
    sources = rows.copy()
    kernel(
        (_blocks_of_forest(graph, kernel),),
        (THREADS,),
        (
            *(np.int32(n), np.int32(m), *graph.edges(), matching.v, matching.col_of_row, matching.row_of_col),
            *(sources, np.int32(n_rows), cp.empty(m, cp.int32), queues, bases, cp.empty(2 * n, cp.int32)),
            *(cp.empty(n, cp.uint8), duals, dist, parent, lowered, root, root_dist, root_col),
            *(words, counts[4:], words[12:], counts, words[13:]),
            *(np.uint64(2**63 if most_scans is None else max(most_scans, 0)), words[14:]),
        ),
    )
    host = counts.get()
    forests, rounds, scanned, paths = map(int, host[:4])
    matching.is_searched = True
    matching.spent.rows_scanned += scanned
    forest_ns = perf_counter_ns() - began
    matching.count(forests=forests, forest_rounds=rounds, shortest_paths=paths, forest_ns=forest_ns)
    infeasible_row, n_left = (int(word) for word in host.view(np.int32)[[28, 30]])
    return infeasible_row - 1, ascending(cp, sources[:n_left])


def _blocks_of_forest(graph: CostGraph, kernel: Any) -> int:
    """Return one block a multiprocessor, or more where there are many edges.

    Rounds are short, so that a barrier of fewer blocks is faster (u10, 20,000: 24, not 33 ms).
    """
    for_edges = len(graph.cost) // (EDGES_OF_A_THREAD * THREADS)
    return min(cuda.resident_blocks(kernel, THREADS), max(cuda.multiprocessors(), for_edges))
