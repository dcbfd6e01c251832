"""The linear sum assignment under SciPy's name and with SciPy's answer, for code that has it already."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import InvalidProblem
from .solving import solve


def linear_sum_assignment(cost_matrix: Any, maximize: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Solve one assignment problem as `scipy.optimize.linear_sum_assignment` does; `solve` returns the proof too.

    Parameters
    ----------
    cost_matrix : array_like (n, m), sparse matrix or Problem
        +inf forbids a pair; with `maximize` -inf does. Whole numbers are added up exactly, so they must stay within
        ±2**62 / (4 + 2 min(n, m)); larger ones, which SciPy rounds, go as ``cost_matrix.astype(float)``.
    maximize : bool
        Find the greatest sum in place of the least.

    Returns
    -------
    row_ind, col_ind : int64 (min(n, m),)
        The matched pairs, by rows; ``cost_matrix[row_ind, col_ind].sum()`` is optimal. Where several are, the pairs may
        be others than SciPy's.

    Raises
    ------
    InvalidProblem
        If it is not a cost matrix, holds NaN, infinite costs of the wrong sign, or whole numbers beyond that; a
        ValueError, as SciPy's.
    Infeasible
        If not every member of the shorter side can be matched; a ValueError, as SciPy's.

    Examples
    --------
    >>> rows, cols = linear_sum_assignment([[4, 1, 3], [2, 0, 5], [3, 2, 2]])
    >>> rows.tolist(), cols.tolist()
    ([0, 1, 2], [1, 0, 2])
    """
    answer = solve(cost_matrix, maximize=maximize)
    if answer.n_blocks != 1:
        raise InvalidProblem(
            f"cost_matrix needs 2 axes (rows, columns); got a stack of {answer.n_blocks}. A stack goes to solve.",
            argument="cost_matrix",
        )
    return answer.edges()
