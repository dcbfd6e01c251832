"""Which rows and columns of a matrix are within reach: those that some pair is worth leaving no one unassigned for.

A row each of whose pairs costs more than to leave both its ends unassigned, as of a far point, is unassigned in every
optimum, and so is such a column.
"""

from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np

from ..device import cuda
from .problem import Problem

FEWEST = 200
"""Rows and columns below which looking for them takes longer than it may save."""

A_FEW, MOST_DEAR = 256, 0.05
"""Costs that are looked at first, spread over the matrix, and the share of them above two unmatched costs up to which
all are looked at."""


def within_reach(problem: Problem) -> tuple[np.ndarray, np.ndarray] | None:
    """Return which rows and which columns are within reach, on the host; None where all are or none.

    Parameters
    ----------
    problem : Problem
        One block with unmatched costs. None is returned too unless it is a matrix that allows all pairs, and where so
        many are beyond reach that their unmatched costs matter. Unmatched costs are taken for the largest of their
        side.
    """
    if problem.kind != "dense" or not problem.allows_all or min(problem.shape) < FEWEST:
        return None
    assert problem.row_unmatched is not None
    assert problem.col_unmatched is not None
    of_rows, of_cols = problem.row_unmatched, problem.col_unmatched
    some = cuda.to_host(problem.data[:: _stride(*problem.shape)])
    if float((some > sum(cuda.to_host(side[:A_FEW]).max() for side in (of_rows, of_cols))).mean()) > MOST_DEAR:
        return None
    most = [cuda.to_host(side.max()).item() for side in (of_rows, of_cols)]
    matrix: Any = problem.data.reshape(problem.shape)
    rows = cuda.to_host(matrix.min(axis=1) <= of_rows + most[1])
    cols = cuda.to_host(matrix.min(axis=0) <= of_cols + most[0])
    all_are = rows.all() and cols.all()
    return (rows, cols) if rows.any() and cols.any() and not all_are else None


def _stride(n: int, m: int) -> int:
    """Return how far apart `A_FEW` costs are of which no column has more than its share."""
    stride = max(n * m // A_FEW, 1)
    while gcd(stride, m) > 1:
        stride += 1
    return stride
