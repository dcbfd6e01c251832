"""Whether a matching costs so little more than what every answer pays that rounding of a gap would hide a cheaper one.

No answer pays less than each row's least, with the price of every column taken as paid. Beside unmatched costs near 1
two edges of 0.1 that differ in the last digit are the same number, and the one at hand may be the dearer: its gap is
far below 1e-9 of 0.1, but all that there was to save. Rows are looked at until what they pay above their least is
enough; of most problems the first few do.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

import numpy as np

from ..jit.compiled import compiled
from ..problem import Problem
from ..problem.convert import unmasked
from ..problem.costs import pair_cost
from ..tolerance import FLOAT_SCREEN, SHARE
from .float_pairs import difference


def barely_above_least(problem: Problem, col_of_row: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """Return the blocks whose gap is more than a `SHARE` of what rows pay above their least, bool (blocks,).

    Where every row pays its least, to the last digit, nothing is cheaper, and no gap is a doubt.

    Parameters
    ----------
    problem : Problem
        Real costs on the host.
    col_of_row : int32 (rows,)
    gap : float64 (blocks,)
    """
    found = np.zeros(problem.n_blocks, np.bool_)
    look_above_least(
        *(0, problem.n_blocks, 0, problem.row_offsets, problem.col_offsets),
        *(problem.row_unmatched, problem.col_unmatched, unmasked(problem).data, problem.indptr, problem.indices),
        *(problem.x, problem.y, problem.metric == "squared", col_of_row, gap, found),
    )
    return found


@compiled
def look_above_least(
    first,
    end,
    lo,
    row_offsets,
    col_offsets,
    row_price,
    col_price,
    data,
    indptr,
    indices,
    x,
    y,
    squared,
    col_of_row,
    gap,
    found,
):
    """Add to the blocks found, among `first` to `end`; dense costs of these begin at `lo`."""
    for b in range(first, end):
        r0, c0 = row_offsets[b], col_offsets[b]
        n, m = row_offsets[b + 1] - r0, col_offsets[b + 1] - c0
        prices = None if col_price is None else col_price[c0 : c0 + m]
        above = 0.0
        for i in range(r0, r0 + n):
            if SHARE * above >= gap[b] > 0:
                break
            bound = (0.0 if n > m else np.inf) if row_price is None else row_price[i]
            at = lo + (i - r0) * m if indptr is None else indptr[i]
            to = at + m if indptr is None else indptr[i + 1]
            cols = None if indices is None else indices[at:to]
            costs = data[at:to] if x is None else _costs_to_all(x, i, y[c0 : c0 + m], squared)
            above += _above_least(costs, cols, prices, bound, col_of_row[i])
        found[b] |= 0.0 < SHARE * above < gap[b]
        lo += n * m


@compiled
def _costs_to_all(x, i, y, squared):
    costs = np.empty(len(y))
    for j in range(len(y)):
        costs[j] = pair_cost(x, i, y, j, squared)
    return costs


@compiled
def _above_least(costs, cols, prices, bound, col):
    """Return by how much a row pays more than its least, the prices of columns taken off; no less than 0.

    As a pair of floats a cost less a price is exact.
    """
    pays, pays_low = bound, 0.0
    if col >= 0:
        at = col if cols is None else np.argmax(cols == col)
        pays, pays_low = difference(float(costs[at]), 0.0, 0.0 if prices is None else prices[col], 0.0)
    if pays == np.inf:  # unassigned though it must not be
        return 0.0
    most = 0.0
    if bound < np.inf:
        high, low = difference(pays, pays_low, bound, 0.0)
        most = max(most, high + low)
    near = 0
    for k in range(len(costs)):
        price = 0.0 if prices is None else prices[k if cols is None else cols[k]]
        near += (costs[k] - price) - pays <= FLOAT_SCREEN * (abs(costs[k]) + abs(price) + abs(pays))
    for k in range(len(costs) if near > 1 or col < 0 else 0):  # the matched edge itself is near
        price = 0.0 if prices is None else prices[k if cols is None else cols[k]]
        if costs[k] < np.inf:
            high, low = difference(float(costs[k]), 0.0, price, 0.0)
            high, low = difference(pays, pays_low, high, low)
            most = max(most, high + low)
    return most
