"""The least c_j - v_j of a long row of costs, eight columns at a time.

Minima are taken over the bit patterns of floats, made to rank as integers: compilers vectorise a minimum of floats
only on a promise about NaN that numba cannot pass on to them.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN201

from __future__ import annotations

import numpy as np

from .compiled import SMALL, compiled

BLOCK = 64
"""Columns of a block: all blocks are scanned for their least values, and those with the lowest again column by column.
Few, but enough to fill eight vector registers."""

HIGHEST = np.int64(2**63 - 1)


@compiled(inline="always")
def rank(value):
    """Return an int64 that compares with others as `value` does: integers themselves, floats by their bits."""
    if isinstance(value, float):
        bits = np.float64(value).view(np.int64)
        return bits ^ ((bits >> 63) & HIGHEST)
    return np.int64(value)


@compiled
def float_of_rank(own):
    """Return the float that has a rank."""
    return np.int64(own ^ ((own >> 63) & HIGHEST)).view(np.float64)


@compiled
def least_rank(row, v):
    """Return the rank of min_j (c_j - v_j), of float or integer costs (columns,) beside float64 or int64 duals."""
    least = HIGHEST
    for j in range(len(v)):
        least = min(least, rank(row[j] - v[j]))
    return least


@compiled(plain=SMALL)
def least_and_largest(values, zero):
    """Return the least and the largest value; NaN ranks beyond infinity.

    `zero`, 0 or 0.0, is subtracted from each: numba then holds them as int64 or float64.
    """
    low, high = HIGHEST, -HIGHEST - 1
    for k in range(len(values)):
        own = rank(values[k] - zero)
        low, high = min(low, own), max(high, own)
    if isinstance(zero, float):
        return float_of_rank(low), float_of_rank(high)
    return low, high


@compiled
def lowest_blocks(row, v):
    """Return the first columns of the two blocks with the lowest least c_j - v_j, -1 for none, and these two ranks."""
    if 0 < len(v) <= BLOCK:
        return 0, -1, least_rank(row, v), HIGHEST
    lowest = next_lowest = -1
    least = next_least = HIGHEST
    for first in range(0, len(v), BLOCK):
        low = least_rank(row[first : first + BLOCK], v[first : first + BLOCK])
        if low < least:
            next_lowest, next_least = lowest, least
            lowest, least = first, low
        elif low < next_least:
            next_lowest, next_least = first, low
    return lowest, next_lowest, least, next_least


@compiled
def cheapest_column(row, v, bound):
    """Return the first column with the least c_j - v_j below `bound`, or -1."""
    lowest, _, least, _ = lowest_blocks(row, v)
    return column_of_rank(row, v, lowest, least) if least < rank(bound) else -1


@compiled
def column_of_rank(row, v, first, own):
    """Return the first column from `first` on whose c_j - v_j has the rank `own`; there must be one."""
    j = first
    while rank(row[j] - v[j]) != own:
        j += 1
    return j
