"""Where prices start between two point sets on a GPU: from a sample's optimum, as on the CPU (`sampled_start`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..certificate.gpu_certificate import certify
from ..points.gpu_tree import Side, sorted_sides
from ..problem import Problem
from ..problem.gpu_graph import CostGraph, DeviceSolution
from .gpu_neighbours import neighbour_graph
from .gpu_pricing import AllPairs
from .sampled_start import THINNING, thinned


def sampled_prices(
    problem: Problem, pairs: AllPairs, solve: Callable[[Problem], tuple[CostGraph, DeviceSolution]]
) -> Any:
    """Return initial column duals, float64 (columns,).

    Parameters
    ----------
    problem : Problem
        Two point sets, no more rows than columns, of which all rows are to be matched.
    pairs : AllPairs
        Of both sets.
    solve : callable
        Matches every row of the sample, in a graph of the pairs that bound its row duals.
    """
    n, m = problem.shape
    k = -(-n // THINNING)
    rows, cols = _along_curve(pairs.x, thinned(n, k)), _along_curve(pairs.y, thinned(m, k * m // n))
    graph, matching = solve(_between(problem, rows, cols))
    r = certify(graph, matching, matching.v).row_duals
    v = _most_left(_between(problem, pairs.y.points, rows), r, pairs)
    return v if m == n else graph.cp.minimum(v, 0.0)


def _along_curve(side: Side, ranks: np.ndarray) -> Any:
    """Return the points of these ranks along the curve."""
    return side.points[side.order[side.cp.asarray(ranks)]]


def _between(problem: Problem, x: Any, y: Any) -> Problem:
    """Return the problem of two other point sets."""
    ends = (np.array([0, len(side)]) for side in (x, y))
    return replace(problem, x=x, y=y, row_offsets=next(ends), col_offsets=next(ends))


def _most_left(problem: Problem, r: Any, pairs: AllPairs) -> Any:
    """Return the least c_ij - r_j of every point i of the one set, over all points j of the other."""
    cp = pairs.x.cp
    sides = sorted_sides(cp, problem.x, problem.y, (problem.row_offsets, problem.col_offsets), pairs.kernels)
    graph = neighbour_graph(cp, problem, *sides, pairs.kernels)
    graph = replace(graph, row_bound=cp.full_like(graph.row_bound, cp.inf))
    matching = DeviceSolution.start(graph, r)
    graph = AllPairs(*sides, pairs.kernels).refined(graph, matching, 0.0)
    return certify(graph, matching, r).row_duals
