"""Both variants on sparse costs on one GPU, whole in one launch (`paths/trees.cu`).

A batch is one graph whose parts do not touch. Nothing is made dense.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from ..certificate.assignment import Assignment
from ..certificate.gpu_certificate import certified, certify
from ..certificate.hall import infeasible
from ..device import cuda
from ..errors import Infeasible
from ..paths.gpu_dense import LOOSE, REFINEMENTS
from ..paths.gpu_trees import THREADS, blocks_of, grow_trees, kernel_of
from ..problem import Problem
from ..problem.gpu_graph import DeviceGraph, Prices, starting_prices

BYTES_OF_A_ROW, BYTES_OF_A_COLUMN = 76, 48
"""Of scratch space; twice where sides must be exchanged."""


def solve_sparse(cp: Any, problem: Problem, name: str, where: str) -> Assignment:
    """Solve a sparse problem whose blocks, without an `unmatched_cost`, are all wide or square, or all tall or square.

    Parameters
    ----------
    cp : module
        CuPy.
    problem : Problem
        Sparse, on the host or on the current device.
    name : str
        "hungarian-classical" looks for paths among the pairs of zero slack before the duals change, "hungarian-tree"
        for the shortest paths at once.
    where : str
        The device, for the result.

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
    graph = DeviceGraph.of(cp, problem)
    stats: dict[str, Any] = {"refinements": 0}
    zeros_first = name == "hungarian-classical"
    if problem.has_unmatched_cost or n <= m:
        prices = Prices.start(graph, starting_prices(graph))
        _match(graph, prices, problem, zeros_first=zeros_first, stats=stats)
    else:
        prices = _matched_from_columns(graph, problem, zeros_first=zeros_first, stats=stats)
    return certified(graph, problem, prices, solver=name, device=where, stats=stats)


def _matched_from_columns(graph: DeviceGraph, problem: Problem, **how: Any) -> Prices:
    """Match the graph with its sides exchanged."""
    turned = graph.transposed()
    exchanged = Prices.start(turned, starting_prices(turned))
    swapped = replace(problem, row_offsets=problem.col_offsets, col_offsets=problem.row_offsets)
    try:
        _match(turned, exchanged, swapped, **how)
    except Infeasible as error:
        raise error.of_columns() from None
    return _exchanged(turned, exchanged)


def _exchanged(graph: DeviceGraph, prices: Prices) -> Prices:
    """Return the state seen from the columns: the best row duals are the prices there."""
    row_duals = certify(graph, prices, prices.v).row_duals
    return Prices(row_duals, prices.row_of_col, prices.col_of_row, {})


def _match(graph: DeviceGraph, prices: Prices, problem: Problem, *, zeros_first: bool, stats: dict[str, Any]) -> None:
    """Match a graph whose rows are its shorter side, or or all may be unassigned; what rounding left slack, again."""
    began = perf_counter()
    _reduce(graph, prices)
    stats["reduction_s"] = perf_counter() - began
    free = graph.cp.arange(graph.n_rows, dtype=np.int32)
    while True:
        infeasible_row = grow_trees(graph, prices, free, zeros_first=zeros_first, stats=stats)
        if infeasible_row >= 0:
            matched = prices.col_of_row.get(), prices.row_of_col.get()
            raise infeasible(problem, infeasible_row, graph.indptr.get(), graph.indices.get(), None, *matched)
        settle_unassigned_columns(graph, prices, zeros_first=zeros_first, stats=stats)
        row_duals, _, loose, _ = certify(graph, prices, prices.v)
        if graph.is_integer or not int(loose[0]) or stats["refinements"] == REFINEMENTS:
            return
        free = _released(graph, prices, row_duals)
        stats["refinements"] += 1


def _reduce(graph: DeviceGraph, prices: Prices) -> None:
    """Algorithm 1: rows first, then columns."""
    cp, n, m = graph.cp, graph.n_rows, graph.n_cols
    if n == 0 or m == 0:
        return
    least = cp.full(m, np.iinfo(np.int64).max, np.int64)
    rows = kernel_of(graph, "hungarian_sparse_reduce_rows")
    sizes = np.int32(n), np.int32(m)
    rows((blocks_of(graph, rows),), (THREADS,), (*sizes, *graph.edges(), graph.row_bound, prices.v, least))
    columns = kernel_of(graph, "hungarian_sparse_reduce_columns")
    columns((blocks_of(graph, columns),), (THREADS,), (np.int32(m), least, graph.col_bound, prices.v))


def settle_unassigned_columns(
    graph: DeviceGraph, prices: Prices, *, zeros_first: bool = False, stats: dict[str, Any] | None = None
) -> int:
    """Match the unassigned columns below their bound, or raise them to it, with the sides exchanged (see
    `unassigned_columns`).

    Takes dense graphs, too. Returns how many there were.
    """
    below = (prices.row_of_col < 0) & (prices.v < graph.col_bound) & (graph.col_bound < graph.none)
    columns = graph.cp.flatnonzero(below).astype(np.int32)
    if len(columns) == 0:
        return 0
    turned, exchanged = graph.transposed(), _exchanged(graph, prices)
    grow_trees(turned, exchanged, columns, zeros_first=zeros_first, stats={} if stats is None else stats)
    prices.v = _exchanged(turned, exchanged).v
    return len(columns)


def _released(graph: DeviceGraph, prices: Prices, row_duals: Any) -> Any:
    """Unassign the rows whose links rounding left slack, as `cpu._refine` does; return all that are not settled."""
    cp, v = graph.cp, prices.v
    row_of_edge = graph.row_of_edge()
    links = cp.flatnonzero(graph.indices == prices.col_of_row[row_of_edge])
    rows, cols, cost = row_of_edge[links], graph.indices[links], graph.cost[links].astype(graph.price_dtype)
    largest = cp.maximum(cp.maximum(abs(cost), abs(v[cols])), abs(row_duals[rows]))
    prices.unmatch(rows[cost - v[cols] - row_duals[rows] > LOOSE * largest])
    return cp.flatnonzero((prices.col_of_row < 0) & (row_duals < graph.row_bound)).astype(np.int32)
