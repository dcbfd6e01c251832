"""Our own best on one core: a start and a search chosen by two features that cost next to nothing.

Beyond the papers. What was measured (see `choose`): no algorithm wins everywhere. Push-relabel with prefetching wins
on every graph whose order says nothing about distance, and needs no transposed graph as long as simple labels do;
well-ordered meshes are mended by local searches in the time of reading them; on very uneven degrees a start from
scarce rows followed by Pothen–Fan does least.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .graph import BipartiteGraph, IntArray
from .hopcroft_karp import hopcroft_karp
from .local_search import local_search
from .pothen_fan import pothen_fan
from .push_relabel import push_relabel

Kind = Literal["uneven", "ordered", "general"]

_SAMPLE = 1000
_PATIENCE = 16.0
_LOCAL_LIMITS = 64, 1024, 16384


def choose(graph: BipartiteGraph) -> Kind:
    """What the graph looks like: the rule behind ``algorithm="auto"`` on the CPU.

    - ``"uneven"``: the row degrees' standard deviation exceeds their mean.
    - ``"ordered"``: neighbouring columns of a sampled row lie within 1/256 of all columns of each other (median).
    - ``"general"``: everything else.
    """
    degrees = np.diff(graph.indptr)
    if graph.n_edges == 0:
        return "general"
    if degrees.std() > degrees.mean():
        return "uneven"
    sample = np.arange(0, graph.n_rows, max(1, graph.n_rows // _SAMPLE))
    gaps = [np.diff(graph.indices[graph.indptr[i] : graph.indptr[i + 1]]) for i in sample]
    gaps = np.concatenate(gaps)
    return "ordered" if len(gaps) and np.median(gaps) <= graph.n_columns / 256 else "general"


def best(graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray) -> dict[str, Any]:
    """Augment a matching in place to a maximum one; returns the statistics of the run."""
    kind = choose(graph)
    stats: dict[str, Any] = {"kind": kind}
    if kind == "uneven":
        stats["pothen-fan"] = pothen_fan(
            graph, col_of_row, row_of_col, max_visits=4.0 * (graph.n_rows + graph.n_columns)
        )
        if stats["pothen-fan"]["complete"]:
            return stats
    elif kind == "ordered":
        n_free = int(np.count_nonzero(col_of_row < 0))
        for limit in _LOCAL_LIMITS:
            if n_free * limit > 4 * graph.n_rows:
                break
            n_free = local_search(graph, col_of_row, row_of_col, limit)
        stats["free_after_local_search"] = n_free
        if n_free <= 16:
            stats["hopcroft-karp"] = hopcroft_karp(graph, col_of_row, row_of_col)
            return stats
    stats["push-relabel"] = push_relabel(graph, col_of_row, row_of_col, first_relabel=False, patience=_PATIENCE)
    return stats
