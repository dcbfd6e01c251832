"""Pricing: which of all pairs contradict the duals, found without a matrix.

A pair contradicts when c_ij - r_i - v_j < 0. A box of columns holds none for a row when even its nearest corner at its
largest v does not; that spares nearly all pairs.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

import numpy as np

from ..jit.compiled import BORROWING, compiled
from ..jit.threads import ROWS_PER_TASK, side_by_side, tasks
from ..tolerance import EPS, PRICING_ULPS
from .box_tree import (
    FAN,
    BoxTree,
    box_gaps,
    corners,
    largest_in_boxes,
    least_in_leaf,
    point_squares,
)

_ROUNDING = PRICING_ULPS * EPS

_ODD = np.uint64(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio: multiplied by it, neighbouring numbers lie far apart."""


def contradictions(
    tree: BoxTree,
    rows: np.ndarray,
    r: np.ndarray,
    v: np.ndarray,
    squared: bool,
    most: int,
    tolerance: float = 0.0,
    known: tuple[np.ndarray, np.ndarray] | None = None,
    longest: float = np.inf,
) -> tuple[np.ndarray, np.ndarray]:
    """Find the pairs with c_ij - r_i - v_j below zero by more than rounding and `tolerance`.

    Parameters
    ----------
    tree : BoxTree
        Of the columns.
    rows : float64 (3, n or more)
        As in `box_tree.nearest`.
    r : float64 (n,)
        Row duals; -inf for rows that are not asked about.
    v : float64 (columns,)
    squared : bool
        Whether the cost is the squared distance.
    most : int
        At most this many of each row are returned, the worst.
    tolerance : float
        Negative: pairs that come that near to contradicting are found as well.
    known : int64 (n + 1,), int32 (pairs,), optional
        Pairs that are left out, as CSR without values.
    longest : float
        Squared distance above which no pair is meant.

    Returns
    -------
    columns, counts : int32 (n, most), int64 (n,)
        The first `counts[i]` columns of row i, worst first.
    """
    n = len(r)
    columns, slack, counts = np.empty((n, most), np.int32), np.empty((n, most)), np.zeros(n, np.int64)
    prices, largest = largest_in_boxes(tree, v)
    indptr, indices = known or (np.zeros(n + 1, np.int64), np.empty(0, np.int32))
    limits = tolerance, longest
    question = tree, rows, r, prices, largest, squared, limits, indptr, indices, columns, slack, counts
    side_by_side(lambda task: _search(task, *question), tasks(n))
    return columns, counts


@compiled
def _search(task, tree, rows, r, v, largest, squared, limits, indptr, indices, columns, slack, counts):
    stack, gaps, near = np.empty(FAN * 24, np.int64), np.empty(FAN), np.empty(FAN)
    asked_below = np.empty(FAN)
    end = min(len(r), (task + 1) * ROWS_PER_TASK)
    for i in range(task * ROWS_PER_TASK, end, FAN):
        asked = i, min(i + FAN, end)
        found = indptr, indices, columns, slack, counts
        _search_for_group(tree, rows, asked, r, v, largest, squared, limits, found, stack, gaps, near, asked_below)


@compiled
def _search_for_group(tree, rows, asked, r, v, largest, squared, limits, found, stack, gaps, near, asked_below):
    """Descend once for up to eight rows; `found` are the known pairs and the new ones.

    `asked_below` is room for the c - v up to which each row takes a pair: that of the last on its list once it is full.
    """
    indptr, indices, columns, slack, counts = found
    tolerance, longest = limits
    first, end = asked
    highest = -np.inf
    for i in range(first, end):
        asked_below[i - first] = r[i] - tolerance
        highest = max(highest, asked_below[i - first])
    if highest == -np.inf:
        return
    box = corners(rows, first, end)
    size, most, is_full = 1, slack.shape[1], False
    stack[0] = (len(tree.starts) - 2) << 40
    while size:
        size -= 1
        level, at = stack[size] >> 40, stack[size] & ((1 << 40) - 1)
        if level > 0:
            child = tree.starts[level - 1] + at * FAN
            box_gaps(tree, child, box, gaps)
            for c in range(FAN):
                least = (gaps[c] if squared else np.sqrt(gaps[c])) - largest[child + c]
                if least <= highest and gaps[c] <= longest:
                    stack[size] = ((level - 1) << 40) | (at * FAN + c)
                    size += 1
            continue
        for i in range(first, end):
            z, y, x = rows[0, i], rows[1, i], rows[2, i]
            if least_in_leaf(tree, at, z, y, x, largest, squared) > asked_below[i - first]:
                continue
            point_squares(tree, at * FAN, z, y, x, near)
            for c in range(FAN):
                cost = near[c] if squared else np.sqrt(near[c])
                price = v[at * FAN + c]
                if cost - price < r[i] - tolerance and near[c] <= longest:
                    below = cost - price - r[i]
                    rounding = _ROUNDING * max(cost, abs(price), abs(r[i]))
                    if below < -rounding - tolerance and not _is_known(indices, indptr[i], indptr[i + 1], at * FAN + c):
                        _keep_worst(columns[i], slack[i], counts, i, at * FAN + c, below)
                        if counts[i] == most:
                            asked_below[i - first] = r[i] + slack[i, most - 1]
                            is_full = True
        if is_full:
            highest = -np.inf
            for i in range(end - first):
                highest = max(highest, asked_below[i])


@compiled(**BORROWING)
def _is_known(indices, begin, end, column):
    at = begin
    while at < end and indices[at] != column:
        at += 1
    return at < end


@compiled(**BORROWING)
def _keep_worst(columns, slack, counts, i, column, below):
    """Insert a pair into row i's list of the worst, which is sorted.

    Each row prefers other columns among equals: if all preferred the same, points at one place would share the few
    columns that each pricing brings, and as many pricings would be needed as there are columns.
    """
    at = counts[i]
    if at == len(columns):
        at -= 1
        if not _is_worse(below, column, slack[at], columns[at], i):
            return
    else:
        counts[i] += 1
    while at > 0 and _is_worse(below, column, slack[at - 1], columns[at - 1], i):
        slack[at], columns[at] = slack[at - 1], columns[at - 1]
        at -= 1
    slack[at], columns[at] = below, column


@compiled(**BORROWING)
def _is_worse(below, column, other_below, other_column, i):
    if below != other_below:
        return below < other_below
    return _mixed(i, column) < _mixed(i, other_column)


@compiled(**BORROWING)
def _mixed(i, column):
    """Return a number that orders the columns differently for each row (multiplicative hashing, Knuth, 6.4)."""
    return ((np.uint64(i) * _ODD) ^ np.uint64(column)) * _ODD >> np.uint64(32)
