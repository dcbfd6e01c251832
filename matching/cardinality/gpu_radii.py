"""The matchings of a curve over radii, for pairs that lie on the GPU."""

from __future__ import annotations

from typing import Any

from .gpu_best import best_gpu
from .gpu_graph import DeviceGraph
from .gpu_initial import cheap, given


def match_more(within: tuple[Any, Any, tuple[int, int]], col_of_row: Any) -> Any:
    """Match as many rows as possible on the current device; as `radii.Match` says."""
    graph = DeviceGraph.from_any(within)
    matching = cheap(graph) if col_of_row is None else given(graph, col_of_row)
    if graph.n_edges:
        best_gpu(graph, matching)
    return matching.col_of_row
