"""Unmatched costs far above all costs: lowered, as in sums with them the digits of the costs would be lost.

Where leaving a row and a column unassigned costs more than any exchange of matched edges, as many are matched as
possible. How many stay unassigned is then fixed, so the unmatched costs of all rows can be lowered by one amount, and
those of all columns by another, and the same matching is the cheapest. Duals for the unmatched costs as stated follow:
what alternating paths from unassigned rows reach moves by the rows' amount, what those from unassigned columns reach by
the columns'.

Each block of a batch is looked at by itself: by its least unmatched costs and its largest cost. What unmatched costs
differ by among themselves stays in the sums. What is proven at the lower unmatched costs is proven at those stated,
with the same gap: duals there are beyond what a float can hold beside the digits of the costs (`verify` looks at lower
unmatched costs, too).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..cardinality.graph import BipartiteGraph
from ..cardinality.matching import alternating_reach
from ..certificate.assignment import Assignment
from ..certificate.certify import block_of, inverse, recertified
from ..certificate.not_converged import NotConverged
from ..device import cuda
from ..errors import InvalidProblem
from ..problem import Problem, device_problem
from ..problem.convert import as_sparse
from ..problem.costs import largest_edge_cost
from ..problem.flat_graph import global_columns
from ..problem.outline import Outline
from ..tolerance import FAR

Reductions = tuple[tuple[float, float], tuple[float, float]]
"""For rows and for columns: the least unmatched cost, and what it becomes."""

A_FEW = 1024
"""Costs of either kind that are looked at before all of them: as a rule they show that none is far above."""


def at_lower_unmatched_costs(problem: Problem, solve: Callable[[Problem], Assignment]) -> Assignment:
    """Call `solve` on a problem, its unmatched costs lowered where they are far above real costs."""
    if not problem.has_unmatched_cost and not problem.is_on_device:
        return solve(problem)
    with cuda.device_of(problem.data):
        reductions = _reductions_of_blocks(problem)
        if not reductions:
            return solve(problem)
        by = np.zeros((2, problem.n_blocks))
        lowered = _lowered(problem, reductions, by)
        try:
            return _at_stated_unmatched_costs(problem, solve(lowered), *by)
        except NotConverged as error:
            raise error.restated(lambda answer: _at_stated_unmatched_costs(problem, answer, *by)) from None


def _lowered(problem: Problem, reductions: dict[int, Reductions], by: np.ndarray) -> Problem:
    """Return the problem at lower unmatched costs, and write into `by` (2, blocks) how much lower they are."""
    there = device_problem.moved if problem.is_on_device else np.asarray
    unmatched_costs: list[Any] = []
    sides = (problem.row_unmatched, problem.n_rows_of_block), (problem.col_unmatched, problem.n_cols_of_block)
    for side, (stated, sizes) in enumerate(sides):
        assert stated is not None
        before, after = np.zeros((2, problem.n_blocks))
        for b, reduction in reductions.items():
            before[b], after[b] = reduction[side]
        by[side] = before - after
        unmatched_costs.append(stated - there(np.repeat(before, sizes)) + there(np.repeat(after, sizes)))
    return replace(problem, row_unmatched=unmatched_costs[0], col_unmatched=unmatched_costs[1])


def refuse_high_unmatched_costs(outline: Outline, largest: float) -> None:
    """Refuse unmatched costs that are far above all costs, `largest` at most, where these lie in shards.

    Raises
    ------
    InvalidProblem
        With unmatched costs that lead to the same matching.
    """
    reductions = _reductions(outline, lambda _: largest)
    if reductions is not None:
        (of_rows, row_least), (of_cols, col_least) = reductions
        raise InvalidProblem(
            f"unmatched_cost is so far above all costs that rounding would hide them: {of_rows:g} for rows, "
            f"{of_cols:g} for columns. The same pairs are matched at lower ones: of rows those given "
            f"- {of_rows!r} + {row_least:g}, of columns - {of_cols!r} + {col_least:g}.",
            argument="unmatched_cost",
        )


def _reductions_of_blocks(problem: Problem) -> dict[int, Reductions]:
    """Return the reductions of those blocks whose unmatched costs are far above all of their costs."""
    if problem.is_integer or not problem.has_unmatched_cost:
        return {}
    blocks = range(problem.n_blocks) if problem.n_blocks == 1 else _with_high_unmatched_costs(problem).tolist()
    parts = ((b, problem.block(b)) for b in blocks)
    found = ((b, _reductions(part, partial(largest_edge_cost, part))) for b, part in parts)
    return {b: reductions for b, reductions in found if reductions is not None}


def _with_high_unmatched_costs(problem: Problem) -> np.ndarray:
    """Return the blocks of a batch whose unmatched costs are far above the first of their costs, if not above all."""
    full = np.flatnonzero((problem.n_rows_of_block > 0) & (problem.n_cols_of_block > 0))
    most_edges = np.minimum(problem.n_rows_of_block, problem.n_cols_of_block)[full]
    unmatched_costs = [
        np.minimum.reduceat(cuda.to_host(side), offsets[:-1][full])
        for side, offsets in (
            (problem.row_unmatched, problem.row_offsets),
            (problem.col_unmatched, problem.col_offsets),
        )
    ]
    return full[unmatched_costs[0] + unmatched_costs[1] > FAR * 2.0 * most_edges * _first_costs(problem, full)]


def _first_costs(problem: Problem, blocks: np.ndarray) -> np.ndarray:
    """Return the size of one cost of each block; 0 where that is none, which may be no matched edge's."""
    if problem.x is not None and problem.y is not None:
        x = cuda.to_host(problem.x[problem.row_offsets[:-1][blocks]])
        y = cuda.to_host(problem.y[problem.col_offsets[:-1][blocks]])
        squares = ((x - y) ** 2).sum(axis=1)
        return squares if problem.metric == "squared" else np.sqrt(squares)
    if problem.indptr is None:
        at = problem.dense_offsets[blocks]
    else:
        at = cuda.to_host(problem.indptr)[problem.row_offsets[:-1][blocks]]
    at = np.minimum(at, len(problem.data) - 1)
    costs = abs(cuda.to_host(problem.data[at])) if len(problem.data) else np.zeros(len(blocks))
    return np.where(np.isfinite(costs), costs, 0.0)


def _reductions(problem: Outline, largest_of: Callable[[int | None], float]) -> Reductions | None:
    """Return for rows and columns the least unmatched cost and what it becomes; None unless it is far above all costs.

    `largest_of` bounds the first so many costs, or all of them where that is None.
    """
    most_edges = int(np.minimum(problem.n_rows_of_block, problem.n_cols_of_block).max(initial=0))
    if problem.is_integer or problem.row_unmatched is None or problem.col_unmatched is None or not most_edges:
        return None
    sides = problem.row_unmatched, problem.col_unmatched
    exchange = of_rows = of_cols = 0.0
    for first in (A_FEW, None):
        exchange = 2.0 * most_edges * largest_of(first)
        of_rows, of_cols = (float(cuda.to_host(side[:first]).min()) for side in sides)
        if of_rows + of_cols <= FAR * exchange:
            return None
    if exchange == 0.0:
        return None
    # The longer side pays nothing, so that duals near its unmatched cost are small.
    wanted = 0.0 if problem.n_rows <= problem.n_cols else exchange
    least_of_cols = float(np.clip(wanted, exchange - max(of_rows, -exchange), max(of_cols, -exchange)))
    return (of_rows, exchange - least_of_cols), (of_cols, least_of_cols)


def _at_stated_unmatched_costs(
    problem: Problem, answer: Assignment, by_rows: np.ndarray, by_cols: np.ndarray
) -> Assignment:
    """Certify an answer to lower unmatched costs for those stated, duals moved where unassigned members need it.

    `by_rows`, `by_cols` (blocks,): what they were lowered by. A side whose unmatched cost was raised, as it was far
    below 0, moves as a whole.
    """
    host, answer = problem.on_host(), answer.on_host()
    below_rows, below_cols = _reached_from_unassigned(host, answer.col_of_row)
    of_all = np.maximum(-by_rows, 0.0) + np.minimum(by_cols, 0.0)
    of_all, for_rows, for_cols = (
        np.repeat(amount, host.n_cols_of_block) for amount in (of_all, by_rows + of_all, by_cols - of_all)
    )
    v = answer.col_duals + of_all
    v[below_rows] -= for_rows[below_rows]
    v[below_cols] += for_cols[below_cols]
    stated = recertified(host, answer, v)
    is_proven = answer.is_optimal
    stated = replace(stated, gap=answer.gap if is_proven else stated.gap, is_optimal=is_proven)
    return stated.on_device() if problem.is_on_device else stated


def _reached_from_unassigned(problem: Problem, col_of_row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which columns alternating paths from unassigned rows reach, and which those from unassigned columns."""
    row_of_col = inverse(problem, col_of_row)
    if problem.allows_all:
        sides = (col_of_row, problem.row_offsets), (row_of_col, problem.col_offsets)
        from_rows, from_cols = (
            np.isin(np.arange(problem.n_blocks), block_of(offsets, np.flatnonzero(partner < 0)))
            for partner, offsets in sides
        )
        return np.repeat(from_rows, problem.n_cols_of_block), np.repeat(from_cols, problem.n_cols_of_block)
    edges = as_sparse(problem)
    graph = BipartiteGraph.from_any((edges.indptr, global_columns(edges), problem.shape))
    first_row = np.repeat(problem.row_offsets[:-1], problem.n_cols_of_block)
    first_col = np.repeat(problem.col_offsets[:-1], problem.n_rows_of_block)
    partners = (
        np.where(col_of_row < 0, -1, col_of_row + first_col),
        np.where(row_of_col < 0, -1, row_of_col + first_row),
    )
    return alternating_reach(graph, *partners)[1], alternating_reach(graph.transposed, *partners[::-1])[0]
