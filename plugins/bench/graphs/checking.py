"""How maximum matchings are checked, and a graph that nobody has looked at."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ....matching.cardinality import BipartiteGraph, verify_matching
from ....matching.cardinality.gpu_graph import DeviceGraph
from ....matching.cardinality.matching import Matching
from ....matching.device import cuda
from ..measure.harness import Facts

Graph = BipartiteGraph | DeviceGraph


def unseen(graph: Graph) -> Graph:
    """Return the same graph without what earlier calls derived from it."""
    return type(graph)(graph.indptr, graph.indices, graph.n_rows, graph.n_columns)


def checked(graph: BipartiteGraph, matching: Matching) -> Facts:
    """Return sizes, times and counts of a matching whose cover was recomputed and proves it maximum."""
    partners = cuda.to_host(matching.col_of_row), cuda.to_host(matching.row_of_col)
    maximum = verify_matching(graph, replace(matching, graph=graph, col_of_row=partners[0], row_of_col=partners[1]))
    seconds = matching.stats["seconds"]
    facts: dict[str, Any] = {
        "rows": graph.n_rows,
        "columns": graph.n_columns,
        "edges": graph.n_edges,
        "initial_size": matching.stats.get("initial_size"),
        "maximum": maximum,
        "start_s": seconds["initial"],
        "search_s": seconds["search"],
        "whole_s": seconds["initial"] + seconds["search"],
    }
    if isinstance(matching.stats.get("levels"), list):
        facts["levels"] = list(map(int, matching.stats["levels"]))
    return facts
