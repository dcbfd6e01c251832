"""Point sets for which the matrix is faster, on the GPU (`matrix_instead` says when and why)."""

from __future__ import annotations

from dataclasses import replace

from ..problem import Problem
from ..problem.gpu_graph import CostGraph, DeviceSolution
from ..problem.gpu_points import dense_on_device
from .gpu_dense import solve_in_phases

MATRIX_BYTES = 2**32
"""Size of a matrix up to which it is made, with two copies for a while: 23,000 points a side. It is fixed, as on a CPU:
what memory a card has free must not decide between matched edges that cost the same."""


def solve_matrix(graph: CostGraph, problem: Problem) -> tuple[CostGraph, DeviceSolution, int]:
    """Match point sets of one block by the auction on all their costs; `graph` has their bounds, as `solve_points`.

    Its bids and searches read the matrix itself: cheapest pairs say as little here as neighbours do.

    Raises
    ------
    DeviceMemoryExceeded
        Before memory is taken.
    """
    cp, (n, m) = graph.cp, problem.shape
    costs = dense_on_device(cp, problem).data
    no_edges = cp.empty(0, cp.int64), cp.empty(0, cp.int32)
    matrix = replace(graph, indptr=no_edges[0], indices=no_edges[1], cost=costs, width=m, block_rows=n)
    matching, infeasible_row = solve_in_phases(matrix)
    matching.count(matrix=1)
    return matrix, matching, infeasible_row
