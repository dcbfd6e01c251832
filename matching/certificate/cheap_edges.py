"""Edges so cheap that the rounding of a proof exceeds their share of it: a small problem of their own.

An exchange lowers the cost by no more than the slack of the matched edges and unassigned members that it touches,
rounding included. Most of these cost so much that their slack is far below a `SHARE` of it, and what is left of that
share bears all that the cheap ones exceed theirs by. So an exchange that touches one of them is within its share, and
only exchanges among the cheap ones alone are in doubt. Of many points of a line, where any two edges that overlap can
be exchanged at no cost, there are few.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..problem import Problem
from ..problem.costs import edge_costs, pair_costs
from ..tolerance import EPS, SHARE
from .above_least import MOST_PAIRS


class Part(NamedTuple):
    """The costs of some rows and columns, what is matched among them, and their column duals."""

    problem: Problem
    col_of_row: np.ndarray
    row_of_col: np.ndarray
    v: np.ndarray


def cheap_edges(
    block: Problem,
    col_of_row: np.ndarray,
    row_of_col: np.ndarray,
    r: np.ndarray,
    v: np.ndarray,
    costs_of: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> Part | None:
    """Return the part of two point sets that is too cheap; None where it has more than `MOST_PAIRS` pairs.

    Parameters
    ----------
    block : Problem
        One block of point sets on the host.
    col_of_row, row_of_col : int32 (rows,), (columns,)
    r, v : float64 (rows,), (columns,)
        Feasible duals, r the best beside v.
    costs_of : callable, optional
        Called with rows and columns: returns the matrix of their costs, where they are not those of all their pairs.
    """
    matched = col_of_row >= 0
    i, j = np.flatnonzero(matched), col_of_row[matched]
    own = np.zeros(len(r)) if block.row_unmatched is None else block.row_unmatched.astype(np.float64)
    own[i] = edge_costs(block, i, np.zeros(len(i), np.int64), j)
    slack = own - r
    slack[i] = (own[i] - v[j]) - r[i]
    own_of_cols = np.zeros(len(v)) if block.col_unmatched is None else block.col_unmatched
    lack = slack + 2 * EPS * abs(r) - SHARE * abs(own)
    lack_of_cols = np.where(row_of_col < 0, (own_of_cols - v) - SHARE * abs(own_of_cols), -np.inf)
    borne = np.maximum(lack, 0.0).sum() + np.maximum(lack_of_cols, 0.0).sum()
    of_cheap = lack_of_cols > -borne
    of_cheap[col_of_row[matched & (lack > -borne)]] = True
    rows, cols = np.flatnonzero(lack > -borne), np.flatnonzero(of_cheap)
    if len(rows) * len(cols) > MOST_PAIRS:
        return None
    costs = _all_costs(block, rows, cols) if costs_of is None else costs_of(rows, cols)
    return _part(block, costs, (rows, cols), (col_of_row, row_of_col), v)


def _all_costs(block: Problem, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
    assert block.x is not None
    assert block.y is not None
    return pair_costs(block.x[rows], block.y[cols], block.metric)


def _part(
    block: Problem,
    costs: np.ndarray,
    members: tuple[np.ndarray, np.ndarray],
    partners: tuple[np.ndarray, np.ndarray],
    v: np.ndarray,
) -> Part:
    """Return the part of rows and columns whose partners are among them too."""
    (rows, cols), (col_of_row, row_of_col) = members, partners
    unmatched_cost = None
    if block.row_unmatched is not None and block.col_unmatched is not None:
        unmatched_cost = block.row_unmatched[rows], block.col_unmatched[cols]
    row_at, col_at = (np.full(size + 1, -1, np.int32) for size in block.shape)  # the last for those without a partner
    row_at[rows], col_at[cols] = np.arange(len(rows)), np.arange(len(cols))
    problem = Problem.dense(costs, unmatched_cost=unmatched_cost)
    return Part(problem, col_at[col_of_row[rows]], row_at[row_of_col[cols]], v[cols])
