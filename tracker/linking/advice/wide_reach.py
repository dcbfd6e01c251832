"""The largest matching of two point sets within a radius, where the pairs in reach are too many to write out."""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from ....matching.jit.compiled import compiled

NEAREST = 8
"""Partners of each point that are tried before any other."""


def wide_cardinality(x: np.ndarray, y: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Return the size of the largest matching within each radius, int64 (radii,).

    Parameters
    ----------
    x, y : float64 (n, 3), (m, 3)
    radii : float64 (k,)
        In any order.

    Notes
    -----
    Free points take their nearest partner that is free; trees of alternating paths from all that are left (as in
    Hopcroft & Karp, 1973) find the rest. Each tree asks the points that no tree has reached yet for those within the
    radius, so no pair is ever stored, and the last trees, which find nothing, prove that there is no larger matching.
    """
    near: Any = cKDTree(y).query(x, k=min(NEAREST, len(y)))
    distance, column = (np.reshape(part, (len(x), -1)) for part in near)
    sizes = np.zeros(len(radii), np.int64)
    col_of_row, row_of_col = np.full(len(x), -1), np.full(len(y), -1)
    for at in np.argsort(radii):
        _take_nearest(column, distance, radii[at], col_of_row, row_of_col)
        while _augmented(x, y, radii[at], col_of_row, row_of_col):
            pass
        sizes[at] = np.count_nonzero(col_of_row >= 0)
    return sizes


@compiled
def _take_nearest(column, distance, radius, col_of_row, row_of_col):
    """Match free rows with the nearest free column among those known."""
    for i in range(len(column)):
        for k in range(column.shape[1]):
            if col_of_row[i] >= 0 or distance[i, k] > radius:
                break
            if row_of_col[column[i, k]] < 0:
                col_of_row[i], row_of_col[column[i, k]] = column[i, k], i


@compiled
def _augmented(x, y, radius, col_of_row, row_of_col):
    """Grow a tree from every free row, at most one path each; return how many paths made the matching larger."""
    unreached, n_unreached = np.arange(len(y)), len(y)
    parent = np.full(len(y), -1)
    queue = np.flatnonzero(col_of_row < 0)
    root = np.full(len(x), -1)
    root[queue] = queue
    queue = np.concatenate((queue, np.empty(len(x) - len(queue), np.int64)))
    done = np.zeros(len(x), np.bool_)
    found, head, tail = 0, 0, int((root >= 0).sum())
    while head < tail and n_unreached > 0:
        row = queue[head]
        head += 1
        k = 0
        while k < n_unreached and not done[root[row]]:
            col = unreached[k]
            dz, dy, dx = x[row, 0] - y[col, 0], x[row, 1] - y[col, 1], x[row, 2] - y[col, 2]
            if np.sqrt(dz * dz + dy * dy + dx * dx) > radius:
                k += 1
                continue
            n_unreached -= 1
            unreached[k] = unreached[n_unreached]
            parent[col] = row
            if row_of_col[col] >= 0:
                root[row_of_col[col]] = root[row]
                queue[tail] = row_of_col[col]
                tail += 1
                continue
            done[root[row]] = True
            found += 1
            _swap(col, parent, col_of_row, row_of_col)
    return found


@compiled
def _swap(col, parent, col_of_row, row_of_col):
    """Exchange links and others along the path from a free column to its root."""
    while col >= 0:
        row = parent[col]
        before = col_of_row[row]
        col_of_row[row], row_of_col[col] = col, row
        col = before
