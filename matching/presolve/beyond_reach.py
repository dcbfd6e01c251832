"""Rows and columns beyond reach, as of one far point: left out where the unmatched costs of the rest do not matter.

Where those within reach have no pair as dear as their unmatched costs, these only say that all of the shorter side are
matched (`idle_unmatched_costs`), and the rest is solved without them: beside an unmatched cost of 1e6 the duals of
edges near 1 have lost the digits that would prove them, and took a GPU's answer seconds to find again.

What is proven of the rest is proven for the problem as stated, with the same gap, as at lower unmatched costs
(`high_unmatched_costs`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from ..certificate.assignment import Assignment
from ..certificate.certify import MOST_FETCHED, Terms, certify, complementary_slackness, inverse
from ..certificate.not_converged import NotConverged
from ..device import cuda
from ..problem import Problem
from ..problem.costs import best_row_duals
from ..problem.reach import within_reach
from .idle_unmatched_costs import are_idle, shift_to_unmatched_costs


def without_unreachable(problem: Problem, solve: Callable[[Problem], Assignment]) -> Assignment:
    """Call `solve` on the part of a matrix within reach, without unmatched costs, where these do not matter in it."""
    is_fetched = not problem.is_on_device or problem.n_edges <= MOST_FETCHED
    if not problem.has_unmatched_cost or problem.n_blocks > 1 or not is_fetched:
        return solve(problem)
    with cuda.device_of(problem.data):
        kept = within_reach(problem)
        rest = None if kept is None else _only(problem, *kept)
        if kept is None or rest is None or not are_idle(rest):
            return solve(problem)
        as_stated = partial(_as_stated, problem, rest, *kept)
        try:
            return as_stated(solve(replace(rest, row_unmatched=None, col_unmatched=None)))
        except NotConverged as error:
            raise error.restated(as_stated) from None


def _only(problem: Problem, rows: np.ndarray, cols: np.ndarray) -> Problem:
    """Return the problem of these rows and columns."""
    assert problem.row_unmatched is not None
    assert problem.col_unmatched is not None
    unmatched_costs = cuda.to_host(problem.row_unmatched)[rows], cuda.to_host(problem.col_unmatched)[cols]
    i, j = np.flatnonzero(rows), np.flatnonzero(cols)
    if problem.is_on_device:
        i, j = map(cuda.cupy().asarray, (i, j))
    return Problem.dense(problem.data.reshape(problem.shape)[i][:, j], unmatched_cost=unmatched_costs)


def _as_stated(problem: Problem, rest: Problem, rows: np.ndarray, cols: np.ndarray, answer: Assignment) -> Assignment:
    """Return an answer to the rest as one to the whole; what is left out is unassigned, at its unmatched cost."""
    host, found = problem.on_host(), answer.on_host()
    assert host.col_unmatched is not None
    col_of_row = np.full(len(rows), -1, np.int32)
    col_of_row[rows] = np.where(found.col_of_row < 0, -1, np.flatnonzero(cols)[found.col_of_row])
    v = host.col_unmatched.astype(host.dual_dtype)
    v[cols] = np.minimum(v[cols], found.col_duals - shift_to_unmatched_costs(rest.on_host(), found))
    terms = None
    if found.is_optimal:
        r, sizes = best_row_duals(host, v)
        row_of_col = inverse(host, col_of_row)
        sums = complementary_slackness(host, col_of_row, row_of_col, r, v, sizes)
        terms = Terms(row_of_col, r, sums._replace(gap=np.array([found.gap], sums.gap.dtype), proves=True))
    stats = {**found.stats, "beyond_reach": int((~rows).sum() + (~cols).sum())}
    stated = certify(host, col_of_row, v, solver=found.solver, device=found.device, stats=stats, terms=terms)
    return stated.on_device() if problem.is_on_device else stated
