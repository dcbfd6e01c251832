"""What all other pairs of a matrix that is mostly one cost add to a proof: of these the best duals decide.

A pair of that cost has the least reduced cost where the duals of its row and column are largest. So each row is held
against the column with the largest dual, and each column against the row with the largest.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

import numpy as np

from ..jit.compiled import compiled
from ..tolerance import PAIR_ROUNDING
from .float_pairs import above, difference, left_to_row


@compiled
def lower_duals(cost, of_rows, base, high, low, other, other_low):
    """Lower duals of rows, or columns, above the base to what the largest of the other side leaves of a cost."""
    best = _largest(base.v, base.v_low, other, other_low) if of_rows else _largest(base.r, base.r_low, other, other_low)
    for own in range(len(high) if best >= 0 else 0):
        h, rest = above(cost, own if of_rows else best, best if of_rows else own, base)
        h, rest = difference(h, rest, other[best], other_low[best])
        if h < high[own] or (h == high[own] and rest < low[own]):
            high[own], low[own] = h, rest


@compiled
def lower_columns(cost, col_of_row, pays, base, v, v_low):
    """Lower column duals to what the row that is left most leaves of a cost; return whether one was.

    A row's own column is not lowered: it pays no more than that cost.
    """
    dual, dual_low = np.empty(len(pays)), np.empty(len(pays))
    for i in range(len(pays)):
        dual[i], dual_low[i] = left_to_row(i, col_of_row[i], pays[i], base, v, v_low)
    most = _largest(base.r, base.r_low, dual, dual_low)
    lowered = False
    for j in range(len(v) if most >= 0 else 0):
        high, low = above(cost, most, j, base)
        high, low = difference(high, low, dual[most], dual_low[most])
        if (high - v[j]) + (low - v_low[j]) < -PAIR_ROUNDING * (abs(high) + abs(dual[most]) + abs(v[j])):
            v[j], v_low[j] = high, low
            lowered = True
    return lowered


@compiled
def are_within(cost, base, duals, gap):
    """Return which rows and columns have a pair of a reduced cost up to the gap: such pairs connect all of them."""
    n, m = len(duals.r), len(duals.v)
    row = _largest(base.r, base.r_low, duals.r, duals.r_low)
    col = _largest(base.v, base.v_low, duals.v, duals.v_low)
    found = np.zeros(n + m, np.bool_)
    for k in range(n + m if row >= 0 and col >= 0 else 0):
        i, j = (k, col) if k < n else (row, k - n)
        high, low = above(cost, i, j, base)
        high, low = difference(high, low, duals.v[j], duals.v_low[j])
        found[k] = (high - duals.r[i]) + (low - duals.r_low[i]) <= gap
    return found


@compiled
def _largest(base, base_low, own, own_low):
    """Return the member with the largest dual, a base and what is above it; -1 if none is finite."""
    found, most, most_low = -1, -np.inf, 0.0
    for k in range(len(base)):
        if abs(own[k]) < np.inf:
            high, low = difference(base[k], base_low[k], -own[k], -own_low[k])
            if high > most or (high == most and low > most_low):
                found, most, most_low = k, high, low
    return found
