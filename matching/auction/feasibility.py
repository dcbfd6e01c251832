"""Whether all that must be matched can be: a cardinality matching finds out before a long auction would."""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

import numpy as np

from ..cardinality.graph import BipartiteGraph
from ..cardinality.maximum import maximum_matching
from ..certificate.hall import infeasible
from ..errors import Infeasible
from ..jit.compiled import compiled
from ..problem import Problem
from ..problem.flat_graph import allowed_pairs, global_columns

FEW_PAIRS = 32
"""Allowed pairs of each row of a matrix that are tried before all of them: as a rule they hold a full matching."""


def check_feasible(problem: Problem) -> None:
    """Raise `Infeasible` with a Hall violator if all rows must be matched and cannot be: of the first block that fails.

    No block has more rows than columns, unless there is an `unmatched_cost`.
    """
    if problem.has_unmatched_cost or problem.allows_all:
        return
    if problem.kind == "sparse":
        fault = _fault_of_graph(problem, problem.indptr, global_columns(problem))
        if fault is not None:
            raise fault
        return
    for b, block in enumerate(problem.blocks()):
        fault = _fault_of_matrix(block)
        if fault is not None:
            raise fault.in_block(b) if problem.n_blocks > 1 else fault


def _fault_of_graph(problem: Problem, indptr, indices) -> Infeasible | None:
    graph = BipartiteGraph.from_any((indptr, indices, problem.shape))
    matching = maximum_matching(graph, device="cpu")
    infeasible_row = np.flatnonzero(matching.col_of_row < 0)
    if not len(infeasible_row):
        return None
    return infeasible(problem, infeasible_row, indptr, indices, None, matching.col_of_row, matching.row_of_col)


def _fault_of_matrix(block: Problem) -> Infeasible | None:
    allowed = allowed_pairs(block)
    assert allowed is not None
    if allowed.all():
        return None
    matrix = allowed.reshape(block.shape)
    indptr, indices = _few_pairs(matrix, FEW_PAIRS)
    if maximum_matching((indptr, indices, block.shape), device="cpu").size == block.n_rows:
        return None
    return _fault_of_graph(block, *_few_pairs(matrix, block.n_cols))


@compiled
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
