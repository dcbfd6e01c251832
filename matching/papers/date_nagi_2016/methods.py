"""The methods on a CPU, one function each: scratch space, runs of components side by side, counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...jit.threads import side_by_side
from ...problem.flat_graph import Graph, Parts
from .classical import match_by_zeros
from .forest import match_by_forests, no_forest
from .state import TreeState, no_trees
from .strips import help_expanding, helpers, no_strips
from .tree import match_by_trees
from .zero_graph import match_by_dual_phases
from .zero_trees import no_zeros

Method = Callable[[Parts, Graph, TreeState], tuple[np.ndarray, dict[str, Any]]]
"""Matches every part; returns an infeasible row or -1 for each run of parts, and counts."""

SEARCHES_COUNTED = 40
"""Searches of the forests whose paths are counted one by one, for Table 2."""


def by_zeros(parts: Parts, graph: Graph, state: TreeState) -> tuple[np.ndarray, dict[str, Any]]:
    """Match by the sequential classical variant (`classical`)."""
    first, last = np.empty(len(state.r), np.int64), np.empty(len(state.r), np.int64)
    names = ("searches", "rows_scanned", "dual_updates", "compressions")
    return _in_runs(match_by_zeros, names, parts, graph, state, no_trees(state), first, last)


def by_trees(parts: Parts, graph: Graph, state: TreeState) -> tuple[np.ndarray, dict[str, Any]]:
    """Match by the sequential alternating-tree variant (`tree`)."""
    names = ("searches", "rows_scanned", "dual_updates")
    return _in_runs(match_by_trees, names, parts, graph, state, no_trees(state))


def by_forests(parts: Parts, graph: Graph, state: TreeState, *, threads: int) -> tuple[np.ndarray, dict[str, Any]]:
    """Match by the parallel alternating-tree variant (`forest`); threads share the levels of dense costs (`strips`)."""
    names = ("searches", "rows_scanned", "dual_updates", "levels", *range(SEARCHES_COUNTED))
    trees, strips = no_trees(state), no_strips(state, threads)
    indptr, indices, data = graph
    with helpers(
        threads - 1 if indices is None else 0, lambda: help_expanding(indptr, data, state, trees, strips), strips
    ):
        own = trees, no_forest(state), strips
        infeasible_row, counts = _in_runs(match_by_forests, names, parts, graph, state, *own)
    paths = [counts.pop(search) for search in range(SEARCHES_COUNTED)]
    return infeasible_row, counts | {"paths_of_search": np.array(paths)}


def by_dual_phases(parts: Parts, graph: Graph, state: TreeState) -> tuple[np.ndarray, dict[str, Any]]:
    """Match by the classical variant in dual phases (`zero_graph`)."""
    names = ("searches", "rows_scanned", "dual_updates", "phases", "levels")
    return _in_runs(match_by_dual_phases, names, parts, graph, state, no_trees(state), no_zeros(state))


def _in_runs(
    match: Callable[..., int], names: tuple[Any, ...], parts: Parts, graph: Graph, *rest: Any
) -> tuple[np.ndarray, dict[Any, Any]]:
    """Call `match(rows, *graph, *rest, counts)` for each component, the runs of these side by side.

    Returns an infeasible row or -1 for each run, and the counts by `names`.
    """
    runs = len(parts[2]) - 1
    counts = np.zeros((runs, len(names)), np.int64)
    infeasible_row = side_by_side(lambda c: _of_run(match, c, parts, graph, *rest, counts[c]), range(runs))
    return np.array(infeasible_row), dict(zip(names, counts.sum(axis=0).tolist(), strict=True))


def _of_run(method: Callable[..., int], c: int, parts: Parts, graph: Graph, *rest: Any) -> int:
    """Match the components of run c, one after the other; return an infeasible row or -1."""
    rows, starts, cuts = parts
    for part in range(np.searchsorted(starts, cuts[c]), np.searchsorted(starts, cuts[c + 1])):
        infeasible_row = method(rows[starts[part] : starts[part + 1]], *graph, *rest)
        if infeasible_row >= 0:
            return infeasible_row
    return -1
