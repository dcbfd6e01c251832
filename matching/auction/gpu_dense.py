"""Dense costs: solve the graph of cheapest pairs, certify all pairs, add what violates, repeat.

Where cheapest pairs say little, as in dense clusters, the matrix itself is solved, once that would have been faster.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter_ns
from typing import Any

import numpy as np

from ..certificate.gpu_certificate import certify
from ..device import cuda
from ..problem.convert import are_nearly_square
from ..problem.gpu_graph import CostGraph, DeviceSolution
from .free_rows import prices_without_free_rows, with_free_rows
from .gpu_bids import bid
from .gpu_found_pairs import FoundPairs, with_pairs
from .gpu_scaling import (
    TOO_HARD,
    falling,
    finish_free,
    has_phases,
    has_room,
    is_one_matrix,
    is_spent,
    range_of_costs,
    scans_left,
    solve_graph,
    without_bounds,
)
from .matrix_instead import MATRIX_READS
from .scaling import PHASES, STEP

THREADS, OFFERS = (cuda.declared("auction/candidates.cu", name) for name in ("THREADS", "OFFERS"))
CHEAPEST = 16
"""Pairs that each row and each column contributes to the graph."""
MOST_OF_A_ROW = 256
SMALLEST_SIDE = 384
"""Below it the matrix itself is the graph, unless there are many (500 rows, u10: 5 ms, with the matrix 9)."""
SMALLEST_BATCH = 4096
PRICING_ROUNDS = 30
PHASE_ROUNDS = 600
"""Rounds of a phase on the cheapest pairs (as `bid` has them), after which these are taken to say too little."""
NEAR, FIRST_IN_MATRIX = 8, 1.5
"""Which of a row's cheapest pairs sets the scale, and the first increment in its unit, as in `scaling`."""
MATRIX_LEAVES, MATRIX_ROUNDS = 0.02, 8000
"""Share of the rows left by a phase on the matrix, and the rounds after which it is the last."""


def solve_dense(matrix: CostGraph, most_bids: int | None = None) -> tuple[DeviceSolution, int]:
    """As `gpu_scaling.solve_graph`, for one matrix or a batch of matrices of one shape."""
    if min(matrix.width, matrix.block_rows) < SMALLEST_SIDE and matrix.n_rows < SMALLEST_BATCH:
        return solve_graph(matrix, most_bids)
    began = perf_counter_ns()
    graph = _cheapest_pairs(matrix)
    graph_ns = perf_counter_ns() - began
    is_one = matrix.n_rows == matrix.block_rows
    matching, infeasible_row = solve_graph(
        graph, most_bids, phase_rounds=PHASE_ROUNDS if is_one and most_bids is None else None
    )
    matching.count(graph_ns=graph_ns)
    if infeasible_row == TOO_HARD:
        return _on_the_whole(matrix, matching, most_bids)
    reads = _most_reads(matrix) if most_bids is None else np.inf
    for _ in range(PRICING_ROUNDS):
        if infeasible_row >= 0:
            break
        if matching.waiting:
            return matching, -1
        began = perf_counter_ns()
        duals, _, _, has_slack = certify(graph, matching, matching.v)
        found, n_found = _violations(matrix, matching, duals)
        matching.spent.pricing_rounds += 1
        matching.count(pairs_added=n_found, check_ns=perf_counter_ns() - began)
        contradicted = found.number > 0
        violated = matrix.cp.flatnonzero(contradicted if graph.is_bounded else contradicted | has_slack)
        if len(violated) == 0:
            return matching, -1
        if is_spent(matching, violated, most_bids):
            matching.unmatch(violated[matching.col_of_row[violated] >= 0])
            return matching, -1
        if graph.is_bounded and scans_left(graph, matching, reads) == 0:
            break
        graph = with_pairs(graph, found, n_found)
        if graph.is_bounded:
            matching, infeasible_row = _again(graph, matching, most_bids)
        else:
            infeasible_row = finish_free(graph, matching, matching.unmatch(violated), most_bids)
    return _on_the_whole(matrix, matching, most_bids)


def _most_reads(matrix: CostGraph) -> float:
    """Return how many costs the graphs may be asked for before the matrix itself is solved; +inf for no end.

    Graphs with bounds are solved from the start every time, which in dense clusters is eight times and more.
    """
    return MATRIX_READS * len(matrix.cost) if is_one_matrix(matrix) and not has_phases(matrix) else np.inf


def _again(graph: CostGraph, earlier: DeviceSolution, most_bids: int | None) -> tuple[DeviceSolution, int]:
    """Solve from the start, counting on."""
    matching, infeasible_row = solve_graph(graph, None if most_bids is None else most_bids - earlier.spent.bids)
    matching.count_on(earlier)
    return matching, infeasible_row


def _on_the_whole(matrix: CostGraph, on_cheapest: DeviceSolution, most_bids: int | None) -> tuple[DeviceSolution, int]:
    """Solve the matrix itself, counting on from what its cheapest pairs took."""
    if most_bids is None and is_one_matrix(matrix):
        matching, infeasible_row = solve_in_phases(matrix)
        matching.count_on(on_cheapest)
    else:
        matching, infeasible_row = _again(matrix, on_cheapest, most_bids)
    matching.count(whole_matrix=1)
    return matching, infeasible_row


def solve_in_phases(matrix: CostGraph) -> tuple[DeviceSolution, int]:
    """As `gpu_scaling.solve_graph`, for one matrix of which the cheapest pairs say little."""
    if not matrix.is_bounded:
        return solve_graph(matrix, start=_prices_of_phases(matrix))
    if matrix.has_unmatched_cost or not are_nearly_square(matrix.n_rows, matrix.n_cols):
        return solve_graph(matrix)
    square = _squared(matrix)
    matching, infeasible_row = solve_graph(square, start=_prices_of_phases(square))
    return _cut(matching, matrix), infeasible_row


def _squared(matrix: CostGraph) -> CostGraph:
    """Return the matrix with rows that take the columns left over, at no cost: all prices are free then."""
    cp, n, m = matrix.cp, matrix.n_rows, matrix.n_cols
    cuda.require_memory(matrix.cost.itemsize * m * m, f"{n} x {m} costs made square")
    cost, forbidden = with_free_rows(cp, matrix.cost, matrix.forbidden, m)
    free = cp.full(m, matrix.none, matrix.dual_dtype)
    return replace(
        matrix, n_rows=m, block_rows=m, cost=cost, forbidden=forbidden, row_bound=free, col_bound=free, is_bounded=False
    )


def _cut(matching: DeviceSolution, matrix: CostGraph) -> DeviceSolution:
    """Return a matching of `_squared(matrix)` as one of the matrix."""
    cp, n = matrix.cp, matrix.n_rows
    row_of_col = cp.where(matching.row_of_col < n, matching.row_of_col, np.int32(-1))
    v = prices_without_free_rows(cp, matching.v, row_of_col < 0, matrix.col_bound)
    return replace(matching, v=v, col_of_row=matching.col_of_row[:n].copy(), row_of_col=row_of_col)


def _prices_of_phases(matrix: CostGraph) -> DeviceSolution:
    """Auction with increments from the size of what prices must settle: how much the eighth cheapest pair costs more.

    As on the CPU (`scaling`). A phase ends when few rows are left, which would take most of the rounds and which the
    Hungarian method matches in no time; one that does not end soon is the last, as finer ones would not either.
    """
    cp, n = matrix.cp, matrix.n_rows
    matching = DeviceSolution.start(matrix, cp.zeros(matrix.n_cols, matrix.dual_dtype))
    free = without_bounds(matrix)
    least, near = cheapest_of_rows(matrix, 1), cheapest_of_rows(matrix, NEAR)
    first = FIRST_IN_MATRIX * float(cp.where(near < matrix.none, near - least, 0).mean())
    stop_at = int(MATRIX_LEAVES * n)
    for eps in falling(matrix, first, STEP, PHASES) if has_room(matrix, range_of_costs(matrix)) else []:
        matching.unmatch_all()
        left = bid(free, matching, eps=eps, stop_at=stop_at, most_rounds=MATRIX_ROUNDS, in_order=False)
        if len(left) > stop_at:
            break
    matching.unmatch_all()
    return matching


def _cheapest_pairs(matrix: CostGraph) -> CostGraph:
    """Return the graph of the pairs that are among the `CHEAPEST` of their row or column, or as cheap."""
    cp, n, m, dtype = matrix.cp, matrix.n_rows, matrix.n_cols, matrix.dual_dtype
    row_limit, col_limit = cheapest_of_rows(matrix, CHEAPEST), cp.empty(m, dtype)
    minima = cp.empty((THREADS, m), dtype)
    sizes, rank = (np.int32(n), np.int32(m)), np.int32(CHEAPEST)
    file = "auction/candidates.cu"
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


def cheapest_of_rows(matrix: CostGraph, rank: int) -> Any:
    """Return a cost of each row that at least `rank` of its pairs do not exceed, and seldom many more."""
    cp, n = matrix.cp, matrix.n_rows
    limit = cp.empty(n, matrix.dual_dtype)
    arguments = (np.int32(n), np.int32(matrix.n_cols), *matrix.edges(), np.int32(rank), limit)
    matrix.kernel("auction/candidates.cu", "auction_row_limit")((n,), (THREADS,), arguments)
    return limit


def _violations(matrix: CostGraph, matching: DeviceSolution, duals: Any) -> tuple[FoundPairs, int]:
    """Return pairs of negative reduced cost, a few a row, and their number."""
    n = matrix.n_rows
    found, n_found = FoundPairs.room_for(matrix, OFFERS), matrix.cp.zeros(1, np.int32)
    kernel = matrix.kernel("auction/candidates.cu", "auction_violations")
    arguments = (np.int32(n), np.int32(matrix.n_cols), *matrix.edges(), matching.v, duals, *found.arrays(), n_found)
    kernel((-(-n * 32 // THREADS),), (THREADS,), arguments)
    return found, int(n_found.get()[0])
