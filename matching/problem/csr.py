"""Graphs in compressed sparse rows: what SciPy does with them."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def transposed_csr(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, n_cols: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (indptr, indices, data) with rows and columns exchanged: int64, int32, each row ascending."""
    shape = len(indptr) - 1, n_cols
    narrow = indptr.astype(np.int32, copy=False) if len(data) < 2**31 else indptr  # else SciPy makes all of it wide
    by_columns = sparse.csr_array((data, indices, narrow), shape=shape).tocsc()
    return by_columns.indptr.astype(np.int64), by_columns.indices.astype(np.int32, copy=False), by_columns.data
