"""Forests of search trees on the GPU: the phases of `auto`, and the alternating search behind covers.

One cooperative launch runs phase after phase (`cardinality/search.cu`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..device import cuda
from .gpu_graph import DeviceGraph, DeviceMatching
from .gpu_initial import LONG_ROW
from .gpu_persistent import MOST_LEVELS, launch, phases_of

_MOST_PHASES = 64  # of one launch
_HEAVY_CHUNK = cuda.declared("cardinality/search.cu", "CHUNK")


def search(
    graph: DeviceGraph, matching: DeviceMatching, *, slow_share: float = np.inf
) -> tuple[bool, list[dict[str, Any]]]:
    """Run phases of disjoint search trees until none finds a path, or one pays too little.

    Returns
    -------
    is_maximum : bool
        The last phase proved that there is no augmenting path.
    phases : list of dict
        Free rows, paths, BFS levels, rows visited and times of each phase; ``frontiers``, the rows of each level (a
        row of more than 512 columns counts once per 512), of the first 16,384 levels of a launch.
    """
    is_maximum = matching.n_free == 0
    phases: list[dict[str, Any]] = []
    while not is_maximum:
        more, is_maximum, _ = _forest(graph, matching, slow_share, augments=True)
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
        _, _, claim = _forest(graph, matching, np.inf, augments=False)
    else:
        claim = cp.zeros(graph.n_columns, cp.uint64)
    kernel = graph.kernels("cardinality/search.cu", cooperative=True)["cardinality_search_cover"]
    sizes = np.int32(graph.n_rows), np.int32(graph.n_columns)
    launch(kernel, *sizes, matching.col_of_row, claim, row_in_cover, column_in_cover)
    return row_in_cover, column_in_cover


def _forest(
    graph: DeviceGraph, matching: DeviceMatching, slow_share: float, *, augments: bool
) -> tuple[list[dict[str, Any]], bool, Any]:
    cp = cuda.cupy()
    has_heavy = graph.largest_degree > LONG_ROW
    claim, touched = cp.empty(graph.n_columns, cp.uint64), cp.empty(graph.n_columns, cp.int32)
    tree, parent = cp.empty((graph.n_rows, 2), cp.int32), cp.empty((graph.n_columns, 2), cp.int32)
    sink, next_free = cp.empty(graph.n_rows, cp.int32), cp.empty(graph.n_rows, cp.int32)
    item = 4 if graph.indptr.dtype == np.int32 else 6  # words of an Item in cardinality/search.cu
    queue = cp.empty((2 * graph.n_rows, item), cp.int32)
    most_heavy = 2 * graph.n_edges // _HEAVY_CHUNK + 1 if has_heavy else 1
    heavy = cp.empty((2 * most_heavy, item), cp.int32)
    counts = cp.zeros(13, cp.int32)
    statistics_end = 4 + 6 * _MOST_PHASES
    report = cp.empty(statistics_end + MOST_LEVELS, cp.int32)
    kernel = graph.kernels("cardinality/search.cu", cooperative=True)["cardinality_search"]
    launch(
        kernel,
        *(graph.indptr, graph.indices, np.int32(graph.n_rows), np.int32(graph.n_columns)),
        *(matching.col_of_row, matching.row_of_col, claim, tree, parent, sink, queue, heavy, np.int32(most_heavy)),
        *(touched, matching.free_rows, next_free, np.int32(matching.n_free), np.float32(slow_share)),
        *(np.int32(_MOST_PHASES), np.int32(augments), counts, report[4:], report[statistics_end:], report),
    )
    numbers = cuda.to_host(report)
    n_phases, n_free, finished, swapped = map(int, numbers[:4])
    names = ("free_rows", "paths", "levels", "rows_visited", "nanoseconds_growing", "nanoseconds_augmenting")
    phases = phases_of(names, numbers[4:statistics_end], n_phases, numbers[statistics_end:])
    if augments:
        matching.n_free = n_free
        if swapped:
            matching.free_rows = next_free
    return phases, bool(finished), claim
