"""The pairs that may decide a doubt: those whose reduced cost is close to zero.

A proof without rounding looks at every pair many times, and of large point sets the matrix is never made. Pairs that
are dearer than their duals by more than the gap and all rounding change no row's dual and lie on no exchange that pays:
without them the same gap is proven, beside a measure of the matched edges' cost that can only be smaller.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..jit.compiled import compiled
from ..points.box_tree import build_tree
from ..points.hilbert import hilbert_orders
from ..points.pricing import contradictions
from ..problem import Problem
from ..problem.convert import unmasked
from ..problem.costs import edge_costs

MOST = 32
"""Pairs of a row up to which they are distinguished, of matrices and graphs on average; where more tie, as distances on
a line do, all pairs of a matrix are looked at, and of point sets the doubt stays."""

SAMPLE = 256
"""Rows that are looked at before all of them: where many pairs tie, they do in most rows."""


def near_pairs(block: Problem, r: np.ndarray, v: np.ndarray, within: float) -> Problem | None:
    """Return a block by its pairs with c_ij - r_i - v_j up to `within`, sparse; None if they are many.

    Parameters
    ----------
    block : Problem
        One block of real costs on the host.
    r, v : float64 (rows,), (columns,)
        Feasible duals.
    within : float
        More than rounding may take from a reduced cost.
    """
    if 0 in block.shape:
        return None
    if block.kind != "points":
        whole = unmasked(block)
        edges, is_all = _edges_within(*edge_arrays(whole, np), whole.data, r, v, within, MOST * block.n_rows)
        return of_edges(whole, edges, np) if is_all else None
    assert block.x is not None
    assert block.y is not None
    row_order, col_order = hilbert_orders(block.x, block.y)
    rows, tree = build_tree(block.x[row_order]), build_tree(block.y[col_order])
    asked = np.full(block.n_rows, -np.inf)
    for step in (-(-block.n_rows // SAMPLE), 1):
        asked[::step] = r[row_order][::step]
        found, counts = contradictions(tree, rows.points, asked, v[col_order], block.metric == "squared", MOST, -within)
        if counts.max() == MOST:
            return None
    near = np.arange(MOST) < counts[:, None]
    return of_pairs(block, np.sort(row_order[np.nonzero(near)[0]] * block.n_cols + col_order[found[near]]))


def of_pairs(block: Problem, keys: np.ndarray) -> Problem:
    """Return a block of point sets by some of its pairs, row · columns + column each, ascending, as a graph."""
    rows, cols = np.divmod(keys, block.n_cols)
    edges = {
        "indptr": np.searchsorted(keys, np.arange(block.n_rows + 1) * block.n_cols),
        "indices": cols.astype(np.int32),
        "data": edge_costs(block, rows, np.zeros_like(rows), cols),
    }
    return replace(block, kind="sparse", x=None, y=None, allows_all=False, **edges)


def edge_arrays(block: Problem, xp: Any) -> tuple[Any, Any]:
    """Return where the edges of each row begin, int64 (rows + 1,), and their columns, None where these are all."""
    n, m = block.shape
    return (xp.arange(n + 1) * m, None) if block.kind == "dense" else (block.indptr, block.indices)


def of_edges(block: Problem, edges: Any, xp: Any) -> Problem:
    """Return a block of a matrix or graph by some of its edges, ascending, as a graph; NumPy's or CuPy's arrays."""
    begin, cols = edge_arrays(block, xp)
    chosen = {
        "indptr": xp.searchsorted(edges, begin),
        "indices": (edges % block.n_cols if cols is None else cols[edges]).astype(xp.int32),
        "data": block.data[edges],
    }
    return replace(block, kind="sparse", forbidden=None, allows_all=False, **chosen)


@compiled
def _edges_within(indptr, indices, data, r, v, within, most):
    """Return the edges with c_ij - r_i - v_j up to `within`, and whether these are all; they end above `most`."""
    edges, found = np.empty(most, np.int64), 0
    for i in range(len(r)):
        for e in range(indptr[i], indptr[i + 1]):
            if data[e] - v[e - indptr[i] if indices is None else indices[e]] - r[i] <= within:
                if found == most:
                    return edges, False
                edges[found] = e
                found += 1
    return edges[:found], True
