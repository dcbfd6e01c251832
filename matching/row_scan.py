"""The least c_j - v_j of a long row of costs, eight columns at a time.

Minima are taken over the bit patterns of floats, made to rank as integers: compilers vectorise a minimum of floats
only on a promise about NaN that numba cannot pass on to them.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN201

from __future__ import annotations

import numpy as np
from numba import njit

BLOCK = 256
"""Columns looked at together; short enough that a second look finds them in cache."""

HIGHEST = np.int64(2**63 - 1)


@njit(cache=True, nogil=True, inline="always")
def rank(value):
    """Return an int64 that compares with others as `value` does: integers themselves, floats by their bits."""
    if isinstance(value, float):
        bits = np.float64(value).view(np.int64)
        return bits ^ ((bits >> 63) & HIGHEST)
    return np.int64(value)


@njit(cache=True, nogil=True)
def least_rank(row, v):
    """Return the rank of min_j (c_j - v_j), of float or integer costs (columns,) beside float64 or int64 duals."""
    least = HIGHEST
    for j in range(len(v)):
        least = min(least, rank(row[j] - v[j]))
    return least


@njit(cache=True, nogil=True)
def cheapest_column(row, v, bound):
    """Return the first column with the least c_j - v_j below `bound`, or -1."""
    least, column = rank(bound), -1
    for first in range(0, len(v), BLOCK):
        part, prices = row[first : first + BLOCK], v[first : first + BLOCK]
        low = least_rank(part, prices)
        if low < least:
            least = low
            for k in range(len(prices)):
                if rank(part[k] - prices[k]) == low:
                    column = first + k
                    break
    return column
