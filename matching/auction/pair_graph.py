"""The growing graph of a matrix-free solve, as CSR: its first pairs, their costs, and new ones at their rows' ends."""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..jit.compiled import compiled
from ..problem.csr import rows_of


def united(near_rows: np.ndarray, near_cols: np.ndarray, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unite columns near each row, rows near each column, and one column of each row (-1 = none) into CSR."""
    (n, k), (m, of_column) = near_rows.shape, near_cols.shape
    ranked = np.flatnonzero(ranks >= 0)
    rows = np.concatenate([np.repeat(np.arange(n, dtype=np.int32), k), near_cols.ravel(), ranked], dtype=np.int32)
    columns = np.repeat(np.arange(m, dtype=np.int32), of_column)
    cols = np.concatenate([near_rows.ravel(), columns, ranks[ranked]], dtype=np.int32)
    graph = sparse.coo_array((np.ones(len(rows), np.int8), (rows, cols)), shape=(n, m)).tocsr()
    return graph.indptr.astype(np.int64), graph.indices


def chosen(indptr: np.ndarray, indices: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a graph with some of its pairs, `kept` a mask."""
    return np.concatenate([[0], np.cumsum(kept)])[indptr], indices[kept]


def with_pairs(graph: tuple[np.ndarray, np.ndarray], pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a graph without costs that has some pairs more, int64 (k, 2), in any order of the columns."""
    if not len(pairs):
        return graph
    rows = np.concatenate([rows_of(graph[0]), pairs[:, 0]])
    order = np.argsort(rows, kind="stable")
    cols = np.concatenate([graph[1], pairs[:, 1]], dtype=np.int32)[order]
    return np.searchsorted(rows[order], np.arange(len(graph[0]))), cols


@compiled(inline="always")
def _cost(x, i, y, j, squared):
    """As `costs.pair_cost`, axes first."""
    dz, dy, dx = x[0, i] - y[0, j], x[1, i] - y[1, j], x[2, i] - y[2, j]
    total = dz * dz + dy * dy + dx * dx
    return total if squared else np.sqrt(total)


@compiled
def costs_of_pairs(x, y, indptr, indices, squared):
    """Return the cost of every pair of the graph."""
    out = np.empty(len(indices))
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            out[e] = _cost(x, i, y, indices[e], squared)
    return out


@compiled
def extended(indptr, indices, data, columns, counts, x, y, squared):
    """Return the graph with new pairs at the end of their rows."""
    n = len(indptr) - 1
    new_indptr = np.zeros(n + 1, np.int64)
    for i in range(n):
        new_indptr[i + 1] = new_indptr[i] + indptr[i + 1] - indptr[i] + counts[i]
    new_indices, new_data = np.empty(new_indptr[n], np.int32), np.empty(new_indptr[n])
    for i in range(n):
        at = new_indptr[i]
        for e in range(indptr[i], indptr[i + 1]):
            new_indices[at], new_data[at] = indices[e], data[e]
            at += 1
        for k in range(counts[i]):
            new_indices[at], new_data[at] = columns[i, k], _cost(x, i, y, columns[i, k], squared)
            at += 1
    return new_indptr, new_indices, new_data
