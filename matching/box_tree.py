"""A tree of bounding boxes over points in Hilbert order: near pairs, and cheapest pairs under prices, without a matrix.

Every eight consecutive points share a leaf, every eight consecutive boxes a parent, so the tree is its boxes and nothing
else, it adapts to clusters, and rows asked for in the same order find their boxes in cache. Questions are asked for eight
rows at a time: one descent serves them all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange

FAN = 8
_BITS = 16


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


def hilbert_order(points: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return the order of the points along a Hilbert curve through the box from `lower` to `upper`, int64 (n,).

    Source: J. Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707 (2004).
    """
    extent = np.where(upper > lower, upper - lower, 1.0)
    cells = np.minimum((points - lower) / extent.max() * 2**_BITS, 2**_BITS - 1).astype(np.uint64)
    return np.argsort(_hilbert_keys(np.ascontiguousarray(cells)), kind="stable")


def build_tree(points: np.ndarray) -> BoxTree:
    """Build the tree of points that are already in Hilbert order, float64 (n, d), n of at least 1."""
    n = len(points)
    sizes = [-(-n // FAN)]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // FAN))
    starts = np.concatenate([[0], np.cumsum([-(-size // FAN) * FAN for size in sizes])])
    padded = np.full((3, sizes[0] * FAN), np.inf)
    padded[:, :n] = 0.0
    padded[3 - points.shape[1] :, :n] = points.T
    lower, upper = np.full((3, starts[-1]), np.inf), np.full((3, starts[-1]), -np.inf)
    _fill_boxes(padded, n, lower, upper, starts)
    return BoxTree(padded, lower, upper, starts)


def largest_in_boxes(tree: BoxTree, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the values in the tree's layout (-inf beyond the last), and the largest value in each box."""
    padded = np.full(tree.points.shape[1], -np.inf)
    padded[: len(values)] = values
    largest = np.full(tree.lower.shape[1], -np.inf)
    _fill_largest(padded, tree.starts, largest)
    return padded, largest


def nearest(tree: BoxTree, rows: np.ndarray, k: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the `k` nearest points of each row: places in the tree int32 (n, k), squared distances (n, k), nearest first.

    Parameters
    ----------
    tree : BoxTree
        Of at least `k` points.
    rows : float64 (3, n or more)
        The rows, in Hilbert order too, laid out as `BoxTree.points`.
    k, n : int
    """
    places, squares = np.empty((n, k), np.int32), np.full((n, k), np.inf)
    _nearest(tree, rows, n, places, squares)
    return places, squares


def cheapest(tree: BoxTree, rows: np.ndarray, n: int, prices: np.ndarray, squared: bool) -> np.ndarray:
    """Return min_j (c_ij - v_j) of each row over all points of the tree, exactly, float64 (n,).

    Parameters
    ----------
    tree, rows, n
        As for `nearest`.
    prices : float64 (points,)
        v of each point of the tree.
    squared : bool
        Whether the cost is the squared distance.
    """
    v, largest = largest_in_boxes(tree, prices)
    out = np.empty(n)
    _cheapest(tree, rows, n, v, largest, squared, out)
    return out


@njit(cache=True, nogil=True)
def _hilbert_keys(cells):
    """Interleave the bits of each point's cell after Skilling's transform."""
    n, d = cells.shape
    keys = np.zeros(n, np.uint64)
    one = np.uint64(1)
    for i in range(n):
        x = cells[i]
        q = one << np.uint64(_BITS - 1)
        while q > one:
            p = q - one
            for a in range(d):
                if x[a] & q:
                    x[0] ^= p
                else:
                    t = (x[0] ^ x[a]) & p
                    x[0] ^= t
                    x[a] ^= t
            q >>= one
        for a in range(1, d):
            x[a] ^= x[a - 1]
        t = np.uint64(0)
        q = one << np.uint64(_BITS - 1)
        while q > one:
            if x[d - 1] & q:
                t ^= q - one
            q >>= one
        for a in range(d):
            x[a] ^= t
        for bit in range(_BITS - 1, -1, -1):
            for a in range(d):
                keys[i] = (keys[i] << one) | ((x[a] >> np.uint64(bit)) & one)
    return keys


@njit(cache=True, nogil=True)
def _fill_boxes(points, n, lower, upper, starts):
    for axis in range(3):
        for i in range(n):
            b = i // FAN
            lower[axis, b] = min(lower[axis, b], points[axis, i])
            upper[axis, b] = max(upper[axis, b], points[axis, i])
        for level in range(len(starts) - 2):
            for b in range(starts[level], starts[level + 1]):
                parent = starts[level + 1] + (b - starts[level]) // FAN
                lower[axis, parent] = min(lower[axis, parent], lower[axis, b])
                upper[axis, parent] = max(upper[axis, parent], upper[axis, b])


@njit(cache=True, nogil=True)
def _fill_largest(values, starts, largest):
    for i in range(len(values)):
        largest[i // FAN] = max(largest[i // FAN], values[i])
    for level in range(len(starts) - 2):
        for b in range(starts[level], starts[level + 1]):
            parent = starts[level + 1] + (b - starts[level]) // FAN
            largest[parent] = max(largest[parent], largest[b])


@njit(cache=True, nogil=True, inline="always")
def box_gaps(tree, first, z0, z1, y0, y1, x0, x1, gaps):
    """Squared distances from one box (z0..z1, y0..y1, x0..x1) to the eight boxes from `first` on, rounded down."""
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
        gaps[c] = (dz * dz + dy * dy + dx * dx) * (1 - 1e-15)


@njit(cache=True, nogil=True, inline="always")
def point_squares(tree, first, z, y, x, squares):
    """Squared distances from one point to the eight points from `first` on, axes summed in order as in `costs.pair_cost`."""
    points = tree.points
    for c in range(FAN):
        dz, dy, dx = z - points[0, first + c], y - points[1, first + c], x - points[2, first + c]
        squares[c] = dz * dz + dy * dy + dx * dx


@njit(cache=True, nogil=True, parallel=True)
def _nearest(tree, rows, n, places, squares):
    n_groups = -(-n // FAN)
    chunk = 512
    for task in prange(-(-n_groups // chunk)):
        stack, bound = np.empty(FAN * 24, np.int64), np.empty(FAN * 24)
        gaps, near = np.empty(FAN), np.empty(FAN)
        for g in range(task * chunk, min(n_groups, (task + 1) * chunk)):
            i0, i1 = g * FAN, min(n, (g + 1) * FAN)
            _nearest_of_group(tree, rows, i0, i1, places, squares, stack, bound, gaps, near)


@njit(cache=True, nogil=True)
def _nearest_of_group(tree, rows, i0, i1, places, squares, stack, bound, gaps, near):
    k = places.shape[1]
    z0, z1 = rows[0, i0:i1].min(), rows[0, i0:i1].max()
    y0, y1 = rows[1, i0:i1].min(), rows[1, i0:i1].max()
    x0, x1 = rows[2, i0:i1].min(), rows[2, i0:i1].max()
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
            box_gaps(tree, starts[level - 1] + at * FAN, z0, z1, y0, y1, x0, x1, gaps)
            began = size
            for c in range(FAN):
                if gaps[c] < worst:
                    spot = size
                    while spot > began and bound[spot - 1] < gaps[c]:
                        stack[spot], bound[spot] = stack[spot - 1], bound[spot - 1]
                        spot -= 1
                    stack[spot], bound[spot] = ((level - 1) << 40) | (at * FAN + c), gaps[c]
                    size += 1
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


@njit(cache=True, nogil=True, parallel=True)
def _cheapest(tree, rows, n, v, largest, squared, out):
    n_groups = -(-n // FAN)
    chunk = 512
    for task in prange(-(-n_groups // chunk)):
        stack, bound = np.empty(FAN * 24, np.int64), np.empty(FAN * 24)
        gaps, near, best = np.empty(FAN), np.empty(FAN), np.empty(FAN)
        favourite = np.int64(0)
        for g in range(task * chunk, min(n_groups, (task + 1) * chunk)):
            i0, i1 = g * FAN, min(n, (g + 1) * FAN)
            favourite = _cheapest_of_group(
                tree, rows, i0, i1, v, largest, squared, favourite, best, stack, bound, gaps, near
            )
            out[i0:i1] = best[: i1 - i0]


@njit(cache=True, nogil=True)
def _cheapest_of_group(tree, rows, i0, i1, v, largest, squared, favourite, best, stack, bound, gaps, near):
    """Find the least c - v of up to eight rows; start from the leaf where the rows before found theirs, and return the own."""
    z0, z1 = rows[0, i0:i1].min(), rows[0, i0:i1].max()
    y0, y1 = rows[1, i0:i1].min(), rows[1, i0:i1].max()
    x0, x1 = rows[2, i0:i1].min(), rows[2, i0:i1].max()
    starts = tree.starts
    best[: i1 - i0] = np.inf
    size = 2
    stack[0], bound[0] = (len(starts) - 2) << 40, -np.inf
    stack[1], bound[1] = favourite, -np.inf
    worst = np.inf
    while size:
        size -= 1
        if bound[size] >= worst:
            continue
        level, at = stack[size] >> 40, stack[size] & ((1 << 40) - 1)
        if level > 0:
            first = starts[level - 1] + at * FAN
            box_gaps(tree, first, z0, z1, y0, y1, x0, x1, gaps)
            began = size
            for c in range(FAN):
                least = (gaps[c] if squared else np.sqrt(gaps[c]) * (1 - 1e-15)) - largest[first + c]
                if least < worst:
                    spot = size
                    while spot > began and bound[spot - 1] < least:
                        stack[spot], bound[spot] = stack[spot - 1], bound[spot - 1]
                        spot -= 1
                    stack[spot], bound[spot] = ((level - 1) << 40) | (at * FAN + c), least
                    size += 1
            continue
        worst = -np.inf
        for i in range(i0, i1):
            point_squares(tree, at * FAN, rows[0, i], rows[1, i], rows[2, i], near)
            lowest = best[i - i0]
            for c in range(FAN):
                value = (near[c] if squared else np.sqrt(near[c])) - v[at * FAN + c]
                if value < lowest:
                    lowest = value
                    if i == i0:
                        favourite = at
            best[i - i0] = lowest
            worst = max(worst, lowest)
    return favourite
