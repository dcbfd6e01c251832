"""Point sets for which the matrix is faster, on the GPU (`matrix_instead` says when and why)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..device import cuda
from ..problem import Problem
from ..problem.gpu_graph import DeviceGraph, Prices
from .gpu_dense import solve_in_phases
from .matrix_instead import MATRIX_READS

THREADS = 256
PAIRS_AT_ONCE = 2**26

MATRIX_BYTES = 2**32
"""Size of a matrix up to which it is made, with two copies for a while: 23,000 points a side. It is fixed, as on a CPU:
what memory a card has free must not decide between links that cost the same."""


def most_reads(problem: Problem) -> float:
    """Return how many costs the neighbour graph may be asked for before the matrix is made; +inf if it is not.

    It is never made where it exceeds `MATRIX_BYTES`; batches stay without.
    """
    n, m = problem.shape
    return MATRIX_READS * n * m if problem.n_blocks == 1 and 8 * n * m <= MATRIX_BYTES else np.inf


def solve_matrix(graph: DeviceGraph, points: tuple[Any, Any], kernels: Any) -> tuple[DeviceGraph, Prices, int]:
    """Match point sets by the auction on all their costs; `graph` has their numbers and bounds, as `solve_points`.

    Its bids and searches read the matrix itself: cheapest pairs say as little here as neighbours do.

    Raises
    ------
    DeviceMemoryExceeded
        Before memory is taken.
    """
    cp, n, m = graph.cp, graph.n_rows, graph.n_cols
    cuda.require_memory(3 * 8 * n * m + 8 * PAIRS_AT_ONCE, "the matrix of all pairs")
    costs = cp.empty(n * m)
    for first in range(0, n * m, PAIRS_AT_ONCE):
        pairs = cp.arange(first, min(first + PAIRS_AT_ONCE, n * m), dtype=cp.int64)
        arguments = (np.int64(len(pairs)), np.int64(m), pairs, *points, costs[first:])
        kernels["auction_point_costs"]((-(-len(pairs) // THREADS),), (THREADS,), arguments)
    no_edges = cp.empty(0, cp.int64), cp.empty(0, cp.int32)
    matrix = replace(graph, indptr=no_edges[0], indices=no_edges[1], cost=costs, width=m, block_rows=n)
    prices, infeasible_row = solve_in_phases(matrix)
    prices.count(matrix=1)
    return matrix, prices, infeasible_row
