"""The paper's auction: exact for integers by its increment, within the stated bound for real costs."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.matching import Auction, InvalidProblem, NotConverged, Problem, solve, verify

from ...refusals import refused
from ..cases import CASES, Case, assert_solves

SHAPES = [(1, 1), (40, 40), (30, 70), (70, 30)]
WHOLE = [
    case
    for case in CASES
    if case.problem.is_integer and case.name != "" and abs(case.problem.data).max(initial=0) < 2**30
]


@pytest.mark.parametrize("convergence", ["counter", "reduction"])
@pytest.mark.parametrize("case", WHOLE, ids=str)
def test_whole_costs_are_proven_optimal(case: Case, convergence: str):
    assert_solves(case, Auction(variant="paper", convergence=convergence))


@pytest.mark.parametrize(("n", "m"), SHAPES)
@pytest.mark.parametrize("unmatched_cost", [None, 0.1])
def test_real_costs_are_within_a_tenth_of_the_largest_difference(n: int, m: int, unmatched_cost: float | None):
    cost = np.random.default_rng(0).random((n, m))
    problem = Problem.dense(cost, unmatched_cost=unmatched_cost)
    answer = solve(problem, Auction(variant="paper"))
    assert verify(problem, answer).is_valid
    assert answer.gap <= 0.1 * np.ptp(cost) * (1 + 1e-9) + 1e-15 * answer.cost  # what rounding may leave in it
    assert answer.cost <= solve(problem, "jv").cost + 0.1 * np.ptp(cost)


def test_both_convergence_tests_see_the_same_auction():
    cost = np.random.default_rng(1).random((60, 80))
    counter, reduction = (solve(cost, Auction(variant="paper", convergence=c)) for c in ("counter", "reduction"))
    np.testing.assert_array_equal(counter.col_of_row, reduction.col_of_row)
    assert counter.stats["iterations"] == reduction.stats["iterations"]
    assert counter.stats["bids"] == reduction.stats["bids"] >= 60


def test_eps_is_the_fixed_increment():
    cost = np.random.default_rng(2).random((50, 50))
    answer = solve(cost, Auction(variant="paper", eps=1e-4))
    assert answer.stats["eps"] == 1e-4
    assert answer.gap <= 50 * 1e-4 * (1 + 1e-9)


def test_points_are_matched_through_their_matrix():
    rng = np.random.default_rng(3)
    x = rng.random((100, 3))
    problem = Problem.points(x, x[rng.permutation(100)] + 0.01 * rng.normal(size=(100, 3)))
    answer = solve(problem, Auction(variant="paper"))
    assert verify(problem, answer).is_valid
    assert answer.n_matched == 100


def test_a_spent_budget_carries_what_is_known():
    with pytest.raises(NotConverged) as caught:
        solve(np.random.default_rng(4).random((50, 50)), Auction(variant="paper", max_bids=1))
    assert caught.value.assignment is not None
    assert caught.value.assignment.n_matched < 50


def test_costs_that_leave_int64_when_scaled_are_refused():
    with refused(InvalidProblem, argument="cost", match="int64"):
        solve(np.full((100, 100), 2**50), Auction(variant="paper"))
