"""The variants on several GPUs: every dense block split over the devices, all of them driven by this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Lock
from time import perf_counter
from typing import Any

import numpy as np

from ..certificate.assignment import Assignment
from ..certificate.certify import assembled, certify, inverse
from ..certificate.hall import infeasible
from ..certificate.refine import refined
from ..device import cuda
from ..device.collectives import Collective, Copies, Nccl
from ..errors import DeviceUnavailable, InvalidProblem
from ..paths.gpu_dense import LOOSE, REFINEMENTS, DeviceCosts, DeviceState
from ..paths.state import FREE, UNASSIGNED
from ..presolve.sharded import ShardedCosts
from ..problem import Problem
from ..problem.convert import as_dense
from .gpu import solve_blocks
from .shards import Proof, Shards, adopt, even_split, place, prove, reduced

_ONE_AT_A_TIME = Lock()
"""Two solves on the same devices could wait for each other, each running on one of them."""

Method = Callable[[Shards, DeviceState], tuple[int, DeviceState, dict[str, Any]]]
"""Matches all `FREE` rows, from and to a state on the host; returns an infeasible row or -1, the state, counts."""


def solve_on_gpus(problem: Any, name: str, devices: Sequence[str], axis: int, method: Method) -> Assignment:
    """Solve on several devices.

    Parameters
    ----------
    problem : Problem or ShardedCosts
    name : str
        Of the solver.
    devices : sequence of "cuda:N"
        Shards are dealt out in this order; a side with fewer members than devices takes as many of them.
    axis : {0, 1}
        What the method splits.
    method : Method

    Returns
    -------
    Assignment
        On the host, or beside the problem's costs if those are on one GPU.
    """
    began = perf_counter()
    numbers = cuda.numbers_of(devices)
    if not isinstance(problem, ShardedCosts) and problem.kind == "sparse":
        raise DeviceUnavailable(
            f"device={list(devices)}: solver {name!r} splits dense costs; name one device for sparse ones."
        )
    if len(devices) > 1:
        cuda.nccl()  # nothing is copied where it is missing
    where = ",".join(f"cuda:{number}" for number in numbers)
    with _ONE_AT_A_TIME, cuda.using(f"cuda:{numbers[0]}") as cp:
        if isinstance(problem, ShardedCosts):
            shards = _adopted(cp, problem, name, numbers, axis)
            answer = solve_shards(shards, name, where, method)
        else:
            form = problem if problem.kind == "dense" else as_dense(problem.on_host())
            answer = solve_dense(form, lambda block: _solve_rows(cp, block, name, where, numbers, axis, method))
    if not isinstance(problem, ShardedCosts) and problem.is_on_device:
        with problem.data.device:
            answer = answer.on_device()
    return replace(answer, stats={**answer.stats, "solve_s": perf_counter() - began})


def solve_dense(form: Problem, solve_rows: Callable[[Problem], Assignment]) -> Assignment:
    """Solve every block of a dense problem."""
    return refined(form, solve_blocks(form, solve_rows))


def _adopted(cp: Any, costs: ShardedCosts, name: str, numbers: tuple[int, ...], axis: int) -> Shards:
    """Take shards that are on the devices already."""
    if costs.axis != axis:
        sides = ("rows (axis 0)", "columns (axis 1)")
        raise InvalidProblem(
            f"solver {name!r} needs shards of {sides[axis]}; got shards of {sides[costs.axis]}.", argument="solver"
        )
    ends = np.cumsum([shard.shape[axis] for shard in costs.shards])
    return Shards(costs.outline, tuple(adopt(cp, costs)), axis, (0, *map(int, ends)), _collective(cp, numbers))


def _collective(cp: Any, numbers: tuple[int, ...]) -> Collective:
    """Return how the devices talk; few rows need one device only, which has nobody to talk to."""
    return Nccl(cp, cuda.nccl(), cuda.communicators(numbers)) if len(numbers) > 1 else Copies(cp)


def _solve_rows(
    cp: Any, block: Problem, name: str, where: str, numbers: tuple[int, ...], axis: int, method: Method
) -> Assignment:
    if min(block.shape) == 0:
        return nobody_matched(block, name, where)
    began = perf_counter()
    first = even_split(block.shape[axis], len(numbers))
    numbers = numbers[: len(first) - 1]
    parts = place(cp, block, numbers, axis)
    shards = Shards(block, tuple(parts), axis, first, _collective(cp, numbers))
    answer = solve_shards(shards, name, where, method)
    return replace(answer, stats={**answer.stats, "solve_and_copy_s": perf_counter() - began})


def nobody_matched(block: Problem, name: str, where: str) -> Assignment:
    """Return the answer where one side is empty."""
    host = block.on_host()
    return certify(host, np.full(host.n_rows, FREE, np.int32), host.dual_bounds()[1], solver=name, device=where)


def solve_shards(shards: Shards, name: str, where: str, method: Method) -> Assignment:
    """Solve a problem whose costs are in place, and whose rows are its shorter side if all must be matched."""
    began = perf_counter()
    state = reduced(shards)
    isolated = np.flatnonzero(state.r >= shards.none)
    if len(isolated):
        raise _infeasible(shards, int(isolated[0]), state)
    stats: dict[str, Any] = {"reduction_s": perf_counter() - began, "refinements": 0}
    while True:
        infeasible_row, state, counts = method(shards, state)
        if infeasible_row >= 0:
            raise _infeasible(shards, infeasible_row, state)
        stats |= {key: stats.get(key, 0) + count for key, count in counts.items()}
        state = _with_unassigned_columns_at_bounds(shards, state)
        if (state.col_of_row == FREE).any():
            continue
        proof, answer = _certified(shards, state, name, where, stats)
        if answer.is_optimal or shards.outline.is_integer or stats["refinements"] == REFINEMENTS:
            return answer
        state = _released(shards, state, proof)
        stats["refinements"] += 1


def _certified(
    shards: Shards, state: DeviceState, name: str, where: str, stats: dict[str, Any]
) -> tuple[Proof, Assignment]:
    began = perf_counter()
    col_of_row = np.maximum(state.col_of_row, FREE)
    row_of_col = inverse(shards.outline, col_of_row)
    proof = prove(shards, state.v, col_of_row, row_of_col)
    stats["certificate_s"] = stats.get("certificate_s", 0.0) + perf_counter() - began
    duals = proof.r, proof.v
    matched = shards.outline, col_of_row, row_of_col
    return proof, assembled(*matched, *duals, proof.slackness, solver=name, device=where, stats=stats)


def _with_unassigned_columns_at_bounds(shards: Shards, state: DeviceState) -> DeviceState:
    """Raise the duals of unassigned columns that rounding left below their bounds, and free the rows that then gain.

    Their columns may be unassigned and below their bound in turn. Once none is, none will be: paths free no column.
    """
    bound = shards.outline.dual_bounds()[1]
    while (below := (state.row_of_col == FREE) & (state.v < bound) & (bound < shards.none)).any():
        state.v = np.where(below, bound, state.v)
        col_of_row = np.maximum(state.col_of_row, FREE)
        state = _released(shards, state, prove(shards, state.v, col_of_row, state.row_of_col))
    return state


def _released(shards: Shards, state: DeviceState, proof: Proof) -> DeviceState:
    """Free the rows whose links are loose, real ones by more than rounding explains."""
    col_of_row, row_of_col, r, v = state.col_of_row, state.row_of_col, proof.r, proof.v
    rows = np.flatnonzero(col_of_row >= 0)
    cols, cost = col_of_row[rows], proof.cost
    slack = cost - v[cols] - r[rows]
    rounding = 0 if shards.outline.is_integer else LOOSE * np.maximum.reduce([abs(cost), abs(v[cols]), abs(r[rows])])
    loose = slack > rounding
    row_of_col[cols[loose]] = FREE
    col_of_row[rows[loose]] = FREE
    r[rows[~loose]] = cost[~loose] - v[cols[~loose]]
    at_bound = r >= shards.outline.dual_bounds()[0]
    col_of_row[col_of_row < 0] = np.where(at_bound, UNASSIGNED, FREE)[col_of_row < 0]
    return DeviceState(r, v, col_of_row, row_of_col)


def _infeasible(shards: Shards, row: int, state: DeviceState) -> Exception:
    n, m = shards.outline.shape
    allowed = np.concatenate(shards.each(_allowed), axis=shards.axis)
    matched = np.maximum(state.col_of_row, FREE), state.row_of_col
    return infeasible(shards.outline, row, np.arange(n + 1) * m, None, allowed.reshape(-1), *matched)


def _allowed(part: DeviceCosts) -> np.ndarray:
    finite = part.cost < part.none
    return cuda.to_host(finite if part.forbidden is None else finite & ~part.forbidden)
