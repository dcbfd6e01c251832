"""Solver `sparse-jv`: Jonker and Volgenant's method on a sparse graph, its components side by side in threads."""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar

import numpy as np
from numba import njit

from .assignment import Assignment
from .certificate import certify
from .components import chunks_of_components, components, rows_by_component
from .convert import as_sparse
from .hall import infeasible
from .problem import Problem
from .short_side import Matched, from_short_side
from .shortest_paths import assign_rows, named_counts, start
from .threads import side_by_side

CHUNKS = 64
"""Runs of components that the threads share; a fixed number, so that answers do not depend on how many threads."""


@dataclass(frozen=True)
class SparseJV:
    """Shortest augmenting paths on a sparse graph, component by component.

    Exact: integer costs in integer arithmetic with gap 0, real costs in float64 within 64 ulp term by term. No
    component is too large: a search ends at the nearest free column or at the price of staying alone, so its cost
    follows the local crowding, not the size of the component. Takes every kind of problem (see `convert.as_sparse`).
    """

    name: ClassVar[str] = "sparse-jv"
    devices: ClassVar[tuple[str, ...]] = ("cpu",)

    def solve(self, problem: Problem, device: str = "cpu") -> Assignment:
        """Solve to proven optimality; raises `Infeasible` with a Hall violator when there is no assignment."""
        began = perf_counter()
        col_of_row, v, stats = from_short_side(as_sparse(problem), _match)
        stats["solve_s"] = perf_counter() - began
        return certify(problem, col_of_row, v, solver=self.name, device=device, stats=stats)


def _match(problem: Problem) -> Matched:
    assert problem.indptr is not None
    indptr, indices, data = problem.indptr, _global_columns(problem), problem.data
    row_bound, col_bound = problem.dual_bounds()
    state = start(row_bound, col_bound)
    _lower_to_cheapest(indices, data, problem.n_cols, state.none, state.v)
    row_label, _ = components(indptr, indices, problem.n_cols)
    rows, starts = rows_by_component(row_label)
    cuts = chunks_of_components(starts, rows, indptr, CHUNKS)
    counts = np.zeros((len(cuts) - 1, 3), np.int64)

    def assign(c: int) -> int:
        return assign_rows(rows[cuts[c] : cuts[c + 1]], indptr, indices, data, None, state, counts[c])

    # The runs share `state`: its entries belong to one component each.
    failed = max(side_by_side(assign, range(len(cuts) - 1)), default=-1)
    if failed >= 0:
        raise infeasible(problem, failed, indptr, indices, None, state.col_of_row, state.row_of_col)
    stats = named_counts(counts.sum(axis=0)) | {"components": len(starts) - 1}
    return _local_columns(problem, state.col_of_row), state.v, stats


@njit(cache=True, nogil=True)
def _lower_to_cheapest(indices, data, n_cols, none, v):
    """Lower unbounded column duals, which are `none`, to the column's cheapest cost; 0 for a column without an edge."""
    cheapest = np.full(n_cols, none)
    for e in range(len(indices)):
        cheapest[indices[e]] = min(cheapest[indices[e]], data[e])
    for j in range(n_cols):
        if v[j] == none:
            v[j] = cheapest[j] if cheapest[j] < none else 0


def _global_columns(problem: Problem) -> np.ndarray:
    """Return the columns of the edges counted over all blocks."""
    assert problem.indptr is not None
    assert problem.indices is not None
    if problem.n_blocks == 1:
        return problem.indices
    edges = np.diff(problem.indptr[problem.row_offsets])
    dtype = np.int32 if problem.n_cols < 2**31 else np.int64
    return problem.indices + np.repeat(problem.col_offsets[:-1].astype(dtype), edges)


def _local_columns(problem: Problem, col_of_row: np.ndarray) -> np.ndarray:
    """Return `col_of_row` counted within each block."""
    if problem.n_blocks == 1:
        return col_of_row
    first = np.repeat(problem.col_offsets[:-1], np.diff(problem.row_offsets)).astype(np.int32)
    return np.where(col_of_row < 0, col_of_row, col_of_row - first)
