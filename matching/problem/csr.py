"""Graphs in compressed sparse rows: the row of each edge, rows and columns exchanged."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def rows_of(indptr: np.ndarray) -> np.ndarray:
    """Return the row of each edge, int64 (edges,)."""
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))


def transposed_csr(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, n_cols: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a graph with rows and columns exchanged.

    Parameters
    ----------
    indptr : int32 or int64 (rows + 1,)
    indices : int32 or int64 (edges,)
        Column of each edge.
    data : ndarray (edges,)
        What belongs to each edge, of any type.
    n_cols : int

    Returns
    -------
    indptr : int64 (columns + 1,)
    indices : int32 (edges,)
        Row of each edge, ascending in each column.
    data : ndarray (edges,)
        Of the type that it had.
    """
    shape = len(indptr) - 1, n_cols
    narrow = indptr.astype(np.int32, copy=False) if len(data) < 2**31 else indptr  # else SciPy makes all of it wide
    by_columns = sparse.csr_array((data, indices, narrow), shape=shape).tocsc()
    return by_columns.indptr.astype(np.int64), by_columns.indices.astype(np.int32, copy=False), by_columns.data
