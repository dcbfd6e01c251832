"""Squared distances of point sets from different distributions: one set is moved onto the other before it is solved.

|x - y|² = |x|² + |y|² - 2 x·y, and only the last term depends on the matching. Of the sums of x·y the greatest
stays so when each side is moved, and when the x are transformed by A and the y by the inverse of its transpose; duals
change by what a point adds by itself. Here both sides are moved to the origin, and A gives them one covariance.
Between normal clouds that is the optimal map itself (I. Olkin, F. Pukelsheim, Linear Algebra Appl. 48, 1982), and of
any sets it leaves two that are alike: then near points are partners, where all of a cloud apart would have the same
few of the other as their cheapest.

What is found is proven on the sets as stated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..certificate.assignment import Assignment
from ..certificate.certify import recertified
from ..certificate.not_converged import NotConverged
from ..certificate.refine import refined
from ..device import cuda
from ..problem import Problem
from ..tolerance import LEAST_TRACE

FEWEST = 200
"""Points a side below which the sets are matched as they are."""

DIFFERING = 1.0
"""Distributions differ where matched edges between normal clouds like them would cost this times n^(-2/3) of both
variances, or more. Independent uniform points are matched at 1.4 to 1.6 of that (n = 500 to 20,000); moved on by a
twentieth of their extent, 20,000 take 0.48 CPU seconds laid over each other and 1.04 as they are, 5,000 take 0.11
and 0.15."""

LEAST_VARIANCE = 1e-3
"""Of an axis, as part of the mean one: points of a plane are not stretched without end. No tolerance: however they are
stretched, the answer is proven for the points as they are."""


def solve_superposed(problem: Problem, solve: Callable[[Problem], Assignment]) -> Assignment:
    """Call `solve` on two sets of as many points, laid over each other where that may help; on others as they are."""
    if problem.kind != "points" or problem.metric != "squared" or not problem.must_match_all(FEWEST):
        return solve(problem)
    stated = problem.on_host()
    laid = _laid(stated)
    if laid is None:
        return solve(problem)
    x, y, added = laid

    def as_stated(answer: Assignment) -> Assignment:
        found = answer.on_host()
        proven = refined(stated, recertified(stated, found, found.col_duals + added))
        return proven.on_device() if problem.is_on_device else proven

    place = cuda.cupy().asarray if problem.is_on_device else np.asarray
    try:
        answer = solve(replace(problem, x=place(x), y=place(y)))
    except NotConverged as error:
        raise error.restated(as_stated) from None
    proven = as_stated(answer)
    return proven if proven.is_optimal or not answer.is_optimal else solve(problem)


def _laid(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return the sets laid over each other, and what that takes from the duals of the columns; None if they are alike.

    A set of one place, beside the extent of both, is none that could be stretched.
    """
    assert problem.x is not None
    assert problem.y is not None
    origin, end = problem.x.mean(axis=0), problem.y.mean(axis=0)
    unit = max(float(abs(side - origin).max()) for side in (problem.x, problem.y)) or 1.0
    x, y, apart = (problem.x - origin) / unit, (problem.y - end) / unit, (end - origin) / unit
    ours, theirs = _covariance(x), _covariance(y)
    if not min(np.trace(ours), np.trace(theirs)) > LEAST_TRACE:
        return None
    root = _power(ours, 0.5)
    both = _power(root @ theirs @ root, 0.5)
    total = np.trace(ours) + np.trace(theirs)
    if not apart @ apart + total - 2 * np.trace(both) > DIFFERING * len(x) ** (-2 / 3) * total:
        return None
    inverse = _power(ours, -0.5)
    stretch = _power(inverse @ both @ inverse, 0.5)
    laid = y @ np.linalg.inv(stretch)
    added = (y**2).sum(axis=1) + 2 * (y @ apart) - (laid**2).sum(axis=1)
    return unit * (x @ stretch), unit * laid, unit**2 * added


def _covariance(centred: np.ndarray) -> np.ndarray:
    """Return the covariance of points around the origin, of no axis less than `LEAST_VARIANCE`."""
    found = centred.T @ centred / len(centred)
    return found + LEAST_VARIANCE * np.trace(found) / len(found) * np.eye(len(found))


def _power(matrix: np.ndarray, exponent: float) -> np.ndarray:
    """Return a power of a symmetric matrix none of whose eigenvalues is below 0."""
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.maximum(values, 0.0) ** exponent) @ vectors.T
