"""Unmatched costs far above all costs are lowered to ones under which the same matching is the cheapest, and proven."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.matching import Problem, solve, verify
from auctrack.matching.certificate.certify import certify
from auctrack.matching.certificate.far_unmatched_costs import at_lower_unmatched_costs

FAR = 1e20


def _block(n: int, m: int, unmatched_cost: object = FAR) -> Problem:
    return Problem.dense(np.random.default_rng(n + m).random((n, m)), unmatched_cost=unmatched_cost)


@pytest.mark.parametrize("shape", [(5, 8), (8, 5), (7, 7), (1, 1)], ids=str)
def test_the_cheapest_matching_is_proven_at_each_and_no_other(shape: tuple[int, int]) -> None:
    block = _block(*shape)
    right = solve(block, "jv", "cpu").col_of_row
    wrong = np.roll(right, 1)
    for lower, v in at_lower_unmatched_costs(block, right):
        assert certify(lower, right, v, solver="").is_optimal
    for lower, v in at_lower_unmatched_costs(block, wrong):
        assert certify(lower, wrong, v, solver="").is_optimal == (min(shape) == 1)


def test_a_chain_of_duals_as_long_as_there_are_rows_is_followed_to_its_end() -> None:
    """Each row would pay half in the next one's column, but for the last, so that each column's dual is half lower."""
    n = 12
    cost = np.full((n, n + 1), 9.0)
    cost[np.arange(n), np.arange(n)] = 1.0
    cost[np.arange(n - 1), np.arange(1, n)] = 0.5
    block = Problem.dense(cost, unmatched_cost=FAR)
    right = np.arange(n, dtype=np.int32)
    ((lower, v),) = at_lower_unmatched_costs(block, right)
    assert v.tolist() == [*(-0.5 * np.arange(n)), 0.0]
    assert certify(lower, right, v, solver="").is_optimal


@pytest.mark.parametrize(("shape", "sides"), [((5, 8), ["rows"]), ((8, 5), ["columns"]), ((7, 7), ["rows", "columns"])])
def test_the_shorter_side_pays_or_of_equal_sides_first_rows_then_columns(
    shape: tuple[int, int], sides: list[str]
) -> None:
    block = _block(*shape)
    found = list(at_lower_unmatched_costs(block, solve(block, "jv", "cpu").col_of_row))
    assert len(found) == len(sides)
    for (lower, _), pays in zip(found, sides, strict=True):
        paid, nothing = lower.row_unmatched, lower.col_unmatched
        if pays == "columns":
            paid, nothing = nothing, paid
        assert not nothing.any()
        assert (paid >= 2 * min(shape) * block.cost_matrix.max()).all()
        assert (paid < 1e-9 * FAR).all()


def test_what_members_pay_more_than_the_least_they_still_do() -> None:
    more = np.arange(5) * 2.0**20
    block = _block(5, 5, (FAR / 2**20 + more, FAR / 2**20 + more[::-1]))
    for lower, _ in at_lower_unmatched_costs(block, solve(block, "jv", "cpu").col_of_row):
        np.testing.assert_allclose(lower.row_unmatched - lower.row_unmatched.min(), more, rtol=1e-9)
        np.testing.assert_allclose(lower.col_unmatched - lower.col_unmatched.min(), more[::-1], rtol=1e-9)


@pytest.mark.parametrize("unmatched_cost", [0.3, 10.0, 1000.0])
def test_unmatched_costs_that_duals_have_digits_for_stay(unmatched_cost: float) -> None:
    block = _block(4, 4, unmatched_cost)
    assert not list(at_lower_unmatched_costs(block, solve(block, "jv", "cpu").col_of_row))


def test_where_all_pairs_are_free_no_lower_unmatched_cost_says_that_all_are_matched() -> None:
    block = Problem.dense(np.zeros((4, 4)), unmatched_cost=FAR)
    apart = np.array([0, 1, 2, -1], np.int32)
    assert not list(at_lower_unmatched_costs(block, apart))
    assert not verify(block, certify(block, apart, np.zeros(4), solver=""))


def test_whole_numbers_and_problems_without_unmatched_costs_have_none() -> None:
    for block in (Problem.dense(np.ones((3, 3), int), unmatched_cost=10**9), Problem.dense(np.ones((3, 3)))):
        assert not list(at_lower_unmatched_costs(block, np.arange(3, dtype=np.int32)))


def test_sentinels_beyond_reach_are_no_measure_of_what_is_far() -> None:
    """Two rows cost 1e15 everywhere and stay unassigned at 1e12; of all others none costs more than 1."""
    cost = np.random.default_rng(2).random((207, 203))
    cost[:2] = 1e15
    block = Problem.dense(cost, unmatched_cost=1e12)
    right = solve(block, "jv", "cpu").col_of_row
    assert (right[:2] == -1).all()
    found = list(at_lower_unmatched_costs(block, right))
    assert found
    for lower, v in found:
        assert lower.row_unmatched.max() + lower.col_unmatched.max() == cost[2:].max()
        assert certify(lower, right, v, solver="").is_optimal
