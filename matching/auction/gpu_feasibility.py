"""Checks on the GPU before the first bid, with as little work as possible, whether all rows can be matched.

Edges: a greedy matching by cost, which in a gate leaves next to nothing to the cardinality kernels. Matrices with
forbidden pairs: counting, then a few of each row's allowed pairs, then all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..cardinality import gpu_graph
from ..cardinality.gpu_best import best_gpu
from ..cardinality.gpu_initial import cheap, given
from ..cardinality.gpu_structure import alternating_reach_gpu
from ..certificate.hall import of_first_block
from ..device import cuda
from ..device.arrays import any_true, count_true, counts_of
from ..errors import Infeasible
from ..problem.gpu_graph import CostGraph
from .feasibility import FEW_PAIRS

THREADS = cuda.declared("auction/allowed.cu", "THREADS")
GREEDY_THREADS, GREEDY_ROUNDS = 512, 8
COUNTING_THREADS = 2**18

Shortage = tuple[gpu_graph.DeviceGraph, Any]
"""A graph, and `col_of_row` of a maximum matching of it, which leaves some rows unassigned."""


def find_fault(graph: CostGraph, row_offsets: np.ndarray, col_offsets: np.ndarray) -> Infeasible | None:
    """Return why not all rows can be matched, None if they can: in the first block where it is so.

    Parameters
    ----------
    graph : CostGraph
        No block has more rows than columns.
    row_offsets, col_offsets : int64 (blocks + 1,)
        As in `Problem`.

    Raises
    ------
    DeviceMemoryExceeded
        Counts and a sample of forbidden pairs do not decide it, and a list of all pairs allowed does not fit.
    """
    short = _shortage_of_matrices(graph) if graph.is_dense else _shortage_of_edges(graph)
    if short is None:
        return None
    rows, columns = (cuda.to_host(graph.cp.flatnonzero(side)) for side in alternating_reach_gpu(*short))
    return of_first_block(rows, columns, row_offsets, col_offsets)


def _shortage_of_edges(graph: CostGraph) -> Shortage | None:
    col_of_row, n_free = match_greedily(graph)
    if n_free == 0:
        return None
    bipartite = _bipartite(graph, graph.indptr, graph.indices)
    return _shortage(bipartite, given(bipartite, col_of_row))


def match_greedily(graph: CostGraph) -> tuple[Any, int]:
    """Let each row have its cheapest free column, in a few rounds; return `col_of_row`, and the number of rows left."""
    cp, n, m = graph.cp, graph.n_rows, graph.n_cols
    kernel = graph.kernel("auction/greedy.cu", "auction_greedy", lanes=True, cooperative=True)
    col_of_row, row_of_col = cp.full(n, -1, cp.int32), cp.full(m, -1, cp.int32)
    key, asked = cp.full(m, np.uint64(2**64 - 1), cp.uint64), cp.empty(n, cp.int32)
    words = cp.zeros(2, cp.uint32)  # rows left, barrier
    blocks = min(cuda.resident_blocks(kernel, GREEDY_THREADS), max(-(-n * graph.lanes // GREEDY_THREADS), 1))
    kernel(
        (blocks,),
        (GREEDY_THREADS,),
        (
            *(np.int32(n), np.int32(m), *graph.edges(), np.int32(GREEDY_ROUNDS)),
            *(col_of_row, row_of_col, key, asked, words[0:1], words[1:2]),
        ),
    )
    return col_of_row, int(words[0])


def _shortage_of_matrices(graph: CostGraph) -> Shortage | None:
    counts = _allowed_of_rows(graph)
    if int(counts.sum()) == graph.n_rows * graph.width:
        return None
    of_rows, of_cols = counts.reshape(-1, graph.block_rows), _allowed_of_columns(graph).reshape(-1, graph.width)
    if are_enough(graph.cp, of_rows, of_cols):
        return None
    few = _listed(graph, counts, FEW_PAIRS)
    short = _shortage(few, cheap(few))
    if short is None:
        return None
    whole = _listed(graph, counts, graph.width)
    return _shortage(whole, given(whole, short[1]))


def are_enough(xp: Any, of_rows: Any, of_cols: Any) -> bool:
    """Tell whether counts of allowed pairs prove that all rows of every matrix can be matched; else nothing is known.

    Were s rows to share fewer than s columns (Hall 1935), each of them would have less than s allowed pairs, and each
    of the m - s + 1 or more other columns none with them, so at most n - s. Without an s with so many such rows and
    columns there is no such set.

    Parameters
    ----------
    xp : module
        Of the arrays: NumPy or CuPy.
    of_rows, of_cols : integers (matrices, n), (matrices, m), n ≤ m
        Allowed pairs of each row and each column.
    """
    n, m = of_rows.shape[1], of_cols.shape[1]
    s = xp.arange(1, n + 1)
    rows_below = _with_at_most(xp, of_rows, m)[:, :n]
    columns_below = _with_at_most(xp, of_cols, n)[:, n - 1 :: -1] if n else rows_below
    return not any_true((rows_below >= s) & (columns_below >= m - s + 1))


def _with_at_most(xp: Any, counts: Any, most: int) -> Any:
    """Return how many entries of each line are at most k, for k from 0 to `most`, (lines, most + 1)."""
    line = xp.arange(len(counts))[:, None] * (most + 1)
    numbers = counts_of((line + counts).reshape(-1), len(counts) * (most + 1))
    return xp.cumsum(numbers.reshape(-1, most + 1), axis=1)


def _allowed_of_rows(graph: CostGraph) -> Any:
    cp, n = graph.cp, graph.n_rows
    counts = cp.empty(n, cp.int64)
    kernel = graph.kernel("auction/allowed.cu", "auction_allowed_rows")
    kernel((_blocks(32 * n),), (THREADS,), (np.int32(n), np.int32(graph.n_cols), *graph.edges(), counts))
    return counts


def _allowed_of_columns(graph: CostGraph) -> Any:
    cp, m = graph.cp, graph.n_cols
    counts = cp.zeros(m, cp.int32)
    parts = min(graph.block_rows, -(-COUNTING_THREADS // m))
    kernel = graph.kernel("auction/allowed.cu", "auction_allowed_columns")
    arguments = (np.int32(graph.n_rows), np.int32(m), *graph.edges(), np.int32(parts), counts)
    kernel((_blocks(parts * m),), (THREADS,), arguments)
    return counts


def _listed(graph: CostGraph, counts: Any, most: int) -> gpu_graph.DeviceGraph:
    """Return the graph of at most so many of each row's allowed pairs, evenly spread over them."""
    cp, n = graph.cp, graph.n_rows
    listed = cp.zeros(n + 1, cp.int64)
    cp.cumsum(cp.minimum(counts, most), out=listed[1:])
    pairs = int(listed[-1])
    cuda.require_memory(5 * pairs + 128 * (n + graph.n_cols), f"{pairs} of the pairs that may be matched")
    columns = cp.empty(pairs, cp.int32)
    kernel = graph.kernel("auction/allowed.cu", "auction_allowed_list")
    arguments = (np.int32(n), np.int32(graph.n_cols), *graph.edges(), counts, listed, columns)
    kernel((_blocks(32 * n),), (THREADS,), arguments)
    return _bipartite(graph, listed, columns)


def _blocks(threads: int) -> int:
    return max(-(-threads // THREADS), 1)


def _bipartite(graph: CostGraph, indptr: Any, indices: Any) -> gpu_graph.DeviceGraph:
    """Return the graph as the cardinality kernels take it."""
    offset = np.int32 if len(indices) < 2**31 else np.int64
    return gpu_graph.DeviceGraph(indptr.astype(offset), indices, graph.n_rows, graph.n_cols)


def _shortage(bipartite: gpu_graph.DeviceGraph, matching: gpu_graph.DeviceMatching) -> Shortage | None:
    """Augment the matching to a maximum one; return what it is of and its columns, None if it has all rows."""
    best_gpu(bipartite, matching)
    matched = count_true(matching.col_of_row >= 0)
    return None if matched == bipartite.n_rows else (bipartite, matching.col_of_row)
