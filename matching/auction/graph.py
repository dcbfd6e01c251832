"""What the auctions ask of a problem: one flat graph, starting prices, independent parts, feasibility."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..components import chunks_of_components, components, rows_by_component
from ..costs import largest_cost
from ..errors import InvalidProblem
from ..hall import infeasible
from ..problem import INT_LIMIT, Problem
from ..short_side import Matched
from ..shortest_paths import assign_rows, start
from ..sparse_jv import EDGES_A_CHUNK, global_columns
from .scaling import RESOLUTION

Graph = tuple[np.ndarray, np.ndarray | None, np.ndarray, np.ndarray | None]


def flat_graph(problem: Problem) -> Graph:
    """Return (indptr, indices or None, data, forbidden or None) of a sparse problem or one dense block.

    Columns are counted over all blocks; for a dense block, whose k-th entry of a row is column k, indices are None.
    """
    if problem.kind == "dense":
        n, m = problem.shape
        return np.arange(n + 1, dtype=np.int64) * m, None, problem.data, problem.forbidden
    assert problem.indptr is not None
    return problem.indptr, global_columns(problem), problem.data, None


def independent_parts(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (rows, starts, cuts).

    Component k owns `rows[starts[k]:starts[k+1]]`; `rows[cuts[c]:cuts[c+1]]` is a run of components for one thread.
    """
    indptr, indices, _, _ = flat_graph(problem)
    if indices is None or problem.n_rows == 0:
        ends = np.array([0, problem.n_rows])
        return np.arange(problem.n_rows), ends, ends
    row_label, _ = components(indptr, indices, problem.n_cols)
    rows, starts = rows_by_component(row_label)
    return rows, starts, chunks_of_components(starts, rows, indptr, 1 + len(indices) // EDGES_A_CHUNK)


def as_duals(v: np.ndarray, problem: Problem) -> np.ndarray:
    """Return an auction's prices in the problem's arithmetic; integers are rounded down."""
    return np.floor(v).astype(np.int64) if problem.is_integer else v


def allowed_pairs(problem: Problem) -> np.ndarray | None:
    """Return which entries of the flat graph may be matched, None for all."""
    if problem.kind == "sparse":
        return None
    allowed = problem.data < (INT_LIMIT if problem.is_integer else np.inf)
    return allowed if problem.forbidden is None else allowed & ~problem.forbidden


def check_feasible(problem: Problem) -> None:
    """Raise `Infeasible` if not all rows can be matched and they must be.

    The same shortest paths that finish an auction find it out, with every cost 0: then they are a cardinality matching.
    """
    indptr, indices, data, _ = flat_graph(problem)
    allowed = allowed_pairs(problem)
    if problem.has_unmatched_cost or (allowed is not None and allowed.all()):
        return
    row_bound, col_bound = (np.full(k, INT_LIMIT) for k in problem.shape)
    state = start(row_bound, np.zeros_like(col_bound))
    forbidden = None if allowed is None else ~allowed
    nothing = np.zeros(len(data), np.int64)
    rows = np.arange(problem.n_rows)
    failed = assign_rows(rows, indptr, indices, nothing, forbidden, state, np.zeros(3, np.int64))
    if failed >= 0:
        raise infeasible(problem, int(failed), indptr, indices, allowed, state.col_of_row, state.row_of_col)


def refuse_too_fine(eps: float, problem: Problem) -> None:
    """Raise where a bid increment is lost in the rounding of the prices, so that bidding might never end."""
    least = RESOLUTION * largest_cost(problem)
    if eps < least:
        raise InvalidProblem(
            f"eps needs at least {least:.3g} beside costs of this size in float64; got {eps:.3g}. Raise it, or leave "
            "it at None for the exact optimum."
        )


def joined(parts: list[Matched]) -> Matched:
    """Lay the answers to the blocks of a batch side by side; counts add up."""
    stats: dict[str, Any] = {}
    for _, _, counts in parts:
        for name, count in counts.items():
            stats[name] = stats.get(name, 0) + count
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts]), stats
