"""Dense costs: solve the graph of cheapest pairs, certify all pairs, add what violates, repeat."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter_ns
from typing import Any

import numpy as np

from .gpu_certificate import certify
from .gpu_found_pairs import FoundPairs, with_pairs
from .gpu_graph import DeviceGraph, Prices
from .gpu_scaling import finish_free, solve_graph

THREADS = 256
CHEAPEST = 16
"""Pairs that each row and each column contributes to the graph."""
MOST_OF_A_ROW = 256
OFFERS = 4  # as in auction_candidates.cu
SMALLEST_SIDE = 384
"""Below it the matrix itself is the graph, unless there are many (500 rows, u10: 5 ms, with the matrix 9)."""
SMALLEST_BATCH = 4096
PRICING_ROUNDS = 30


def solve_dense(matrix: DeviceGraph, most_bids: int | None = None) -> tuple[Prices, int]:
    """As `gpu_scaling.solve_graph`, for one matrix or a batch of matrices of one shape."""
    if min(matrix.width, matrix.block_rows) < SMALLEST_SIDE and matrix.n_rows < SMALLEST_BATCH:
        return solve_graph(matrix, most_bids)
    began = perf_counter_ns()
    graph = _cheapest_pairs(matrix)
    graph_ns = perf_counter_ns() - began
    prices, stuck = solve_graph(graph, most_bids)
    prices.count(graph_ns=graph_ns)
    for _ in range(PRICING_ROUNDS):
        if stuck >= 0:
            break
        if prices.counts.get("waiting"):
            return prices, -1
        began = perf_counter_ns()
        duals, _, _, frayed = certify(graph, prices, prices.v)
        found, n_found = _violations(matrix, prices, duals)
        prices.count(pricing_rounds=1, pairs_added=n_found, check_ns=perf_counter_ns() - began)
        contradicted = found.number > 0
        wanting = matrix.cp.flatnonzero(contradicted if graph.is_bounded else contradicted | frayed)
        if len(wanting) == 0:
            return prices, -1
        graph = with_pairs(graph, found, n_found)
        if graph.is_bounded:
            prices, stuck = _again(graph, prices.counts)
        else:
            stuck = finish_free(graph, prices, prices.unmatch(wanting))
    prices, stuck = _again(matrix, prices.counts)
    prices.count(whole_matrix=1)
    return prices, stuck


def _again(graph: DeviceGraph, counts: dict[str, int]) -> tuple[Prices, int]:
    """Solve from the start, counting on."""
    prices, stuck = solve_graph(graph)
    prices.count(**counts)
    return prices, stuck


def _cheapest_pairs(matrix: DeviceGraph) -> DeviceGraph:
    """Return the graph of the pairs that are among the `CHEAPEST` of their row or column, or as cheap."""
    cp, n, m, dtype = matrix.cp, matrix.n_rows, matrix.n_cols, matrix.price_dtype
    row_limit, col_limit = cheapest_of_rows(matrix, CHEAPEST), cp.empty(m, dtype)
    minima = cp.empty((THREADS, m), dtype)
    sizes, rank = (np.int32(n), np.int32(m)), np.int32(CHEAPEST)
    file = "auction_candidates.cu"
    blocks = (-(-matrix.width // THREADS) * THREADS * (n // matrix.block_rows),)
    matrix.kernel(file, "auction_column_minima")(blocks, (THREADS,), (*sizes, *matrix.edges(), minima))
    matrix.kernel(file, "auction_column_limit")((m,), (THREADS,), (np.int32(m), minima, rank, col_limit))
    counts, most = cp.empty(n, cp.int64), np.int32(MOST_OF_A_ROW)
    warps = (-(-n * 32 // THREADS),)
    matrix.kernel(file, "auction_count_candidates")(
        warps, (THREADS,), (*sizes, *matrix.edges(), row_limit, col_limit, most, counts)
    )
    indptr = cp.zeros(n + 1, cp.int64)
    cp.cumsum(counts, out=indptr[1:])
    edges = int(indptr[-1])
    columns, costs = cp.empty(edges, cp.int32), cp.empty(edges, matrix.cost.dtype)
    matrix.kernel(file, "auction_list_candidates")(
        warps, (THREADS,), (*sizes, *matrix.edges(), row_limit, col_limit, indptr, columns, costs)
    )
    return replace(matrix, indptr=indptr, indices=columns, cost=costs, forbidden=None, width=0)


def cheapest_of_rows(matrix: DeviceGraph, rank: int) -> Any:
    """Return a cost of each row that at least `rank` of its pairs do not exceed, and seldom many more."""
    cp, n = matrix.cp, matrix.n_rows
    limit = cp.empty(n, matrix.price_dtype)
    arguments = (np.int32(n), np.int32(matrix.n_cols), *matrix.edges(), np.int32(rank), limit)
    matrix.kernel("auction_candidates.cu", "auction_row_limit")((n,), (THREADS,), arguments)
    return limit


def _violations(matrix: DeviceGraph, prices: Prices, duals: Any) -> tuple[FoundPairs, int]:
    """Return pairs of negative reduced cost, a few a row, and their number."""
    n = matrix.n_rows
    found, n_found = FoundPairs.room_for(matrix, OFFERS), matrix.cp.zeros(1, np.int32)
    kernel = matrix.kernel("auction_candidates.cu", "auction_violations")
    arguments = (np.int32(n), np.int32(matrix.n_cols), *matrix.edges(), prices.v, duals, *found.arrays(), n_found)
    kernel((-(-n * 32 // THREADS),), (THREADS,), arguments)
    return found, int(n_found.get()[0])
