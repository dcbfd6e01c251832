"""Solver `jv`: Jonker and Volgenant's method on dense cost matrices.

SciPy's `linear_sum_assignment` is the same method, but it returns no dual variables, hence no proof, and is wrong for
integers above 2**53; the tests compare with it wherever it can go.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from time import perf_counter
from typing import ClassVar

import numpy as np
from numba import njit

from ..certificate.assignment import Assignment
from ..certificate.certify import assembled, certify, settled
from ..certificate.hall import infeasible
from ..certificate.refine import refined
from ..errors import InvalidProblem
from ..jit.threads import side_by_side
from ..paths.dense_paths import assign_dense_rows, lower_dense_to_cheapest
from ..paths.finish import NO_LIMIT, TOO_HARD, match_if_easy
from ..paths.shortest_paths import State, lower_to_cheapest, named_counts, start
from ..presolve.short_side import Matched, from_short_side
from ..problem import Problem
from ..problem.convert import as_dense
from ..problem.costs import largest_cost
from ..problem.flat_graph import allowed_pairs, flat_graph
from .at_once import is_solved_at_once, out_of_scans, solve_at_once

RUNS = 64
"""Runs of blocks that the threads share: one block alone would be too little to hand over."""


@dataclass(frozen=True)
class JV:
    """Shortest augmenting paths on a dense cost matrix, O(n³) at worst; blocks of a batch side by side in threads.

    Exact: integer costs in integer arithmetic with gap 0, real costs in float64 within 64 ulp term by term. Takes every
    kind of problem that fits memory as a matrix (see `convert.as_dense`).

    Attributes
    ----------
    most_scans : int, optional
        Rows that searches for shortest paths may scan, for each row of a block; when they are spent the solve ends in
        `NotConverged`, without an answer. No limit by default. One scan of every row reads the matrix once; where
        independent costs are drawn from a wide range some 10 are needed, and up to half the rows at worst.
    """

    name: ClassVar[str] = "jv"
    devices: ClassVar[tuple[str, ...]] = ("cpu",)

    most_scans: int | None = None

    def __post_init__(self) -> None:
        if self.most_scans is not None and not (
            isinstance(self.most_scans, Integral) and 1 <= self.most_scans <= 2**31
        ):
            raise InvalidProblem(
                f"most_scans needs a whole number from 1 to 2**31, or None for no limit; got {self.most_scans!r}."
            )

    def solve(self, problem: Problem, device: str = "cpu") -> Assignment:
        """Solve to proven optimality.

        Raises
        ------
        Infeasible
            With a Hall violator, when there is no assignment.
        NotConverged
            When `most_scans` ran out.
        """
        began = perf_counter()
        costs = as_dense(problem)
        if is_solved_at_once(problem):
            links_and_duals, sums, counts = solve_at_once(problem, self.most_scans)
            stats = {**named_counts(counts), "solve_s": perf_counter() - began}
            sums = settled(problem, *links_and_duals, sums)
            answer = assembled(problem, *links_and_duals, sums, solver=self.name, device=device, stats=stats)
        else:
            col_of_row, v, stats = from_short_side(costs, partial(match, most_scans=self.most_scans))
            stats["solve_s"] = perf_counter() - began
            answer = certify(problem, col_of_row, v, solver=self.name, device=device, stats=stats)
        return refined(costs, answer)


def match(problem: Problem, most_scans: int | None = None) -> Matched:
    """Match a dense problem whose shorter side is its rows, or which has an `unmatched_cost`."""
    stated, problem = problem, without_mask(problem)
    row_bound, col_bound = problem.dual_bounds()
    state = start(row_bound, col_bound)
    blocks = problem.n_blocks
    counts, failed = np.zeros((blocks, 3), np.int64), np.empty(blocks, np.int64)
    batch = problem.row_offsets, problem.col_offsets, problem.dense_offsets, problem.data, problem.forbidden
    runs = min(RUNS, blocks)
    cuts = [run * blocks // runs for run in range(runs + 1)]
    limit = NO_LIMIT if most_scans is None else int(most_scans)
    side_by_side(lambda c: _assign_blocks(cuts[c], cuts[c + 1], *batch, state, limit, counts, failed), range(runs))
    if (failed == TOO_HARD).any():
        raise out_of_scans(most_scans)
    if failed.max() >= 0:
        raise _infeasible_block(problem, int(np.argmax(failed >= 0)), failed, state)
    return state.col_of_row, state.v.astype(stated.dual_dtype, copy=False), named_counts(counts.sum(axis=0))


def without_mask(problem: Problem) -> Problem:
    """Return the problem with +inf for its forbidden pairs, which vectorises; integers only where floats are exact."""
    if problem.forbidden is None:
        return problem
    longest = int((problem.n_rows_of_block + problem.n_cols_of_block).max()) + 4
    if problem.is_integer and largest_cost(problem) * longest > 2**53:
        return problem
    data = problem.data.astype(np.float64 if problem.is_integer else problem.data.dtype)
    data[problem.forbidden] = np.inf
    sides = {"row_unmatched": problem.row_unmatched, "col_unmatched": problem.col_unmatched}
    prices = {name: side.astype(np.float64) for name, side in sides.items() if side is not None}
    return replace(problem, data=data, forbidden=None, **prices)


def _infeasible_block(problem: Problem, b: int, failed: np.ndarray, state: State) -> Exception:
    block = problem.block(b)
    rows = slice(int(problem.row_offsets[b]), int(problem.row_offsets[b + 1]))
    cols = slice(int(problem.col_offsets[b]), int(problem.col_offsets[b + 1]))
    indptr, indices, _, _ = flat_graph(block)
    error = infeasible(
        block, int(failed[b]), indptr, indices, allowed_pairs(block), state.col_of_row[rows], state.row_of_col[cols]
    )
    return error.in_block(b) if problem.n_blocks > 1 else error


@njit(cache=True, nogil=True)
def _assign_blocks(
    first, end, row_offsets, col_offsets, edge_offsets, data, forbidden, state, most_scans, counts, failed
):
    """Assign some of the blocks; in `failed` a row of each that cannot be matched, -1, or `TOO_HARD`."""
    for b in range(first, end):
        costs = data[edge_offsets[b] : edge_offsets[b + 1]]
        mask = None if forbidden is None else forbidden[edge_offsets[b] : edge_offsets[b + 1]]
        own = _own_part(state, row_offsets[b], row_offsets[b + 1], col_offsets[b], col_offsets[b + 1])
        failed[b] = _assign_block(costs, mask, own, most_scans, counts[b])


@njit(cache=True, nogil=True)
def _own_part(state, r0, r1, c0, c1):
    """Return the views of the state that belong to rows r0 to r1 and columns c0 to c1."""
    return State(
        state.none,
        state.row_bound[r0:r1],
        state.v[c0:c1],
        state.col_of_row[r0:r1],
        state.row_of_col[c0:c1],
        state.matched_cost[r0:r1],
        state.dist[c0:c1],
        state.pred[c0:c1],
        state.pred_cost[c0:c1],
        state.place[c0:c1],
    )


@njit(cache=True, nogil=True)
def _assign_block(costs, mask, state, most_scans, counts):
    """Assign one block; a row that cannot be matched, -1, or `TOO_HARD` beyond `most_scans` a row."""
    n, m = len(state.row_bound), len(state.v)
    scans = most_scans * max(n, 1) if most_scans < NO_LIMIT else NO_LIMIT
    if mask is None:
        cost = costs.reshape((n, m))
        lower_dense_to_cheapest(cost, state.v, state.none)
        return assign_dense_rows(cost, state, counts, scans)
    indptr = np.arange(n + 1) * m
    lower_to_cheapest(indptr, None, costs, mask, state)
    return match_if_easy(np.arange(n), indptr, None, costs, mask, state, counts, scans)
