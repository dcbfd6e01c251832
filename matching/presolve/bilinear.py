"""Matrices that hold squared distances or inner products: solved as the point sets that they were made of.

With one row and one column subtracted, such a matrix has the rank of the points' space. A cross of a row and a column a
dimension (S. Goreinov, E. Tyrtyshnikov, N. Zamarashkin, "A theory of pseudoskeleton approximations", Linear Algebra
Appl. 261, 1997) then gives it all: c_ij = p_i + q_j + a_i·b_j. The optimum depends on the products alone, so that a and
-b, whose squared distances hold them, are matched as points, over their nearest neighbours and without a matrix. The
matrix settles what rounding left, and proves the answer. What hardly needs a search, as a copy moved by noise, is
solved as it is: its proof needs no digits beyond those of such small duals.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..certificate.assignment import Assignment
from ..certificate.certify import certify
from ..certificate.not_converged import NotConverged
from ..paths.finish import TOO_HARD, finish_rows
from ..paths.shortest_paths import start
from ..problem import Problem
from ..tolerance import BILINEAR, SHARE, SLACK_ULPS

FEWEST = 1000
"""Rows from which points take less time than their matrix, which few scans and bids solve where it is smaller."""

DISTINCT = 0.9
"""Part of the points that must lie apart: among many in one place nearest neighbours say little."""

MOST_SCANS = 20
"""Rows scanned, for each row, to settle what rounding left; 0 to 1 are needed where points say what the matrix does."""

MOST_AXES = 3
SCREENED = MOST_AXES + 2
"""Rows and columns that tell most other costs: with one of each subtracted, the determinant of such products is 0, but
for rounding."""

LOST = 100
"""Times the rounding of a cost and the cube of the largest that is left: as much may be in the determinant."""

SAMPLE = 64
"""Rows and columns whose common pairs must be what the points say."""


def by_points(problem: Problem, solve: Callable[[Problem], Assignment]) -> Assignment | None:
    """Return the optimum of a matrix of a few axes, proven as far as rounding lets; None of others.

    Parameters
    ----------
    problem : Problem
        On the host. Only single matrices of real costs and equal sides, without an `unmatched_cost` and with all pairs
        allowed, are looked at, from `FEWEST` rows.
    solve : callable
        Solves the matrix, or else the points, or raises `NotConverged`: where the matrix takes more than few searches,
        or neighbours do not decide.
    """
    is_matrix = problem.kind == "dense" and problem.allows_all and not problem.is_integer
    if not is_matrix or not problem.must_match_all(FEWEST):
        return None
    factors = _factors(problem.cost_matrix)
    if factors is None:
        return None
    (q, a, b), n = factors, problem.n_rows
    if min(map(_distinct, (a, b))) < DISTINCT * n:
        return None
    soon = _tried(solve, problem)
    if soon is not None:
        return soon
    unit = 2.0 ** np.frexp(max(abs(a).max(), abs(b).max()))[1]  # coordinates have half a cost's range
    a, b = a / unit, b / unit
    found = _tried(solve, Problem.points(a, -b, metric="squared"))
    if found is None:
        return None
    state = start(problem.dual_bounds()[0], q + unit**2 * (found.col_duals - (b**2).sum(axis=1)) / 2)
    state.col_of_row[:], state.row_of_col[:] = found.col_of_row, found.row_of_col
    counts = np.zeros(3, np.int64)
    edges = np.arange(n + 1) * n, None, problem.data
    if finish_rows(np.arange(n), *edges, state, counts, MOST_SCANS * n, SLACK_ULPS) == TOO_HARD:
        return None
    stats = {**found.stats, "rows_scanned": int(counts[2])}
    answer = certify(problem, state.col_of_row, state.v, solver=found.solver, stats=stats)
    return answer if answer.is_optimal else None


def _tried(solve: Callable[[Problem], Assignment], problem: Problem) -> Assignment | None:
    """Return the answer, or None where `solve` gives it up."""
    try:
        return solve(problem)
    except NotConverged:
        return None


def _distinct(points: np.ndarray) -> int:
    """Return how many points there are, those as one that rounding cannot tell apart."""
    return len(np.unique(np.rint(points / abs(points).max() / SHARE), axis=0))


def _factors(cost: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return q (columns,), a (rows, axes) and b (columns, axes) with c_ij = p_i + q_j + a_i·b_j for some p, or None."""
    n, m = cost.shape
    few = cost[:: n // SCREENED, :: m // SCREENED][:SCREENED, :SCREENED].astype(float)
    few /= abs(few).max() or 1.0
    rest = few[1:, 1:] - few[1:, :1] - few[:1, 1:] + few[0, 0]
    if abs(np.linalg.det(rest)) > LOST * BILINEAR * abs(rest).max() ** MOST_AXES:
        return None
    rng = np.random.default_rng(0)
    rows, cols = rng.choice(n, SAMPLE, replace=False), rng.choice(m, SAMPLE, replace=False)
    sample, corner = cost[np.ix_(rows, cols)].astype(float), float(cost[0, 0])
    crosses = _crosses(sample - cost[rows, :1] - cost[:1, cols] + corner, float(abs(sample).max()))
    if not crosses:
        return None
    p, q = cost[:, 0].astype(float), cost[0].astype(float)
    a, b = np.empty((n, 0)), np.empty((m, 0))
    for i, j in ((rows[i], cols[j]) for i, j in crosses):
        column, row = cost[:, j] - p - q[j] + corner - a @ b[j], cost[i] - p[i] - q + corner - b @ a[i]
        if column[i] == 0.0:  # which in the sample it was not: rounding decides
            return None
        root = np.sqrt(abs(column[i]))  # so that both sides are as large
        a, b = np.column_stack((a, column / root)), np.column_stack((b, row / column[i] * root))
    return q, a, b


def _crosses(rest: np.ndarray, largest: float) -> list[tuple[int, int]] | None:
    """Return where to cross a sample so that no more than rounding is left; None where more axes would be needed.

    Parameters
    ----------
    rest : float64 (rows, columns)
        The sample, a row and a column of its matrix subtracted.
    largest : float
        The size of its largest cost.
    """
    crosses: list[tuple[int, int]] = []
    for _ in range(MOST_AXES):
        i, j = map(int, np.unravel_index(abs(rest).argmax(), rest.shape))
        if abs(rest[i, j]) <= SHARE * largest:
            break
        crosses.append((i, j))
        rest = rest - np.outer(rest[:, j], rest[i] / rest[i, j])
    return crosses if abs(rest).max() <= BILINEAR * largest else None
