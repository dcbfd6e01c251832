"""Numbers as pairs of floats, the second the rounding of the first: twice the working precision.

Source: T. J. Dekker, "A floating-point technique for extending the available precision", Numerische Mathematik 18,
1971.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN201

from __future__ import annotations

from ..jit.compiled import BORROWING, compiled


@compiled(forceinline=True, **BORROWING)
def difference(a_high, a_low, b_high, b_low):
    """Return a - b of two pairs of floats as a pair whose second is the rounding of the first."""
    total = a_high - b_high
    part = total - a_high
    error = (a_high - (total - part)) + (-b_high - part) + (a_low - b_low)
    result = total + error
    return result, error - (result - total)


@compiled(inline="always")
def above(cost, i, j, base):
    """Return c_ij less the `exact_gap.Duals` of row and column as a pair of floats."""
    high, low = difference(float(cost), 0.0, base.v[j], base.v_low[j])
    return difference(high, low, base.r[i], base.r_low[i])


@compiled(inline="always")
def left_to_row(i, own_col, pays, base, v, v_low):
    """Return what a row pays above the base and its column's dual as a pair of floats."""
    if own_col < 0:
        return difference(pays, 0.0, base.r[i], base.r_low[i])
    high, low = above(pays, i, own_col, base)
    return difference(high, low, v[own_col], v_low[own_col])
