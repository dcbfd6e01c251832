"""The paper's methods on a CPU, as `hungarian.cpu` calls them: counts, and scratch space of each."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...hungarian.cpu import in_runs
from ...paths.state import State, no_trees
from ...problem.flat_graph import Graph, Parts
from .classical import match_by_zeros
from .forest import match_by_forests, no_forest
from .tree import match_by_trees

SEARCHES_COUNTED = 40
"""Searches of the forests whose paths are counted one by one, for Table 2."""


def by_zeros(parts: Parts, graph: Graph, state: State) -> tuple[np.ndarray, dict[str, Any]]:
    """Match by the sequential classical variant (`classical`)."""
    first, last = np.empty(len(state.r), np.int64), np.empty(len(state.r), np.int64)
    names = ("searches", "rows_scanned", "dual_updates", "compressions")
    return in_runs(match_by_zeros, names, parts, graph, state, no_trees(state), first, last)


def by_trees(parts: Parts, graph: Graph, state: State) -> tuple[np.ndarray, dict[str, Any]]:
    """Match by the sequential alternating-tree variant (`tree`)."""
    names = ("searches", "rows_scanned", "dual_updates")
    return in_runs(match_by_trees, names, parts, graph, state, no_trees(state))


def by_forests(parts: Parts, graph: Graph, state: State, *, many: bool | None) -> tuple[np.ndarray, dict[str, Any]]:
    """Match by the parallel alternating-tree variant (`forest`), which says what `many` is."""
    names = ("searches", "rows_scanned", "dual_updates", "levels", *range(SEARCHES_COUNTED))
    own = no_trees(state), no_forest(state)
    infeasible_row, counts = in_runs(match_by_forests, names, parts, graph, many, state, *own)
    paths = [counts.pop(search) for search in range(SEARCHES_COUNTED)]
    return infeasible_row, counts | {"paths_of_search": np.array(paths)}
