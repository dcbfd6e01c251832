"""Detected points to true points of the same frame, one to one, for scoring."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from ...matching.points.grid import pairs_within
from ...matching.problem import Problem
from ...matching.solving import solve
from ..calibrating.lengths import require_length
from ..errors import InvalidInput
from ..points import Points

_TIE = 1e-12
"""Part by which staying unmatched costs more than said: a pair that costs just as much is made."""


def match_points(points: Points, truth: Points, tolerance: float) -> np.ndarray:
    """Assign points to the true points of the same frame, one to one, none farther than the tolerance.

    Parameters
    ----------
    points, truth : Points
        Of the same unit and dimension.
    tolerance : float
        Longest distance of a pair, in the unit of the calibration.

    Returns
    -------
    ndarray
        int64 (len(points),): row of `truth` for every point, -1 for none.

    Raises
    ------
    InvalidInput
        If the tables' units or dimensions differ.
    InvalidSetting
        If the tolerance is not a finite length above zero.

    Notes
    -----
    The assignment minimises the sum of min(distance, tolerance) over the true points, the gated distance of Chenouard
    et al., "Objective comparison of particle tracking methods", Nature Methods 11 (2014): a pair is worth what it
    saves.
    """
    require_length("tolerance", tolerance)
    require_comparable(points, truth)
    return best_match(*close_pairs(points, truth, tolerance), len(points), tolerance)


def require_comparable(points: Points, truth: Points) -> None:
    """Refuse tables of different dimensions or units (`InvalidInput`)."""
    if points.ndim != truth.ndim:
        own, real = (f"{table.ndim} ({', '.join(table.axes)})" for table in (points, truth))
        raise InvalidInput(
            f"tables need the same axes; one has {own}, the truth {real}. Name the column of z of the table that lacks "
            "it where it is read, or take z out of the other."
        )
    found, wanted = points.calibration.unit, truth.calibration.unit
    if found != wanted:
        raise InvalidInput(
            f"tables need the same unit of length; one is in {found}, the truth in {wanted}.",
            in_python="Give scale or unit where the tables are made or read.",
            setting="unit",
            examples={wanted: found},
        )


def close_pairs(points: Points, truth: Points, tolerance: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, columns and distances of all pairs of one frame within the tolerance."""
    pairs = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))]
    x, y = points.positions, truth.positions
    of_point, of_truth = _rows_of(points), _rows_of(truth)
    for frame in of_point.keys() & of_truth.keys():
        row, column = of_point[frame], of_truth[frame]
        indptr, near, distance = pairs_within(x[row], y[column], tolerance)
        pairs.append((np.repeat(row, np.diff(indptr)), column[near], distance))
    rows, columns, distances = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    return rows, columns, distances


def _rows_of(points: Points) -> dict[int, np.ndarray]:
    """Return the rows of each frame, int64, by its number."""
    every = np.arange(len(points))
    return {frame: every[rows] for frame, rows in points.rows_by_frame()}


def best_match(rows: np.ndarray, columns: np.ndarray, costs: np.ndarray, n: int, unmatched_cost: float) -> np.ndarray:
    """Choose among pairs of rows and columns, one to one.

    Parameters
    ----------
    rows, columns, costs : ndarray
        The pairs that may be chosen, (k,).
    n : int
        Number of rows.
    unmatched_cost : float
        What a column without a row costs, as much as the dearest pair or more.

    Returns
    -------
    ndarray
        int64 (n,): column of every row, -1 for none, at the least sum of costs.
    """
    m = int(columns.max(initial=-1)) + 1
    graph = csr_array((costs, (rows, columns)), shape=(n, m))
    problem = Problem.sparse(graph, unmatched_cost=(np.zeros(n), np.full(m, unmatched_cost * (1 + _TIE))))
    return solve(problem, device="cpu").col_of_row.astype(np.int64)
