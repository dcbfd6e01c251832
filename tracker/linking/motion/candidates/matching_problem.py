"""Links as a matching problem: rows are detections as tails, columns as heads; staying unlinked costs nothing."""

from __future__ import annotations

import numpy as np

from .....matching.device.arrays import begins_of
from .....matching.problem import Problem


def matching_problem(row: np.ndarray, col: np.ndarray, weight: np.ndarray, shape: tuple[int, int]) -> Problem:
    """Return the problem whose optimum are the links with the largest sum of weights.

    Parameters
    ----------
    row, col : int (edges,)
        Ends of the links that are worth something, sorted by row; on a GPU, the problem is there too.
    weight : float64 (edges,)
    shape : (int, int)
    """
    indptr = begins_of(row, shape[0])
    return Problem.sparse((indptr, col.astype(np.int32, copy=False), -weight), unmatched_cost=0.0, shape=shape)
