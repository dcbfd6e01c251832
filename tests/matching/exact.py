"""The optimum in rational arithmetic, by a plain Hungarian method that has nothing from the code under test."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

FORBIDDEN = None


def exact_costs(cost: np.ndarray) -> list[list[Fraction | None]]:
    """Return a matrix of floats as fractions, None for +inf."""
    return [[Fraction(c) if c < np.inf else FORBIDDEN for c in row] for row in cost.tolist()]


def paid(cost: np.ndarray, col_of_row: np.ndarray, unmatched: tuple[Any, Any] | None = None) -> Fraction:
    """Return what matched edges and unassigned members cost together."""
    rows = np.flatnonzero(col_of_row >= 0)
    matched = sum((Fraction(float(cost[i, col_of_row[i]])) for i in rows), Fraction(0))
    if unmatched is None:
        return matched
    sides = [np.broadcast_to(unmatched_cost, size) for unmatched_cost, size in zip(unmatched, cost.shape, strict=True)]
    free_cols = np.setdiff1d(np.arange(cost.shape[1]), col_of_row[rows])
    unassigned = [*sides[0][col_of_row < 0].tolist(), *sides[1][free_cols].tolist()]
    return matched + sum(map(Fraction, unassigned), Fraction(0))


def optimum(cost: np.ndarray, unmatched: tuple[Any, Any] | None = None) -> Fraction:
    """Return the least cost of matching the shorter side, or at unmatched costs for rows and columns."""
    if unmatched is None:
        return _hungarian(exact_costs(cost if cost.shape[0] <= cost.shape[1] else cost.T))
    n, m = cost.shape
    rows, cols = (
        [Fraction(p) for p in np.broadcast_to(unmatched_cost, k).tolist()]
        for unmatched_cost, k in zip(unmatched, (n, m), strict=True)
    )
    gains = [
        [None if c is None else c - rows[i] - cols[j] for j, c in enumerate(row)] + [Fraction(0)] * n
        for i, row in enumerate(exact_costs(cost))
    ]
    return _hungarian(gains) + sum(rows) + sum(cols)


def _hungarian(cost: list[list[Fraction | None]]) -> Fraction:
    """Match every row, n ≤ m; whole numbers inside, as all are multiples of one power of two."""
    n, m = len(cost), len(cost[0]) if cost else 0
    unit = max((c.denominator for row in cost for c in row if c is not None), default=1)
    whole = [[None if c is None else int(c * unit) for c in row] for row in cost]
    beyond = 2 * sum(abs(c) for row in whole for c in row if c is not None) + 1
    whole = [[beyond if c is None else c for c in row] for row in whole]
    r, v, row_of = [0] * (n + 1), [0] * (m + 1), [0] * (m + 1)
    for i in range(1, n + 1):
        row_of[0], at = i, 0
        least, came, seen = [beyond * (m + 3)] * (m + 1), [0] * (m + 1), [False] * (m + 1)
        while row_of[at]:
            seen[at] = True
            step, to, row = beyond * (m + 4), 0, row_of[at]
            for j in range(1, m + 1):
                if not seen[j]:
                    slack = whole[row - 1][j - 1] - r[row] - v[j]
                    if slack < least[j]:
                        least[j], came[j] = slack, at
                    if least[j] < step:
                        step, to = least[j], j
            for j in range(m + 1):
                if seen[j]:
                    r[row_of[j]] += step
                    v[j] -= step
                else:
                    least[j] -= step
            at = to
        while at:
            row_of[at] = row_of[came[at]]
            at = came[at]
    return Fraction(sum(whole[row_of[j] - 1][j - 1] for j in range(1, m + 1) if row_of[j]), unit)
