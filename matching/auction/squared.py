"""Matrices whose sides differ little, made square: rows that take the columns left over, at no cost.

All prices are free then, so that phases settle them; from bounds, columns that stay unassigned hold the others' prices
back, and where costs are hard each of the last rows takes a long search.
"""

from __future__ import annotations

import numpy as np

from ..certificate.matched import Matched
from ..problem import Problem
from ..problem.convert import DENSE_LIMIT_BYTES, are_nearly_square
from .free_rows import prices_without_free_rows, with_free_rows
from .options import AuctionOptions
from .phases import match_by_auction


def is_made_square(problem: Problem) -> bool:
    """Whether a matrix of unequal sides, rows the shorter, is made square, within `DENSE_LIMIT_BYTES`."""
    n, m = problem.shape
    is_free = problem.kind == "dense" and not problem.has_unmatched_cost
    return is_free and n < m and are_nearly_square(n, m) and problem.cost_dtype.itemsize * m * m <= DENSE_LIMIT_BYTES


def match_squared(problem: Problem, options: AuctionOptions) -> Matched:
    """Match one matrix of unequal sides as a square one."""
    n, m = problem.shape
    cost, forbidden = with_free_rows(np, problem.data, problem.forbidden, m)
    mask = None if forbidden is None else forbidden.reshape(m, m)
    found = match_by_auction(Problem.dense(cost.reshape(m, m), forbidden=mask), options)
    held = found.col_of_row[:n]
    is_left_over = np.ones(m, bool)
    is_left_over[held[held >= 0]] = False
    v = prices_without_free_rows(np, found.col_duals, is_left_over, 0)
    return Matched(problem, held, v, found.stats, found.unfinished, found.is_refinable)
