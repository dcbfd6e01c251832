"""Matrix-free on the GPU: solve on nearest neighbours, check the prices against all pairs by a tree, add, repeat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import cuda
from ..problem import Problem
from .gpu_dense import with_pairs
from .gpu_graph import PATH_BYTES, DeviceGraph, Prices, certify
from .gpu_scaling import SCALING_FACTOR, bid_in_phases, finish_free, increments, solve_graph

THREADS = 128
FAN, NEAREST = 8, 16  # as in auction_points.cu
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
        After `PRICING_ROUNDS` the count "unchecked_rows" says how many rows still had better pairs than the graph's.
    """
    n, m = problem.shape
    cuda.require_memory(2048 * (n + m) + min(PATH_BYTES, 2**16 * m) + 2**22, f"matching {n} and {m} points")
    kernels = cuda.load("auction_points.cu", *(["-DSQUARED"] if problem.metric == "squared" else []))
    x, y = _sorted_sides(cp, problem, kernels)
    graph = _neighbour_graph(cp, problem, x, y, kernels)
    pairs = AllPairs(x, y, kernels, margin=(increments(graph) or [0.0])[0] / SCALING_FACTOR)

    def with_worst_pairs(graph: DeviceGraph, prices: Prices) -> DeviceGraph:
        return pairs.added(graph, prices, every_row=True)[0]

    if graph.is_bounded:
        prices, stuck = solve_graph(graph, most_bids)
    else:
        graph, prices = bid_in_phases(graph, most_bids, with_worst_pairs)
        stuck = -1 if prices.counts.get("waiting") else finish_free(graph, prices, None, most_bids)
    violated: Any = ()
    for _ in range(PRICING_ROUNDS):
        if stuck >= 0 or prices.counts.get("waiting"):
            return graph, prices, stuck
        graph, violated = pairs.added(graph, prices)
        if len(violated) == 0:
            return graph, prices, -1
        if graph.is_bounded:
            again, stuck = solve_graph(graph, most_bids)
            again.count(**prices.counts)
            prices = again
            pairs.forget()
        else:
            stuck = finish_free(graph, prices, prices.unmatch(violated), most_bids)
    prices.count(unchecked_rows=len(violated))
    return graph, prices, -1


class AllPairs:
    """The check of all pairs against prices, which remembers what holds while prices only fall.

    A pair's reduced cost falls only when its row's dual rises, so a row need not be checked again until then; and a
    tree of earlier, higher prices still bounds those of now.
    """

    def __init__(self, x: Side, y: Side, kernels: Any, margin: float) -> None:
        """Check pairs of `x` and `y`; pairs within `margin` of being violated are added too."""
        self._x, self._y, self._kernels, self._margin = x, y, kernels, margin
        self.forget()

    def forget(self) -> None:
        """Begin anew, because prices rose."""
        self._tree: Any = None
        self._checked: Any = None  # (rows,) dual at which each row was last found to have no violated pair

    def added(self, graph: DeviceGraph, prices: Prices, *, every_row: bool = False) -> tuple[DeviceGraph, Any]:
        """Return the graph with the worst missing pairs of violated rows (or of every row), and the violated rows."""
        cp, n, m = graph.cp, graph.n_rows, graph.n_cols
        duals, _, _ = certify(graph, prices, prices.v)
        if self._checked is None:
            self._tree, self._checked = self._y.tree(self._kernels, prices.v), cp.full(n, -cp.inf)
        selected = cp.flatnonzero((duals > self._checked)[self._x.order]).astype(cp.int32)
        k = len(selected)
        violated = cp.zeros(n, bool)
        if k == 0:
            return graph, cp.flatnonzero(violated)
        pairs, costs = cp.empty(k * FAN, cp.int64), cp.empty(k * FAN)
        arguments = (
            *(np.int32(k), np.int32(m), *self._y.searched(*self._tree), self._x.sorted_points, self._x.order, selected),
            *(duals, prices.v, graph.indptr, graph.indices, np.float64(self._margin), np.int32(not every_row)),
            *(pairs, costs, violated),
        )
        self._kernels["auction_price"]((-(-k * FAN // THREADS),), (THREADS,), arguments)
        cp.maximum(self._checked, duals, out=self._checked)
        self._checked[violated] = -cp.inf
        found = cp.flatnonzero(pairs >= 0)
        pairs, costs = pairs[found], costs[found]
        order = cp.argsort(pairs)
        prices.count(pricing_rounds=1, pairs_added=len(pairs))
        return (with_pairs(graph, pairs[order], costs[order]) if len(pairs) else graph), cp.flatnonzero(violated)


def _sorted_sides(cp: Any, problem: Problem, kernels: Any) -> tuple[Side, Side]:
    """Sort both point sets along one curve over their common box."""
    sides = []
    assert problem.x is not None
    assert problem.y is not None
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
    """Return pairs row * columns + column (-1 = none) of each query with its nearest; `turned`: queries are columns."""
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
