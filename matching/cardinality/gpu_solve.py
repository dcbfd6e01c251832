"""Maximum-cardinality matching on the GPU: one entry for all its algorithms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..device import cuda
from ..device.arrays import count_true
from .choices import check_options, look_up
from .gpu_best import best_gpu
from .gpu_forest import cover
from .gpu_graph import DeviceGraph, DeviceMatching
from .gpu_initial import cheap, given
from .graph import BipartiteGraph

ALGORITHMS: dict[str, Callable[..., dict[str, Any]] | str] = {
    "auto": best_gpu,
    "apfb": ".papers.deveci_apfb_2013.gpu:apfb_gpu",
    "apsb": ".papers.deveci_apfb_2013.gpu:apsb_gpu",
    "g-pr": ".papers.deveci_gpr_2013.gpu:g_pr_gpu",
}
"""The searches that run on the GPU; each takes (graph, matching, **options) and works in place.

Those of the papers are places, loaded when asked for (`named`).
"""

INITIAL_MATCHINGS: dict[str, Callable[[DeviceGraph], DeviceMatching]] = {
    "none": lambda graph: given(graph, np.full(graph.n_rows, -1, np.int32)),
    "cheap": cheap,
}
"""The starts that run on the GPU."""


def maximum_matching_gpu(
    graph: BipartiteGraph | DeviceGraph,
    algorithm: str = "auto",
    initial: Any = "auto",
    device: str = "cuda",
    options: Mapping[str, Any] | None = None,
) -> tuple[Any, Any, dict[str, Any]]:
    """As `maximum.maximum_matching`, on the GPU, of a graph that has been checked; a given start is trusted.

    Returns
    -------
    col_of_row, row_of_col : ndarray of int32, shapes (n_rows,) and (n_columns,)
        CuPy arrays if the graph is a `DeviceGraph`, else NumPy arrays.
    stats : dict
        Counts and times of the algorithm, ``initial_size`` and ``seconds`` of copying, start and search, between
        events on the stream.
    """
    search = look_up(ALGORITHMS, algorithm, "algorithm", "GPU")
    options = dict(options or {})
    check_options(search, algorithm, options, "GPU")
    with cuda.using(device) as cp:
        began, copied, started, ended = (cp.cuda.Event() for _ in range(4))
        began.record()
        on_device = graph if isinstance(graph, DeviceGraph) else DeviceGraph.of(graph)
        copied.record()
        matching = _start(on_device, initial)
        initial_size = count_true(matching.row_of_col >= 0)
        started.record()
        stats = search(on_device, matching, **options) if on_device.n_edges else {}
        ended.record()
        ended.synchronize()
        parts = {"copy": (began, copied), "initial": (copied, started), "search": (started, ended)}
        seconds = {name: cp.cuda.get_elapsed_time(*events) / 1e3 for name, events in parts.items()}
        stats = {"initial_size": initial_size, **stats, "seconds": seconds}
        if isinstance(graph, DeviceGraph):
            return matching.col_of_row, matching.row_of_col, stats
        return cuda.to_host(matching.col_of_row), cuda.to_host(matching.row_of_col), stats


def minimum_cover_gpu(graph: BipartiteGraph | DeviceGraph, col_of_row: Any, device: str = "cuda") -> tuple[Any, Any]:
    """As `gpu_forest.cover`, of a matching that is not checked; the arrays lie where the graph does."""
    with cuda.using(device):
        on_device = graph if isinstance(graph, DeviceGraph) else DeviceGraph.of(graph)
        rows, columns = cover(on_device, given(on_device, col_of_row))
        if isinstance(graph, DeviceGraph):
            return rows, columns
        return cuda.to_host(rows), cuda.to_host(columns)


def _start(graph: DeviceGraph, initial: Any) -> DeviceMatching:
    if not isinstance(initial, str):
        return given(graph, initial)
    name = "cheap" if initial == "auto" else initial
    return look_up(INITIAL_MATCHINGS, name, "initial", "GPU")(graph)
