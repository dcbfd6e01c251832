"""A tree of bounding boxes over points in Hilbert order: nearest and cheapest columns of rows, without a matrix.

Every eight consecutive points share a leaf and every eight consecutive boxes a parent, so boxes are all that is stored,
and the tree adapts to clusters. Rows that come in Hilbert order too find their boxes in cache; eight of them at a time
share one descent.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# A conditional expression vectorises where max() does not.
# ruff: noqa: ANN001, ANN201, ANN202, FURB136

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..jit.compiled import BORROWING, compiled
from ..jit.threads import ROWS_PER_TASK, side_by_side, tasks
from ..tolerance import BOX_MARGIN
from .hilbert import hilbert_orders

FAN = 8
"""Points of a leaf, children of a box, and rows that go down the tree together."""

_DOWN = 1 - BOX_MARGIN
"""Rounds a squared distance to a box down, so that no rounding makes a box look farther than a point in it."""


class BoxTree(NamedTuple):
    """Points and boxes, one row per axis; leading axes that the points lack are 0.

    Attributes
    ----------
    points : float64 (3, leaves * 8)
        The points in tree order; +inf beyond the last.
    lower, upper : float64 (3, boxes)
        Corners of all boxes, leaves first, each level filled up to a multiple of 8 with boxes that hold nothing.
    starts : int64 (levels + 1,)
        Level k owns the boxes `starts[k]:starts[k+1]`; the last level is one box and its fillers.
    """

    points: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    starts: np.ndarray


def build_tree(points: np.ndarray) -> BoxTree:
    """Build the tree of points that are already in Hilbert order, float64 (n, d), n of at least 1."""
    n = len(points)
    sizes = [-(-n // FAN)]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // FAN))
    starts = np.concatenate([[0], np.cumsum([-(-size // FAN) * FAN for size in sizes])])
    ends = np.full((2, 3, sizes[0] * FAN), np.inf)  # coordinates, and their opposites
    ends[:, :, :n] = 0.0
    ends[0, 3 - points.shape[1] :, :n] = points.T
    ends[1, 3 - points.shape[1] :, :n] = -points.T
    lower, upper = _level_by_level(ends, starts, np.minimum, np.inf)
    return BoxTree(ends[0], lower, -upper, starts)


def largest_in_boxes(tree: BoxTree, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the values in the tree's layout (-inf beyond the last), and the largest value in each box."""
    padded = np.full(tree.points.shape[1], -np.inf)
    padded[: len(values)] = values
    return padded, _level_by_level(padded, tree.starts, np.maximum, -np.inf)


def _level_by_level(values: np.ndarray, starts: np.ndarray, combine: np.ufunc, nothing: float) -> np.ndarray:
    """Return what the values of each box's points combine to, (…, boxes); those of a filler to `nothing`."""
    boxes = np.full((*values.shape[:-1], starts[-1]), nothing)
    for first, end in pairwise(starts):
        values = reduce(combine, (values[..., child::FAN] for child in range(FAN)))
        boxes[..., first : first + values.shape[-1]] = values
        values = boxes[..., first:end]
    return boxes


def nearest(tree: BoxTree, rows: np.ndarray, k: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the `k` nearest points of each row, nearest first: places in the tree, squared distances, both (n, k).

    Parameters
    ----------
    tree : BoxTree
        Of at least `k` points.
    rows : float64 (3, n or more)
        The rows, in Hilbert order too, laid out as `BoxTree.points`.
    k, n : int
    """
    places, squares = np.empty((n, k), np.int32), np.full((n, k), np.inf)
    side_by_side(lambda task: _nearest(task, tree, rows, n, places, squares), tasks(n))
    return places, squares


def cheapest_columns(x: np.ndarray, y: np.ndarray, v: np.ndarray, squared: bool) -> np.ndarray:
    """Return a column with the least c_ij - v_j of all for each row, int64 (n,), exactly.

    Parameters
    ----------
    x, y : float64 (n, d), (m, d)
        Rows and columns, m of at least 1.
    v : float64 (m,)
        Column duals.
    squared : bool
        Whether the cost is the squared distance.
    """
    if not len(x):
        return np.empty(0, np.int64)
    row_order, col_order = hilbert_orders(x, y)
    out = np.empty(len(x), np.int64)
    out[row_order] = col_order[cheapest_in_order(x[row_order], y[col_order], v[col_order], squared)]
    return out


def cheapest_in_order(x: np.ndarray, y: np.ndarray, v: np.ndarray, squared: bool) -> np.ndarray:
    """As `cheapest_columns`, of rows and columns that are already in Hilbert order, one of each or more."""
    rows, tree = build_tree(x), build_tree(y)
    prices, largest = largest_in_boxes(tree, v)
    places = np.empty(len(x), np.int64)
    question = tree, rows.points, len(x), prices, largest, squared, places
    side_by_side(lambda task: _cheapest(task, *question), tasks(len(x)))
    return places


@compiled(**BORROWING)
def corners(rows, first, end):
    """Return the bounding box (z0, z1, y0, y1, x0, x1) of some rows."""
    z0 = y0 = x0 = np.inf
    z1 = y1 = x1 = -np.inf
    for i in range(first, end):
        z0, z1 = min(z0, rows[0, i]), max(z1, rows[0, i])
        y0, y1 = min(y0, rows[1, i]), max(y1, rows[1, i])
        x0, x1 = min(x0, rows[2, i]), max(x1, rows[2, i])
    return z0, z1, y0, y1, x0, x1


@compiled(forceinline=True, **BORROWING)
def box_gaps(tree, first, box, gaps):
    """Squared distances from one box to the eight boxes from `first` on, rounded down."""
    z0, z1, y0, y1, x0, x1 = box
    lower, upper = tree.lower, tree.upper
    for c in range(FAN):
        b = first + c
        a0, a1 = lower[0, b] - z1, z0 - upper[0, b]
        b0, b1 = lower[1, b] - y1, y0 - upper[1, b]
        c0, c1 = lower[2, b] - x1, x0 - upper[2, b]
        dz = a0 if a0 > a1 else a1
        dy = b0 if b0 > b1 else b1
        dx = c0 if c0 > c1 else c1
        dz = dz if dz > 0.0 else 0.0
        dy = dy if dy > 0.0 else 0.0
        dx = dx if dx > 0.0 else 0.0
        gaps[c] = (dz * dz + dy * dy + dx * dx) * _DOWN


@compiled(forceinline=True, **BORROWING)
def least_in_leaf(tree, leaf, z, y, x, largest, squared):
    """Return a lower bound, rounding included, of c - v between one point and the points of a leaf."""
    lower, upper = tree.lower, tree.upper
    dz = max(lower[0, leaf] - z, z - upper[0, leaf], 0.0)
    dy = max(lower[1, leaf] - y, y - upper[1, leaf], 0.0)
    dx = max(lower[2, leaf] - x, x - upper[2, leaf], 0.0)
    gap = (dz * dz + dy * dy + dx * dx) * _DOWN
    return (gap if squared else np.sqrt(gap)) - largest[leaf]


@compiled(forceinline=True, **BORROWING)
def point_squares(tree, first, z, y, x, squares):
    """Squared distances from one point to the eight points from `first` on, summed as in `costs.pair_cost`."""
    points = tree.points
    for c in range(FAN):
        dz, dy, dx = z - points[0, first + c], y - points[1, first + c], x - points[2, first + c]
        squares[c] = dz * dz + dy * dy + dx * dx


@compiled
def _nearest(task, tree, rows, n, places, squares):
    stack, bound = np.empty(FAN * 24, np.int64), np.empty(FAN * 24)
    gaps, near = np.empty(FAN), np.empty(FAN)
    end = min(n, (task + 1) * ROWS_PER_TASK)
    for i in range(task * ROWS_PER_TASK, end, FAN):
        _nearest_of_group(tree, rows, i, min(i + FAN, end), places, squares, stack, bound, gaps, near)


@compiled
def _nearest_of_group(tree, rows, i0, i1, places, squares, stack, bound, gaps, near):
    k = places.shape[1]
    box = corners(rows, i0, i1)
    starts = tree.starts
    top = len(starts) - 2
    size = 1
    stack[0], bound[0] = top << 40, 0.0
    worst = np.inf
    while size:
        size -= 1
        if bound[size] >= worst:
            continue
        level, at = stack[size] >> 40, stack[size] & ((1 << 40) - 1)
        if level > 0:
            box_gaps(tree, starts[level - 1] + at * FAN, box, gaps)
            size = push_nearest_last(stack, bound, size, ((level - 1) << 40) | (at * FAN), gaps, worst)
            continue
        worst = 0.0
        for i in range(i0, i1):
            point_squares(tree, at * FAN, rows[0, i], rows[1, i], rows[2, i], near)
            farthest = squares[i, k - 1]
            for c in range(FAN):
                if near[c] < farthest:
                    spot = k - 1
                    while spot > 0 and squares[i, spot - 1] > near[c]:
                        squares[i, spot], places[i, spot] = squares[i, spot - 1], places[i, spot - 1]
                        spot -= 1
                    squares[i, spot], places[i, spot] = near[c], at * FAN + c
                    farthest = squares[i, k - 1]
            worst = max(worst, farthest)


@compiled
def _cheapest(task, tree, rows, n, v, largest, squared, places):
    stack, bound = np.empty(FAN * 24, np.int64), np.empty(FAN * 24)
    gaps, near, best = np.empty(FAN), np.empty(FAN), np.empty(FAN)
    leaf = np.int64(0)
    end = min(n, (task + 1) * ROWS_PER_TASK)
    for i in range(task * ROWS_PER_TASK, end, FAN):
        asked = i, min(i + FAN, end)
        _cheapest_of_group(tree, rows, asked, v, largest, squared, leaf, places, best, stack, bound, gaps, near)
        leaf = places[i] // FAN


@compiled
def _cheapest_of_group(tree, rows, asked, v, largest, squared, leaf, places, best, stack, bound, gaps, near):
    """Find the least c - v of up to eight rows in one descent; begin at the leaf where the rows before found theirs."""
    first, end = asked
    box = corners(rows, first, end)
    best[: end - first] = np.inf
    stack[0], bound[0] = (len(tree.starts) - 2) << 40, -np.inf
    stack[1], bound[1] = leaf, -np.inf
    size = 2
    worst = np.inf
    while size:
        size -= 1
        if bound[size] >= worst:
            continue
        level, at = stack[size] >> 40, stack[size] & ((1 << 40) - 1)
        if level > 0:
            child = tree.starts[level - 1] + at * FAN
            box_gaps(tree, child, box, gaps)
            for c in range(FAN):
                gaps[c] = (gaps[c] if squared else np.sqrt(gaps[c])) - largest[child + c]
            size = push_nearest_last(stack, bound, size, ((level - 1) << 40) | (at * FAN), gaps, worst)
            continue
        worst = -np.inf
        for i in range(first, end):
            z, y, x = rows[0, i], rows[1, i], rows[2, i]
            if least_in_leaf(tree, at, z, y, x, largest, squared) < best[i - first]:
                point_squares(tree, at * FAN, z, y, x, near)
                for c in range(FAN):
                    value = (near[c] if squared else np.sqrt(near[c])) - v[at * FAN + c]
                    if value < best[i - first]:
                        best[i - first] = value
                        places[i] = at * FAN + c
            worst = max(worst, best[i - first])


@compiled(**BORROWING)
def push_nearest_last(stack, bound, size, first_child, gaps, worst):
    """Push the eight children whose bound is below `worst`, the lowest on top; return the new size."""
    began = size
    for c in range(FAN):
        if gaps[c] < worst:
            at = size
            while at > began and bound[at - 1] < gaps[c]:
                stack[at], bound[at] = stack[at - 1], bound[at - 1]
                at -= 1
            stack[at], bound[at] = first_child + c, gaps[c]
            size += 1
    return size
