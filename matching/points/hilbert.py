"""Points in the order of a Hilbert curve, so that neighbours in space are near in memory.

Source: J. Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707 (2004).
"""

from __future__ import annotations

import functools
from itertools import pairwise

import numpy as np

_BITS = 16
"""Bits of a point's place along each axis: the curve runs through a grid of 2**16 cells a side."""

_AT_ONCE = 4096
"""Points whose keys are made at a time, so that they stay in cache."""


def hilbert_orders(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the orders of two point sets (n, d), (m, d) along one Hilbert curve through both, int64 (n,), (m,)."""
    lower = np.minimum(x.min(axis=0), y.min(axis=0))
    extent = float((np.maximum(x.max(axis=0), y.max(axis=0)) - lower).max())
    cells_per_unit = 2**_BITS / extent if extent > 0 else 1.0
    x_keys, y_keys = np.split(_keys(np.concatenate([x, y]), lower, cells_per_unit), [len(x)])
    return np.argsort(x_keys, kind="stable"), np.argsort(y_keys, kind="stable")


def _keys(points: np.ndarray, lower: np.ndarray, cells_per_unit: float) -> np.ndarray:
    parts = (points[first : first + _AT_ONCE] for first in range(0, len(points), _AT_ONCE))
    return np.concatenate([_interleaved(_transformed(_cells(part, lower, cells_per_unit))) for part in parts])


def _cells(points: np.ndarray, lower: np.ndarray, cells_per_unit: float) -> np.ndarray:
    """Return the cell of each point along each axis, uint32 (d, n)."""
    cells = ((points - lower) * cells_per_unit).T.astype(np.uint32, order="C")
    return np.minimum(cells, 2**_BITS - 1, out=cells)


def _transformed(x: np.ndarray) -> np.ndarray:
    """Replace cells by their Hilbert keys' bits, one axis' after the other's (Skilling's transform)."""
    first = x[0]
    for bit in range(_BITS - 1, 0, -1):
        low = np.uint32((1 << bit) - 1)
        first ^= (first >> bit & 1) * low
        for axis in x[1:]:
            flipped = (axis >> bit & 1) * low
            exchanged = (first ^ axis) & (flipped ^ low)
            axis ^= exchanged
            first ^= flipped | exchanged
    for before, axis in pairwise(x):
        axis ^= before
    above = x[-1] >> 1
    for shift in (1, 2, 4, 8):
        above ^= above >> shift
    x ^= above
    return x


def _interleaved(x: np.ndarray) -> np.ndarray:
    """Return the bits of all axes in turn, the highest first, int64 (n,)."""
    keys, spread = np.zeros(x.shape[1], np.int64), _spread(len(x))
    for axis in x:
        keys <<= 1
        keys |= spread[axis & 255] | spread[axis >> 8] << 8 * len(x)
    return keys


@functools.cache
def _spread(d: int) -> np.ndarray:
    """Return the numbers of a byte with their bits `d` places apart."""
    bits = np.arange(8)
    return ((np.arange(256)[:, None] >> bits & 1) << d * bits).sum(axis=1)
