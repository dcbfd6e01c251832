"""The auction on the CPU, dense and sparse: phase after phase for each component, then the exact finish."""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

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
from ..shortest_paths import State, named_counts
from ..threads import side_by_side
from .finish import exact_state, finish_rows, settle_lone_columns
from .graph import (
    allowed_pairs,
    as_duals,
    as_floats,
    check_feasible,
    flat_graph,
    independent_parts,
    joined,
    local_columns,
    refuse_too_fine,
    starting_prices,
)
from .scaling import BIDS_PER_PHASE, no_bids_yet, run_phase, scaled_eps

if TYPE_CHECKING:
    from ..assignment import Assignment
    from .solver import Auction

SMALL = 32
"""Rows of a component below which phases are not worth their passes: shortest paths alone solve it."""


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
            assignment=answer,
        )
    return answer


def match_by_auction(problem: Problem, options: Auction) -> Matched:
    """Match a dense or sparse problem whose shorter side is its rows, or which has an `unmatched_cost`."""
    if problem.kind == "dense" and problem.n_blocks > 1:
        return joined([match_by_auction(block, options) for block in problem.blocks()])
    indptr, indices, data, _ = graph = flat_graph(problem)
    exact = options.eps is None
    if options.eps is not None:
        refuse_too_fine(options.eps, problem)
        check_feasible(problem)
    rows, starts, cuts = independent_parts(problem)
    row_bound, col_bound = problem.dual_bounds()
    prices = no_bids_yet(starting_prices(col_bound), as_floats(row_bound))
    scaled = _may_scale(problem, exact)
    budget = options.max_bids or (BIDS_PER_PHASE if exact else 2**40)
    per_phase = exact and options.max_bids is None
    last = options.eps or 0.0
    schedule = scaled, last, budget, per_phase, options.form == "jacobi"
    runs = range(len(cuts) - 1)  # they share prices and state: an entry belongs to one component
    spent = side_by_side(lambda c: _bid(cuts[c], cuts[c + 1], starts, rows, graph, prices, schedule), runs)
    bids, waiting = (sum(counts) for counts in zip((0, 0), *spent, strict=True))
    stats: dict[str, Any] = {"bids": bids, "components": len(starts) - 1}
    if not per_phase and (not exact or waiting):
        stats["waiting"] = waiting
        return local_columns(problem, prices.col_of_row), as_duals(prices.v, problem), stats
    state = exact_state(prices, row_bound, col_bound)
    counts = np.zeros((len(cuts) - 1, 3), np.int64)
    failed = max(
        side_by_side(lambda c: finish_rows(rows[cuts[c] : cuts[c + 1]], *graph, state, counts[c]), runs), default=-1
    )
    if failed >= 0:
        raise infeasible(problem, failed, indptr, indices, allowed_pairs(problem), *_matching_of(state))
    if scaled and indices is not None:
        stats["lone_columns"] = settle_lone_columns(indptr, indices, data, state, col_bound, counts[0])
    finish = named_counts(counts.sum(axis=0))
    stats["bids"] += finish.pop("bids")
    return local_columns(problem, state.col_of_row), state.v, stats | finish


def _may_scale(problem: Problem, exact: bool) -> bool:
    """Whether prices may be kept from phase to phase although columns that end alone must end at their starting price.

    True for equal sides; for unequal ones where the finish settles lone columns, which needs the graph transposed and
    pays only while they are few.
    """
    if problem.has_unmatched_cost:
        return False
    n, m = problem.shape
    return n == m or (exact and problem.kind == "sparse" and m < 1.2 * n)


def _matching_of(state: State) -> tuple[np.ndarray, np.ndarray]:
    return state.col_of_row, state.row_of_col


@njit(cache=True, nogil=True)
def _bid(cut, end, starts, rows, graph, prices, schedule):
    """Run the phases of the components that own `rows[cut:end]`, one after the other."""
    bids = waiting = 0
    for part in range(np.searchsorted(starts, cut), np.searchsorted(starts, end)):
        spent, left = _bid_component(rows[starts[part] : starts[part + 1]], graph, prices, schedule)
        bids += spent
        waiting += left
    return bids, waiting


@njit(cache=True, nogil=True)
def _bid_component(rows, graph, prices, schedule):
    """Run the phases of one component; with `per_phase` every phase has the budget, else they share it."""
    indptr, indices, data, forbidden = graph
    scaled, last, budget, per_phase, at_once = schedule
    bids, left = 0, 0
    if scaled:
        steps = scaled_eps(rows, indptr, data, forbidden, last) if len(rows) >= SMALL or last > 0.0 else np.empty(0)
    else:
        steps = np.full(1 if last > 0.0 else 0, last)
    for eps in steps:
        allowed = budget * len(rows) - (0 if per_phase else bids)
        spent, waiting = run_phase(rows, indptr, indices, data, forbidden, prices, eps, allowed, at_once)
        bids += spent
        left = len(waiting)
    return bids, left
