"""Column duals in twice the working precision, for links that rounding keeps from being proven.

Prices are sums of costs along paths. Where costs span many decades, a path through large ones leaves digits of theirs
in the price of a pair of small ones, and more than 64 ulp of it. With the links known, duals that are tight for them
follow by a label-correcting search from the prices at hand; in pairs of floats (T. J. Dekker, "A floating-point
technique for extending the available precision", Numerische Mathematik 18, 1971) its sums are exact enough that what
is left of them is one rounding.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

import numpy as np
from numba import njit

from .assignment import Assignment
from .certificate import certify
from .convert import as_dense, transposed
from .costs import largest_cost
from .problem import Problem

SWEEPS = 20
"""Times that each row's duals may be corrected on average: more means that the links are not the cheapest."""

SPARE = 2.0**-30
"""By how much, of the largest dual, then of the largest cost, duals are raised that may be too low by rounding: the
search only lowers them."""

MOST_PAIRS = 4_000_000
"""Pairs of two point sets up to which their costs are written out for it."""


def sharpened(problem: Problem, answer: Assignment) -> Assignment:
    """Return the answer with duals that prove it, where rounding alone kept its own from doing so; else the answer.

    Parameters
    ----------
    problem : Problem
        On the host. Integers are left as they are, and point sets of more than `MOST_PAIRS` pairs.
    answer : Assignment
        Complete, and meant to be exact.
    """
    if answer.is_optimal or problem.is_integer or np.isinf(answer.gap).any():
        return answer
    if problem.kind == "points":
        return answer if problem.n_edges > MOST_PAIRS else sharpened(as_dense(problem), answer)
    parts = [_sharp_duals(*pair) for pair in zip(problem.blocks(), answer.blocks(), strict=True)]
    found = [v for v in parts if v is not None]
    if len(found) < len(parts):
        return answer
    stats = {**answer.stats, "sharpened": 1}
    v = np.concatenate(found)
    return certify(problem, answer.col_of_row, v, solver=answer.solver, device=answer.device, stats=stats)


def _sharp_duals(block: Problem, answer: Assignment) -> np.ndarray | None:
    """Return column duals for the links of one block; the search is from the side without a bound, if there is one."""
    if block.n_rows <= block.n_cols or block.has_unmatched_cost:
        return _sharpen(block, answer.col_of_row, answer.col_duals)
    turned = transposed(block)
    r = _sharpen(turned, answer.row_of_col, answer.row_duals)
    return None if r is None else certify(turned, answer.row_of_col, r, solver="").row_duals


def _sharpen(block: Problem, col_of_row: np.ndarray, v: np.ndarray) -> np.ndarray | None:
    """Return column duals of twice the precision, rounded, None if there are none near `v`; the lone keep theirs."""
    n, m = block.shape
    row_of_col = np.full(m, -1)
    matched = np.flatnonzero(col_of_row >= 0)
    row_of_col[col_of_row[matched]] = matched
    indptr = np.arange(n + 1) * m if block.kind == "dense" else block.indptr
    row_bound, col_bound = block.dual_bounds()
    graph = indptr, block.indices, block.data, block.forbidden
    for size in (0.0, float(np.abs(v).max(initial=0.0)), largest_cost(block)):
        high = np.where(row_of_col >= 0, np.minimum(v + SPARE * size, col_bound), v)
        low = np.zeros(m)
        if _correct(*graph, row_bound, col_of_row, row_of_col, high, low, SWEEPS * n):
            return high + low
    return None


@njit(cache=True, nogil=True)
def _correct(indptr, indices, data, forbidden, row_bound, col_of_row, row_of_col, high, low, most):
    """Lower duals (high + low) until no pair contradicts the links' rows; return whether that ended within `most`."""
    n = len(col_of_row)
    queue, is_queued = np.arange(n), np.ones(n, np.bool_)
    head, size = 0, n
    for _ in range(most + n):
        if size == 0:
            return True
        i = queue[head]
        head = (head + 1) % n
        size -= 1
        is_queued[i] = False
        lo = indptr[i]
        own_high, own_low = row_bound[i], 0.0
        for e in range(lo, indptr[i + 1]):
            j = e - lo if indices is None else indices[e]
            if j == col_of_row[i]:
                own_high, own_low = _difference(data[e], 0.0, high[j], low[j])
        if own_high > row_bound[i]:
            return False
        for e in range(lo, indptr[i + 1]):
            j = e - lo if indices is None else indices[e]
            if j == col_of_row[i] or (forbidden is not None and forbidden[e]) or data[e] == np.inf:
                continue
            new_high, new_low = _difference(data[e], 0.0, own_high, own_low)
            if new_high > high[j] or (new_high == high[j] and new_low >= low[j]):
                continue
            k = row_of_col[j]
            if k < 0:
                return False
            high[j], low[j] = new_high, new_low
            if not is_queued[k]:
                queue[(head + size) % n] = k
                size += 1
                is_queued[k] = True
    return False


@njit(cache=True, nogil=True, inline="always")
def _difference(a_high, a_low, b_high, b_low):
    """Return a - b of two pairs of floats as a pair whose second is the rounding of the first."""
    total = a_high - b_high
    part = total - a_high
    error = (a_high - (total - part)) + (-b_high - part) + (a_low - b_low)
    result = total + error
    return result, error - (result - total)
