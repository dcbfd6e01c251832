"""Point sets whose matrix is the shorter way, on the GPU (`matrix_instead` says when and why)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .. import cuda
from ..errors import DeviceMemoryExceeded
from ..problem import Problem
from .gpu_dense import cheapest_of_rows
from .gpu_graph import DeviceGraph, Prices
from .gpu_scaling import is_nearly_square, solve_graph, without_bounds
from .gpu_steps import bid
from .matrix_instead import MATRIX_READS
from .scaling import PHASES, STEP

THREADS = 256
PAIRS_AT_ONCE = 2**26
NEAR, FIRST_EPS = 8, 1.5
"""Which of a row's cheapest pairs sets the scale, and the first increment in its unit, as in `scaling`."""
PHASE_LEAVES, PHASE_ROUNDS = 0.005, (4000, 4000)
"""Share of the rows left by a phase, and the rounds that end it: sets of 5,000 took 60 to 1,700 (counted on a CPU)."""


def most_reads(problem: Problem) -> float:
    """Return how many costs the neighbour graph may be asked for before the matrix is made; +inf if it is not.

    The matrix must fit a third of the device memory that is free; batches stay without.
    """
    n, m = problem.shape
    try:
        cuda.require_memory(3 * 8 * n * m + 8 * PAIRS_AT_ONCE, "the matrix of all pairs")
    except DeviceMemoryExceeded:
        return np.inf
    return MATRIX_READS * n * m if problem.n_blocks == 1 else np.inf


def solve_matrix(graph: DeviceGraph, points: tuple[Any, Any], kernels: Any) -> tuple[DeviceGraph, Prices, int]:
    """Match point sets by the auction on all their costs; `graph` has their numbers and bounds, as `solve_points`.

    Its bids and searches read the matrix itself: cheapest pairs say as little here as neighbours do.
    """
    cp, n, m = graph.cp, graph.n_rows, graph.n_cols
    costs = cp.empty(n * m)
    for first in range(0, n * m, PAIRS_AT_ONCE):
        pairs = cp.arange(first, min(first + PAIRS_AT_ONCE, n * m), dtype=cp.int64)
        arguments = (np.int64(len(pairs)), np.int64(m), pairs, *points, costs[first:])
        kernels["auction_point_costs"]((-(-len(pairs) // THREADS),), (THREADS,), arguments)
    no_edges = cp.empty(0, cp.int64), cp.empty(0, cp.int32)
    matrix = replace(graph, indptr=no_edges[0], indices=no_edges[1], cost=costs, width=m, block_rows=n)
    has_phases = not matrix.is_bounded or is_nearly_square(matrix, None)
    prices, stuck = solve_graph(matrix, start=_prices_of_phases(matrix) if has_phases else None)
    prices.count(matrix=1)
    return matrix, prices, stuck


def _prices_of_phases(matrix: DeviceGraph) -> Prices:
    """Auction with increments from the size of what prices must settle: how much the eighth cheapest pair costs more.

    As on the CPU (`scaling`). Phases end when few rows are left, who would take most of the rounds: then the searches
    find next to nothing to do, where increments that begin too small leave them nearly all.
    """
    cp, n = matrix.cp, matrix.n_rows
    prices = Prices.start(matrix, cp.zeros(matrix.n_cols, matrix.price_dtype))
    free = without_bounds(matrix)
    above = cheapest_of_rows(matrix, NEAR) - cheapest_of_rows(matrix, 1)
    first = FIRST_EPS * float(above.mean())
    for eps in (first / STEP**k for k in range(PHASES) if first > 0):
        prices.unmatch_all()
        bid(free, prices, eps=eps, stop_at=int(PHASE_LEAVES * n), most_rounds=PHASE_ROUNDS, in_order=False)
    prices.unmatch_all()
    return prices
