"""Prices that only say that all are to be matched: put aside, and the answer is proven for the problem as stated."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.matching import Problem, solve, verify
from auctrack.matching.presolve.idle_prices import FEWEST, without_idle_prices

EQUAL, WIDE, TALL = (FEWEST, FEWEST), (FEWEST, FEWEST + 30), (FEWEST + 30, FEWEST)
DEAREST = 10.0


def costs(shape: tuple[int, int], seed: int = 0) -> np.ndarray:
    drawn = np.random.default_rng(seed).random(shape) * DEAREST
    drawn[0, 0] = DEAREST
    return drawn


def solved(problem: Problem) -> tuple[list[bool], object]:
    """Solve, and return whether what was solved had prices."""
    had: list[bool] = []

    def watched(stated: Problem):
        had.append(stated.has_unmatched_cost)
        return solve(stated, "jv", "cpu")

    return had, without_idle_prices(problem, watched)


@pytest.mark.parametrize(
    ("shape", "of_rows", "of_cols"),
    [
        *((EQUAL, *prices) for prices in ((5.0, 5.0), (0.0, 10.0), (10.0, 0.0), (1e3, 1e3), (-40.0, 50.0))),
        *((WIDE, of_rows, 0.0) for of_rows in (10.0, 1e6)),
        *((TALL, 0.0, of_cols) for of_cols in (10.0, 1e6)),
    ],
)
def test_the_answer_is_proven_for_the_prices_and_costs_what_it_costs_with_them(shape, of_rows, of_cols):
    c = costs(shape)
    problem = Problem.dense(c, unmatched_cost=(of_rows, of_cols))
    had, answer = solved(problem)
    assert had == [False]
    assert answer.is_optimal
    assert verify(problem, answer)
    assert answer.cost == pytest.approx(solve(Problem.dense(c), "auction", "cpu").cost)
    assert (answer.row_duals <= of_rows).all()
    assert (answer.col_duals <= of_cols).all()


@pytest.mark.parametrize("metric", ["distance", "squared"])
def test_points_are_bounded_by_their_box(metric):
    x, y = np.random.default_rng(1).random((2, FEWEST, 3))
    problem = Problem.points(x, y, metric=metric, unmatched_cost=2.0)
    had, answer = solved(problem)
    assert had == [False]
    assert answer.is_optimal
    assert verify(problem, answer)
    assert (answer.col_of_row >= 0).all()


@pytest.mark.parametrize("prices", [501, (0, 1001), (1500, -400)], ids=str)
def test_whole_numbers_stay_exact(prices):
    problem = Problem.dense(np.random.default_rng(2).integers(0, 1000, EQUAL), unmatched_cost=prices)
    had, answer = solved(problem)
    assert had == [False]
    assert answer.gap == 0
    assert answer.row_duals.dtype == np.int64
    assert verify(problem, answer)


def test_prices_that_differ_where_sides_are_equal_are_put_aside():
    c = costs(EQUAL)
    of_rows, of_cols = np.linspace(-3, 800, len(c)), np.linspace(13, 50, len(c))
    problem = Problem.dense(c, unmatched_cost=(of_rows, of_cols))
    had, answer = solved(problem)
    assert had == [False]
    assert answer.is_optimal
    assert verify(problem, answer)


@pytest.mark.parametrize(
    "problem",
    [
        Problem.dense(costs(EQUAL), unmatched_cost=4.9),
        Problem.dense(np.where(costs(EQUAL) < 1, np.inf, costs(EQUAL)), unmatched_cost=100.0),
        Problem.dense(costs((FEWEST - 1, FEWEST - 1)), unmatched_cost=100.0),
        Problem.dense(costs(WIDE), unmatched_cost=100.0),
        Problem.batch([Problem.dense(costs(EQUAL), unmatched_cost=100.0)] * 2),
    ],
    ids=["a pair is dearer", "forbidden pairs", "small", "a longer side that pays", "batch"],
)
def test_other_prices_are_kept(problem):
    had, answer = solved(problem)
    assert had == [True]
    assert verify(problem, answer)


def test_a_line_with_a_price_that_does_not_matter_is_sorted():
    rng = np.random.default_rng(3)
    problem = Problem.points(rng.random((1000, 1)), rng.random((1000, 1)), metric="squared", unmatched_cost=1.0)
    answer = solve(problem, device="cpu")
    assert answer.solver == "sorting"
    assert verify(problem, answer)
