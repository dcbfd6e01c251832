"""A problem as one graph: the edges of all blocks, columns counted over all, and the parts that share no edge."""

from __future__ import annotations

import numpy as np

from .components import chunks_of_components, components, rows_by_component
from .host_problem import INT_LIMIT
from .problem import Problem

EDGES_A_CHUNK = 1 << 16
"""Size of the runs of components or blocks that the threads share: it, not their number, decides how work is cut, so
that answers do not depend on the machine."""

Graph = tuple[np.ndarray, np.ndarray | None, np.ndarray]
"""(indptr, indices or None, data) as `flat_graph` returns them."""

Parts = tuple[np.ndarray, np.ndarray, np.ndarray]
"""(rows, starts, cuts) as `independent_parts` returns them."""


def flat_graph(problem: Problem) -> Graph:
    """Return (indptr, indices or None, data) of a sparse problem or one dense block, whose mask is left to the caller.

    Columns are counted over all blocks; for a dense block, whose k-th entry of a row is column k, indices are None.
    """
    if problem.kind == "dense":
        n, m = problem.shape
        return np.arange(n + 1, dtype=np.int64) * m, None, problem.data
    assert problem.indptr is not None
    return problem.indptr, global_columns(problem), problem.data


def independent_parts(problem: Problem) -> Parts:
    """Return (rows, starts, cuts) of a sparse problem or one dense block, which is one part.

    Component k owns `rows[starts[k]:starts[k+1]]`; `rows[cuts[c]:cuts[c+1]]` is a run of components for one thread.
    """
    indptr, indices, _ = flat_graph(problem)
    if indices is None or problem.n_rows == 0:
        ends = np.array([0, problem.n_rows])
        return np.arange(problem.n_rows), ends, ends
    row_label, _ = components(indptr, indices, problem.n_cols)
    rows, starts = rows_by_component(row_label)
    return rows, starts, chunks_of_components(starts, rows, indptr, 1 + len(indices) // EDGES_A_CHUNK)


def allowed_pairs(problem: Problem) -> np.ndarray | None:
    """Return which entries of the flat graph may be matched, bool as `data`; None for all of a sparse problem."""
    if problem.kind == "sparse":
        return None
    allowed = problem.data < (INT_LIMIT if problem.is_integer else np.inf)
    return allowed if problem.forbidden is None else allowed & ~problem.forbidden


def global_columns(problem: Problem) -> np.ndarray:
    """Return the columns of a sparse problem's edges counted over all blocks."""
    assert problem.indptr is not None
    assert problem.indices is not None
    if problem.n_blocks == 1:
        return problem.indices
    edges = np.diff(problem.indptr[problem.row_offsets])
    dtype = np.int32 if problem.n_cols < 2**31 else np.int64
    return problem.indices + np.repeat(problem.col_offsets[:-1].astype(dtype), edges)


def local_columns(problem: Problem, col_of_row: np.ndarray) -> np.ndarray:
    """Return `col_of_row`, counted over all blocks, as counted within each block."""
    if problem.n_blocks == 1:
        return col_of_row
    first = np.repeat(problem.col_offsets[:-1], problem.n_rows_of_block).astype(np.int32)
    return np.where(col_of_row < 0, col_of_row, col_of_row - first)
