"""The auction on graphs and matrices, on the CPU: phase after phase for each component, then the exact finish."""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..certificate.matched import Matched
from ..jit.compiled import compiled
from ..jit.threads import side_by_side
from ..paths.dense_paths import assign_dense_rows, finish_dense_rows
from ..paths.finish import (
    NO_LIMIT,
    TOO_HARD,
    finish_rows,
    match_rows,
    settle_unassigned_columns,
    take_prices,
    unassign,
)
from ..paths.shortest_paths import State, lower_to_cheapest, named_counts, start
from ..problem import Problem
from ..problem.convert import unmasked
from ..problem.flat_graph import Graph, Parts, flat_graph, independent_parts, local_columns
from ..tolerance import REMATCH_ULPS, SLACK_ULPS
from .bidding import as_duals, increment, out_of_bids
from .options import AuctionOptions
from .scaling import TRIED_SCANS, Schedule, may_scale, prices_beside, run_finer_phases, run_phases

SMALL = 128
"""Rows of a component below which phases are not worth their passes: shortest paths alone take 0.3 to 1.1 of their time
(50 to 100 rows of six hostile families, matrices and graphs), of 150 rows up to 1.7."""

SCANS_FOR_BIDS = 4
"""Rows that the finish's paths may scan for each bid of the phases, before finer phases take over; these take 2.5 to 5
times as many bids again."""

_WAITING, _INFEASIBLE_ROW = 3, 4


def match_by_auction(problem: Problem, options: AuctionOptions) -> Matched:
    """Match one dense block or a sparse problem, as `Auction.match` says."""
    stated, problem = problem, unmasked(problem)
    if options.eps is not None:
        options = replace(options, eps=increment(options.eps, problem))
    graph, parts = flat_graph(problem), independent_parts(problem)
    row_bound, col_bound = problem.dual_bounds()
    state = start(row_bound, col_bound)
    lower_to_cheapest(*graph, state)
    prices = prices_beside(state)
    schedule = Schedule.of(options, may_scale(problem, options))
    counts = np.zeros((len(parts[2]) - 1, 5), np.int64)
    if schedule.tries_bids_first:
        most_scans = TRIED_SCANS if schedule.scaled else NO_LIMIT
        hard = _match_easy_parts(problem, graph, parts, state, counts, most_scans)
    else:
        hard = np.ones(len(parts[1]) - 1, np.bool_)
    if hard.any():  # what no component needs is not compiled either
        _run_parts(parts, counts, partial(_solve_parts, hard, *graph, state, prices, schedule))
    assert not counts[:, _INFEASIBLE_ROW].any(), "the cardinality matching matched a row that bids and paths cannot"
    stats: dict[str, Any] = {"components": len(hard)}
    waiting = int(counts[:, _WAITING].sum())
    if options.eps is not None or waiting:
        stats["bids"] = int(counts[:, 0].sum())
        found = local_columns(problem, state.col_of_row), as_duals(prices.v, problem)
        return Matched(stated, *found, stats, out_of_bids(options, waiting), options.is_exact)
    if schedule.scaled and graph[1] is not None:
        stats["unassigned_columns"] = settle_unassigned_columns(*graph, state, col_bound, counts[0, :3])
    stats |= named_counts(counts[:, :3].sum(axis=0))
    return Matched(stated, local_columns(problem, state.col_of_row), state.v, stats)


def _match_easy_parts(
    problem: Problem, graph: Graph, parts: Parts, state: State, counts: np.ndarray, most_scans: int
) -> np.ndarray:
    """Match the components that bids without an increment nearly do; return which are left."""
    if graph[1] is None:
        scans = most_scans * problem.n_rows if problem.n_rows >= SMALL and most_scans < NO_LIMIT else NO_LIMIT
        return np.array([assign_dense_rows(problem.cost_matrix, state, counts[0, :3], scans, True) <= TOO_HARD])
    hard = np.zeros(len(parts[1]) - 1, np.bool_)
    _run_parts(parts, counts, partial(_try_parts, hard, *graph, state, most_scans))
    return hard


def _run_parts(parts: Parts, counts: np.ndarray, kernel: Callable[..., None]) -> None:
    """Call `kernel(first, end, starts, rows, counts)` for each run of components `first` to `end`, side by side."""
    rows, starts, cuts = parts
    first = np.searchsorted(starts, cuts)
    side_by_side(lambda c: kernel(first[c], first[c + 1], starts, rows, counts[c]), range(len(counts)))


@compiled
def _try_parts(hard, indptr, indices, data, state, most_scans, first, end, starts, rows, counts):
    """Match components `first` to `end` by bids and shortest paths; mark those in `hard` for which that takes too long.

    Too long means that paths scan more than `most_scans` rows for each row of a component of `SMALL` rows or more.
    `counts` gains the bids, shortest paths and rows scanned, the rows that still wait, and 1 + a row that is
    infeasible.
    """
    for part in range(first, end):
        own = rows[starts[part] : starts[part + 1]]
        scans = most_scans * len(own) if len(own) >= SMALL and most_scans < NO_LIMIT else NO_LIMIT
        infeasible_row = match_rows(own, indptr, indices, data, state, counts[:3], scans)
        hard[part] = infeasible_row == TOO_HARD
        counts[_INFEASIBLE_ROW] = max(counts[_INFEASIBLE_ROW], infeasible_row + 1)


@compiled
def _solve_parts(hard, indptr, indices, data, state, prices, schedule, first, end, starts, rows, counts):
    """Solve the hard ones of components `first` to `end` by phases and finish exactly; `counts` as in `_try_parts`."""
    for part in range(first, end):
        if not hard[part]:
            continue
        own = rows[starts[part] : starts[part + 1]]
        bids, left, eps = 0, 0, 0.0
        if schedule.scaled or schedule.last > 0.0:
            unassign(own, state)
            bids, left, eps = run_phases(own, indptr, indices, data, prices, schedule)
        if schedule.finishes and left * schedule.shares_budget == 0:
            may_refine = isinstance(state.none, float) and eps > 0.0
            most_scans = SCANS_FOR_BIDS * bids if may_refine else NO_LIMIT
            infeasible_row = _finish(
                own, indptr, indices, data, state, prices, schedule, counts, most_scans, SLACK_ULPS
            )
            left = 0
            if infeasible_row <= TOO_HARD:
                bids, left = run_finer_phases(own, indptr, indices, data, prices, schedule, eps, bids)
            if infeasible_row <= TOO_HARD and left * schedule.shares_budget == 0:
                infeasible_row = _finish(
                    own, indptr, indices, data, state, prices, schedule, counts, NO_LIMIT, REMATCH_ULPS
                )
                left = 0
            counts[_INFEASIBLE_ROW] = max(counts[_INFEASIBLE_ROW], infeasible_row + 1)
        counts[0] += bids
        counts[_WAITING] += left


@compiled
def _finish(rows, indptr, indices, data, state, prices, schedule, counts, most_scans, ulps):
    """Finish one component from its prices, if it has bid, as `finish_rows`."""
    if schedule.scaled or schedule.last > 0.0:
        take_prices(rows, indptr, indices, prices, state)
    if indices is None:
        return finish_dense_rows(rows, indptr, data, state, counts[:3], most_scans, ulps)
    return finish_rows(rows, indptr, indices, data, state, counts[:3], most_scans, ulps)
