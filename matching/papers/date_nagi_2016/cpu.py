"""Both methods on a CPU: reduce, then match each independent part of the problem, in threads where it has many."""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from ...certificate.hall import infeasible
from ...certificate.matched import Matched, match_each
from ...jit.threads import processors
from ...options import need_whole_number
from ...paths.state import FREE
from ...problem import INT_LIMIT, Problem
from ...problem.convert import as_dense, as_sparse
from ...problem.flat_graph import Graph, Parts, allowed_pairs, flat_graph, independent_parts, local_columns
from .methods import Method, by_dual_phases, by_forests, by_trees, by_zeros
from .reduction import reduce
from .state import TreeState, start


def match_classical(problem: Problem, *, sequential: bool) -> Matched:
    """Match by the classical variant, with one path a search or in dual phases."""
    return _match(problem, by_zeros if sequential else by_dual_phases, 1)


def match_tree(problem: Problem, *, variant: str, threads: int | None) -> Matched:
    """Match by the alternating-tree variant, with one path a search or one of each tree."""
    if threads is not None:
        need_whole_number("threads", threads, processors(), words=", the processors that are there, or None for one")
    threads = int(threads or 1)
    forests = partial(by_forests, threads=threads)
    methods: dict[str, Method] = {
        "sequential": by_trees,
        "paper": forests,
        "default": partial(_by_forests_or_phases, forests=forests),
    }
    return _match(problem, methods[variant], threads)


def _match(problem: Problem, method: Method, threads: int) -> Matched:
    """Match a problem whose shorter side is its rows, or which has an `unmatched_cost`; its matrices one by one."""
    if problem.kind == "points":
        problem = as_sparse(problem) if problem.has_unmatched_cost else as_dense(problem)
    if problem.kind == "dense" and problem.n_blocks > 1:
        return match_each(problem, partial(_match, method=method, threads=threads))
    graph = _graph(problem)
    row_bound, col_bound = problem.dual_bounds()
    state = start(row_bound, col_bound)
    parts = independent_parts(problem)
    began = perf_counter()
    infeasible_row = reduce(parts[0], graph, col_bound, state, threads)
    reduced = perf_counter()
    stats: dict[str, Any] = {"reduction_s": reduced - began}
    if (infeasible_row < 0).all():
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
    parts: Parts, graph: Graph, state: TreeState, *, forests: Method
) -> tuple[np.ndarray, dict[str, Any]]:
    """Grow dense trees level by level; sparse ones in dual phases, where one Δ for all stops at few paths."""
    return (forests if graph[1] is None else by_dual_phases)(parts, graph, state)
