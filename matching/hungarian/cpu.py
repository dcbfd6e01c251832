"""The variants on the CPU: reduce, then match each independent part of the problem, in threads where it has many."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from ..certificate.hall import infeasible
from ..certificate.matched import Matched, match_each
from ..jit.threads import side_by_side
from ..named import named
from ..paths.state import FREE, State, no_trees, start
from ..problem import INT_LIMIT, Problem
from ..problem.convert import as_dense, as_sparse
from ..problem.flat_graph import Graph, Parts, allowed_pairs, flat_graph, independent_parts, local_columns
from .reduction import reduce_columns, reduce_rows
from .zero_graph import match_by_dual_phases
from .zero_trees import no_zeros

_PAPER = ".papers.date_nagi_2016.cpu"

Method = Callable[[Parts, Graph, State], tuple[np.ndarray, dict[str, Any]]]
"""Matches every part; returns an infeasible row or -1 for each run of parts, and counts."""


def match_classical(problem: Problem, *, sequential: bool) -> Matched:
    """Match by the classical variant, with one path a search or in dual phases."""
    return _match(problem, named(f"{_PAPER}:by_zeros") if sequential else _by_dual_phases)


def match_tree(problem: Problem, *, variant: str, threads: int | None) -> Matched:
    """Match by the alternating-tree variant, with one path a search or one of each tree."""
    forests = partial(named(f"{_PAPER}:by_forests"), many=None if threads in (None, 1) else True)
    methods: dict[str, Method] = {
        "sequential": named(f"{_PAPER}:by_trees"),
        "paper": forests,
        "default": partial(_by_forests_or_phases, forests=forests),
    }
    with named(".papers.date_nagi_2016.numba_threads:numba_threads")(threads):
        return _match(problem, methods[variant])


def _match(problem: Problem, method: Method) -> Matched:
    """Match a problem whose shorter side is its rows, or which has an `unmatched_cost`; its matrices one by one."""
    if problem.kind == "points":
        problem = as_sparse(problem) if problem.has_unmatched_cost else as_dense(problem)
    if problem.kind == "dense" and problem.n_blocks > 1:
        return match_each(problem, partial(_match, method=method))
    graph = _graph(problem)
    row_bound, col_bound = problem.dual_bounds()
    state = start(row_bound, col_bound)
    parts = independent_parts(problem)
    began = perf_counter()
    infeasible_row = np.array([reduce_rows(parts[0], *graph, state)])
    reduce_columns(parts[0], *graph, col_bound, state)
    reduced = perf_counter()
    stats: dict[str, Any] = {"reduction_s": reduced - began}
    if infeasible_row[0] < 0:
        infeasible_row, counts = method(parts, graph, state)
        stats |= counts
    if (infeasible_row >= 0).any():
        matched = np.maximum(state.col_of_row, FREE), state.row_of_col
        raise infeasible(problem, int(infeasible_row.max()), graph[0], graph[1], allowed_pairs(problem), *matched)
    stats["search_s"] = perf_counter() - reduced
    return Matched(problem, local_columns(problem, np.maximum(state.col_of_row, FREE)), state.v, stats)


def _graph(problem: Problem) -> Graph:
    """Return (indptr, indices or None, costs); a forbidden dense pair costs as much as a missing bound."""
    indptr, indices, data = flat_graph(problem)
    if problem.forbidden is not None:
        none = np.int64(INT_LIMIT) if problem.is_integer else data.dtype.type(np.inf)
        data = np.where(problem.forbidden, none, data)
    return indptr, indices, data if indices is None else data.astype(problem.dual_dtype, copy=False)


def _by_forests_or_phases(
    parts: Parts, graph: Graph, state: State, *, forests: Method
) -> tuple[np.ndarray, dict[str, Any]]:
    """Grow dense trees level by level; sparse ones in dual phases, where one Δ for all ends at few paths."""
    return (forests if graph[1] is None else _by_dual_phases)(parts, graph, state)


def _by_dual_phases(parts: Parts, graph: Graph, state: State) -> tuple[np.ndarray, dict[str, Any]]:
    names = ("searches", "rows_scanned", "dual_updates", "phases", "levels")
    return in_runs(match_by_dual_phases, names, parts, graph, state, no_trees(state), no_zeros(state))


def in_runs(
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
