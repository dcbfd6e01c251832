"""The auction on one GPU: which of its parts a problem goes through."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import cuda
from ..assignment import Assignment
from ..hall import infeasible
from ..problem import Problem
from .gpu_dense import solve_dense
from .gpu_graph import DeviceGraph, Prices, certified
from .gpu_scaling import solve_graph

if TYPE_CHECKING:
    from .solver import Auction


def solve_gpu(problem: Problem, options: Auction, device: str) -> Assignment:
    """Solve on a device."""
    with cuda.using(device) as cp:
        began = perf_counter()
        name = f"cuda:{cp.cuda.Device().id}"
        graph = DeviceGraph.of(cp, problem)
        prices, stuck = solve_dense(graph) if graph.is_dense else solve_graph(graph)
        if stuck >= 0:
            raise _infeasible(problem, stuck, prices)
        stats: dict[str, Any] = {**prices.counts, "solve_s": perf_counter() - began}
        answer = certified(graph, problem, prices, solver=options.name, device=name, stats=stats)
        return on_host(answer)


def on_host(answer: Assignment) -> Assignment:
    """Copy an answer's arrays to the host."""
    from dataclasses import replace

    names = ("col_of_row", "row_of_col", "row_duals", "col_duals")
    return replace(answer, **{name: cuda.to_host(getattr(answer, name)) for name in names})


def _infeasible(problem: Problem, row: int, prices: Prices) -> Exception:
    n, m = problem.shape
    if problem.kind == "dense":
        allowed = problem.data < np.inf if problem.forbidden is None else ~problem.forbidden & (problem.data < np.inf)
        indptr, indices = np.arange(n + 1) * m, None
    else:
        allowed, indptr, indices = None, problem.indptr, problem.indices
    return infeasible(problem, row, indptr, indices, allowed, prices.col_of_row.get(), prices.row_of_col.get())
