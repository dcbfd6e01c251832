"""The variants on one GPU: a matrix, matrices of one shape at once, or sparse costs as one graph."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from ..certificate.matched import SolverMatching, nothing_matched
from ..device import cuda
from ..paths.gpu_dense import DeviceCosts, DeviceState, reduced, violator_of
from ..paths.gpu_settling import Last, settle_unassigned_columns, state_after_release, until_proven
from ..paths.gpu_trees import grow_trees
from ..paths.state import FREE
from ..problem import Problem
from ..problem.convert import as_sparse
from ..problem.gpu_graph import DeviceSolution
from ..problem.gpu_points import dense_on_device
from .gpu_batch import Match, match_batch
from .gpu_sparse import match_sparse

Method = Callable[[DeviceCosts, DeviceState, Any], tuple[int, dict[str, Any]]]
"""Matches the given free rows; returns an infeasible row or -1, and counts."""


def match_on_gpu(problem: Problem, method: Method, at_once: Match) -> SolverMatching:
    """Match on the current device: raises as the solvers say.

    Parameters
    ----------
    problem : Problem
        Sparse, or one matrix, or matrices of one shape; or points that make these.
    method : callable
        For one matrix.
    at_once : callable
        For several.
    """
    cp = cuda.cupy()
    form = problem
    if problem.kind == "points":
        form = as_sparse(problem.on_host()) if problem.has_unmatched_cost else dense_on_device(cp, problem)
    if form.kind == "sparse":
        return match_sparse(cp, form)
    return _match_matrix(cp, form, method) if form.n_blocks == 1 else match_batch(cp, form, at_once)


def _match_matrix(cp: Any, block: Problem, method: Method) -> SolverMatching:
    if min(block.shape) == 0:
        return nothing_matched(block)
    began = perf_counter()
    costs = DeviceCosts.of(cp, block)
    graph = costs.graph_of(block)
    state = reduced(costs)
    isolated = cp.flatnonzero(state.r >= costs.none)
    if len(isolated):
        raise violator_of(costs, int(isolated[0]), state)
    seconds = {"reduction_s": perf_counter() - began}

    def match(last: Last) -> tuple[DeviceSolution, dict[str, Any]]:
        unmatched = state, cp.arange(block.n_rows, dtype=cp.int32)
        now, free = unmatched if last is None else state_after_release(graph, *last)
        infeasible_row, counts = method(costs, now, free)
        if infeasible_row >= 0:
            raise violator_of(costs, infeasible_row, now)
        matching = DeviceSolution(now.v, cp.maximum(now.col_of_row, FREE), now.row_of_col)
        settle_unassigned_columns(graph, matching, grow_trees)
        return matching, counts

    return until_proven(block, graph, match, seconds)
