"""Prices of the lone that are far above all costs: lowered, as in sums with them the digits of the costs would be lost.

Where leaving a row and a column alone costs more than any exchange of links, as many are linked as can be. How many are
left alone is then given, so rows may pay less for it, all by the same amount, and columns too, and the same links are
the cheapest. Duals for the prices as stated follow: what alternating paths from lone rows reach moves by the rows'
amount, what those from lone columns reach by the columns'.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .cardinality.graph import BipartiteGraph
from .cardinality.matching import alternating_reach
from .certificate import block_of, inverse
from .convert import as_sparse
from .costs import largest_cost
from .flat_graph import global_columns
from .host_problem import largest_size
from .problem import Problem

FAR = 2.0**10
"""How often the dearest exchange goes into prices that are lowered; nearer ones cost three digits beside it at most."""

A_FEW = 1024
"""Costs that are looked at before all of them: as a rule they tell that prices are not far above."""

Matched = tuple[np.ndarray, np.ndarray, dict[str, Any]]
"""Local column of each row, column duals, counts."""


def at_lower_prices(problem: Problem, method: Callable[[Problem], Matched]) -> Matched:
    """Call `method` on a problem with an `unmatched_cost`, its prices lowered where they are far above real costs."""
    assert problem.row_unmatched is not None
    assert problem.col_unmatched is not None
    links = int(np.minimum(problem.n_rows_of_block, problem.n_cols_of_block).max(initial=0))
    if problem.is_integer or not links:
        return method(problem)
    of_rows, of_cols = float(problem.row_unmatched.min()), float(problem.col_unmatched.min())
    if of_rows + of_cols <= FAR * 2.0 * links * largest_size(problem.data[:A_FEW]):
        return method(problem)
    exchange = 2.0 * links * largest_cost(replace(problem, row_unmatched=None, col_unmatched=None))
    if exchange == 0.0 or of_rows + of_cols <= FAR * exchange:
        return method(problem)
    least_of_cols = float(np.clip(exchange / 2, exchange - of_rows, of_cols))
    row_unmatched = problem.row_unmatched - of_rows + (exchange - least_of_cols)
    col_unmatched = problem.col_unmatched - of_cols + least_of_cols
    col_of_row, v, counts = method(replace(problem, row_unmatched=row_unmatched, col_unmatched=col_unmatched))
    below_rows, below_cols = _beyond_lone(problem, col_of_row)
    v[below_rows] -= of_rows - (exchange - least_of_cols)
    v[below_cols] += of_cols - least_of_cols
    return col_of_row, v, counts


def _beyond_lone(problem: Problem, col_of_row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which columns alternating paths from lone rows reach, and which those from lone columns."""
    row_of_col = inverse(problem, col_of_row)
    if problem.allows_all:
        sides = (col_of_row, problem.row_offsets), (row_of_col, problem.col_offsets)
        from_rows, from_cols = (
            np.isin(np.arange(problem.n_blocks), block_of(offsets, np.flatnonzero(partner < 0)))
            for partner, offsets in sides
        )
        return np.repeat(from_rows, problem.n_cols_of_block), np.repeat(from_cols, problem.n_cols_of_block)
    edges = as_sparse(problem)
    graph = BipartiteGraph.from_any((edges.indptr, global_columns(edges), problem.shape))
    first_row = np.repeat(problem.row_offsets[:-1], problem.n_cols_of_block)
    first_col = np.repeat(problem.col_offsets[:-1], problem.n_rows_of_block)
    partners = (
        np.where(col_of_row < 0, -1, col_of_row + first_col),
        np.where(row_of_col < 0, -1, row_of_col + first_row),
    )
    return alternating_reach(graph, *partners)[1], alternating_reach(graph.transposed, *partners[::-1])[0]
