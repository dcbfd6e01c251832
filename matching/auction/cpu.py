"""The auction on the CPU, dense and sparse: phase after phase for each component, then the exact finish."""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from ..certificate import certify
from ..errors import NotConverged
from ..hall import infeasible
from ..problem import Problem
from ..short_side import Matched, from_short_side
from ..shortest_paths import lower_to_cheapest, named_counts, start
from ..sparse_jv import local_columns
from ..threads import side_by_side
from .finish import TOO_HARD, finish_rows, match_if_easy, settle_lone_columns, take_prices
from .graph import allowed_pairs, as_duals, check_feasible, flat_graph, independent_parts, joined, refuse_too_fine
from .scaling import TRIED_SCANS, Schedule, may_scale, prices_beside, run_phases

if TYPE_CHECKING:
    from ..assignment import Assignment
    from .solver import Auction

SMALL = 32
"""Rows of a component below which phases are not worth their passes: shortest paths alone solve it."""

_WAITING, _STUCK = 3, 4


def solve_cpu(problem: Problem, options: Auction) -> Assignment:
    """Solve on the CPU by the auction that the options name; raises as `Auction.solve` does."""
    began = perf_counter()
    if options.variant == "paper":
        from .paper import match_as_in_the_paper as method
    elif problem.kind == "points":
        from .matrix_free import match_points as method
    else:
        method = match_by_auction
    col_of_row, v, stats = from_short_side(problem, partial(method, options=options))
    stats["solve_s"] = perf_counter() - began
    answer = certify(problem, col_of_row, v, solver=options.name, device="cpu", stats=stats)
    if stats.get("waiting"):
        raise NotConverged(
            f"max_bids={options.max_bids} bids per row were spent and {stats['waiting']} rows had no column yet; raise "
            "it, or leave it at None.",
            assignment=replace(answer, gap=np.inf if problem.n_blocks == 1 else np.full(problem.n_blocks, np.inf)),
        )
    return answer


def match_by_auction(problem: Problem, options: Auction) -> Matched:
    """Match a dense or sparse problem whose shorter side is its rows, or which has an `unmatched_cost`."""
    if problem.kind == "dense" and problem.n_blocks > 1:
        return joined([match_by_auction(block, options) for block in problem.blocks()])
    indptr, indices, data, forbidden = graph = flat_graph(problem)
    if options.eps is not None:
        refuse_too_fine(options.eps, problem)
        check_feasible(problem)
    rows, starts, cuts = independent_parts(problem)
    row_bound, col_bound = problem.dual_bounds()
    state = start(row_bound, col_bound)
    lower_to_cheapest(indptr, indices, data, forbidden, state)
    prices = prices_beside(state, col_bound)
    schedule = Schedule.of(options, may_scale(problem, options))
    counts = np.zeros((len(cuts) - 1, 5), np.int64)
    side_by_side(
        lambda c: _solve_components(cuts[c], cuts[c + 1], starts, rows, *graph, state, prices, schedule, counts[c]),
        range(len(counts)),
    )
    stuck = counts[:, _STUCK].max(initial=0) - 1
    if stuck >= 0:
        raise infeasible(problem, stuck, indptr, indices, allowed_pairs(problem), state.col_of_row, state.row_of_col)
    stats: dict[str, Any] = {"components": len(starts) - 1, "waiting": int(counts[:, _WAITING].sum())}
    if options.eps is not None or stats["waiting"]:
        stats["bids"] = int(counts[:, 0].sum())
        return local_columns(problem, state.col_of_row), as_duals(prices.v, problem), stats
    if schedule.scaled and indices is not None:
        stats["lone_columns"] = settle_lone_columns(indptr, indices, data, state, col_bound, counts[0, :3])
    return local_columns(problem, state.col_of_row), state.v, stats | named_counts(counts[:, :3].sum(axis=0))


@njit(cache=True, nogil=True)
def _solve_components(cut, end, starts, rows, indptr, indices, data, forbidden, state, prices, schedule, counts):
    """Solve the components that own `rows[cut:end]`; an entry of `state` or `prices` belongs to one.

    `counts` gains the bids, shortest paths and rows scanned, the rows that still wait, and 1 + a row that is stuck.
    """
    for part in range(np.searchsorted(starts, cut), np.searchsorted(starts, end)):
        own = rows[starts[part] : starts[part + 1]]
        if schedule.tries_bids_first:
            scans = TRIED_SCANS * len(own) if schedule.scaled and len(own) >= SMALL else 2**62
            stuck = match_if_easy(own, indptr, indices, data, forbidden, state, counts[:3], scans)
            counts[_STUCK] = max(counts[_STUCK], stuck + 1)
            if stuck != TOO_HARD:
                continue
        bids, left = run_phases(own, indptr, indices, data, forbidden, prices, schedule)
        counts[0] += bids
        counts[_WAITING] += left
        if schedule.finishes and left * schedule.shares_budget == 0:
            take_prices(own, indptr, indices, forbidden, prices, state)
            stuck = finish_rows(own, indptr, indices, data, forbidden, state, counts[:3])
            counts[_STUCK] = max(counts[_STUCK], stuck + 1)
            counts[_WAITING] -= left
