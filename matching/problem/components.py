"""Connected components of a bipartite graph: the independent parts of a sparse matching problem."""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

import numpy as np

from ..jit.compiled import SMALL, compiled


def components(indptr: np.ndarray, indices: np.ndarray, n_cols: int) -> tuple[np.ndarray, np.ndarray]:
    """Label the connected components.

    Parameters
    ----------
    indptr, indices : int64 (rows + 1,), int (edges,)
        CSR graph.
    n_cols : int

    Returns
    -------
    row_label, col_label : int32 (rows,), (columns,)
        Components are numbered from 0 in the order of their first row; columns without an edge come last.
    """
    n = len(indptr) - 1
    label = np.empty(n + n_cols, np.int32)
    _label(indptr, indices, np.arange(n + n_cols, dtype=np.int32), label)
    return label[:n], label[n:]


def rows_by_component(row_label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Group rows by component: return (rows, starts); component k owns `rows[starts[k]:starts[k+1]]`, ascending."""
    counts = np.bincount(row_label)
    starts = np.concatenate([[0], np.cumsum(counts)])
    rows = np.empty(len(row_label), np.int64)
    _group(row_label, starts.copy(), rows)
    return rows, starts


def chunks_of_components(starts: np.ndarray, rows: np.ndarray, indptr: np.ndarray, n_chunks: int) -> np.ndarray:
    """Cut the components into at most `n_chunks` runs of about equal edges; return the cuts, positions in `rows`."""
    weight = np.concatenate([[0], np.cumsum(1 + np.diff(indptr)[rows])])[starts]  # a row and its edges
    goals = weight[-1] * np.arange(1, n_chunks) / n_chunks
    inner = starts[np.searchsorted(weight, goals)]
    return np.unique(np.concatenate([[0], inner, starts[-1:]]))


@compiled(plain=SMALL)
def _label(indptr, indices, parent, label):
    """Union-find over rows and columns (column j is node rows + j), each its own root; the smaller node is the root."""
    n = len(indptr) - 1
    for i in range(n):
        a = _root(parent, i)
        for e in range(indptr[i], indptr[i + 1]):
            b = _root(parent, n + indices[e])
            if a < b:
                parent[b] = a
            elif b < a:
                parent[a] = b
                a = b
    n_labels = 0
    for node in range(len(parent)):
        root = _root(parent, node)
        if root == node:
            label[node] = n_labels
            n_labels += 1
        else:
            label[node] = label[root]


@compiled(forceinline=True)
def _root(parent, node):
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@compiled(plain=SMALL)
def _group(row_label, fill, rows):
    for i in range(len(row_label)):
        rows[fill[row_label[i]]] = i
        fill[row_label[i]] += 1
