"""`auto` on the GPU: disjoint search trees while they pay, then push-relabel in steps; the same matching on every run.

After a greedy start, forests of search trees finish ordered planar, random geometric, k-out and R-MAT graphs in a few
phases. Where free rows and free columns lie scattered (the particle gate), each phase soon finds little less than the
one before: some 40 phases of 100 levels. There push-relabel with exact labels needs some fifteen rounds.

Both settle every contest by vertex numbers, never by who comes first (`cardinality_search.cu`, `cardinality_push.cu`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import cuda
from .graph_gpu import THREADS, DeviceGraph, DeviceMatching, blocks
from .initial_gpu import LONG_ROW

_PERSISTENT_THREADS = 1024
_MOST_PHASES = 64  # of one launch
_HEAVY_CHUNK = 512  # as in cardinality_search.cu


@dataclass(frozen=True)
class Tuning:
    """What decides between the two methods, and how long a round of pushes may be.

    Attributes
    ----------
    slow_share : float
        A phase that finds more than this share of the paths of the phase before (their number falls slowly, and each
        phase is as long as the last) is the last before push-relabel takes over. Not on graphs with long rows, which
        a relabelling would read over and over.
    steps_scale, steps_base : float, int
        A round that relabelled over k levels does at most ``steps_scale · k + steps_base`` steps.
    """

    slow_share: float = 0.25
    steps_scale: float = 1.0
    steps_base: int = 20


def best_gpu(graph: DeviceGraph, matching: DeviceMatching, *, tuning: Tuning = Tuning()) -> dict[str, Any]:
    """Augment in place to a maximum matching.

    Returns
    -------
    dict
        ``search`` (a list of phases, see `search`) and, if it was needed, ``push_relabel`` (a list of rounds, see
        `push_relabel`).
    """
    stats: dict[str, Any] = {}
    slow_share = np.inf if graph.largest_degree > LONG_ROW else tuning.slow_share
    is_maximum, stats["search"] = search(graph, matching, slow_share=slow_share)
    if not is_maximum:
        stats["push_relabel"] = push_relabel(graph, matching, tuning)
        if matching.n_free:
            _, stats["last_search"] = search(graph, matching)
    return stats


def search(
    graph: DeviceGraph, matching: DeviceMatching, *, slow_share: float = np.inf
) -> tuple[bool, list[dict[str, int]]]:
    """Run phases of disjoint search trees until none finds a path, or one pays too little.

    Returns
    -------
    is_maximum : bool
        The last phase proved that there is no augmenting path.
    phases : list of dict
        Free rows, paths, BFS levels, rows visited and times of each phase.
    """
    is_maximum = matching.n_free == 0
    phases: list[dict[str, int]] = []
    while not is_maximum:
        more, is_maximum, _ = _forest(graph, matching, slow_share, flip_paths=True)
        phases += more
        if slow_share < np.inf:
            break
    return is_maximum, phases


def cover(graph: DeviceGraph, matching: DeviceMatching) -> tuple[Any, Any]:
    """Return König's minimum vertex cover of a maximum matching, as boolean device arrays (rows, columns).

    The rows that no free row reaches and the columns that one does; vertices without an edge stay out.
    """
    cp = cuda.cupy()
    row_in_cover = cp.empty(graph.n_rows, cp.bool_)
    column_in_cover = cp.empty(graph.n_columns, cp.bool_)
    if matching.n_free:
        _, _, claim = _forest(graph, matching, np.inf, flip_paths=False)
    else:
        claim = cp.zeros(graph.n_columns, cp.uint64)
    kernel = graph.kernels("cardinality_search.cu", cooperative=True)["cardinality_search_cover"]
    kernel(
        (_persistent_blocks(kernel),),
        (_PERSISTENT_THREADS,),
        (
            np.int32(graph.n_rows),
            np.int32(graph.n_columns),
            matching.col_of_row,
            claim,
            row_in_cover,
            column_in_cover,
        ),
    )
    return row_in_cover, column_in_cover


def _forest(
    graph: DeviceGraph, matching: DeviceMatching, slow_share: float, *, flip_paths: bool
) -> tuple[list[dict[str, int]], bool, Any]:
    cp = cuda.cupy()
    has_heavy = graph.largest_degree > LONG_ROW
    claim = cp.empty(graph.n_columns, cp.uint64)
    tree = cp.empty((graph.n_rows, 2), cp.int32)
    parent = cp.empty((graph.n_columns, 2), cp.int32)
    end = cp.empty(graph.n_rows, cp.int32)
    touched = cp.empty(graph.n_columns, cp.int32)
    item = 4 if graph.indptr.dtype == np.int32 else 6  # words of an Item in cardinality_search.cu
    queue = cp.empty((2 * graph.n_rows, item), cp.int32)
    most_heavy = 2 * graph.n_edges // _HEAVY_CHUNK + 1 if has_heavy else 1
    heavy = cp.empty((2 * most_heavy, item), cp.int32)
    next_free = cp.empty(graph.n_rows, cp.int32)
    counts = cp.zeros(13, cp.int32)
    report = cp.empty(6 * _MOST_PHASES + 4, cp.int32)
    kernel = graph.kernels("cardinality_search.cu", cooperative=True)["cardinality_search"]
    kernel(
        (_persistent_blocks(kernel),),
        (_PERSISTENT_THREADS,),
        (
            graph.indptr,
            graph.indices,
            np.int32(graph.n_rows),
            np.int32(graph.n_columns),
            matching.col_of_row,
            matching.row_of_col,
            claim,
            tree,
            parent,
            end,
            queue,
            heavy,
            np.int32(most_heavy),
            touched,
            matching.free_rows,
            next_free,
            np.int32(matching.n_free),
            np.float32(slow_share),
            np.int32(_MOST_PHASES),
            np.int32(flip_paths),
            counts,
            report[4:],
            report,
        ),
    )
    (n_phases, n_free, finished, swapped), table = _report(report, 4, width=6)
    names = ("free_rows", "paths", "levels", "rows_visited", "nanoseconds_growing", "nanoseconds_flipping")
    phases: list[dict[str, int]] = [dict(zip(names, map(int, row), strict=True)) for row in table[:n_phases]]
    if flip_paths:
        matching.n_free = int(n_free)
        if swapped:
            matching.free_rows = next_free
    return phases, bool(finished), claim


def push_relabel(graph: DeviceGraph, matching: DeviceMatching, tuning: Tuning = Tuning()) -> list[dict[str, int]]:
    """Relabel exactly and push, in turn, until no free row can be matched; rows that cannot are dropped.

    Returns
    -------
    rounds : list of dict
        Free rows, those reached, BFS levels, columns visited, steps, bids and times of each round.
    """
    cp = cuda.cupy()
    max_rounds = 1024
    other = graph.transposed
    state = _load_state(graph, matching)
    even_bids = cp.empty(graph.n_columns, cp.uint64)
    odd_bids = cp.empty(graph.n_columns, cp.uint64)
    seen = cp.empty((graph.n_rows, 2), cp.int32)
    walkers = cp.empty((max(matching.n_free, 1), 4), cp.int32)
    edges = 2 if graph.indptr.dtype == np.int32 else 4  # words of an Edges in cardinality_push.cu
    queue = cp.empty((graph.n_columns, edges), cp.int32)
    next_free = cp.empty(graph.n_rows, cp.int32)
    counts = cp.zeros(10, cp.int32)
    report = cp.empty(8 * max_rounds + 2, cp.int32)
    lanes = 8 if graph.n_edges <= 16 * graph.n_rows else 32
    kernel = graph.kernels("cardinality_push.cu", cooperative=True)[f"cardinality_push_solve_{lanes}"]
    kernel(
        (_persistent_blocks(kernel),),
        (_PERSISTENT_THREADS,),
        (
            graph.indptr,
            graph.indices,
            other.indptr,
            other.indices,
            np.int32(graph.n_columns),
            state,
            even_bids,
            odd_bids,
            seen,
            queue,
            walkers,
            matching.free_rows,
            next_free,
            np.int32(matching.n_free),
            np.float32(tuning.steps_scale),
            np.int32(tuning.steps_base),
            np.int32(max_rounds),
            counts,
            report[2:],
            report,
        ),
    )
    _store_state(graph, matching, state)
    (n_rounds, n_free), table = _report(report, 2, width=8)
    matching.n_free = int(n_free)
    if n_rounds % 2:
        matching.free_rows = next_free
    names = (
        "free_rows",
        "reached",
        "levels",
        "columns_visited",
        "steps",
        "bids",
        "nanoseconds_relabelling",
        "nanoseconds_pushing",
    )
    return [dict(zip(names, map(int, row), strict=True)) for row in table[:n_rounds]]


def _load_state(graph: DeviceGraph, matching: DeviceMatching) -> Any:
    cp = cuda.cupy()
    state = cp.empty(graph.n_columns, cp.uint64)
    kernel = graph.kernels("cardinality_push.cu")["cardinality_push_load"]
    kernel((blocks(graph.n_columns),), (THREADS,), (np.int32(graph.n_columns), matching.row_of_col, state))
    return state


def _store_state(graph: DeviceGraph, matching: DeviceMatching, state: Any) -> None:
    matching.col_of_row.fill(-1)
    kernel = graph.kernels("cardinality_push.cu")["cardinality_push_store"]
    kernel(
        (blocks(graph.n_columns),),
        (THREADS,),
        (np.int32(graph.n_columns), state, matching.row_of_col, matching.col_of_row),
    )


def _persistent_blocks(kernel: Any) -> int:
    return cuda.resident_blocks(kernel, _PERSISTENT_THREADS)


def _report(report: Any, n_results: int, width: int) -> tuple[Any, Any]:
    numbers = cuda.to_host(report)
    return numbers[:n_results], numbers[n_results:].reshape(-1, width)
