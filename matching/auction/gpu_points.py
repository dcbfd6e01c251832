"""Matrix-free on the GPU: solve on nearest neighbours, check the prices against all pairs by a tree, add, repeat."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import cuda
from ..problem import Problem
from .gpu_dense import with_pairs
from .gpu_graph import PATH_BYTES, DeviceGraph, Prices, certify
from .gpu_scaling import SCALING_FACTOR, bid_in_phases, finish_free, increments, solve_graph
from .gpu_tree import FAN, NEAREST, THREADS, Side, sorted_sides

PRICING_ROUNDS = 200


def solve_points(cp: Any, problem: Problem, most_bids: int | None = None) -> tuple[DeviceGraph, Prices, int]:
    """Match point sets, or a batch of them at once, exactly: no more rows than columns, or an `unmatched_cost`.

    Returns
    -------
    graph, prices, stuck
        The graph of the pairs that mattered (its certificate holds for all pairs), and as `gpu_scaling.solve_graph`.
        After `PRICING_ROUNDS` the count "unchecked_rows" says how many rows still had better pairs than the graph's.
    """
    n, m = problem.shape
    cuda.require_memory(2048 * (n + m) + min(PATH_BYTES, 2**16 * m) + 2**22, f"matching {n} and {m} points")
    kernels = cuda.load("auction_points.cu", *(["-DSQUARED"] if problem.metric == "squared" else []))
    x, y = sorted_sides(cp, problem.x, problem.y, (problem.row_offsets, problem.col_offsets), kernels)
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
        cp, n = graph.cp, graph.n_rows
        duals, _, _ = certify(graph, prices, prices.v)
        if self._checked is None:
            self._tree, self._checked = self._y.tree(self._kernels, prices.v), cp.full(n, -cp.inf)
        slot = self._x.slot
        selected = slot[(duals > self._checked)[self._x.order[slot]]]
        k = len(selected)
        violated = cp.zeros(n, bool)
        if k == 0:
            return graph, cp.flatnonzero(violated)
        pairs, costs = cp.empty(k * FAN, cp.int64), cp.empty(k * FAN)
        arguments = (
            *(np.int32(k), *self._y.searched(*self._tree), *self._x.searching(), selected),
            *(duals, prices.v, graph.indptr, graph.indices),
            *(np.int64(graph.n_cols), np.float64(self._margin), np.int32(not every_row)),
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


def _neighbour_graph(cp: Any, problem: Problem, x: Side, y: Side, kernels: Any) -> DeviceGraph:
    """Return the graph of nearest neighbours, of rows and of columns, and of equal ranks along the curve.

    The last make a full matching of the shorter side possible, where one is needed.
    """
    n, m = problem.shape
    keys = [_nearest(x, y, kernels, m, turned=False), _nearest(y, x, kernels, m, turned=True)]
    if not problem.has_unmatched_cost:
        keys.append(_equal_ranks(x, y, m))
    keys = cp.sort(cp.concatenate(keys))
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
        problem.has_unmatched_cost or not np.array_equal(np.diff(problem.row_offsets), np.diff(problem.col_offsets)),
    )


def _nearest(queries: Side, among: Side, kernels: Any, n_cols: int, *, turned: bool) -> Any:
    """Return pairs row * columns + column (-1 = none) of each query with its nearest; `turned`: queries are columns."""
    cp, n = queries.cp, len(queries.order)
    boxes, prices = among.tree(kernels, cp.zeros(len(among.points)))
    pairs = cp.empty(n * NEAREST, cp.int64)
    arguments = (
        *(np.int32(n), *among.searched(boxes, prices), *queries.searching(), queries.place_among(among)),
        *(np.int32(turned), np.int64(n_cols), pairs),
    )
    kernels["auction_nearest"]((-(-n // THREADS),), (THREADS,), arguments)
    return pairs


def _equal_ranks(x: Side, y: Side, n_cols: int) -> Any:
    """Return a pair of each row, a column of its own at the same part of the curve; no block may have more rows."""
    cp = x.cp
    block = x.block[x.slot]
    sizes, col_sizes = cp.diff(x.offsets)[block], cp.diff(y.offsets)[block]
    cols = y.order[y.blocks[block, 3] + x.rank_in_block() * col_sizes // sizes]
    return x.order[x.slot].astype(cp.int64) * n_cols + cols
