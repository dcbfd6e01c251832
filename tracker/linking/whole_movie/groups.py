"""Which candidate links hang together: what is best for one group of them does not depend on the others."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components


def groups(row: np.ndarray, col: np.ndarray) -> np.ndarray:
    """Return a number for each edge, the same for all that hang together, int32 (edges,)."""
    rows, row = np.unique(row, return_inverse=True)
    cols, col = np.unique(col, return_inverse=True)
    n = len(rows) + len(cols)
    graph = coo_array((np.ones(len(row), np.int8), (row, len(rows) + col)), shape=(n, n))
    return connected_components(graph, directed=False)[1][row]
