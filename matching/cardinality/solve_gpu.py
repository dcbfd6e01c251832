"""Maximum-cardinality matching on the GPU: one entry for all its algorithms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import cuda
from . import best_gpu, initial_gpu
from .graph import BipartiteGraph
from .graph_gpu import DeviceGraph


def maximum_matching_gpu(
    graph: BipartiteGraph,
    algorithm: str = "auto",
    initial: Any = "auto",
    device: str = "cuda",
    options: Mapping[str, Any] | None = None,
) -> tuple[Any, Any, dict[str, Any]]:
    options = dict(options or {})
    with cuda.using(device):
        on_device = DeviceGraph.of(graph)
        matching = initial_gpu.cheap(on_device)
        stats = best_gpu.augment(on_device, matching, best_gpu.Tuning(**options))
        return matching.col_of_row, matching.row_of_col, stats
