"""The variants on one GPU: dense costs block by block, each a matrix in device memory; sparse costs as one graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from ..certificate.assignment import Assignment
from ..certificate.certify import certify
from ..certificate.gpu_certificate import certified
from ..certificate.refine import refined
from ..device import cuda
from ..errors import Infeasible
from ..paths.gpu_dense import LOOSE, REFINEMENTS, DeviceCosts, DeviceState, reduce_rows, reduced, violator_of
from ..paths.state import FREE, UNASSIGNED
from ..presolve.handover import starting_duals
from ..problem import Problem
from ..problem.convert import as_sparse, transposed
from ..problem.gpu_graph import DeviceGraph, Prices
from ..problem.gpu_points import dense_on_device
from .gpu_batch import Match, solve_batch, solve_groups
from .gpu_sparse import best_row_duals, settle_unassigned_columns, solve_sparse

Method = Callable[[DeviceCosts, DeviceState, Any], tuple[int, dict[str, Any]]]
"""Matches the given free rows; returns an infeasible row or -1, and counts."""


def solve_on_gpu(
    problem: Problem, name: str, device: str, method: Method, start: Any = None, at_once: Match | None = None
) -> Assignment:
    """Solve by one of the GPU's methods, from an `Assignment` or prices; raises as the solvers say.

    `at_once`: how dense blocks of one shape are solved together, where there is no start; None: one by one.
    """
    began = perf_counter()
    with cuda.using(device) as cp:
        where = f"cuda:{cp.cuda.Device().id}"
        form = problem
        if problem.kind == "points":
            form = as_sparse(problem.on_host()) if problem.has_unmatched_cost else dense_on_device(cp, problem)
        duals = None if start is None else starting_duals(form, start)
        if form.kind == "sparse":
            answer = _solve_sparse(form, duals, lambda part, own: solve_sparse(cp, part, name, where, own))
        elif duals is None and at_once is not None and form.n_blocks > 1:
            answer = _solve_together(cp, form, name, where, method, at_once)
        elif duals is None:
            answer = solve_blocks(form, lambda block: _solve_rows(cp, block, name, where, method))
        else:

            def solve_rows(block: Problem, own: Any) -> Assignment:
                return _solve_rows(cp, block, name, where, method, own)

            answer = solve_from(form, duals, solve_rows, best_row_duals_of)
        if not problem.is_on_device:
            answer = answer.on_host()
        return refined(problem, replace(answer, stats={**answer.stats, "solve_s": perf_counter() - began}))


def _solve_together(cp: Any, form: Problem, name: str, where: str, method: Method, at_once: Match) -> Assignment:
    """Solve the blocks of each shape at once; shapes of which there is one, and large blocks, with the whole device."""
    answers = solve_groups(
        form,
        lambda b: _solve_block(form, b, lambda block: _solve_rows(cp, block, name, where, method)),
        lambda batch: _from_short_side(batch, lambda turned: solve_batch(cp, turned, name, where, at_once)),
    )
    return answers[0] if len(answers) == 1 else _joined(form, answers)


SolvePart = Callable[[Problem, Any], Assignment]
"""Solves some blocks, from the given prices unless they are None."""


def _solve_sparse(form: Problem, duals: np.ndarray | None, solve_part: SolvePart) -> Assignment:
    """Solve all blocks as one graph, but one by one where some must be transposed and others must not."""
    rows, cols = np.diff(form.row_offsets), np.diff(form.col_offsets)
    if form.has_unmatched_cost or not ((rows > cols).any() and (rows < cols).any()):
        return solve_part(form, duals)
    return _block_by_block(form, duals, solve_part)


def solve_from(
    form: Problem, duals: np.ndarray, solve_rows: SolvePart, row_duals_of: Callable[[Problem, Any], Any]
) -> Assignment:
    """Solve dense blocks from prices; where rows and columns are exchanged, from the best row duals beside them."""

    def solve_block(block: Problem, own: Any) -> Assignment:
        if block.n_rows > block.n_cols > 0 and not block.has_unmatched_cost:
            own = row_duals_of(block, own)
        return solve_blocks(block, lambda turned: solve_rows(turned, own))

    return _block_by_block(form, duals, solve_block)


def best_row_duals_of(block: Problem, duals: Any) -> Any:
    """Compute them on the current GPU."""
    graph = DeviceGraph.of(cuda.cupy(), block)
    return best_row_duals(graph, graph.cp.asarray(duals))


def _block_by_block(form: Problem, duals: np.ndarray | None, solve_block: SolvePart) -> Assignment:
    answers: list[Assignment] = []
    for b, block in enumerate(form.blocks()):
        own = None if duals is None else duals[form.col_offsets[b] : form.col_offsets[b + 1]]
        try:
            answers.append(solve_block(block, own))
        except Infeasible as error:
            raise (error.in_block(b) if form.n_blocks > 1 else error) from None
    return answers[0] if form.n_blocks == 1 else _joined(form, answers)


def solve_blocks(form: Problem, solve_rows: Callable[[Problem], Assignment]) -> Assignment:
    """Solve every block of a dense problem and join the answers.

    Parameters
    ----------
    form : Problem
    solve_rows : callable
        Solves a block whose rows are its shorter side, or which has an `unmatched_cost`.
    """
    answers = [_solve_block(form, b, solve_rows) for b in range(form.n_blocks)]
    return answers[0] if form.n_blocks == 1 else _joined(form, answers)


def _solve_block(form: Problem, b: int, solve_rows: Callable[[Problem], Assignment]) -> Assignment:
    try:
        return _from_short_side(form.block(b), solve_rows)
    except Infeasible as error:
        raise (error.in_block(b) if form.n_blocks > 1 else error) from None


def _from_short_side(part: Problem, solve_rows: Callable[[Problem], Assignment]) -> Assignment:
    """Solve one block, or blocks of one shape, with the sides exchanged where all columns must be matched."""
    if part.n_rows <= part.n_cols or part.has_unmatched_cost:
        return solve_rows(part)
    try:
        answer = solve_rows(transposed(part))
    except Infeasible as error:
        raise error.of_columns() from None
    return replace(
        answer,
        col_of_row=answer.row_of_col,
        row_of_col=answer.col_of_row,
        row_duals=answer.col_duals,
        col_duals=answer.row_duals,
        row_offsets=part.row_offsets,
        col_offsets=part.col_offsets,
    )


def _solve_rows(cp: Any, block: Problem, name: str, where: str, method: Method, start: Any = None) -> Assignment:
    if min(block.shape) == 0:
        nobody, (_, col_bound) = np.full(block.n_rows, FREE, np.int32), block.dual_bounds()
        return certify(block.on_host(), nobody, cuda.to_host(col_bound), solver=name, device=where)
    began = perf_counter()
    costs = DeviceCosts.of(cp, block)
    graph = costs.graph_of(block)
    state = reduced(costs, start)
    isolated = cp.flatnonzero(state.r >= costs.none)
    if len(isolated):
        raise violator_of(block, int(isolated[0]), state)
    stats: dict[str, Any] = {"reduction_s": perf_counter() - began, "refinements": 0}
    free = cp.arange(block.n_rows, dtype=cp.int32)
    while True:
        infeasible_row, counts = method(costs, state, free)
        if infeasible_row >= 0:
            raise violator_of(block, infeasible_row, state)
        stats |= {key: stats.get(key, 0) + count for key, count in counts.items()}
        prices = Prices(state.v, cp.maximum(state.col_of_row, FREE), state.row_of_col, {})
        if settle_unassigned_columns(graph, prices):
            state.v, state.col_of_row = prices.v, cp.where(prices.col_of_row < 0, UNASSIGNED, prices.col_of_row)
        answer = certified(graph, block, prices, solver=name, device=where, stats=stats)
        if answer.is_optimal or block.is_integer or stats["refinements"] == REFINEMENTS:
            return answer
        free = _released(costs, state, answer)
        stats["refinements"] += 1


def _released(costs: DeviceCosts, state: DeviceState, answer: Assignment) -> Any:
    """Leave the rows unassigned whose links rounding left loose, as `cpu._refine` does; return them."""
    cp = costs.cp
    linked = cp.flatnonzero(state.col_of_row >= 0)
    cols = state.col_of_row[linked]
    cost = costs.cost[linked, cols].astype(cp.float64)
    slack = cost - state.v[cols] - answer.row_duals[linked]
    loose = slack > LOOSE * cp.maximum(cp.maximum(abs(cost), abs(state.v[cols])), abs(answer.row_duals[linked]))
    state.row_of_col[cols[loose]] = FREE
    state.col_of_row[linked[loose]] = FREE
    tight = linked[~loose]
    reduce_rows(costs, state)
    state.r[tight] = cost[~loose] - state.v[cols[~loose]]
    lone = cp.flatnonzero((state.col_of_row < 0) & (state.r < costs.row_bound))
    state.col_of_row[lone] = FREE
    return lone.astype(cp.int32)


def _joined(form: Problem, answers: list[Assignment]) -> Assignment:
    """Lay the answers to the blocks of a batch side by side; counts add up."""
    stats: dict[str, Any] = {}
    for answer in answers:
        stats |= {key: stats.get(key, 0) + count for key, count in answer.stats.items()}
    parts = [answer.on_host() for answer in answers]
    arrays = ("col_of_row", "row_of_col", "row_duals", "col_duals")
    joined = replace(
        parts[0],
        **{array: np.concatenate([getattr(part, array) for part in parts]) for array in arrays},
        cost=np.array([part.cost for part in parts]),
        gap=np.array([part.gap for part in parts]),
        is_optimal=all(part.is_optimal for part in parts),
        stats=stats,
        row_offsets=form.row_offsets,
        col_offsets=form.col_offsets,
    )
    return joined.on_device() if form.is_on_device else joined
