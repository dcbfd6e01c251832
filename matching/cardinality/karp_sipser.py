"""Karp–Sipser: match vertices of degree one first, they cannot go wrong.

Karp & Sipser, "Maximum matchings in sparse random graphs", FOCS 1981, in the bipartite form of Duff, Kaya & Uçar
(2011), section 3. An edge at a vertex with one free neighbour left lies in some maximum matching of what remains;
only when there is no such vertex is a row matched to an arbitrary free column (here: the next row in order, its
column with the fewest free rows). On sparse random graphs it leaves next to nothing to the search.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .graph import BipartiteGraph, IntArray


def karp_sipser(graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray) -> None:
    """Extend a matching in place to a maximal one; transposes the graph if nobody has yet."""
    other = graph.transposed
    _karp_sipser(graph.indptr, graph.indices, other.indptr, other.indices, col_of_row, row_of_col)


@njit(cache=True, nogil=True)
def _karp_sipser(
    indptr: IntArray,
    indices: IntArray,
    indptr_t: IntArray,
    indices_t: IntArray,
    col_of_row: IntArray,
    row_of_col: IntArray,
) -> None:
    n_rows, n_columns = len(col_of_row), len(row_of_col)
    # free neighbours left; columns follow the rows
    degree = np.empty(n_rows + n_columns, np.int32)
    stack = np.empty(n_rows + n_columns, np.int32)
    height = _count_degrees(indptr, indices, col_of_row, row_of_col, degree[:n_rows], stack, 0, 0)
    height = _count_degrees(indptr_t, indices_t, row_of_col, col_of_row, degree[n_rows:], stack, height, n_rows)
    next_row = 0
    while True:
        if height > 0:
            height -= 1
            vertex = stack[height]
        elif next_row < n_rows:
            vertex = next_row
            next_row += 1
        else:
            break
        if degree[vertex] <= 0:
            continue
        if vertex < n_rows:
            if col_of_row[vertex] >= 0:
                continue
            i = vertex
            j = _scarcest(indptr, indices, i, row_of_col, degree, n_rows)
        else:
            j = vertex - n_rows
            if row_of_col[j] >= 0:
                continue
            i = _scarcest(indptr_t, indices_t, j, col_of_row, degree, 0)
        col_of_row[i] = j
        row_of_col[j] = i
        for k in range(indptr[i], indptr[i + 1]):
            c = indices[k]
            degree[n_rows + c] -= 1
            if degree[n_rows + c] == 1 and row_of_col[c] < 0:
                stack[height] = n_rows + c
                height += 1
        for k in range(indptr_t[j], indptr_t[j + 1]):
            r = indices_t[k]
            degree[r] -= 1
            if degree[r] == 1 and col_of_row[r] < 0:
                stack[height] = r
                height += 1


@njit(cache=True, nogil=True, inline="always")
def _scarcest(
    indptr: IntArray, indices: IntArray, vertex: int, partner: IntArray, degree: IntArray, offset: int
) -> int:
    """The free neighbour with the fewest free neighbours of its own."""
    best = -1
    least = np.int32(2147483647)
    for k in range(indptr[vertex], indptr[vertex + 1]):
        w = indices[k]
        if partner[w] < 0 and degree[offset + w] < least:
            best, least = w, degree[offset + w]
    return best


@njit(cache=True, nogil=True)
def _count_degrees(
    indptr: IntArray,
    indices: IntArray,
    partner: IntArray,
    partner_of_other: IntArray,
    degree: IntArray,
    stack: IntArray,
    height: int,
    offset: int,
) -> int:
    for v in range(len(partner)):
        degree[v] = 0
        if partner[v] >= 0:
            continue
        for k in range(indptr[v], indptr[v + 1]):
            if partner_of_other[indices[k]] < 0:
                degree[v] += 1
        if degree[v] == 1:
            stack[height] = offset + v
            height += 1
    return height
