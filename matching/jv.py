"""Solver `jv`: Jonker and Volgenant's method on dense cost matrices.

SciPy's `linear_sum_assignment` is the same method, but it returns no dual variables, hence no proof, and is wrong for
integers above 2**53; the tests compare with it wherever it can go.
"""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar

import numpy as np
from numba import njit, prange

from .assignment import Assignment
from .certificate import certify
from .convert import as_dense
from .hall import infeasible
from .problem import Problem
from .short_side import Matched, from_short_side
from .shortest_paths import State, assign_rows, named_counts, start


@dataclass(frozen=True)
class JV:
    """Shortest augmenting paths on a dense cost matrix, O(n³) at worst; blocks of a batch side by side in threads.

    Exact: integer costs in integer arithmetic with gap 0, real costs in float64 within 64 ulp term by term. Takes every
    kind of problem that fits memory as a matrix (see `convert.as_dense`).
    """

    name: ClassVar[str] = "jv"
    devices: ClassVar[tuple[str, ...]] = ("cpu",)

    def solve(self, problem: Problem, device: str = "cpu") -> Assignment:
        """Solve to proven optimality; raises `Infeasible` with a Hall violator when there is no assignment."""
        began = perf_counter()
        col_of_row, v, stats = from_short_side(as_dense(problem), _match)
        stats["solve_s"] = perf_counter() - began
        return certify(problem, col_of_row, v, solver=self.name, device=device, stats=stats)


def _match(problem: Problem) -> Matched:
    row_bound, col_bound = problem.dual_bounds()
    state = start(row_bound, col_bound)
    counts = np.zeros((problem.n_blocks, 3), np.int64)
    edges = problem.dense_offsets
    failed = _assign_blocks(
        problem.row_offsets, problem.col_offsets, edges, problem.data, problem.forbidden, state, counts
    )
    if (failed >= 0).any():
        raise _infeasible_block(problem, int(np.argmax(failed >= 0)), failed, state)
    return state.col_of_row, state.v, named_counts(counts.sum(axis=0))


def _infeasible_block(problem: Problem, b: int, failed: np.ndarray, state: State) -> Exception:
    block = problem.block(b)
    n, m = block.shape
    rows = slice(int(problem.row_offsets[b]), int(problem.row_offsets[b + 1]))
    cols = slice(int(problem.col_offsets[b]), int(problem.col_offsets[b + 1]))
    allowed = block.data < np.inf if block.forbidden is None else ~block.forbidden & (block.data < np.inf)
    indptr = np.arange(n + 1) * m
    error = infeasible(block, int(failed[b]), indptr, None, allowed, state.col_of_row[rows], state.row_of_col[cols])
    return error.in_block(b) if problem.n_blocks > 1 else error


@njit(cache=True, nogil=True, parallel=True)
def _assign_blocks(row_offsets, col_offsets, edge_offsets, data, forbidden, state, counts):
    """Assign every block; a row index where one cannot be matched, else -1."""
    n_blocks = len(row_offsets) - 1
    failed = np.full(n_blocks, -1, np.int64)
    for b in prange(n_blocks):
        n, m = row_offsets[b + 1] - row_offsets[b], col_offsets[b + 1] - col_offsets[b]
        rows, cols = slice(row_offsets[b], row_offsets[b + 1]), slice(col_offsets[b], col_offsets[b + 1])
        costs = data[edge_offsets[b] : edge_offsets[b + 1]]
        mask = None if forbidden is None else forbidden[edge_offsets[b] : edge_offsets[b + 1]]
        own = State(
            state.none,
            state.row_bound[rows],
            state.v[cols],
            state.col_of_row[rows],
            state.row_of_col[cols],
            state.link_cost[rows],
            state.dist[cols],
            state.pred[cols],
            state.pred_cost[cols],
            state.place[cols],
        )
        _lower_to_cheapest(costs, mask, n, m, own)
        failed[b] = assign_rows(np.arange(n), np.arange(n + 1) * m, None, costs, mask, own, counts[b])
    return failed


@njit(cache=True, nogil=True)
def _lower_to_cheapest(costs, forbidden, n, m, state):
    """Lower unbounded column duals, which are `none`, to the column's cheapest cost; 0 for a column without a pair."""
    if m == 0 or state.v[0] != state.none:
        return
    for i in range(n):
        for j in range(m):
            if forbidden is None or not forbidden[i * m + j]:
                state.v[j] = min(state.v[j], costs[i * m + j])
    for j in range(m):
        if state.v[j] == state.none:
            state.v[j] = 0
