"""What the exact optimum is held to: every matching there is, added up as fractions."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from .exact import excess, optimum, paid


def _matchings(cost: np.ndarray, is_complete: bool) -> Iterator[np.ndarray]:
    """Yield all matchings of the pairs that cost less than infinity; complete ones match the shorter side."""
    n, m = cost.shape
    for chosen in set(permutations([*range(m), *[-1] * n], n)):
        col_of_row = np.array(chosen)
        rows = np.flatnonzero(col_of_row >= 0)
        if (not is_complete or len(rows) == min(n, m)) and np.isfinite(cost[rows, col_of_row[rows]]).all():
            yield col_of_row


def _costs(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    cost = rng.choice([-1.0, 1.0], (n, m)) * 10.0 ** rng.uniform(-30, 30, (n, m))
    cost[rng.random((n, m)) < 0.3] = np.inf
    np.fill_diagonal(cost, rng.random(min(n, m)))
    return cost


@pytest.mark.parametrize("has_unmatched_cost", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (3, 1), (2, 3), (3, 2), (3, 3), (4, 3)])
def test_the_optimum_is_the_least_that_any_matching_pays(shape: tuple[int, int], has_unmatched_cost: bool) -> None:
    rng = np.random.default_rng(5)
    for _ in range(10):
        cost = _costs(rng, *shape)
        rows, cols = (10.0 ** rng.uniform(-30, 30, size) for size in shape)
        sides = (rows, cols) if has_unmatched_cost else None
        every = [(_added(cost, sides, each), each) for each in _matchings(cost, sides is None)]
        least = min(total for total, _ in every)
        assert optimum(cost, sides) == least
        for total, col_of_row in every:
            assert paid(cost, col_of_row, sides) == total
            assert (excess(cost, sides, col_of_row) > 0) == (total > least)


def _added(cost: np.ndarray, sides: tuple[np.ndarray, np.ndarray] | None, col_of_row: np.ndarray) -> Fraction:
    edges = sum((Fraction(cost[i, j]) for i, j in enumerate(col_of_row) if j >= 0), Fraction(0))
    if sides is None:
        return edges
    rows = sum(Fraction(sides[0][i]) for i in np.flatnonzero(col_of_row < 0))
    return edges + rows + sum(Fraction(own) for j, own in enumerate(sides[1]) if j not in col_of_row)


def test_excess_is_part_of_what_is_paid_above_the_least_of_rows_and_of_all_that_is_paid() -> None:
    cost = np.array([[10.0, 11.0], [20.0, 24.0]])
    assert excess(cost, None, np.array([1, 0])) == 0
    assert excess(cost, None, np.array([0, 1])) == Fraction(34 - 31, 34 - (10 + 20))
    assert excess(cost.T, None, np.array([0, 1])) == Fraction(34 - 31, 34 - (10 + 11))
    assert excess(np.array([[-1.0, 1.0]]), None, np.array([1])) == Fraction(1 - -1, 1)
    assert excess(np.array([[1.0]]), (2.0, 7.0), np.array([-1])) == Fraction(9 - 1, 9 - 1)


def test_an_edge_that_is_none_cannot_be_paid() -> None:
    with pytest.raises(AssertionError):
        paid(np.array([[np.inf, 1.0]]), np.array([0]))
