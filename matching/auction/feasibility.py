"""Whether all that must be matched can be: a cardinality matching finds out before a long auction would."""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

import numpy as np
from numba import njit

from ..cardinality.graph import BipartiteGraph
from ..cardinality.maximum import maximum_matching
from ..errors import Infeasible
from ..hall import infeasible
from ..problem import Problem
from ..sparse_jv import global_columns
from .graph import allowed_pairs

FEW_PAIRS = 32
"""Allowed pairs of each row of a matrix that are tried before all of them: as a rule they hold a full matching."""


def check_feasible(problem: Problem, col_of_row: np.ndarray | None = None) -> None:
    """Raise `Infeasible` with a Hall violator if some row must be matched and not all can be; as `find_fault`."""
    fault = find_fault(problem, col_of_row)
    if fault is not None:
        raise fault


def find_fault(problem: Problem, col_of_row: np.ndarray | None = None) -> Infeasible | None:
    """Return why not all rows can be matched, if they must be and cannot: in the first block where it is so.

    Parameters
    ----------
    problem : Problem
        No block has more rows than columns, unless there is an `unmatched_cost`.
    col_of_row : int32 (rows,), optional
        A matching to start from, columns counted over all blocks.
    """
    if problem.has_unmatched_cost or problem.kind == "points":
        return None
    if problem.kind == "sparse":
        return _fault_of_graph(problem, problem.indptr, global_columns(problem), col_of_row)
    if problem.n_blocks == 1:
        return _fault_of_matrix(problem, col_of_row)
    for b, block in enumerate(problem.blocks()):
        fault = _fault_of_matrix(block, None)
        if fault is not None:
            return fault.in_block(b)
    return None


def _fault_of_graph(problem: Problem, indptr, indices, col_of_row: np.ndarray | None) -> Infeasible | None:
    graph = BipartiteGraph.from_any((indptr, indices, problem.shape))
    matching = maximum_matching(graph, initial="auto" if col_of_row is None else col_of_row, device="cpu")
    stuck = np.flatnonzero(matching.col_of_row < 0)
    if not len(stuck):
        return None
    return infeasible(problem, stuck, indptr, indices, None, matching.col_of_row, matching.row_of_col)


def _fault_of_matrix(block: Problem, col_of_row: np.ndarray | None) -> Infeasible | None:
    allowed = allowed_pairs(block)
    if allowed is None or allowed.all():
        return None
    matrix = allowed.reshape(block.shape)
    indptr, indices = _few_pairs(matrix, FEW_PAIRS)
    if maximum_matching((indptr, indices, block.shape), device="cpu").size == block.n_rows:
        return None
    return _fault_of_graph(block, *_few_pairs(matrix, block.n_cols), col_of_row)


@njit(cache=True, nogil=True)
def _few_pairs(allowed, most):
    """Return (indptr, indices) of the first `most` allowed pairs of each row, counted on from the diagonal."""
    n, m = allowed.shape
    indptr = np.zeros(n + 1, np.int64)
    for i in range(n):
        indptr[i + 1] = indptr[i] + min(most, np.count_nonzero(allowed[i]))
    indices = np.empty(indptr[n], np.int32)
    for i in range(n):
        at, start = indptr[i], i * m // n
        for k in range(m):
            j = start + k if start + k < m else start + k - m
            if at < indptr[i + 1] and allowed[i, j]:
                indices[at] = j
                at += 1
        indices[indptr[i] : indptr[i + 1]].sort()
    return indptr, indices
