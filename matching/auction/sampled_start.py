"""Where prices start between two point sets: from the optimum between a sixth of the points of either.

Each side is thinned evenly along the Hilbert curve, so that the sample is dense where the whole is, and its prices are
those of the whole but for what a few spacings decide. Every column's price is the most that the sample's rows leave it,
min c_ij - r_i. A sample that is large is itself solved from a sixth of it.

Source: multiscale methods for optimal transport, as in B. Schmitzer, "A sparse multiscale algorithm for dense optimal
transport", Journal of Mathematical Imaging and Vision 56 (2016); thinning and pricing by boxes are ours.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..certificate.matched import Matched
from ..points.box_tree import cheapest_in_order
from ..problem import Problem
from ..problem.costs import edge_costs
from ..problem.problem import Metric

THINNING = 6
"""Points of the whole for each of the sample."""


def sampled_duals(x: np.ndarray, y: np.ndarray, metric: Metric, solve: Callable[[Problem], Matched]) -> np.ndarray:
    """Return initial column duals.

    Parameters
    ----------
    x, y : float64 (n, d), (m, d)
        Rows and columns, no fewer of these, numbered along the Hilbert curve.
    metric : {"distance", "squared"}
        As of `Problem.points`.
    solve : callable
        Matches every row of the sample.

    Returns
    -------
    float64 (m,)
        At most 0 where columns outnumber rows: no price may then be higher.
    """
    n, m = len(x), len(y)
    k = -(-n // THINNING)
    rows, cols = thinned(n, k), thinned(m, k * m // n)
    sample = Problem.points(x[rows], y[cols], metric=metric)
    found = solve(sample)
    r = _costs(sample, found.col_of_row) - found.col_duals[found.col_of_row]
    leaving_most = cheapest_in_order(y, x[rows], r, metric == "squared")
    v = _costs(Problem.points(y, x[rows], metric=metric), leaving_most) - r[leaving_most]
    return np.minimum(v, 0.0) if m > n else v


def _costs(problem: Problem, col_of_row: np.ndarray) -> np.ndarray:
    rows = np.arange(problem.n_rows)
    return edge_costs(problem, rows, np.zeros_like(rows), col_of_row)


def thinned(n: int, k: int) -> np.ndarray:
    """Return k numbers below n, as evenly as can be."""
    return (2 * np.arange(k) + 1) * n // (2 * k)
