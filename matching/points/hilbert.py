"""Points in the order of a Hilbert curve, so that neighbours in space are near in memory.

Source: J. Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707 (2004).
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

import numpy as np

from ..jit.compiled import compiled
from ..jit.threads import ROWS_PER_TASK, side_by_side, tasks

_BITS = 16
"""Bits of a point's place along each axis: the curve runs through a grid of 2**16 cells a side."""


def hilbert_orders(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the orders of two point sets (n, d), (m, d) along one Hilbert curve through both, int64 (n,), (m,)."""
    lower = np.minimum(x.min(axis=0), y.min(axis=0))
    extent = float((np.maximum(x.max(axis=0), y.max(axis=0)) - lower).max())
    cells_per_unit = 2**_BITS / extent if extent > 0 else 1.0
    x_keys, y_keys = (_keys(points, lower, cells_per_unit) for points in (x, y))
    return np.argsort(x_keys, kind="stable"), np.argsort(y_keys, kind="stable")


def _keys(points: np.ndarray, lower: np.ndarray, cells_per_unit: float) -> np.ndarray:
    keys = np.empty(len(points), np.int64)
    side_by_side(lambda task: _hilbert_keys(task, points, lower, cells_per_unit, keys), tasks(len(points)))
    return keys


@compiled
def _hilbert_keys(task, points, lower, cells_per_unit, keys):
    """Interleave the bits of each point's cell after Skilling's transform."""
    d = points.shape[1]
    cell = np.empty(d, np.int64)
    for i in range(task * ROWS_PER_TASK, min(len(points), (task + 1) * ROWS_PER_TASK)):
        for a in range(d):
            cell[a] = min(np.int64((points[i, a] - lower[a]) * cells_per_unit), 2**_BITS - 1)
        keys[i] = _hilbert_key(cell)


@compiled
def _hilbert_key(x):
    d = len(x)
    q = 1 << (_BITS - 1)
    while q > 1:
        for a in range(d):
            if x[a] & q:
                x[0] ^= q - 1
            else:
                t = (x[0] ^ x[a]) & (q - 1)
                x[0] ^= t
                x[a] ^= t
        q >>= 1
    for a in range(1, d):
        x[a] ^= x[a - 1]
    t = 0
    q = 1 << (_BITS - 1)
    while q > 1:
        if x[d - 1] & q:
            t ^= q - 1
        q >>= 1
    key = 0
    for bit in range(_BITS - 1, -1, -1):
        for a in range(d):
            key = (key << 1) | (((x[a] ^ t) >> bit) & 1)
    return key
