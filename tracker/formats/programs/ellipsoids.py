"""Ellipsoids of detections: columns of their covariance, in the table's coordinates squared, and matrices of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd


def names(axes: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return the columns covariance_zz, covariance_zy, …, and the place of each in a matrix."""
    return {
        f"covariance_{row}{column}": (i, j)
        for i, row in enumerate(axes)
        for j, column in enumerate(axes)
        if i <= j  # it is symmetric
    }


def columns(matrices: np.ndarray, axes: Sequence[str]) -> dict[str, np.ndarray]:
    """Return matrices, float (n, d, d), as columns."""
    return {name: matrices[:, i, j].astype(np.float64) for name, (i, j) in names(axes).items()}


def matrices(table: pd.DataFrame, axes: Sequence[str]) -> np.ndarray | None:
    """Return the covariance of each row, float64 (n, d, d); None where there is none, or one of no ellipsoid."""
    places = names(axes)
    if not len(table) or not places.keys() <= set(table.columns):
        return None
    found = np.empty((len(table), len(axes), len(axes)))
    for name, (i, j) in places.items():
        found[:, i, j] = found[:, j, i] = table[name]
    return found if np.isfinite(found).all() and (np.linalg.eigvalsh(found) > 0).all() else None
