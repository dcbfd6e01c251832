"""Push-relabel in rounds on the GPU, all in one cooperative launch (`cardinality/push.cu`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..device import cuda
from .gpu_graph import THREADS, DeviceGraph, DeviceMatching, blocks
from .gpu_persistent import MOST_LEVELS, launch, phases_of

_MOST_ROUNDS = 1024


def push_relabel(
    graph: DeviceGraph, matching: DeviceMatching, steps_scale: float, steps_base: int
) -> list[dict[str, Any]]:
    """Relabel exactly and push, in turn, until no free row can be matched; rows that cannot are dropped.

    A round that relabelled over k levels does at most ``steps_scale · k + steps_base`` steps.

    Returns
    -------
    rounds : list of dict
        Free rows, those reached, BFS levels, columns visited, steps, bids and times of each round; ``frontiers``, the
        columns of each level, of the first 16,384 levels.
    """
    cp = cuda.cupy()
    other = graph.transposed
    state = _load_state(graph, matching)
    even_bids, odd_bids = cp.empty(graph.n_columns, cp.uint64), cp.empty(graph.n_columns, cp.uint64)
    seen = cp.empty((graph.n_rows, 2), cp.int32)
    walkers = cp.empty((max(matching.n_free, 1), 4), cp.int32)
    edges = 2 if graph.indptr.dtype == np.int32 else 4  # words of an Edges in cardinality/push.cu
    queue = cp.empty((graph.n_columns, edges), cp.int32)
    next_free = cp.empty(graph.n_rows, cp.int32)
    counts = cp.zeros(12, cp.int32)
    statistics_end = 2 + 8 * _MOST_ROUNDS
    report = cp.empty(statistics_end + MOST_LEVELS, cp.int32)
    lanes = () if graph.n_edges <= 16 * graph.n_rows else ("-DLANES=32",)
    kernel = graph.kernels("cardinality/push.cu", *lanes, cooperative=True)["cardinality_push_solve"]
    launch(
        kernel,
        *(graph.indptr, graph.indices, other.indptr, other.indices, np.int32(graph.n_columns)),
        *(state, even_bids, odd_bids, seen, queue, walkers, matching.free_rows, next_free, np.int32(matching.n_free)),
        *(np.float32(steps_scale), np.int32(steps_base), np.int32(_MOST_ROUNDS)),
        *(counts, report[2:], report[statistics_end:], report),
    )
    _store_state(graph, matching, state)
    numbers = cuda.to_host(report)
    n_rounds, matching.n_free = map(int, numbers[:2])
    if n_rounds % 2:
        matching.free_rows = next_free
    names = "free_rows", "reached", "levels", "columns_visited", "steps", "bids"
    times = "nanoseconds_relabelling", "nanoseconds_pushing"
    return phases_of((*names, *times), numbers[2:statistics_end], n_rounds, numbers[statistics_end:])


def _load_state(graph: DeviceGraph, matching: DeviceMatching) -> Any:
    cp = cuda.cupy()
    state = cp.empty(graph.n_columns, cp.uint64)
    kernel = graph.kernels("cardinality/push.cu")["cardinality_push_load"]
    kernel((blocks(graph.n_columns),), (THREADS,), (np.int32(graph.n_columns), matching.row_of_col, state))
    return state


def _store_state(graph: DeviceGraph, matching: DeviceMatching, state: Any) -> None:
    matching.col_of_row.fill(-1)
    kernel = graph.kernels("cardinality/push.cu")["cardinality_push_store"]
    kernel(
        (blocks(graph.n_columns),),
        (THREADS,),
        (np.int32(graph.n_columns), state, matching.row_of_col, matching.col_of_row),
    )
