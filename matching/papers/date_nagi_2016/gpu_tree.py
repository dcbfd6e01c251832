"""Date & Nagi's alternating-tree variant on one GPU, step by step: Algorithms 2, 4, 5, 6 and 9."""

from __future__ import annotations

from typing import Any

from ...paths.gpu_dense import DeviceCosts, DeviceState
from .gpu_search import VISITED, PaperSearch, first_free, frontier_arguments


def match_by_trees(costs: DeviceCosts, state: DeviceState, _: Any) -> tuple[int, dict[str, Any]]:
    """Match by the alternating-tree variant; as `gpu_forest.match_by_forests`."""
    search = PaperSearch(costs, state)
    while not search.reset():
        while True:
            with search.phase("forward_s"):
                rows = search.frontier()
                while len(rows):
                    search.launch(
                        "hungarian_expand_tree",
                        len(search.key),
                        *search.pairs(),
                        search.delta,
                        *frontier_arguments(search, rows),
                    )
                    rows = search.frontier()
                sinks = search.sinks()
            if len(sinks):
                break
            with search.phase("dual_update_s"):
                least = _least_key(search)
                if least >= costs.none:
                    return first_free(search), search.stats()
                search.delta = costs.dual_dtype.type(least)
                search.counts["dual_updates"] += 1
                enter(search)
        search.augment_paths(sinks)
    return -1, search.stats()


def enter(search: PaperSearch) -> None:
    """Let columns whose slack is zero now enter (Algorithm 9)."""
    marks = search.row_covered, search.col_covered, search.entered, search.key
    sinks_of = search.row_mark, search.col_mark, search.unassigned
    arguments = *search.pairs(), search.delta, search.state.row_of_col, search.row_pred, *marks, *sinks_of
    search.launch("hungarian_enter", max(search.costs.cost.shape), *arguments)


def _least_key(search: PaperSearch) -> Any:
    """Return θ of the alternating-tree variant: the least Δ at which a column enters or a row becomes unassigned."""
    cp, costs = search.costs.cp, search.costs
    least = cp.where(search.col_covered == 0, search.key, costs.none).min()
    waits = (search.row_mark == VISITED) & (search.unassigned == 0) & (costs.row_bound < costs.none)
    unassigned = cp.where(waits, search.entered + (costs.row_bound - search.state.r), costs.none).min()
    return min(least.item(), unassigned.item())
