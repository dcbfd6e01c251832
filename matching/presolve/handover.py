"""Prices to begin with: an auction's, those of a similar problem, or any others.

The Hungarian methods keep the duals of unassigned columns, which must end at their bound. From the bound they begin
there; a start may lie below. So once every row is settled, the unassigned columns below their bound are: the sides are
exchanged, and the same method grows trees from these columns, whose duals rise until they are matched or reach their
bound. What was optimal before stays so. Hence any start gives the exact optimum; a good one gives it sooner.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..certificate.assignment import Assignment
from ..device import cuda
from ..errors import Infeasible, InvalidProblem
from ..paths.state import FREE, UNASSIGNED, State
from ..paths.state import start as starting_state
from ..problem import Problem
from ..problem.costs import best_row_duals, largest_cost
from ..problem.host_problem import fetched
from .block_by_block import joined
from .short_side import Matched, from_short_side

FARTHEST = 64
"""Largest price of a start, in units of the largest cost: beyond, float64 would lose the digits of the costs. For small
problems twice the longest path, which keeps the answer's duals within what `verify` accepts."""


def starting_duals(problem: Problem, start: Any) -> np.ndarray:
    """Return column duals to begin with, on the host, of `problem.dual_dtype` and within their bounds.

    Parameters
    ----------
    problem : Problem
    start : Assignment, or array_like (columns,)
        Column duals, or an answer whose duals are taken. For integer costs they are rounded, and what is farther from
        0 than `FARTHEST` allows is brought back to there.

    Raises
    ------
    InvalidProblem
        If it is not one finite number for each column.
    """
    values = fetched(start.col_duals if isinstance(start, Assignment) else start, "start")
    if values.dtype.kind not in "iuf" or values.shape != (problem.n_cols,):
        raise InvalidProblem(
            f"start needs one real number for each of the {problem.n_cols} columns, or an Assignment of the same "
            f"problem; got {values.dtype} of shape {values.shape}."
        )
    values = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)  # the limits may not fit smaller ones
    if not np.isfinite(values).all():
        raise InvalidProblem(f"start needs finite prices; got {values[~np.isfinite(values)][0]}.")
    shorter = np.minimum(np.diff(problem.row_offsets), np.diff(problem.col_offsets)).max(initial=0)
    farthest = min(FARTHEST, 2 * (int(shorter) + 2)) * largest_cost(problem)
    if problem.is_integer:
        values = np.rint(values) if values.dtype.kind == "f" else values
        farthest = int(min(farthest, 2.0**56))
    duals = np.clip(values, -farthest, farthest).astype(problem.dual_dtype)
    return np.minimum(duals, cuda.to_host(problem.dual_bounds()[1]))


def from_prices(problem: Problem, v: np.ndarray, match: Callable[[Problem, np.ndarray], Matched]) -> Matched:
    """Call `match` on each block with its prices, or with the best row duals where it is transposed."""
    parts: list[Matched] = []
    for b, block in enumerate(problem.blocks()):
        own = v[problem.col_offsets[b] : problem.col_offsets[b + 1]]
        if block.n_rows > block.n_cols and not block.has_unmatched_cost:
            own = best_row_duals(block, own)[0]
        try:
            parts.append(from_short_side(block, lambda turned, own=own: match(turned, own)))
        except Infeasible as error:
            raise (error.in_block(b) if problem.n_blocks > 1 else error) from None
    return joined(parts)


def columns_below(state: State, col_bound: np.ndarray) -> np.ndarray:
    """Return the unassigned columns that are not at their bound."""
    return np.flatnonzero((state.row_of_col < 0) & (state.v < col_bound) & (col_bound < state.none))


def exchanged(state: State, col_bound: np.ndarray, free: np.ndarray) -> State:
    """Return the state seen from the columns, of which those in `free` are not settled."""
    turned = starting_state(col_bound, state.row_bound)
    turned.r[:], turned.v[:] = state.v, state.r
    turned.col_of_row[:] = np.where(state.row_of_col < 0, UNASSIGNED, state.row_of_col)
    turned.col_of_row[free] = FREE
    turned.row_of_col[:] = np.maximum(state.col_of_row, FREE)
    linked = np.flatnonzero(state.col_of_row >= 0)
    turned.matched_cost[state.col_of_row[linked]] = state.matched_cost[linked]
    return turned


def take_back(turned: State, state: State) -> None:
    """Copy a state seen from the columns back; what rounding left above its bound is at it."""
    state.r[:], state.v[:] = turned.v, np.minimum(turned.r, turned.row_bound)
    state.col_of_row[:] = np.where(turned.row_of_col < 0, UNASSIGNED, turned.row_of_col)
    state.row_of_col[:] = np.maximum(turned.col_of_row, FREE)
    linked = np.flatnonzero(state.col_of_row >= 0)
    state.matched_cost[linked] = turned.matched_cost[state.col_of_row[linked]]
