"""Both solvers on sparse costs on one GPU, whole in one launch: a forest where all must be matched, else trees.

A batch is one graph whose parts do not touch. Nothing is made dense.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from ..certificate.gpu_certificate import MatchedOnDevice
from ..certificate.hall import infeasible
from ..device import cuda
from ..paths.gpu_paths import grow_forest
from ..paths.gpu_settling import Last, released, settle_unassigned_columns, until_proven
from ..paths.gpu_trees import THREADS, blocks_of, grow_trees, kernel_of
from ..problem import Problem
from ..problem.gpu_graph import CostGraph, DeviceSolution, Spent, starting_duals

BYTES_OF_A_ROW, BYTES_OF_A_COLUMN = 76, 48
"""Of scratch space; twice where sides must be exchanged."""
_COUNTS = {
    "searches": "forests",
    "dual_updates": "forests",
    "levels": "forest_rounds",
    "rows_scanned": "rows_scanned",
}
"""What a forest counts, by what the solvers call it."""


def match_sparse(cp: Any, problem: Problem) -> MatchedOnDevice:
    """Match sparse costs whose rows are the shorter side, or all of which may be unassigned; refine what rounding left.

    Parameters
    ----------
    cp : module
        CuPy.
    problem : Problem
        Sparse, on the host or on the current device.

    Raises
    ------
    Infeasible
        With a Hall violator.
    DeviceMemoryExceeded
        Before memory is taken.
    """
    n, m = problem.shape
    scratch = 2 * (BYTES_OF_A_ROW * n + BYTES_OF_A_COLUMN * m) + 16 * len(problem.data)
    cuda.require_memory(scratch, f"the Hungarian method on {n} rows, {m} columns and {len(problem.data)} costs")
    graph = CostGraph.of(cp, problem)
    matching = DeviceSolution.start(graph, starting_duals(graph))
    began = perf_counter()
    _reduce(graph, matching)
    seconds = {"reduction_s": perf_counter() - began}

    def match(last: Last) -> tuple[DeviceSolution, dict[str, Any]]:
        free = cp.arange(n, dtype=np.int32) if last is None else released(graph, *last)
        counts: dict[str, Any] = {}
        infeasible_row = _match_rows(graph, matching, free, counts)
        if infeasible_row >= 0:
            matched = matching.col_of_row.get(), matching.row_of_col.get()
            raise infeasible(problem, infeasible_row, graph.indptr.get(), graph.indices.get(), None, *matched)
        settle_unassigned_columns(graph, matching, partial(grow_trees, stats=counts))
        return matching, counts

    return until_proven(problem, graph, match, seconds)


def _match_rows(graph: CostGraph, matching: DeviceSolution, free: Any, stats: dict[str, Any]) -> int:
    """Match the given rows, and count; return as `grow_trees` does."""
    if graph.is_bounded:
        return grow_trees(graph, matching, free, stats)
    forest = replace(matching, spent=Spent(), counts={})
    infeasible_row, _ = grow_forest(graph, forest, free)
    done = {"forests": 0, "forest_rounds": 0, "forest_ns": 0} | forest.statistics()
    stats |= {name: done[counted] for name, counted in _COUNTS.items()}
    stats["search_s"] = done["forest_ns"] / 1e9
    return infeasible_row


def _reduce(graph: CostGraph, matching: DeviceSolution) -> None:
    """Algorithm 1: rows first, then columns."""
    cp, n, m = graph.cp, graph.n_rows, graph.n_cols
    if n == 0 or m == 0:
        return
    least = cp.full(m, np.iinfo(np.int64).max, np.int64)
    rows = kernel_of(graph, "hungarian_sparse_reduce_rows")
    sizes = np.int32(n), np.int32(m)
    rows((blocks_of(graph, rows),), (THREADS,), (*sizes, *graph.edges(), graph.row_bound, matching.v, least))
    columns = kernel_of(graph, "hungarian_sparse_reduce_columns")
    columns((blocks_of(graph, columns),), (THREADS,), (np.int32(m), least, graph.col_bound, matching.v))
