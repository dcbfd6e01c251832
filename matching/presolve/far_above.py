"""Rows and columns whose costs are all far above the others', as sentinels and far points: solved above their least.

A member that must be matched pays its least cost whatever the matching, so that taking it off changes no optimum. Left
in, it takes from the duals of the others the digits that tell them apart. It is taken off where no difference is
rounded: where no cost of the member is more than twice another (P. Sterbenz, "Floating-point computation", 1974).

What is found is proven for the costs as stated. They are looked at on the host, to which a matrix on a GPU is fetched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..certificate.assignment import Assignment
from ..certificate.certify import block_of, recertified
from ..certificate.not_converged import NotConverged
from ..problem import Problem
from ..problem.convert import MATRIX_PAIRS, as_dense, unmasked
from ..tolerance import EPS, FAR
from .groups import by_shape

FEWEST = 200
"""Points a side below which far ones are not looked for: `auto` takes the matrix of these, which is refined."""


def solve_beside_far_points(problem: Problem, solve: Callable[[Problem], Assignment]) -> Assignment:
    """Call `solve` on two sets of as many points, or on the matrix of their costs above the least where some are far.

    An auction of the points would lower its increment from the largest distance to the least, decade by decade.
    """
    answer = solved_above_least(problem, solve) if _has_far_points(problem) else None
    return solve(problem) if answer is None else answer


def solved_above_least(problem: Problem, solve: Callable[[Problem], Assignment]) -> Assignment | None:
    """Return the answer of `solve` to the costs above the least ones of rows, and of columns of equal sides.

    None where nothing is taken off, as of sparse costs, integers, batches but of matrices of one shape, and where
    members may stay unassigned. `solve` is given matrices on the host; the result's arrays lie where the problem's do.
    """
    is_taken = problem.kind != "sparse" and problem.n_pairs <= MATRIX_PAIRS and problem.n_rows <= problem.n_cols
    is_one_shape = problem.n_blocks == 1 or (problem.kind == "dense" and len(by_shape(problem)) == 1)
    if not (is_taken and is_one_shape) or problem.has_unmatched_cost or problem.is_integer:
        return None
    if not problem.is_on_device:
        return _above_least_on_host(problem, solve)
    try:
        answer = _above_least_on_host(problem.on_host(), solve)
    except NotConverged as error:
        raise error.restated(Assignment.on_device) from None
    return None if answer is None else answer.on_device()


def far_above_blocks(problem: Problem, costs: np.ndarray) -> np.ndarray:
    """Return the matrices on the host of which a matched edge costs so much that most others are below its rounding.

    bool (blocks,). Their duals have lost all digits of the others. `costs` (rows,) are those of the matched edges.
    """
    if problem.kind != "dense" or problem.is_on_device or problem.is_integer or problem.has_unmatched_cost:
        return np.zeros(problem.n_blocks, bool)
    block, paid = block_of(problem.row_offsets, np.arange(problem.n_rows)), abs(costs)
    most = np.zeros(problem.n_blocks)
    np.maximum.at(most, block, paid)
    return 2 * np.bincount(block, paid < EPS * most[block], problem.n_blocks) > problem.n_rows_of_block


def _above_least_on_host(problem: Problem, solve: Callable[[Problem], Assignment]) -> Assignment | None:
    matrix = unmasked(as_dense(problem))
    shape = problem.n_blocks, problem.n_rows_of_block[0], problem.n_cols_of_block[0]
    cost = matrix.data.reshape(shape)
    of_rows = _paid_by_all(cost, axis=2)
    cost = cost - of_rows[:, :, None] if of_rows.any() else cost
    of_cols = _paid_by_all(cost, axis=1) if problem.n_rows == problem.n_cols else np.zeros(problem.n_cols)
    cost = cost - of_cols.reshape(len(cost), 1, -1) if of_cols.any() else cost
    if not (of_rows.any() or of_cols.any()):
        return None

    def as_stated(answer: Assignment) -> Assignment:
        found = answer.on_host()
        return recertified(problem, found, found.col_duals + of_cols.reshape(-1))

    try:
        return as_stated(solve(replace(matrix, data=cost.reshape(-1))))
    except NotConverged as error:
        raise error.restated(as_stated) from None


def _paid_by_all(cost: np.ndarray, axis: int) -> np.ndarray:
    """Return the least, float64, of the rows (axis 2) or columns that are nothing but large; 0 of the others."""
    least, most = cost.min(axis=axis, initial=np.inf), cost.max(axis=axis, initial=-np.inf)
    if np.isposinf(most).any():
        most = np.where(cost < np.inf, cost, -np.inf).max(axis=axis, initial=-np.inf)
    is_far = ((least > 0) & (most <= 2 * least)) | ((most < 0) & (least >= 2 * most))
    return np.where(is_far, least, 0.0).astype(np.float64)


def _has_far_points(problem: Problem) -> bool:
    """Whether a few points are farther away than all others by `FAR` times these points' own extent."""
    if problem.kind != "points" or problem.is_on_device or not problem.must_match_all(FEWEST):
        return False
    assert problem.x is not None
    assert problem.y is not None
    points = np.concatenate([problem.x, problem.y])
    away = abs(points - np.median(points, axis=0)).max(axis=1)
    return bool(away.max() > FAR * np.quantile(away, 0.9))
