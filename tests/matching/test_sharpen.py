"""Costs that span many decades: proven all the same, and nothing is proven that is not the optimum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auctrack.matching import Problem, solve, verify
from auctrack.matching.certificate import certify
from auctrack.matching.sharpen import sharpened


def _scaled(seed: int, decades: float, shape: tuple[int, int] = (35, 40)) -> np.ndarray:
    """Return uniform costs whose rows and columns are scaled by powers of ten of their own."""
    rng = np.random.default_rng(seed)
    rows, cols = (10.0 ** rng.uniform(-decades / 2, decades / 2, size) for size in shape)
    return rng.random(shape) * np.outer(rows, cols)


@pytest.mark.parametrize("solver", ["auction", "jv", "sparse-jv"])
@pytest.mark.parametrize("shape", [(35, 35), (35, 40), (40, 35)], ids=str)
@pytest.mark.parametrize("decades", [12, 17, 22])
def test_costs_over_many_decades_are_proven(decades: int, shape: tuple[int, int], solver: str) -> None:
    for seed in range(12):
        cost = _scaled(seed, decades, shape)
        assert verify(cost, solve(cost, solver, "cpu")).is_optimal


def test_the_duals_of_every_block_are_sharpened() -> None:
    costs = np.stack([_scaled(seed, 17, (40, 40)) for seed in range(20)])
    answer = solve(Problem.dense(costs), "auction", "cpu")
    assert verify(costs, answer).is_optimal
    assert answer.stats["sharpened"] == 1


@pytest.mark.parametrize("solver", ["auction", "jv", "sparse-jv"])
@pytest.mark.parametrize("metric", ["distance", "squared"])
@pytest.mark.parametrize("seed", [1, 43, 208, 217])
def test_points_on_a_coarse_grid_are_proven(seed: int, metric: Any, solver: str) -> None:
    rng = np.random.default_rng(seed)
    n, m = rng.integers(20, 70, 2)
    rng.normal(size=n + m)
    problem = Problem.points(rng.integers(0, 4, (n, 3)), rng.integers(0, 4, (m, 3)), metric=metric)
    assert verify(problem, solve(problem, solver, "cpu")).is_optimal


def _unproven(problem: Problem, col_of_row: Any) -> Any:
    return certify(problem, np.array(col_of_row, np.int32), np.zeros(problem.n_cols), solver="")


@pytest.mark.parametrize(
    ("cost", "unmatched_cost"),
    [
        ([[2.0, 1.0], [1.0, 2.0]], None),
        ([[2.0, 1.0, 5.0]], None),
        ([[2.0], [1.0]], None),
        ([[9.0, 1.0], [1.0, 9.0]], 3.0),
    ],
    ids=["exchange", "free column", "lone row", "price"],
)
def test_links_that_are_not_the_cheapest_stay_unproven(cost: Any, unmatched_cost: float | None) -> None:
    problem = Problem.dense(cost, unmatched_cost=unmatched_cost)
    links = range(problem.n_rows) if problem.n_rows <= problem.n_cols else [0, -1]
    answer = _unproven(problem, links)
    assert not answer.is_optimal
    assert sharpened(problem, answer) is answer


def test_right_links_are_proven_from_wrong_duals() -> None:
    problem = Problem.dense([[1.0, 2.0], [2.5, 1.0]])
    answer = certify(problem, np.array([0, 1], np.int32), np.array([0.0, -3.0]), solver="")
    assert not answer.is_optimal
    assert sharpened(problem, answer).is_optimal


@pytest.mark.parametrize("scale", [1.0, 1e9])
def test_duals_too_low_by_rounding_are_raised_where_a_free_column_forbids_to_lower_others(scale: float) -> None:
    problem = Problem.dense(np.array([[0.0, 0.0, 2.0], [3.0, 4.0, 1.0]]) * scale)
    answer = certify(problem, np.array([0, 2], np.int32), np.array([-1e-17, 0.0, 0.0]) * scale, solver="")
    assert not answer.is_optimal
    assert sharpened(problem, answer).is_optimal


def test_an_incomplete_matching_is_left_alone() -> None:
    problem = Problem.dense(np.ones((2, 2)))
    answer = _unproven(problem, [0, -1])
    assert sharpened(problem, answer) is answer
