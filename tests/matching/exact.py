"""The optimum in whole numbers of any length, by a plain Hungarian method that has nothing from the code under test."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

Sides = tuple[Any, Any]
"""Unmatched costs of rows and of columns, each a number or one a member."""


class Exact(NamedTuple):
    """Costs of pairs, None for +inf, and of unassigned rows and columns, as multiples of one power of two."""

    cost: list[list[int | None]]
    rows: list[int]
    cols: list[int]
    has_unmatched_cost: bool
    per_one: int

    @classmethod
    def of(cls, cost: np.ndarray, unmatched: Sides | None) -> Exact:
        """Take numbers without rounding: a float is a whole number times a power of two."""
        n, m = cost.shape
        rows, cols = (np.broadcast_to(side, k).tolist() for side, k in zip(unmatched or (0, 0), (n, m), strict=True))
        pairs = cost.tolist()
        ratios = {c: c.as_integer_ratio() for c in {*rows, *cols}.union(*pairs) if c < np.inf}
        per_one = max((denominator for _, denominator in ratios.values()), default=1)
        whole = {c: numerator * (per_one // denominator) for c, (numerator, denominator) in ratios.items()}
        sides = [whole[c] for c in rows], [whole[c] for c in cols]
        return cls([[whole.get(c) for c in row] for row in pairs], *sides, unmatched is not None, per_one)

    def paid(self, col_of_row: np.ndarray) -> list[int]:
        """Return what matched edges and unassigned members cost, each; an edge that is none is an error."""
        partners = col_of_row.tolist()
        edges = [self.cost[i][j] for i, j in enumerate(partners) if j >= 0]
        assert None not in edges
        free_cols = set(range(len(self.cols))).difference(partners)
        free_rows = (i for i, j in enumerate(partners) if j < 0)
        return [
            *(c for c in edges if c is not None),
            *(self.rows[i] for i in free_rows),
            *(self.cols[j] for j in free_cols),
        ]

    def optimum(self) -> int:
        """Return the least cost of matching the shorter side, or at unmatched costs for rows and columns."""
        if not self.has_unmatched_cost:
            is_tall = len(self.rows) > len(self.cols)
            return _hungarian([list(col) for col in zip(*self.cost, strict=True)] if is_tall else self.cost)
        none_saved = [0] * len(self.rows)
        saved = [
            [*(None if c is None else c - own - other for c, other in zip(row, self.cols, strict=True)), *none_saved]
            for row, own in zip(self.cost, self.rows, strict=True)
        ]
        return _hungarian(saved) + sum(self.rows) + sum(self.cols)

    def forced(self) -> int:
        """Return what every answer pays: its rows' least, columns' unmatched costs taken as paid."""
        if self.has_unmatched_cost:
            least = sum(
                min([own, *(c - other for c, other in zip(row, self.cols, strict=True) if c is not None)])
                for row, own in zip(self.cost, self.rows, strict=True)
            )
            return least + sum(self.cols)
        short = self.cost if len(self.rows) <= len(self.cols) else zip(*self.cost, strict=True)
        return sum(min(c for c in row if c is not None) for row in short)


def paid(cost: np.ndarray, col_of_row: np.ndarray, unmatched: Sides | None = None) -> Fraction:
    """Return what matched edges and unassigned members cost together."""
    exact = Exact.of(cost, unmatched)
    return Fraction(sum(exact.paid(col_of_row)), exact.per_one)


def optimum(cost: np.ndarray, unmatched: Sides | None = None) -> Fraction:
    """Return the least cost of matching the shorter side, or at unmatched costs for rows and columns."""
    exact = Exact.of(cost, unmatched)
    return Fraction(exact.optimum(), exact.per_one)


def excess(cost: np.ndarray, unmatched: Sides | None, col_of_row: np.ndarray) -> Fraction:
    """Return how much dearer than the optimum an answer is, over what not every answer pays.

    That is what is paid above the rows' least, the unmatched cost of every column taken as paid; no more than is paid.
    Where unmatched costs differ by more than all costs, what nobody pays is no measure of what is paid.
    """
    exact = Exact.of(cost, unmatched)
    each = exact.paid(col_of_row)
    own = min(sum(map(abs, each)), sum(each) - exact.forced())
    return Fraction(sum(each) - exact.optimum(), max(own, 1))


def _hungarian(cost: list[list[int | None]]) -> int:
    """Return the least cost of matching every row, n ≤ m, along shortest paths from one row after the other."""
    m = len(cost[0]) if cost else 0
    beyond = 2 * sum(abs(c) for row in cost for c in row if c is not None) + 1
    whole = [[beyond if c is None else c for c in row] for row in cost]
    r, v, row_of = [0] * len(cost), [0] * m, [-1] * m
    for start, row in enumerate(whole):
        least, came = [c - dual for c, dual in zip(row, v, strict=True)], [-1] * m
        left, seen = list(range(m)), list[int]()
        while True:
            at = min(left, key=least.__getitem__)
            left.remove(at)
            if row_of[at] < 0:
                break
            seen.append(at)
            to = row_of[at]
            costs, shift = whole[to], least[at] - r[to]
            for j in left:
                through = shift + costs[j] - v[j]
                if through < least[j]:
                    least[j], came[j] = through, at
        r[start] += least[at]
        for j in seen:
            r[row_of[j]] += least[at] - least[j]
            v[j] -= least[at] - least[j]
        while at >= 0:
            row_of[at] = row_of[came[at]] if came[at] >= 0 else start
            at = came[at]
    return sum(whole[i][j] for j, i in enumerate(row_of) if i >= 0)
