"""Both variants on sparse costs on one GPU, whole in one launch (`kernels/hungarian_sparse.cu`).

A batch is one graph whose parts do not touch. Nothing is made dense.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from .. import cuda
from ..assignment import Assignment
from ..auction.gpu_graph import DeviceGraph, Prices, certified, certify
from ..auction.gpu_scaling import starting_prices
from ..errors import Infeasible
from ..hall import infeasible
from ..problem import Problem

THREADS = 512
BYTES_OF_A_ROW, BYTES_OF_A_COLUMN = 76, 48
"""Of scratch space; twice where sides must be exchanged."""
REFINEMENTS = 8
"""Most times that links which rounding left loose are released and matched again."""
LOOSE = 16 * float(np.finfo(np.float64).eps)
"""Slack of a link, in units of its largest term, from which it is matched again; up to 64 ulp prove the optimum."""
SEARCHES_COUNTED = 64

_NO_END = 2**31 - 1
_WORDS = np.dtype(
    [
        ("queued", np.int32, 3),
        ("changed", np.int32, 3),
        ("n_reached", np.int32),
        ("n_kept", np.int32),
        ("stuck", np.int32),
        ("barrier", np.uint32),
        ("searches", np.int32),
        ("levels", np.int32),
        ("sweeps", np.int32),
        ("limited", np.int32),
        ("rows_scanned", np.int64),
        ("grow_ns", np.int64),
        ("settle_ns", np.int64),
        ("augment_ns", np.int64),
        ("beyond", np.int64),
        ("longest", np.int64),
        ("n_free", np.int32),
        ("paths_of_search", np.int32, SEARCHES_COUNTED),
    ],
    align=True,
)


def solve_sparse(cp: Any, problem: Problem, name: str, where: str, start: Any = None) -> Assignment:
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
    start : ndarray (columns,), optional
        Column duals to begin with, of `problem.dual_dtype` and within their bounds, on the host or on the device.

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
        prices = Prices.start(graph, starting_prices(graph) if start is None else cp.array(start))
        _match(graph, prices, problem, zeros_first=zeros_first, stats=stats)
    else:
        prices = _matched_from_columns(graph, start, problem, zeros_first=zeros_first, stats=stats)
    return certified(graph, problem, prices, solver=name, device=where, stats=stats)


def best_row_duals(graph: DeviceGraph, v: Any) -> Any:
    """Return the largest row duals that are feasible beside column duals `v`, as `costs.best_row_duals`."""
    return certify(graph, Prices.start(graph, v), v)[0]


def _matched_from_columns(graph: DeviceGraph, start: Any, problem: Problem, **how: Any) -> Prices:
    """Match the graph with its sides exchanged."""
    turned = graph.transposed()
    begin = starting_prices(turned) if start is None else best_row_duals(graph, graph.cp.array(start))
    exchanged = Prices.start(turned, begin)
    swapped = replace(problem, row_offsets=problem.col_offsets, col_offsets=problem.row_offsets)
    try:
        _match(turned, exchanged, swapped, **how)
    except Infeasible as error:
        raise Infeasible(str(error), rows=error.columns, columns=error.rows, side="columns") from None
    return _exchanged(turned, exchanged)


def _exchanged(graph: DeviceGraph, prices: Prices) -> Prices:
    """Return the state seen from the columns: the best row duals are the prices there."""
    row_duals, _, _ = certify(graph, prices, prices.v)
    return Prices(row_duals, prices.row_of_col, prices.col_of_row, {})


def _match(graph: DeviceGraph, prices: Prices, problem: Problem, *, zeros_first: bool, stats: dict[str, Any]) -> None:
    """Match a graph whose rows are its shorter side, or where all may stay alone; what rounding left loose, again."""
    began = perf_counter()
    _reduce(graph, prices)
    stats["reduction_s"] = perf_counter() - began
    free = graph.cp.arange(graph.n_rows, dtype=np.int32)
    while True:
        stuck = grow_trees(graph, prices, free, zeros_first=zeros_first, stats=stats)
        if stuck >= 0:
            matched = prices.col_of_row.get(), prices.row_of_col.get()
            raise infeasible(problem, stuck, graph.indptr.get(), graph.indices.get(), None, *matched)
        settle_lone_columns(graph, prices, zeros_first=zeros_first, stats=stats)
        row_duals, _, loose = certify(graph, prices, prices.v)
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
    rows = _kernel(graph, "hungarian_sparse_reduce_rows")
    sizes = np.int32(n), np.int32(m)
    rows((_blocks(graph, rows),), (THREADS,), (*sizes, *graph.edges(), graph.row_bound, prices.v, least))
    columns = _kernel(graph, "hungarian_sparse_reduce_columns")
    columns((_blocks(graph, columns),), (THREADS,), (np.int32(m), least, graph.col_bound, prices.v))


def _kernel(graph: DeviceGraph, name: str) -> Any:
    return graph.kernel("hungarian_sparse.cu", name, lanes=True, cooperative=True)


def _blocks(graph: DeviceGraph, kernel: Any) -> int:
    """Return a block for each multiprocessor, fewer where there is less to do: barriers of few are faster."""
    work = -(-max(graph.n_rows * graph.lanes, graph.n_cols) // THREADS)
    multiprocessors = graph.cp.cuda.Device().attributes["MultiProcessorCount"]
    return max(1, min(work, multiprocessors, cuda.resident_blocks(kernel, THREADS)))


def grow_trees(graph: DeviceGraph, prices: Prices, free: Any, *, zeros_first: bool, stats: dict[str, Any]) -> int:
    """Match the given free rows, and others again where they are in the way.

    Parameters
    ----------
    graph : DeviceGraph
        Sparse.
    prices : Prices
        Updated; links tight, all other unmatched rows at their bound.
    free : cupy.ndarray of int32 (k,)
    zeros_first : bool
    stats : dict
        Counts, seconds and paths of the first searches are added.

    Returns
    -------
    int
        -1, or a row that must be matched and cannot be.
    """
    cp, n, m = graph.cp, graph.n_rows, graph.n_cols
    if len(free) == 0:
        return -1
    dtype, none = graph.price_dtype, graph.none
    words = np.zeros(1, _WORDS)
    words["stuck"] = _NO_END
    on_device = cp.asarray(words.view(np.uint8))
    sources = cp.empty(n, np.int32)
    sources[: len(free)] = free
    columns = (
        *(cp.full(m, none, dtype), cp.full(m, np.iinfo(np.uint64).max, np.uint64), cp.full(m, -1, np.int32)),
        *(cp.full(m, none, dtype), cp.empty(m, np.int32), cp.empty(m, np.int32)),
    )
    rows = (*(cp.empty(n, dtype) for _ in range(3)), cp.empty(n, np.int32), cp.empty(n, np.int32))
    kernel = _kernel(graph, "hungarian_sparse")
    kernel(
        (_blocks(graph, kernel),),
        (THREADS,),
        (
            *(np.int32(n), np.int32(m), *graph.edges(), graph.row_bound),
            *(prices.v, prices.col_of_row, prices.row_of_col, *columns, *rows, cp.empty(2 * n, np.int32), on_device),
            *(sources, np.int32(len(free)), cp.empty(n, np.int32), cp.empty(2 * n, np.int32), cp.empty(2 * n, dtype)),
            *(np.int32(zeros_first), np.int32(graph.is_bounded), dtype.type(_first_step(graph))),
        ),
    )
    done = on_device.get().view(_WORDS)[0]
    _add(stats, done)
    return -1 if done["stuck"] == _NO_END else int(done["stuck"])


def _first_step(graph: DeviceGraph) -> Any:
    """Return how far the first step of a search goes where no side has a bound; later ones follow the rows it adds."""
    if graph.is_bounded or len(graph.cost) == 0:
        return 0
    costs = graph.cost if graph.forbidden is None else graph.cost[~graph.forbidden]
    least, most = float(costs.min()), float(costs[costs < graph.none].max())
    step = (most - least) / (len(graph.cost) // graph.n_rows + 1)
    return max(int(step), 1) if graph.is_integer else step


def _add(stats: dict[str, Any], done: np.void) -> None:
    """Add what one launch counted; a dual update is a search that was not limited to the pairs of zero slack."""
    more = {name: int(done[name]) for name in ("searches", "rows_scanned", "levels", "sweeps")}
    more["dual_updates"] = int(done["searches"] - done["limited"])
    more |= {f"{step}_s": done[f"{clock}_ns"] / 1e9 for step, clock in _CLOCKS.items()}
    more["paths_of_search"] = done["paths_of_search"]
    for name, number in more.items():
        stats[name] = stats.get(name, 0) + number


_CLOCKS = {"grow": "grow", "dual_update": "settle", "augment": "augment"}


def settle_lone_columns(
    graph: DeviceGraph, prices: Prices, *, zeros_first: bool = False, stats: dict[str, Any] | None = None
) -> int:
    """Match the lone columns below their bound, or raise them to it, with the sides exchanged (see `handover`).

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
    """Leave the rows alone whose links rounding left loose, as `cpu._refine` does; return all that are not settled."""
    cp, v = graph.cp, prices.v
    row_of_edge = graph.row_of_edge()
    links = cp.flatnonzero(graph.indices == prices.col_of_row[row_of_edge])
    rows, cols, cost = row_of_edge[links], graph.indices[links], graph.cost[links].astype(graph.price_dtype)
    largest = cp.maximum(cp.maximum(abs(cost), abs(v[cols])), abs(row_duals[rows]))
    prices.unmatch(rows[cost - v[cols] - row_duals[rows] > LOOSE * largest])
    return cp.flatnonzero((prices.col_of_row < 0) & (row_duals < graph.row_bound)).astype(np.int32)
