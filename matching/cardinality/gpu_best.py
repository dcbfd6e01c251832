"""`auto` on the GPU: disjoint search trees while they pay, then push-relabel in steps; the same matching on every run.

After a greedy start, forests of search trees finish ordered planar, random geometric, k-out and R-MAT graphs in a few
phases. Where free rows and free columns lie scattered (the particle gate), each phase soon finds little less than the
one before: some 40 phases of 100 levels. There push-relabel with exact labels needs some fifteen rounds.

Both settle every contest by vertex numbers, never by order of arrival (`cardinality/search.cu`, `cardinality/push.cu`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .gpu_forest import search
from .gpu_graph import DeviceGraph, DeviceMatching
from .gpu_initial import LONG_ROW
from .gpu_rounds import push_relabel


def best_gpu(
    graph: DeviceGraph,
    matching: DeviceMatching,
    *,
    slow_share: float = 0.25,
    steps_scale: float = 1.0,
    steps_base: int = 20,
) -> dict[str, Any]:
    """Augment in place to a maximum matching.

    Parameters
    ----------
    slow_share : float
        A phase that finds more than this share of the paths of the phase before (their number falls slowly, and each
        phase is as long as the last) is the last before push-relabel takes over. Not on graphs with long rows, which
        a relabelling would read over and over.
    steps_scale, steps_base : float, int
        How long a round of pushes may be, as of `gpu_rounds.push_relabel`.

    Returns
    -------
    dict
        ``search`` (a list of phases, see `gpu_forest.search`) and, if it was needed, ``push_relabel`` (a list of
        rounds, see `gpu_rounds.push_relabel`).
    """
    stats: dict[str, Any] = {}
    slow_share = np.inf if graph.largest_degree > LONG_ROW else slow_share
    is_maximum, stats["search"] = search(graph, matching, slow_share=slow_share)
    if not is_maximum:
        stats["push_relabel"] = push_relabel(graph, matching, steps_scale, steps_base)
        if matching.n_free:
            _, stats["last_search"] = search(graph, matching)
    return stats
