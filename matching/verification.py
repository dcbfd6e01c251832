"""An independent check of an assignment's certificate. Imports no solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .assignment import Assignment
from .certificate import ULPS, block_of, complementary_slackness
from .costs import absent_cost, row_costs, row_minima
from .errors import InvalidProblem
from .problem import Problem

_TOLERANCE = ULPS * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Certificate:
    """What `verify` found.

    Attributes
    ----------
    is_valid : bool
        The matching is one, allowed by the problem, complete where it must be, its cost is as stated, and its duals are
        feasible. False means that the assignment is wrong, whatever it says of itself.
    is_optimal : bool
        Valid, and the duals prove that nothing is cheaper (gap 0; for real costs within 64 ulp, term by term).
    cost, gap : number, or ndarray (blocks,)
        Recomputed from the problem.
    faults : tuple of str
        One sentence for each thing that is wrong.
    """

    is_valid: bool
    is_optimal: bool
    cost: Any
    gap: Any
    faults: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.is_optimal


def verify(problem: Any, assignment: Assignment) -> Certificate:
    """Recompute an assignment's certificate from the problem alone.

    Parameters
    ----------
    problem : Problem, or array or sparse matrix as taken by `solve`
    assignment : Assignment

    Returns
    -------
    Certificate
        True in a condition when the assignment is proven optimal.

    Raises
    ------
    InvalidProblem
        If the assignment's arrays do not have the problem's sizes.
    """
    problem = Problem.of(problem)
    sizes = tuple(len(a) for a in (assignment.col_of_row, assignment.row_of_col, assignment.row_duals, assignment.col_duals))
    if sizes != (*problem.shape, *problem.shape):
        raise InvalidProblem(
            f"assignment needs the problem's {problem.n_rows} rows and {problem.n_cols} columns; its arrays have {sizes}."
        )
    faults = _matching_faults(problem, assignment)
    if faults:
        nothing = np.full(problem.n_blocks, np.nan)
        return Certificate(False, False, nothing, nothing, tuple(faults))
    parts = complementary_slackness(
        problem, assignment.col_of_row, assignment.row_of_col, assignment.row_duals, assignment.col_duals
    )
    cost = sum(part.sum_costs() for part in parts)
    gap = sum(part.sum_slack() for part in parts)
    faults = _cost_faults(assignment, cost) + _dual_faults(problem, assignment)
    valid = not faults
    return Certificate(valid, valid and all(part.is_tight() for part in parts), cost, gap, tuple(faults))


def _matching_faults(problem: Problem, assignment: Assignment) -> list[str]:
    """Say how the links fail to be a matching that the problem allows and that is complete where it must be."""
    col_of_row, row_of_col = assignment.col_of_row, assignment.row_of_col
    rows = np.flatnonzero(col_of_row >= 0)
    block = block_of(problem.row_offsets, rows)
    local = col_of_row[rows]
    if (local >= np.diff(problem.col_offsets)[block]).any() or (col_of_row < -1).any():
        return ["a row names a column out of its block's range"]
    cols = local + problem.col_offsets[block]
    if len(np.unique(cols)) != len(cols):
        return ["two rows share a column"]
    expected = np.full(problem.n_cols, -1)
    expected[cols] = rows - problem.row_offsets[block]
    faults: list[str] = []
    if not np.array_equal(expected, row_of_col):
        faults.append("row_of_col is not the inverse of col_of_row")
    links, _, _ = complementary_slackness(problem, col_of_row, expected, assignment.row_duals, assignment.col_duals)
    if (links.cost == absent_cost(problem)).any():
        faults.append("a link is forbidden by the problem")
    if not problem.has_unmatched_cost:
        needed = np.minimum(np.diff(problem.row_offsets), np.diff(problem.col_offsets))
        if (np.bincount(block, minlength=problem.n_blocks) != needed).any():
            faults.append("a member of a shorter side is alone although there is no unmatched_cost")
    return faults


def _cost_faults(assignment: Assignment, cost: Any) -> list[str]:
    stated = np.atleast_1d(np.asarray(assignment.cost))
    if np.allclose(stated.astype(np.float64), np.asarray(cost, dtype=np.float64), rtol=1e-12, atol=0):
        return []
    return [f"the stated cost {assignment.cost} is not the links' {cost}"]


def _dual_faults(problem: Problem, assignment: Assignment) -> list[str]:
    """Say where the stated duals break c_ij - r_i - v_j ≥ 0 or their bounds."""
    r, v = assignment.row_duals, assignment.col_duals
    row_bound, col_bound = problem.dual_bounds()
    faults: list[str] = []
    if (r > row_bound).any() or (v > col_bound).any():
        faults.append("a dual is above its bound")
    lowest = row_minima(problem, v)
    if problem.is_integer:
        suspects = np.flatnonzero(r > lowest)
    else:
        suspects = np.flatnonzero(r - lowest > _TOLERANCE * np.maximum(abs(r), abs(lowest)))
    violated = [i for i in suspects if _row_is_violated(problem, int(i), r, v)]
    if violated:
        i = violated[0]
        faults.append(f"row {i} has dual {r[i]}, but c - v goes down to {lowest[i]} ({len(violated)} such rows)")
    return faults


def _row_is_violated(problem: Problem, i: int, r: np.ndarray, v: np.ndarray) -> bool:
    """Whether a pair of row `i` has a negative slack beyond the rounding of its own three terms."""
    cols, cost = row_costs(problem, i)
    slack = cost - r[i] - v[cols]
    if problem.is_integer:
        return bool((slack < 0).any())
    largest = np.maximum(np.maximum(abs(cost), abs(v[cols])), abs(r[i]))
    return bool((slack < -_TOLERANCE * largest).any())
