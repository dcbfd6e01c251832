"""The graph of nearest neighbours of two point sets on the GPU, or of a batch of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..points.gpu_tree import NEAREST, THREADS, Side
from ..problem import Problem
from ..problem.gpu_graph import CostGraph, bounds_on_device


def neighbour_graph(cp: Any, problem: Problem, x: Side, y: Side, kernels: Any) -> CostGraph:
    """Return the graph of nearest neighbours, of rows and of columns, and of equal ranks along the curve.

    The last make a full matching of the shorter side possible, where one is needed.
    """
    n, m = problem.shape
    pairs = cp.sort(_neighbours(x, y, kernels, equal_ranks=not problem.has_unmatched_cost))
    blocks, is_first = (-(-len(pairs) // THREADS),), cp.empty(len(pairs), cp.int8)
    kernels["auction_first_pairs"](blocks, (THREADS,), (np.int64(len(pairs)), pairs, is_first))
    place = cp.cumsum(is_first, dtype=cp.int64)
    bounds = *bounds_on_device(cp, problem), problem.has_unmatched_cost
    edges = int(place[-1])
    indptr, indices, costs = cp.empty(n + 1, cp.int64), cp.empty(edges, cp.int32), cp.empty(edges)
    arguments = (*(np.int64(len(pairs)), np.int32(n), np.int64(m), pairs, place), x.points, y.points)
    kernels["auction_graph_of_pairs"](blocks, (THREADS,), (*arguments, indptr, indices, costs))
    equal_sides = np.array_equal(np.diff(problem.row_offsets), np.diff(problem.col_offsets))
    is_bounded = problem.has_unmatched_cost or not equal_sides
    return CostGraph(cp, n, m, indptr, indices, costs, None, *bounds, is_bounded)


def _neighbours(x: Side, y: Side, kernels: Any, *, equal_ranks: bool) -> Any:
    """Return pairs row * columns + column, in any order and some twice, -1 = none."""
    cp = x.cp
    boxes = [side.tree(kernels, cp.zeros(len(side.points)))[0] for side in (x, y)]
    rows, cols = len(x.order), len(y.order)
    pairs = cp.empty(rows * (NEAREST + 1) + cols * NEAREST, cp.int64)
    arguments = (*x.whole(boxes[0]), *y.whole(boxes[1]), np.int32(equal_ranks), np.int64(len(y.points)), pairs)
    kernels["auction_neighbours"]((-(-(rows + cols) // THREADS),), (THREADS,), arguments)
    return pairs
