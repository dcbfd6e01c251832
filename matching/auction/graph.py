"""What the auctions ask of a problem: one flat graph, starting prices, independent parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..components import chunks_of_components, components, rows_by_component
from ..costs import largest_cost
from ..errors import Infeasible, InvalidProblem
from ..problem import INT_LIMIT, Problem
from ..short_side import Matched
from ..sparse_jv import EDGES_A_CHUNK, global_columns
from .scaling import RESOLUTION

if TYPE_CHECKING:
    from .solver import Auction

Graph = tuple[np.ndarray, np.ndarray | None, np.ndarray, np.ndarray | None]
Parts = tuple[np.ndarray, np.ndarray, np.ndarray]
"""(rows, starts, cuts) as `independent_parts` returns them."""


def flat_graph(problem: Problem) -> Graph:
    """Return (indptr, indices or None, data, forbidden or None) of a sparse problem or one dense block.

    Columns are counted over all blocks; for a dense block, whose k-th entry of a row is column k, indices are None.
    """
    if problem.kind == "dense":
        n, m = problem.shape
        return np.arange(n + 1, dtype=np.int64) * m, None, problem.data, problem.forbidden
    assert problem.indptr is not None
    return problem.indptr, global_columns(problem), problem.data, None


def independent_parts(problem: Problem) -> Parts:
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


def increment(eps: float, problem: Problem) -> float:
    """Return the increment to bid with: `eps`, or the largest cost where that is less.

    A larger one proves nothing more, and its prices would run beyond what these costs can need. Raises where `eps` is
    lost in the rounding of the prices, so that bidding might never end.
    """
    return increment_beside(eps, largest_cost(problem))


def increment_beside(eps: float, largest: float) -> float:
    """As `increment`, for costs and prices up to `largest`."""
    least = RESOLUTION * largest
    if eps < least:
        raise InvalidProblem(
            f"eps needs at least {least:.3g} beside costs of this size in float64; got {eps:.3g}. Raise it, or leave "
            "it at None for the exact optimum."
        )
    return min(eps, largest) if largest else eps


def out_of_bids(options: Auction, waiting: int) -> str:
    """Return what `NotConverged` says when the budget is spent."""
    return (
        f"max_bids={options.max_bids} bids per row were spent and {waiting} rows had no column yet; raise it, or leave "
        "it at None."
    )


def block_by_block(problem: Problem, method: Callable[[Problem], Matched]) -> Matched:
    """Match the blocks of a batch one after the other."""
    parts: list[Matched] = []
    for b, block in enumerate(problem.blocks()):
        try:
            parts.append(method(block))
        except Infeasible as error:
            raise error.in_block(b) from None
    return joined(parts)


def joined(parts: list[Matched]) -> Matched:
    """Lay the answers to the blocks of a batch side by side; counts add up."""
    stats: dict[str, Any] = {}
    for _, _, counts in parts:
        for name, count in counts.items():
            stats[name] = stats.get(name, 0) + count
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts]), stats
