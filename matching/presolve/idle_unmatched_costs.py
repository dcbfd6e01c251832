"""Unmatched costs that no pair is as dear as: put aside, as all of the shorter side is matched with or without them.

Where leaving a row and a column unassigned costs at least as much as the dearest pair, some optimum matches all of the
shorter side. Without unmatched costs there are more ways to solve the problem: sorting, and other solvers where one
takes too long. As r + v of a pair is at most its cost, hence at most the sum of its two unmatched costs, some shift of
all row duals against all column duals puts both sides below their unmatched costs; as a rule they are, and nothing is
shifted.

Of a longer side all must pay the same: as many of it stay unassigned in any such optimum, and what they pay together is
a constant. Their duals, 0 without unmatched costs, are at their unmatched cost with them, by which all others move,
too. Beside a high unmatched cost duals lose digits: where the gap is then more than a share of what the matched edges
cost without it, the problem is solved with its unmatched costs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from ..certificate.assignment import Assignment
from ..certificate.certify import recertified
from ..certificate.not_converged import NotConverged
from ..device import cuda
from ..problem import Problem
from ..problem.costs import largest_edge_cost
from .high_unmatched_costs import A_FEW

FEWEST = 100
"""Rows below which unmatched costs cost no time that is worth looking at all costs for."""


def without_idle_unmatched_costs(problem: Problem, solve: Callable[[Problem], Assignment]) -> Assignment:
    """Call `solve` on a problem, without its unmatched costs where they only say that all are to be matched."""
    if not problem.has_unmatched_cost:
        return solve(problem)
    with cuda.device_of(problem.data):
        return _solved(problem, solve) if are_idle(problem) else solve(problem)


def _solved(problem: Problem, solve: Callable[[Problem], Assignment]) -> Assignment:
    """Solve without unmatched costs, and for those that are stated where that proves nothing at them."""
    try:
        answer = solve(replace(problem, row_unmatched=None, col_unmatched=None))
    except NotConverged as error:
        raise error.restated(partial(_as_stated, problem)) from None
    stated = _as_stated(problem, answer)
    return stated if stated.is_optimal or not answer.is_optimal else solve(problem)


def are_idle(problem: Problem) -> bool:
    """Whether unmatched costs of a single problem, those of two sides together, are all as high as its dearest pair."""
    assert problem.row_unmatched is not None
    assert problem.col_unmatched is not None
    sides = problem.row_unmatched, problem.col_unmatched
    if problem.n_blocks > 1 or min(problem.shape) < FEWEST or not problem.allows_all:
        return False
    for first in (A_FEW, None):
        if sum(_least(side[:first]) for side in sides) < largest_edge_cost(problem, first):
            return False
    longer = sides[int(problem.n_rows < problem.n_cols)]
    return problem.n_rows == problem.n_cols or not (longer - longer[0]).any()


def _as_stated(problem: Problem, answer: Assignment) -> Assignment:
    """Return an answer that was found without unmatched costs, its duals moved to where these bound them."""
    shift = shift_to_unmatched_costs(problem, answer)
    if shift == 0:
        return answer
    found = answer.on_host()
    stated = recertified(problem.on_host(), found, found.col_duals - shift)
    return stated.on_device() if problem.is_on_device else stated


def shift_to_unmatched_costs(problem: Problem, answer: Assignment) -> Any:
    """Return by how much row duals rise and column duals fall: to unmatched costs where unassigned, else not above."""
    assert problem.row_unmatched is not None
    assert problem.col_unmatched is not None
    if problem.n_rows > problem.n_cols:
        return _least(problem.row_unmatched)
    if problem.n_rows < problem.n_cols:
        return -_least(problem.col_unmatched)
    lowest = -_least(problem.col_unmatched - answer.col_duals)
    return min(max(0, lowest), _least(problem.row_unmatched - answer.row_duals))


def _least(values: Any) -> Any:
    """Return the least value, looked for where they are."""
    return cuda.to_host(values.min()).item()
