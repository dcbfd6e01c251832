"""Pricing on the GPU: which of all pairs contradict the prices, found through a tree of the columns."""

from __future__ import annotations

from time import perf_counter_ns
from typing import Any

import numpy as np

from .gpu_certificate import certify
from .gpu_dense import with_pairs
from .gpu_graph import DeviceGraph, Prices
from .gpu_scaling import MOST_REPAIRS
from .gpu_tree import FAN, THREADS, Side


class AllPairs:
    """The check of all pairs against prices, which remembers what holds while prices only fall.

    A pair's reduced cost falls only when its row's dual rises, so a row need not be checked again until then; and a
    tree of earlier, higher prices still bounds those of now.
    """

    def __init__(self, x: Side, y: Side, kernels: Any) -> None:
        """Check pairs of `x` and `y` by the kernels of `auction_points.cu`."""
        self._x, self._y, self.kernels = x, y, kernels
        self._repairs = 0
        self.forget()

    @property
    def points(self) -> tuple[Any, Any]:
        """The positions of rows and columns, (n, 3) and (m, 3)."""
        return self._x.points, self._y.points

    def forget(self) -> None:
        """Begin anew, because prices rose."""
        self._tree: Any = None
        self._checked: Any = None  # (rows,) dual at which each row was last found to have no violated pair

    def added(
        self, graph: DeviceGraph, prices: Prices, *, every_row: bool = False, margin: float = 0.0
    ) -> tuple[DeviceGraph, Any]:
        """Return the graph with the worst missing pairs of violated rows (or of every row), and the rows to match anew.

        Those are the violated, and the matched whose links have frayed, which a few rounds without new pairs may
        tighten. Pairs within `margin` of being violated are added too.
        """
        cp, n, began = graph.cp, graph.n_rows, perf_counter_ns()
        duals, _, _, frayed = certify(graph, prices, prices.v)
        wanting = frayed if self._repairs < MOST_REPAIRS else cp.zeros(n, bool)
        if self._checked is None:
            self._tree, self._checked = self._y.tree(self.kernels, prices.v), cp.full(n, -cp.inf)
        slots = len(self._x.order)
        pairs, costs, n_found = cp.empty(n * FAN, cp.int64), cp.empty(n * FAN), cp.zeros(1, cp.int32)
        arguments = (
            *(*self._y.searched(*self._tree), np.int32(slots), *self._x.searching()),
            *(duals, prices.v, graph.indptr, graph.indices),
            *(np.int64(graph.n_cols), np.float64(margin), np.int32(not every_row)),
            *(self._checked, wanting, pairs, costs, n_found),
        )
        self.kernels["auction_price"]((-(-slots * FAN // THREADS),), (THREADS,), arguments)
        found = int(n_found.get()[0])
        prices.count(pricing_rounds=1, pairs_added=found, check_ns=perf_counter_ns() - began)
        if found:
            order = cp.argsort(pairs[:found])
            graph = with_pairs(graph, pairs[order], costs[order])
        else:
            self._repairs += 1
        return graph, cp.flatnonzero(wanting)
