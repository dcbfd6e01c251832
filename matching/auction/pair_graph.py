"""The growing graph of a matrix-free solve, as CSR: its first pairs, their costs, and new ones at their rows' ends."""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

import numpy as np

from ..jit.compiled import compiled


@compiled
def united(near_rows, near_cols, ranks):
    """Unite columns near each row, rows near each column, and one column of each row (-1 = none) into CSR."""
    n, m = len(near_rows), len(near_cols)
    most = np.full(n, near_rows.shape[1] + 1)
    for j in range(m):
        for i in near_cols[j]:
            most[i] += 1
    ends = np.cumsum(most)
    fill = ends - most
    indices = np.empty(ends[-1], np.int32)
    for i in range(n):
        for j in near_rows[i]:
            indices[fill[i]] = j
            fill[i] += 1
        if ranks[i] >= 0:
            indices[fill[i]] = ranks[i]
            fill[i] += 1
    for j in range(m):
        for i in near_cols[j]:
            indices[fill[i]] = j
            fill[i] += 1
    return _without_repeats(ends - most, fill, indices, m)


@compiled
def _without_repeats(begins, ends, indices, m):
    """Close the gaps between rows and drop the columns that a row names twice."""
    indptr = np.zeros(len(begins) + 1, np.int64)
    last_row = np.full(m, -1, np.int32)
    kept = 0
    for i in range(len(begins)):
        for e in range(begins[i], ends[i]):
            j = indices[e]
            if last_row[j] != i:
                last_row[j] = i
                indices[kept] = j
                kept += 1
        indptr[i + 1] = kept
    return indptr, indices[:kept].copy()


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
