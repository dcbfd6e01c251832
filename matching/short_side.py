"""Solving from the shorter side: where it must be matched whole, methods that search from rows need it as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from .certificate import certify
from .convert import transposed
from .errors import Infeasible
from .problem import Problem

Matched = tuple[np.ndarray, np.ndarray, dict[str, Any]]
"""Local column of each row, column duals, counts."""


def from_short_side(problem: Problem, method: Callable[[Problem], Matched]) -> Matched:
    """Call `method` on the problem, with those blocks turned round that must match all columns and have more rows.

    Raises
    ------
    Infeasible
        As `method` does, with the sides named as in `problem`.
    """
    tall = (np.diff(problem.row_offsets) > np.diff(problem.col_offsets)) & (not problem.has_unmatched_cost)
    if not tall.any():
        return method(problem)
    if problem.n_blocks == 1:
        return _turned_round(problem, method)
    parts = [_solved(problem, b, bool(tall[b]), method) for b in range(problem.n_blocks)]
    col_of_row = np.concatenate([part[0] for part in parts])
    v = np.concatenate([part[1] for part in parts])
    totals: Counter[str] = Counter()
    for _, _, counts in parts:
        totals.update(counts)
    return col_of_row, v, dict(totals)


def _solved(problem: Problem, b: int, turn: bool, method: Callable[[Problem], Matched]) -> Matched:
    block = problem.block(b)
    try:
        return _turned_round(block, method) if turn else method(block)
    except Infeasible as error:
        raise error.in_block(b) from None


def _turned_round(block: Problem, method: Callable[[Problem], Matched]) -> Matched:
    turned = transposed(block)
    try:
        row_of_col, r, counts = method(turned)
    except Infeasible as error:
        raise Infeasible(str(error), rows=error.columns, columns=error.rows, side="columns") from None
    answer = certify(turned, row_of_col, r, solver="")
    return answer.row_of_col, answer.row_duals, counts
