"""Unmatched costs that only say that all are to be matched: put aside, the answer proven for the problem as stated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from auctrack.matching import Problem, solve, verify
from auctrack.matching.certificate import certify
from auctrack.matching.presolve import idle_unmatched_costs
from auctrack.matching.presolve.idle_unmatched_costs import FEWEST, without_idle_unmatched_costs

EQUAL, WIDE, TALL = (FEWEST, FEWEST), (FEWEST, FEWEST + 30), (FEWEST + 30, FEWEST)
DEAREST = 10.0


def costs(shape: tuple[int, int], seed: int = 0) -> np.ndarray:
    drawn = np.random.default_rng(seed).random(shape) * DEAREST
    drawn[0, 0] = DEAREST
    return drawn


def solved(problem: Problem) -> tuple[list[bool], object]:
    """Solve, and return whether what was solved had unmatched costs."""
    had: list[bool] = []

    def watched(stated: Problem):
        had.append(stated.has_unmatched_cost)
        return solve(stated, "jv", "cpu")

    return had, without_idle_unmatched_costs(problem, watched)


@pytest.mark.parametrize(
    ("shape", "of_rows", "of_cols"),
    [
        *(
            (EQUAL, *unmatched_costs)
            for unmatched_costs in ((5.0, 5.0), (0.0, 10.0), (10.0, 0.0), (1e3, 1e3), (-40.0, 50.0))
        ),
        *(
            (WIDE, *unmatched_costs)
            for unmatched_costs in ((10.0, 0.0), (1e6, 0.0), (10.0, 3.0), (-5.0, 100.0), (40.0, -25.0))
        ),
        *(
            (TALL, *unmatched_costs)
            for unmatched_costs in ((0.0, 10.0), (0.0, 1e6), (3.0, 10.0), (100.0, -5.0), (-25.0, 40.0))
        ),
    ],
)
def test_the_answer_is_proven_for_the_unmatched_costs_and_costs_what_it_costs_with_them(shape, of_rows, of_cols):
    c = costs(shape)
    problem = Problem.dense(c, unmatched_cost=(of_rows, of_cols))
    had, answer = solved(problem)
    assert had == [False]
    assert answer.is_optimal
    assert verify(problem, answer)
    unassigned = max(shape[0] - shape[1], 0) * of_rows + max(shape[1] - shape[0], 0) * of_cols
    assert answer.cost == pytest.approx(solve(Problem.dense(c), "auction", "cpu").cost + unassigned)
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


@pytest.mark.parametrize("unmatched_costs", [501, (0, 1001), (1500, -400)], ids=str)
def test_whole_numbers_stay_exact(unmatched_costs):
    problem = Problem.dense(np.random.default_rng(2).integers(0, 1000, EQUAL), unmatched_cost=unmatched_costs)
    had, answer = solved(problem)
    assert had == [False]
    assert answer.gap == 0
    assert answer.row_duals.dtype == np.int64
    assert verify(problem, answer)


@pytest.mark.parametrize("shape", [WIDE, TALL])
def test_whole_numbers_of_unequal_sides_stay_exact(shape):
    c = np.random.default_rng(2).integers(0, 1000, shape)
    problem = Problem.dense(c, unmatched_cost=10**12)
    had, answer = solved(problem)
    assert had == [False]
    assert answer.gap == 0
    assert verify(problem, answer)


def test_unequal_point_sets_are_proven_on_few_of_all_pairs(monkeypatch):
    """Each pair is worth an edge at such an unmatched cost; the proof must not write them out."""
    monkeypatch.setattr(certify, "MOST_PAIRS", 0)
    monkeypatch.setattr(certify, "as_sparse", None)
    rng = np.random.default_rng(6)
    problem = Problem.points(rng.random((FEWEST, 2)), rng.random((FEWEST + 5, 2)), unmatched_cost=1e4)
    answer = solve(problem, "auction", "cpu")
    assert answer.is_optimal
    assert verify(problem, answer)


@pytest.mark.parametrize("unmatched_cost", [1e6, 1e9, 1e12, 1e20, 1e30])
def test_a_unmatched_cost_that_leaves_duals_too_few_digits_is_proven_with_more(unmatched_cost):
    problem = Problem.dense(costs(WIDE), unmatched_cost=unmatched_cost)
    had, answer = solved(problem)
    assert had == [False]
    assert answer.is_optimal
    assert answer.gap < 1e-14
    assert verify(problem, answer)


def test_unmatched_costs_at_which_nothing_is_proven_are_kept(monkeypatch):
    proven = idle_unmatched_costs.recertified
    monkeypatch.setattr(idle_unmatched_costs, "recertified", lambda *of: replace(proven(*of), is_optimal=False))
    problem = Problem.dense(costs(WIDE), unmatched_cost=1e12)
    had, answer = solved(problem)
    assert had == [False, True]
    assert answer.is_optimal
    assert verify(problem, answer)


def test_unmatched_costs_that_differ_where_sides_are_equal_are_put_aside():
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
        Problem.dense(costs(WIDE), unmatched_cost=(100.0, np.arange(float(WIDE[1])))),
        Problem.dense(costs(TALL), unmatched_cost=(np.arange(float(TALL[0])), 100.0)),
        Problem.batch([Problem.dense(costs(EQUAL), unmatched_cost=100.0)] * 2),
    ],
    ids=[
        "a pair is dearer",
        "forbidden pairs",
        "small",
        "more columns, which pay differently",
        "more rows, which pay differently",
        "batch",
    ],
)
def test_other_unmatched_costs_are_kept(problem):
    had, answer = solved(problem)
    assert had == [True]
    assert verify(problem, answer)


def test_a_line_with_a_unmatched_cost_that_does_not_matter_is_sorted():
    rng = np.random.default_rng(3)
    problem = Problem.points(rng.random((1000, 1)), rng.random((1000, 1)), metric="squared", unmatched_cost=1.0)
    answer = solve(problem, device="cpu")
    assert answer.solver == "sorting"
    assert verify(problem, answer)
