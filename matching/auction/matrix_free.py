"""Solve sparse, certify dense: two point sets matched over all their pairs, in memory that grows with the points
alone.

Each point's nearest neighbours make a sparse graph; its optimum comes with prices; pricing finds the pairs of *all*
that contradict the prices (`pricing`), they join the graph, and so on until none does: the prices then prove the
optimum of the dense problem. Where the sets resemble each other, bids without an increment and a few shortest paths
solve the first graph; elsewhere ε-scaled phases do, from a sample's prices (`sampled_start`). Pricing
already between the coarse phases brings most of the missing pairs in while they are cheap to answer. Points are
numbered along a Hilbert curve, so that whatever is near in space is near in memory.

Source of the idea: column generation for transportation problems; what is ours is the neighbour graph, the pricing
through boxes, and the order of things.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..certificate.matched import Matched, nothing_matched
from ..paths.finish import (
    NO_LIMIT,
    TOO_HARD,
    finish_rows,
    match_rows,
    settle_unassigned_columns,
    unassign,
)
from ..paths.shortest_paths import State, least_of_rows, lower_to_cheapest, named_counts, start
from ..points.box_tree import build_tree, nearest
from ..points.hilbert import hilbert_orders
from ..points.pricing import contradictions
from ..problem import Problem
from ..problem.csr import rows_of
from ..problem.problem import Metric
from ..tolerance import SLACK_ULPS
from .bidding import increment, out_of_bids
from .matrix_instead import match_matrix, most_reads
from .options import AuctionOptions
from .pair_graph import chosen, costs_of_pairs, extended, united, with_pairs
from .sampled_start import sampled_duals
from .scaling import TRIED_SCANS, Prices, Schedule, may_scale, prices_beside, run_phase, scaled_eps

NEIGHBOURS = 8
"""Neighbours of every point in the first graph; 4 leave too much to pricing, 16 cost more than they save."""

MARGINS = (1.0, 1.0, 5.0, 15.0)
"""In ε of each of the first phases: pairs that come so near to contradicting its prices join the graph with those that
do. A pair that is added early saves a repair, which costs far more: shortest paths grow with the price differences
that they have to overcome, until one reaches a large part of all points."""

NEW_PAIRS = 16
"""Most pairs that a row gains by one pricing."""

GROWING = 1.05
"""By what the limit of a graph rises each time that it is thinned out."""


def match_points(problem: Problem, options: AuctionOptions) -> Matched:
    """Match two point sets as `Auction.match` says."""
    if options.eps is not None:
        options = replace(options, eps=increment(options.eps, problem))
    if 0 in problem.shape:
        return nothing_matched(problem)
    found = None if options.takes_matrix_of(problem) else _MatrixFree(problem, options).solve()
    if found is None:
        return match_matrix(problem, options)
    matched, stats, waiting = found
    return Matched(problem, *matched, stats, out_of_bids(options, waiting), options.is_exact)


def match_within(problem: Problem, reach: AllowedPairs) -> tuple[Matched, Graph]:
    """Match two point sets with an `unmatched_cost` over the pairs within reach alone; also return the last graph.

    The graph has what is matched and contradicts the duals nowhere; its rows and columns are the problem's.
    """
    search = _MatrixFree(problem, AuctionOptions(), reach)
    found = search.solve()
    assert found is not None, "no matrix is made of pairs within reach"
    (col_of_row, v), stats, _ = found
    return Matched(problem, col_of_row, v, stats), search.stated_graph()


Graph = tuple[np.ndarray, np.ndarray, np.ndarray]
"""indptr, indices, costs."""


class AllowedPairs(NamedTuple):
    """Which pairs may be matched, and how many may be held.

    Attributes
    ----------
    longest : float
        Largest squared distance.
    forbidden : int64 (k, 2)
        Rows and columns of pairs that are not to be matched.
    most_edges : float
        Pairs above which the graph is thinned before it grows; what is matched, and a few of each row, are held anyway.
    """

    longest: float
    forbidden: np.ndarray
    most_edges: float


_ALL = AllowedPairs(np.inf, np.empty((0, 2), np.int64), np.inf)

LEAST_EDGES = 2 * NEIGHBOURS
"""Pairs for each row and column that are held whatever the limit."""


class _MatrixFree:
    """One solve: the points in Hilbert order, their trees, the growing graph, and the prices."""

    def __init__(self, problem: Problem, options: AuctionOptions, reach: AllowedPairs = _ALL) -> None:
        assert problem.x is not None
        assert problem.y is not None
        self.schedule = Schedule.of(options, may_scale(problem, options))
        self.metric: Metric = problem.metric
        self.squared = problem.metric == "squared"
        self.row_order, self.col_order = hilbert_orders(problem.x, problem.y)
        self.rows, self.cols = build_tree(problem.x[self.row_order]), build_tree(problem.y[self.col_order])
        self.n, self.m = problem.shape
        row_bound, col_bound = problem.dual_bounds()
        self.row_bound, self.col_bound = row_bound[self.row_order], col_bound[self.col_order]
        self.longest = reach.longest
        self.forbidden = _in_order(reach.forbidden, self.row_order, self.col_order)
        self.most_edges = max(reach.most_edges, LEAST_EDGES * (self.n + self.m))
        self.graph: Graph = self._neighbour_graph()
        self.all_rows = np.arange(self.n)
        self.counts = np.zeros(3, np.int64)
        self.bids, self.pricings, self.unassigned_columns = 0, 0, 0
        self.most_reads = np.inf if self.schedule.shares_budget or reach is not _ALL else most_reads(problem)
        self.col_of_row = np.full(self.n, -1, np.int32)

    def solve(self) -> tuple[tuple[np.ndarray, np.ndarray], dict[str, Any], int] | None:
        """Bid, price, finish, price until nothing contradicts; None once the matrix would have been faster.

        Returns `col_of_row` and column duals, counts, and how many rows a budget left without a column.
        """
        state = start(self.row_bound, self.col_bound)
        self.col_of_row = state.col_of_row
        prices = prices_beside(state)
        waiting = 0
        if not self._is_easy(state):
            waiting = self._bid(prices)
            state.v[:] = prices.v
        if self._scans_left() < 0:
            return None
        if self.schedule.finishes and not waiting:
            if not self._finish(state):
                return None
            prices.v[:] = state.v
        v, col_of_row = prices.v, prices.col_of_row
        out_v, out_col = np.empty(self.m), np.full(self.n, -1, np.int32)
        out_v[self.col_order] = v
        matched = np.flatnonzero(col_of_row >= 0)
        out_col[self.row_order[matched]] = self.col_order[col_of_row[matched]]
        return (out_col, out_v), self._stats(), waiting

    def _stats(self) -> dict[str, Any]:
        finish = named_counts(self.counts)
        own = {"bids": self.bids + finish.pop("bids"), "pricings": self.pricings}
        return {**own, "unassigned_columns": self.unassigned_columns, **finish, "edges": len(self.graph[1])}

    def _scans_left(self) -> int:
        """Return how many rows of the graph may still be read; negative once the matrix is faster."""
        if self.most_reads == np.inf:
            return NO_LIMIT
        rows_read = self.bids + int(self.counts[0] + self.counts[2])
        return int(self.most_reads / len(self.graph[1]) * self.n) - rows_read

    def _neighbour_graph(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Unite both sides' nearest neighbours, and pair equal ranks along the curve: so all rows can be matched."""
        n, m = self.n, self.m
        near_rows, _ = nearest(self.cols, self.rows.points, min(NEIGHBOURS, m), n)
        near_cols, _ = nearest(self.rows, self.cols.points, min(NEIGHBOURS, n), m)
        ranks = np.arange(n) * m // n if n <= m else np.full(n, -1)
        indptr, indices = united(near_rows, near_cols, ranks)
        if self.longest < np.inf:
            squares = costs_of_pairs(self.rows.points, self.cols.points, indptr, indices, True)
            indptr, indices = chosen(indptr, indices, squares <= self.longest)
        if len(self.forbidden):
            keys = rows_of(indptr) * self.m + indices
            indptr, indices = chosen(indptr, indices, ~np.isin(keys, self.forbidden @ [self.m, 1]))
        return indptr, indices, costs_of_pairs(self.rows.points, self.cols.points, indptr, indices, self.squared)

    def _is_easy(self, state: State) -> bool:
        """Match all rows in the first graph by bids without an increment, unless too much is left to shortest paths."""
        if not self.schedule.tries_bids_first:
            return False
        lower_to_cheapest(*self.graph, state)
        scans = TRIED_SCANS * self.n if self.schedule.scaled else 2**62
        if match_rows(self.all_rows, *self.graph, state, self.counts, scans) != TOO_HARD:
            return True
        unassign(self.all_rows, state)
        return False

    def _bid(self, prices: Prices) -> int:
        """Run the scaled phases, or the one that `eps` asks for; return rows left when `max_bids` ended."""
        last, left, before = self.schedule.last, 0, prices.v.copy()
        steps = np.full(1 if last else 0, last)
        if self.schedule.scaled:
            steps = scaled_eps(self.all_rows, self.graph[0], self.graph[2], last)
            steps = self._start_from_sample(prices, steps)
        for k, eps in enumerate(steps):
            if self._scans_left() < 0:
                return 0
            left = self._phase(prices, eps)
            if k < len(MARGINS) and eps > last:  # what contradicts the last is bid on, below
                self._add_contradictions(self._row_duals(prices.v), prices.v, -MARGINS[k] * eps)
            if left and k and not last:  # finer increments would take all of their bids too
                break
        while last and self._add_contradictions(self._row_duals(prices.v), prices.v):
            if self._scans_left() < 0:
                return 0
            if not self.schedule.scaled:  # a column that ends unassigned must be at its bound, which bids have left
                prices.v[:] = before
            left = self._phase(prices, last)
        return left if self.schedule.shares_budget else 0

    def _start_from_sample(self, prices: Prices, steps: np.ndarray) -> np.ndarray:
        """Set a sample's prices, and add the pairs that they call for; return the phases still needed.

        The coarsest phase is skipped. The next is run twice: pairs added between shorten the paths along which prices
        differ, and prices settle to that sooner in coarse steps than in fine ones.
        """
        if len(steps) < 2:
            return steps
        x, y = self.rows.points[:, : self.n].T, self.cols.points[:, : self.m].T
        prices.v[:] = sampled_duals(x, y, self.metric, partial(match_points, options=AuctionOptions()))
        self._add_contradictions(self._row_duals(prices.v), prices.v, -steps[1])
        return np.concatenate([steps[1:2], steps[1:]])

    def _phase(self, prices: Prices, eps: float) -> int:
        """Run one phase; the finish of an exact solve takes what the budget of a phase leaves."""
        budget = self.schedule.budget * self.n
        if self.schedule.shares_budget:
            budget = max(budget - self.bids, 0)
        bids, waiting = run_phase(self.all_rows, *self.graph, prices, eps, budget)
        self.bids += bids
        return len(waiting)

    def _finish(self, state: State) -> bool:
        """Alternate the exact finish and pricing; return whether it came to its end before the matrix was shorter."""
        while True:
            failed = finish_rows(self.all_rows, *self.graph, state, self.counts, self._scans_left(), SLACK_ULPS)
            if failed == TOO_HARD:
                return False
            assert failed < 0, "the graph pairs every row with a column of its own rank"
            settled = settle_unassigned_columns(*self.graph, state, self.col_bound, self.counts)
            self.unassigned_columns += settled
            if not self._add_contradictions(self._row_duals(state.v), state.v):
                return True

    def _row_duals(self, v: np.ndarray) -> np.ndarray:
        return least_of_rows(*self.graph, v, self.row_bound)

    def _add_contradictions(self, r: np.ndarray, v: np.ndarray, tolerance: float = 0.0) -> bool:
        """Add what contradicts the duals to the graph; return whether anything did."""
        known = with_pairs(self.graph[:2], self.forbidden)
        question = self.cols, self.rows.points, r, v, self.squared, NEW_PAIRS, tolerance, known, self.longest
        columns, counts = contradictions(*question)
        self.pricings += 1
        if not counts.any():
            return False
        if len(self.graph[1]) + counts.sum() > self.most_edges:
            self._thin_out(v)
        self.graph = extended(*self.graph, columns, counts, self.rows.points, self.cols.points, self.squared)
        return True

    def _thin_out(self, v: np.ndarray) -> None:
        """Keep what is matched, and of the other pairs half of the limit, those nearest to their row's best.

        The limit rises each time, so that pairs that are left out in turn end it all the same.
        """
        indptr, indices, data = self.graph
        rows, above = rows_of(indptr), data - v[indices]
        above -= self._row_duals(v)[rows]
        above[self.col_of_row[rows] == indices] = -np.inf
        most = int(self.most_edges / 2)
        if len(above) > most:
            kept = np.zeros(len(above), np.bool_)
            kept[np.argpartition(above, most)[:most]] = True
            self.graph = (*chosen(indptr, indices, kept), data[kept])
        self.most_edges *= GROWING

    def stated_graph(self) -> Graph:
        """Return the graph with rows and columns numbered as the problem's, columns ascending."""
        indptr, indices, data = self.graph
        rows, cols = self.row_order[rows_of(indptr)], self.col_order[indices]
        order = np.lexsort((cols, rows))
        counts = np.bincount(rows, minlength=self.n)
        return np.concatenate([[0], np.cumsum(counts)]), cols[order].astype(np.int32), data[order]


def _in_order(pairs: np.ndarray, row_order: np.ndarray, col_order: np.ndarray) -> np.ndarray:
    """Return pairs with rows and columns numbered by their place in an order."""
    sides = zip(pairs.T, (row_order, col_order), strict=True)
    return np.stack([np.argsort(order)[side] for side, order in sides], axis=1) if len(pairs) else pairs
