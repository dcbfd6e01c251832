"""The variants on several GPUs: every dense block split over the devices, all of them driven by this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..certificate.assignment import Assignment
from ..certificate.certify import assembled, inverse
from ..certificate.hall import violator_where_it_lies
from ..certificate.matched import SolverMatching, nothing_matched
from ..device import cuda
from ..device.collectives import Collective, Copies, Nccl
from ..errors import DeviceUnavailable, Infeasible, InvalidProblem
from ..paths.gpu_dense import DeviceState
from ..paths.gpu_settling import REFINEMENTS
from ..paths.state import FREE, UNASSIGNED
from ..presolve.sharded import ShardedCosts
from ..problem import Problem
from ..problem.convert import as_dense
from ..problem.outline import Outline
from ..tolerance import EPS, REMATCH_ULPS
from .shards import Proof, Shards, adopt, even_split, place, prove, reduced

_ONE_AT_A_TIME = Lock()
"""Two solves on the same devices could wait for each other, each running on one of them."""

Method = Callable[[Shards, DeviceState], tuple[int, DeviceState, dict[str, Any]]]
"""Matches all `FREE` rows, from and to a state on the host; returns an infeasible row or -1, the state, counts."""


def match_on_gpus(
    problem: Problem | ShardedCosts, name: str, devices: Sequence[str], axis: int, method: Method
) -> SolverMatching:
    """Match shards, or one block that is dealt out, on several devices.

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
    """
    numbers = cuda.numbers_of(devices)
    if not isinstance(problem, ShardedCosts) and problem.kind == "sparse":
        raise DeviceUnavailable(
            f"device={list(devices)}: solver {name!r} splits dense costs only; name one device for sparse costs."
        )
    if len(devices) > 1:
        cuda.nccl()  # nothing is copied where it is missing
    with _ONE_AT_A_TIME, cuda.using(f"cuda:{numbers[0]}") as cp:
        if isinstance(problem, ShardedCosts):
            return match_shards(_adopted(cp, problem, name, numbers, axis), method)
        block = problem if problem.kind == "dense" else as_dense(problem.on_host())
        if min(block.shape) == 0:
            return nothing_matched(block)
        began = perf_counter()
        first = even_split(block.shape[axis], len(numbers))
        parts = tuple(place(cp, block, numbers[: len(first) - 1], axis))
        shards = Shards(block, parts, axis, first, _collective(cp, numbers[: len(parts)]))
        found = match_shards(shards, method)
        return found._replace(stats=found.stats | {"solve_and_copy_s": perf_counter() - began})


def _adopted(cp: Any, costs: ShardedCosts, name: str, numbers: tuple[int, ...], axis: int) -> Shards:
    """Take shards that are on the devices already."""
    if costs.axis != axis:
        sides = ("rows (axis 0)", "columns (axis 1)")
        raise InvalidProblem(
            f"solver {name!r} needs shards of {sides[axis]}; got shards of {sides[costs.axis]}. HungarianClassical "
            "takes rows, HungarianTree(variant='paper') columns.",
            argument="solver",
        )
    ends = np.cumsum([shard.shape[axis] for shard in costs.shards])
    return Shards(costs, tuple(adopt(cp, costs)), axis, (0, *map(int, ends)), _collective(cp, numbers))


def _collective(cp: Any, numbers: tuple[int, ...]) -> Collective:
    """Return how devices exchange numbers; few rows need one device only, which exchanges none."""
    return Nccl(cp, cuda.nccl(), cuda.communicators(numbers)) if len(numbers) > 1 else Copies(cp)


class MatchedShards(NamedTuple):
    """A matching of shards and its proof, on the host (see `matched.SolverMatching`)."""

    form: Outline
    col_of_row: np.ndarray
    row_of_col: np.ndarray
    proof: Proof
    stats: dict[str, Any]
    unfinished: str = ""

    @property
    def is_refinable(self) -> bool:
        """Whether the costs are in one place."""
        return isinstance(self.form, Problem)

    def certified(self, problem: Any, *, solver: str, device: str, stats: Mapping[str, Any]) -> Assignment:  # noqa: ARG002
        """Return the assignment with its certificate."""
        matched = self.form, self.col_of_row, self.row_of_col, self.proof.r, self.proof.v
        return assembled(*matched, self.proof.slackness, solver=solver, device=device, stats=stats)


def match_shards(shards: Shards, method: Method) -> MatchedShards:
    """Match a problem whose costs are in place, and whose rows are its shorter side if all must be matched."""
    began = perf_counter()
    state = reduced(shards)
    isolated = np.flatnonzero(state.r >= shards.none)
    if len(isolated):
        raise _infeasible(shards, int(isolated[0]), state)
    stats: dict[str, Any] = {"reduction_s": perf_counter() - began}
    times = 0
    while True:
        infeasible_row, state, counts = method(shards, state)
        if infeasible_row >= 0:
            raise _infeasible(shards, infeasible_row, state)
        stats |= {key: stats.get(key, 0) + count for key, count in counts.items()}
        state = _with_unassigned_columns_at_bounds(shards, state)
        if (state.col_of_row == FREE).any():
            continue
        began = perf_counter()
        col_of_row = np.maximum(state.col_of_row, FREE)
        row_of_col = inverse(shards.outline, col_of_row)
        proof = prove(shards, state.v, col_of_row, row_of_col)
        stats["certificate_s"] = stats.get("certificate_s", 0.0) + perf_counter() - began
        if proof.slackness.proves or shards.outline.is_integer or times == REFINEMENTS:
            return MatchedShards(shards.outline, col_of_row, row_of_col, proof, {**stats, "refinements": times})
        state = _released(shards, state, proof)
        times += 1


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
    """Free the rows whose matched edges have slack, real ones by more than rounding explains."""
    col_of_row, row_of_col, r, v = state.col_of_row, state.row_of_col, proof.r, proof.v
    rows = np.flatnonzero(col_of_row >= 0)
    cols, cost = col_of_row[rows], proof.cost
    slack = cost - v[cols] - r[rows]
    ulps = 0 if shards.outline.is_integer else REMATCH_ULPS * EPS
    slack_edges = slack > ulps * np.maximum.reduce([abs(cost), abs(v[cols]), abs(r[rows])])
    row_of_col[cols[slack_edges]] = FREE
    col_of_row[rows[slack_edges]] = FREE
    r[rows[~slack_edges]] = cost[~slack_edges] - v[cols[~slack_edges]]
    at_bound = r >= shards.outline.dual_bounds()[0]
    col_of_row[col_of_row < 0] = np.where(at_bound, UNASSIGNED, FREE)[col_of_row < 0]
    return DeviceState(r, v, col_of_row, row_of_col)


def _infeasible(shards: Shards, row: int, state: DeviceState) -> Infeasible:
    """Return the error that names the rows which keep `row` from being matched; the costs stay where they are."""

    def reached_from(rows: np.ndarray) -> np.ndarray:
        if shards.axis == 1:
            return np.concatenate(shards.each(lambda part: part.allowed_from(rows)))
        own = [rows[(rows >= part.start) & (rows < part.stop)] - part.start for part in shards.slices()]
        return np.logical_or.reduce(shards.each(lambda part, its: part.allowed_from(its), own))

    return violator_where_it_lies(row, reached_from, np.maximum(state.col_of_row, FREE), state.row_of_col)
