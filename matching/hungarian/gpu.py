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
from ..problem import Problem
from ..problem.convert import as_sparse, transposed
from ..problem.gpu_graph import Prices
from ..problem.gpu_points import dense_on_device
from .gpu_batch import Match, solve_batch, solve_groups
from .gpu_sparse import settle_unassigned_columns, solve_sparse

Method = Callable[[DeviceCosts, DeviceState, Any], tuple[int, dict[str, Any]]]
"""Matches the given free rows; returns an infeasible row or -1, and counts."""


def solve_on_gpu(problem: Problem, name: str, device: str, method: Method, at_once: Match | None = None) -> Assignment:
    """Solve by one of the GPU's methods; raises as the solvers say.

    `at_once`: how dense blocks of one shape are solved together; None: one by one.
    """
    began = perf_counter()
    with cuda.using(device) as cp:
        where = f"cuda:{cp.cuda.Device().id}"
        form = problem
        if problem.kind == "points":
            form = as_sparse(problem.on_host()) if problem.has_unmatched_cost else dense_on_device(cp, problem)
        if form.kind == "sparse":
            answer = _solve_sparse(form, lambda part: solve_sparse(cp, part, name, where))
        elif at_once is not None and form.n_blocks > 1:
            answer = _solve_together(cp, form, name, where, method, at_once)
        else:
            answer = solve_blocks(form, lambda block: _solve_rows(cp, block, name, where, method))
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


def _solve_sparse(form: Problem, solve_part: Callable[[Problem], Assignment]) -> Assignment:
    """Solve all blocks as one graph, but one by one where some must be transposed and others must not."""
    rows, cols = np.diff(form.row_offsets), np.diff(form.col_offsets)
    if form.has_unmatched_cost or not ((rows > cols).any() and (rows < cols).any()):
        return solve_part(form)
    return _joined(form, [_of_block(form, b, solve_part) for b in range(form.n_blocks)])


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
    return _of_block(form, b, lambda block: _from_short_side(block, solve_rows))


def _of_block(form: Problem, b: int, solve_part: Callable[[Problem], Assignment]) -> Assignment:
    try:
        return solve_part(form.block(b))
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


def _solve_rows(cp: Any, block: Problem, name: str, where: str, method: Method) -> Assignment:
    if min(block.shape) == 0:
        nobody, (_, col_bound) = np.full(block.n_rows, FREE, np.int32), block.dual_bounds()
        return certify(block.on_host(), nobody, cuda.to_host(col_bound), solver=name, device=where)
    began = perf_counter()
    costs = DeviceCosts.of(cp, block)
    graph = costs.graph_of(block)
    state = reduced(costs)
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
