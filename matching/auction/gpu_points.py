"""Matrix-free on the GPU: solve on nearest neighbours, check the prices against all pairs through a tree, add, repeat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import cuda
from ..errors import NotConverged
from ..problem import Problem
from .gpu_dense import with_pairs
from .gpu_graph import DeviceGraph, Prices, certify
from .gpu_scaling import finish_free, solve_graph

THREADS = 128
FAN, NEAREST, WORST = 8, 16, 4  # as in auction_points.cu
PRICING_ROUNDS = 200


@dataclass(frozen=True)
class Side:
    """One point set, sorted along a Morton curve.

    Attributes
    ----------
    cp : module
    points, sorted_points : float64 (n, 3)
        Missing leading axes are 0.
    order : int32 (n,)
        Index of each sorted point in the caller's order.
    codes : uint64 (n,)
        Morton codes, ascending.
    first : int32 (levels + 1,)
        Where the nodes of each level begin, leaves first; the last is their number.
    """

    cp: Any
    points: Any
    sorted_points: Any
    order: Any
    codes: Any
    first: np.ndarray

    @classmethod
    def of(cls, cp: Any, points: Any, corner: Any, cells_per_unit: float, kernels: Any) -> Side:
        """Sort the points, given with three axes."""
        n = len(points)
        codes = cp.empty(n, cp.uint64)
        arguments = (np.int32(n), points, corner, np.float64(cells_per_unit), codes)
        kernels["auction_morton"]((-(-n // THREADS),), (THREADS,), arguments)
        order = cp.argsort(codes)
        first = [0]
        width = n
        while len(first) == 1 or width > 1:
            width = -(-width // FAN)
            first.append(first[-1] + width)
        first = np.array(first, np.int32)
        return cls(cp, points, points[order], order.astype(cp.int32), codes[order], first)

    def tree(self, kernels: Any, v: Any) -> tuple[Any, Any]:
        """Return boxes and largest prices of the tree's nodes for column duals `v`, in the caller's order."""
        cp, first = self.cp, self.first
        boxes, prices = cp.empty((int(first[-1]), 6)), cp.empty(int(first[-1]))
        for level in range(len(first) - 1):
            nodes = int(first[level + 1] - first[level])
            below = len(self.order) if level == 0 else int(first[level] - first[level - 1])
            start_below = 0 if level == 0 else int(first[level - 1])
            sizes = (np.int32(level), np.int32(nodes), np.int32(below), first[level], np.int32(start_below))
            arguments = (*sizes, self.sorted_points, self.order, v, boxes, prices)
            kernels["auction_tree"]((-(-nodes // THREADS),), (THREADS,), arguments)
        return boxes, prices

    def searched(self, boxes: Any, prices: Any) -> tuple[Any, ...]:
        """Return what the searching kernels take of this side."""
        levels = len(self.first) - 1
        return np.int32(levels), self.cp.asarray(self.first), self.sorted_points, self.order, boxes, prices


def solve_points(cp: Any, problem: Problem, most_bids: int | None = None) -> tuple[DeviceGraph, Prices, int]:
    """Match two point sets whose rows are not more than the columns, or which have an `unmatched_cost`, exactly.

    Returns
    -------
    graph, prices, stuck
        The graph of the pairs that mattered (its certificate holds for all pairs), and as `gpu_scaling.solve_graph`.
    """
    n, m = problem.shape
    cuda.require_memory(512 * (n + m) + 2**22, f"matching {n} and {m} points")
    kernels = cuda.load("auction_points.cu", *(["-DSQUARED"] if problem.metric == "squared" else []))
    x, y = _sorted_sides(cp, problem, kernels)
    graph = _neighbour_graph(cp, problem, x, y, kernels)
    prices, stuck = solve_graph(graph, most_bids)
    for _ in range(PRICING_ROUNDS):
        if stuck >= 0 or prices.counts.get("waiting"):
            return graph, prices, stuck
        duals, _, _ = certify(graph, prices, prices.v)
        pairs, costs = _violations(graph, x, y, kernels, prices, duals)
        prices.count(pricing_rounds=1, pairs_added=len(pairs))
        if len(pairs) == 0:
            return graph, prices, -1
        graph = with_pairs(graph, pairs, costs)
        if graph.is_bounded:
            again, stuck = solve_graph(graph, most_bids)
            again.count(**prices.counts)
            prices = again
        else:
            stuck = finish_free(graph, prices, prices.unmatch(pairs // m, cp), most_bids)
    raise NotConverged(f"{PRICING_ROUNDS} rounds of adding pairs to the neighbour graph did not end; use solver='jv'.")


def _sorted_sides(cp: Any, problem: Problem, kernels: Any) -> tuple[Side, Side]:
    """Sort both point sets along one curve over their common box."""
    sides = []
    for given in (problem.x, problem.y):
        points = cp.zeros((len(given), 3))
        points[:, 3 - given.shape[1] :] = cp.asarray(given)
        sides.append(points)
    corner = cp.minimum(sides[0].min(axis=0), sides[1].min(axis=0))
    extent = float((cp.maximum(sides[0].max(axis=0), sides[1].max(axis=0)) - corner).max())
    cells_per_unit = 2**21 / extent if extent > 0 else 1.0
    x, y = (Side.of(cp, points, corner, cells_per_unit, kernels) for points in sides)
    return x, y


def _neighbour_graph(cp: Any, problem: Problem, x: Side, y: Side, kernels: Any) -> DeviceGraph:
    """Return the graph of nearest neighbours, of rows and of columns, and of equal ranks along the curve.

    The last make a full matching of the shorter side possible.
    """
    n, m = problem.shape
    ranks = (
        x.order.astype(cp.int64) * m + y.order[cp.arange(n, dtype=cp.int64) * m // n]
        if n <= m
        else cp.empty(0, cp.int64)
    )
    keys = cp.concatenate([_nearest(x, y, kernels, turned=False), _nearest(y, x, kernels, turned=True), ranks])
    keys = cp.sort(keys)
    first = cp.ones(len(keys), bool)
    first[1:] = keys[1:] != keys[:-1]
    keys = keys[first & (keys >= 0)]
    costs = cp.empty(len(keys))
    arguments = (np.int64(len(keys)), np.int64(m), keys, x.points, y.points, costs)
    kernels["auction_point_costs"]((-(-len(keys) // THREADS),), (THREADS,), arguments)
    row_bound, col_bound = (cp.asarray(bound) for bound in problem.dual_bounds())
    return DeviceGraph(
        cp,
        n,
        m,
        cp.searchsorted(keys, cp.arange(n + 1, dtype=cp.int64) * m),
        (keys % m).astype(cp.int32),
        costs,
        None,
        row_bound,
        col_bound,
        problem.has_unmatched_cost,
        problem.has_unmatched_cost or n != m,
    )


def _nearest(queries: Side, among: Side, kernels: Any, *, turned: bool) -> Any:
    """Return the pairs (row * columns + column, -1 = none) of each query with its nearest; queries are columns if turned."""
    cp, n, m = queries.cp, len(queries.order), len(among.order)
    boxes, prices = among.tree(kernels, cp.zeros(m))
    pairs = cp.empty(n * NEAREST, cp.int64)
    near = cp.searchsorted(among.codes, queries.codes)
    arguments = (
        *(np.int32(n), np.int32(m), *among.searched(boxes, prices), queries.sorted_points, queries.order, near),
        *(np.int32(turned), pairs),
    )
    kernels["auction_nearest"]((-(-n // THREADS),), (THREADS,), arguments)
    return pairs


def _violations(graph: DeviceGraph, x: Side, y: Side, kernels: Any, prices: Prices, duals: Any) -> tuple[Any, Any]:
    """Return pairs of negative reduced cost, a few a row, as ascending row * columns + column, and their costs."""
    cp, n, m = graph.cp, graph.n_rows, graph.n_cols
    boxes, largest = y.tree(kernels, prices.v)
    pairs, costs = cp.empty(n * WORST, cp.int64), cp.empty(n * WORST)
    arguments = (
        *(
            np.int32(n),
            np.int32(m),
            *y.searched(boxes, largest),
            x.sorted_points,
            x.order,
            duals,
            prices.v,
            pairs,
            costs,
        ),
    )
    kernels["auction_price"]((-(-n // THREADS),), (THREADS,), arguments)
    found = cp.flatnonzero(pairs >= 0)
    pairs, costs = pairs[found], costs[found]
    order = cp.argsort(pairs)
    return pairs[order], costs[order]
