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
