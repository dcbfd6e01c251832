"""Pricing on the GPU: which of all pairs contradict the prices, found through a tree of the columns."""

from __future__ import annotations

from time import perf_counter_ns
from typing import Any

import numpy as np

from ..certificate.gpu_certificate import certify
from ..device.arrays import ascending
from ..points.gpu_tree import FAN, THREADS, Side
from ..problem.gpu_graph import CostGraph, DeviceSolution
from .gpu_found_pairs import FoundPairs, with_pairs
from .gpu_scaling import MOST_REPAIRS


class AllPairs:
    """The check of all pairs against prices, which remembers what holds while prices only fall.

    A pair's reduced cost falls only when its row's dual rises, so a row need not be checked again until then; and a
    tree of earlier, higher prices still bounds those of now.
    """

    def __init__(self, x: Side, y: Side, kernels: Any) -> None:
        """Check pairs of `x` and `y` by the kernels of `points/tree.cu`."""
        self.x, self.y, self.kernels = x, y, kernels
        self._repairs = 0
        self.forget()

    @property
    def points(self) -> tuple[Any, Any]:
        """The positions of rows and columns, (n, 3) and (m, 3)."""
        return self.x.points, self.y.points

    def forget(self) -> None:
        """Begin again, because prices rose."""
        self._tree: Any = None
        self._checked: Any = None  # (rows,) dual at which each row was last found to have no violated pair

    def added(self, graph: CostGraph, matching: DeviceSolution) -> tuple[CostGraph, Any]:
        """Return the graph with the worst missing pairs of violated rows, and the rows to match again, ascending int32.

        Those are the violated, and the matched whose edges have slack, which a few rounds without new pairs may
        mend.
        """
        graph, violated = self._priced(graph, matching, only_violated=True, margin=0.0)
        return graph, ascending(graph.cp, violated)

    def refined(self, graph: CostGraph, matching: DeviceSolution, margin: float) -> CostGraph:
        """Return the graph with the worst missing pairs of every row, those within `margin` of being violated too."""
        return self._priced(graph, matching, only_violated=False, margin=margin)[0]

    def _priced(
        self, graph: CostGraph, matching: DeviceSolution, *, only_violated: bool, margin: float
    ) -> tuple[CostGraph, Any]:
        """Return the graph with the pairs found, and the rows to match again, in no order."""
        cp, n, began = graph.cp, graph.n_rows, perf_counter_ns()
        duals, _, _, has_slack = certify(graph, matching, matching.v)
        if self._checked is None:
            self._tree, self._checked = self.y.tree(self.kernels, matching.v), cp.full(n, -cp.inf)
        slots = len(self.x.order)
        found, violated, counts = FoundPairs.room_for(graph, FAN), cp.empty(n, cp.int32), cp.zeros(2, cp.int32)
        arguments = (
            *(*self.y.searched(*self._tree), np.int32(slots), *self.x.searching()),
            *(duals, matching.v, graph.indptr, graph.indices, np.float64(margin), np.int32(only_violated)),
            *(has_slack if self._repairs < MOST_REPAIRS else np.intp(0), self._checked, violated),
            *(*found.arrays(), counts),
        )
        self.kernels["auction_price"]((-(-slots * FAN // THREADS),), (THREADS,), arguments)
        n_found, n_violated = map(int, counts.get())
        matching.spent.pricing_rounds += 1
        matching.count(pairs_added=n_found, check_ns=perf_counter_ns() - began)
        self._repairs += n_found == 0
        return with_pairs(graph, found, n_found), violated[:n_violated]
