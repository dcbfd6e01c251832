"""Solving from the shorter side: where it must be matched whole, methods that search from rows need it as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..certificate.certify import inverse
from ..errors import Infeasible
from ..problem import Problem
from ..problem.convert import transposed
from ..problem.costs import best_row_duals
from ..problem.selection import chosen


class Matched(NamedTuple):
    """What a method made of a problem.

    Attributes
    ----------
    col_of_row : int32 (rows,)
        Local to each block, -1 = unassigned.
    col_duals : ndarray (columns,)
    stats : dict
        Counts, which add up over blocks.
    waiting : int
        Rows that a budget which ran out left without a column.
    """

    col_of_row: np.ndarray
    col_duals: np.ndarray
    stats: dict[str, Any]
    waiting: int = 0


def counted_together(parts: Sequence[Matched]) -> tuple[dict[str, Any], int]:
    """Return the counts of all parts, added up, and how many rows wait."""
    totals: Counter[str] = Counter()
    for part in parts:
        totals.update(part.stats)
    return dict(totals), sum(part.waiting for part in parts)


def from_short_side(problem: Problem, method: Callable[[Problem], Matched]) -> Matched:
    """Call `method` on the problem, with those blocks transposed that must match all columns and have more rows.

    Raises
    ------
    Infeasible
        As `method` does, with the sides named as in `problem`.
    """
    if rows_are_short(problem):
        return method(problem)
    tall = problem.n_rows_of_block > problem.n_cols_of_block
    if tall.all():
        return _transposed(problem, method)
    groups = np.flatnonzero(tall), np.flatnonzero(~tall)
    parts = [_of_blocks(problem, group, method, turn=turn) for group, turn in zip(groups, (True, False), strict=True)]
    col_of_row, v = np.empty(problem.n_rows, np.int32), np.empty(problem.n_cols, problem.dual_dtype)
    for part, its_blocks in zip(parts, (tall, ~tall), strict=True):
        col_of_row[np.repeat(its_blocks, problem.n_rows_of_block)] = part.col_of_row
        v[np.repeat(its_blocks, problem.n_cols_of_block)] = part.col_duals
    return Matched(col_of_row, v, *counted_together(parts))


def rows_are_short(problem: Problem) -> bool:
    """Whether no block must match more rows than it has columns."""
    if problem.n_blocks == 1:
        return problem.has_unmatched_cost or problem.n_rows <= problem.n_cols
    return problem.has_unmatched_cost or bool((problem.n_rows_of_block <= problem.n_cols_of_block).all())


def _of_blocks(problem: Problem, blocks: np.ndarray, method: Callable[[Problem], Matched], *, turn: bool) -> Matched:
    """Match the given blocks as a batch of their own."""
    batch = chosen(problem, blocks)
    try:
        return _transposed(batch, method) if turn else method(batch)
    except Infeasible as error:
        raise error.in_block(int(blocks[error.block])) from None


def _transposed(problem: Problem, method: Callable[[Problem], Matched]) -> Matched:
    turned = transposed(problem)
    try:
        found = method(turned)
    except Infeasible as error:
        raise error.of_columns() from None
    v, _ = best_row_duals(turned, np.minimum(found.col_duals, turned.dual_bounds()[1]))
    return found._replace(col_of_row=inverse(turned, found.col_of_row), col_duals=v)
