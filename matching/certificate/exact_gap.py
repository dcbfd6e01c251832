"""The gap of an assignment without rounding, group by group: for answers whose certificate in floats leaves a doubt.

Row duals are the least of c - v, kept as pairs of floats, in which a difference of two floats is exact. So a cost of
1e16 beside prices near 1 leaves nothing open. An exchange of links lowers the cost by no more than the slack of the
links it touches, and its pairs have a reduced cost of no more than that: it stays within one group of rows and columns
that such pairs connect. Each group is therefore held to the cost of its own links, of which what every answer pays is
no part: what `_forced` prices prove without a solve. A link that nobody can avoid must not hide those beside it. Where
column duals are themselves as large as what is forced, and so rounded to more than is being decided, they are found
anew above the forced ones.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

import numpy as np
from numba import njit

from ..problem import Problem
from ..problem.components import components
from ..problem.convert import unmasked
from ..tolerance import EPS, LOST_ULPS, PAIR_ULPS, SHARE
from .float_pairs import difference

SWEEPS = 50
"""Times that all pairs are looked at for duals above the forced ones. Those at hand are off by rounding alone."""

_EPS_OF_PAIR = PAIR_ULPS * EPS


def exact_gap(problem: Problem, col_of_row: np.ndarray, row_of_col: np.ndarray, v: np.ndarray) -> tuple[float, bool]:
    """Return the gap of one block that the column duals prove, and whether it is within `SHARE` in every group.

    Parameters
    ----------
    problem : Problem
        One block of real costs on the host, dense or sparse.
    col_of_row, row_of_col : int32 (rows,), (columns,)
    v : float64 (columns,)
        Column duals, none above its bound.
    """
    n, m = problem.shape
    problem = unmasked(problem)
    indptr = np.arange(n + 1) * m if problem.kind == "dense" else problem.indptr
    edges = indptr, problem.indices, problem.data
    row_bound, col_bound = problem.dual_bounds()
    r = _best_duals(*edges, True, row_bound, v, np.zeros(m))
    priced = problem.has_unmatched_cost
    bounds = row_bound if priced else np.zeros(n), col_bound if priced else np.zeros(m)
    pays = _paid(*edges, bounds[0], col_of_row)
    links = col_of_row, row_of_col
    slack = _slacks(pays, bounds[1], *links, r, (v, np.zeros(m)))
    forced_duals = [(each, _slacks(pays, bounds[1], *links, *each)) for each in _forced(*edges, row_bound, col_bound)]
    (_, forced_v), above_forced = min(forced_duals, key=lambda each: np.maximum(each[1], 0.0).sum())
    above_forced = np.maximum(above_forced, 0.0)
    sizes = abs(np.concatenate([pays, np.where(row_of_col < 0, bounds[1], 0.0)]))

    def is_within(r: tuple[np.ndarray, np.ndarray], v: tuple[np.ndarray, np.ndarray], slack: np.ndarray) -> bool:
        doubted = _beyond_share(_groups(*edges, r, *v, float(slack.sum())), slack, above_forced, sizes)
        if not doubted.any():
            return True
        part = _groups(*edges, r, *v, np.inf)
        beyond_rounding = np.bincount(part, slack) > LOST_ULPS * EPS * np.bincount(part, above_forced)
        return not beyond_rounding[part[doubted]].any()

    gap = float(slack.sum())
    if is_within(r, (v, np.zeros(m)), slack):
        return gap, True
    above = v - forced_v[0]
    if not np.isfinite(np.concatenate([row_bound, col_bound])).any():
        above -= np.median(above)  # only differences matter, and what all have in common takes digits from them
    if not _lower_until_links_are_least(*edges, col_of_row, pays, forced_v[0], above):
        return gap, False
    r = _best_duals(*edges, True, row_bound, forced_v[0], above)
    slack = _slacks(pays, bounds[1], *links, r, (forced_v[0], above))
    lost = _EPS_OF_PAIR * abs(above)
    slack += np.concatenate([np.where(col_of_row >= 0, lost[col_of_row], 0.0), lost])
    return gap, is_within(r, (forced_v[0], above), slack)


def _beyond_share(group: np.ndarray, slack: np.ndarray, forced: np.ndarray, pays: np.ndarray) -> np.ndarray:
    """Return which rows and columns are in groups whose slack is more than a share of what their links cost.

    That is the larger of two measures: what they cost above the forced, and what they would cost if each were as cheap
    as the cheapest that is not 0.
    """
    groups = int(group.max(initial=-1)) + 1
    positive = pays > 0
    cheapest = np.full(groups, np.inf)
    np.minimum.at(cheapest, group[positive], pays[positive])
    number = np.bincount(group[positive], minlength=groups)
    at_least = np.where(number > 0, number * np.where(number > 0, cheapest, 0.0), 0.0)
    own = np.maximum(np.bincount(group, forced, groups), at_least)
    return (np.bincount(group, slack, groups) > SHARE * own)[group]


def _forced(indptr, indices, data, row_bound, col_bound):
    """Yield row and column duals that need no solve, as pairs: each row's least, then each column's, and the reverse.

    Where many rows stay unassigned the one says far less than the other, where many columns do the other.
    """
    rows, cols = (indptr, indices, data, True, row_bound), (indptr, indices, data, False, col_bound)
    for one, other, other_bound in ((rows, cols, col_bound), (cols, rows, row_bound)):
        start = np.where(np.isfinite(other_bound), other_bound, 0.0)
        found = _finite(*_best_duals(*one, start, np.zeros(len(start))))
        both = found, _finite(*_best_duals(*other, *found))
        yield both if one is rows else both[::-1]


def _finite(high: np.ndarray, low: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the duals, 0 for a member without a pair and a bound; where it must be matched it was refused long ago."""
    return np.where(np.isfinite(high), high, 0.0), low


@njit(cache=True, nogil=True)
def _best_duals(indptr, indices, data, of_rows, bound, other, other_low):
    """Return min(bound, min c - the other side's dual) of each row, or each column, as two arrays, high and low."""
    high, low = bound.copy(), np.zeros(len(bound))
    for i in range(len(indptr) - 1):
        lo = indptr[i]
        for e in range(lo, indptr[i + 1]):
            if data[e] < np.inf:
                j = e - lo if indices is None else indices[e]
                own, there = (i, j) if of_rows else (j, i)
                h, rest = difference(float(data[e]), 0.0, other[there], other_low[there])
                if h < high[own] or (h == high[own] and rest < low[own]):
                    high[own], low[own] = h, rest
    return high, low


@njit(cache=True, nogil=True)
def _paid(indptr, indices, data, unmatched, col_of_row):
    """Return what each row pays: its link, or staying unassigned."""
    pays = unmatched.copy()
    for i in range(len(pays)):
        lo = indptr[i]
        if col_of_row[i] >= 0:
            for e in range(lo, indptr[i + 1]):
                if (e - lo if indices is None else indices[e]) == col_of_row[i]:
                    pays[i] = data[e]
    return pays


@njit(cache=True, nogil=True)
def _slacks(pays, col_unmatched, col_of_row, row_of_col, r, v):
    """Return the term of each row and column: what it pays less its duals; 0 for columns with a row."""
    slack = np.zeros(len(pays) + len(col_unmatched))
    for i in range(len(pays)):
        j = col_of_row[i]
        high, low = pays[i], 0.0
        if j >= 0:
            high, low = difference(pays[i], 0.0, v[0][j], v[1][j])
        slack[i] = (high - r[0][i]) + (low - r[1][i])
    for j in range(len(col_unmatched)):
        if row_of_col[j] < 0:
            high, low = difference(col_unmatched[j], 0.0, v[0][j], v[1][j])
            slack[len(pays) + j] = high + low
    return slack


@njit(cache=True, nogil=True)
def _lower_until_links_are_least(indptr, indices, data, col_of_row, pays, forced, above):
    """Lower what column duals are above the forced ones until each row's link is its least; return whether that ended.

    Label-correcting, row by row, as Bellman and Ford.
    """
    for _ in range(SWEEPS):
        lowered = False
        for i in range(len(pays)):
            link = col_of_row[i]
            if link < 0:
                continue
            dual = (pays[i] - forced[link]) - above[link]
            lo = indptr[i]
            for e in range(lo, indptr[i + 1]):
                if data[e] < np.inf:
                    j = e - lo if indices is None else indices[e]
                    reduced = float(data[e]) - forced[j]
                    if reduced - dual < above[j] - _EPS_OF_PAIR * (abs(reduced) + abs(dual)) and j != link:
                        above[j] = reduced - dual
                        lowered = True
        if not lowered:
            return True
    return False


def _groups(indptr, indices, data, r, v, v_low, gap):
    """Number the groups that pairs of a reduced cost up to the gap connect: int32 (rows + columns,)."""
    return np.concatenate(components(*_pairs_within(indptr, indices, data, r, v, v_low, gap), len(v)))


@njit(cache=True, nogil=True)
def _pairs_within(indptr, indices, data, r, v, v_low, gap):
    """Return (indptr, indices) of the pairs of a reduced cost up to the gap."""
    n = len(r[0])
    near_indptr, near = np.zeros(n + 1, np.int64), np.empty(len(data), np.int32)
    n_near = 0
    for i in range(n):
        lo = indptr[i]
        for e in range(lo, indptr[i + 1]):
            if data[e] < np.inf:
                j = e - lo if indices is None else indices[e]
                high, low = difference(float(data[e]), 0.0, v[j], v_low[j])
                if (high - r[0][i]) + (low - r[1][i]) <= gap:
                    near[n_near] = j
                    n_near += 1
        near_indptr[i + 1] = n_near
    return near_indptr, near[:n_near]
