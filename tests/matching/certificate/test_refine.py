"""Costs that span many decades, and ties to the last digit: proven all the same, by other duals or edges."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from auctrack.matching import Problem, solve, verify
from auctrack.matching.certificate import refine
from auctrack.matching.certificate.certify import MOST_PAIRS, certify
from auctrack.matching.certificate.refine import _refined_blocks, refined
from auctrack.matching.problem.convert import as_sparse
from auctrack.matching.solvers import Solver

from ..cases import JV_FORMS, ON_CPU, nearly_tied


def _scaled(seed: int, decades: float, shape: tuple[int, int] = (35, 40)) -> np.ndarray:
    """Return uniform costs whose rows and columns are scaled by powers of ten of their own."""
    rng = np.random.default_rng(seed)
    rows, cols = (10.0 ** rng.uniform(-decades / 2, decades / 2, size) for size in shape)
    return rng.random(shape) * np.outer(rows, cols)


@pytest.mark.parametrize("solver", ["auction", *JV_FORMS], ids=str)
@pytest.mark.parametrize("shape", [(35, 35), (35, 40), (40, 35)], ids=str)
@pytest.mark.parametrize("decades", [12, 17, 22])
def test_costs_over_many_decades_are_proven(decades: int, shape: tuple[int, int], solver: str | Solver) -> None:
    for seed in range(12):
        cost = _scaled(seed, decades, shape)
        assert verify(cost, solve(cost, solver, "cpu")).is_optimal


def test_the_duals_of_every_block_are_refined() -> None:
    costs = np.stack([_scaled(seed, 17, (40, 40)) for seed in range(20)])
    answer = solve(Problem.dense(costs), "auction", "cpu")
    assert verify(costs, answer).is_optimal
    assert answer.stats["refined"] == 1


@pytest.mark.parametrize("solver", ["auction", *JV_FORMS], ids=str)
@pytest.mark.parametrize("metric", ["distance", "squared"])
@pytest.mark.parametrize("seed", [1, 43, 208, 217])
def test_points_on_a_coarse_grid_are_proven(seed: int, metric: Any, solver: str | Solver) -> None:
    rng = np.random.default_rng(seed)
    n, m = rng.integers(20, 70, 2)
    rng.normal(size=n + m)
    problem = Problem.points(rng.integers(0, 4, (n, 3)), rng.integers(0, 4, (m, 3)), metric=metric)
    assert verify(problem, solve(problem, solver, "cpu")).is_optimal


def _unproven(problem: Problem, col_of_row: Any) -> Any:
    return certify(problem, np.array(col_of_row, np.int32), np.zeros(problem.n_cols), solver="")


@pytest.mark.parametrize("solver", ON_CPU, ids=str)
@pytest.mark.parametrize("metric", ["distance", "squared"])
@pytest.mark.parametrize("unmatched_cost", [None, 0.1])
@pytest.mark.parametrize("seed", range(8))
def test_points_that_tie_but_for_rounding_are_proven(
    seed: int, unmatched_cost: float | None, metric: Any, solver: str | Solver
) -> None:
    rng = np.random.default_rng(seed)
    x, y = nearly_tied(seed, n=int(rng.integers(20, 150)), axes=int(rng.integers(1, 4)))
    problem = Problem.points(x, y, metric=metric, unmatched_cost=unmatched_cost)
    assert verify(problem, solve(problem, solver, "cpu")).is_optimal


CHEAPER_EDGES = {
    "exchange": ([[2.0, 1.0], [1.0, 2.0]], None, [0, 1], [1, 0]),
    "cycle of three": ([[2.0, 1.0, 9.0], [9.0, 2.0, 1.0], [1.0, 9.0, 2.0]], None, [0, 1, 2], [1, 2, 0]),
    "free column": ([[2.0, 1.0, 5.0]], None, [0], [1]),
    "unassigned row": ([[2.0], [1.0]], None, [0, -1], [-1, 0]),
    "unmatched_cost": ([[9.0, 1.0], [1.0, 9.0]], 3.0, [0, 1], [1, 0]),
    "to stay unassigned": ([[9.0, 7.0], [8.0, 1.0]], 3.0, [0, 1], [-1, 1]),
    "to be matched": ([[2.0, 7.0], [8.0, 1.0]], 3.0, [-1, -1], [0, 1]),
    "to be matched at more than either pays unassigned": ([[5.0, 7.0], [8.0, 5.0]], 3.0, [-1, -1], [0, 1]),
    "forbidden": ([[5.0, np.inf, 1.0], [1.0, 5.0, np.inf], [np.inf, 1.0, 5.0]], None, [0, 1, 2], [2, 0, 1]),
}
"""Costs, unmatched cost, matched edges, and the cheapest ones."""


@pytest.mark.parametrize("case", CHEAPER_EDGES)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_edges_are_exchanged_for_the_cheapest(kind: str, case: str) -> None:
    cost, unmatched_cost, partners, cheapest = CHEAPER_EDGES[case]
    problem = Problem.dense(cost, unmatched_cost=unmatched_cost)
    problem = problem if kind == "dense" else as_sparse(problem)
    answer = _unproven(problem, partners)
    assert not answer.is_optimal
    better = refined(problem, answer)
    assert better.col_of_row.tolist() == cheapest
    assert verify(problem, better).is_optimal


def test_what_is_too_far_from_the_cheapest_stays_unproven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auctrack.matching.certificate.refine.SWEEPS", 0)
    problem = Problem.dense([[2.0, 1.0], [1.0, 2.0]])
    answer = _unproven(problem, [0, 1])
    assert refined(problem, answer) is answer


def test_right_edges_are_proven_from_wrong_duals() -> None:
    problem = Problem.dense([[1.0, 2.0], [2.5, 1.0]])
    answer = certify(problem, np.array([0, 1], np.int32), np.array([0.0, -3.0]), solver="")
    assert not answer.is_optimal
    assert refined(problem, answer).is_optimal


@pytest.mark.parametrize("scale", [1.0, 1e9])
def test_duals_too_low_by_rounding_are_raised_where_a_free_column_forbids_to_lower_others(scale: float) -> None:
    problem = Problem.dense(np.array([[0.0, 0.0, 2.0], [3.0, 4.0, 1.0]]) * scale)
    answer = certify(problem, np.array([0, 2], np.int32), np.array([-1e-17, 0.0, 0.0]) * scale, solver="")
    assert not answer.is_optimal
    assert refined(problem, answer).is_optimal


def test_an_incomplete_matching_is_left_alone() -> None:
    problem = Problem.dense(np.ones((2, 2)))
    answer = _unproven(problem, [0, -1])
    assert refined(problem, answer) is answer


def test_a_block_that_is_proven_stays_as_it_is_beside_one_that_is_not() -> None:
    """Over 80 decades twice the precision is too little, so that a search would take its proof away."""
    rng = np.random.default_rng(139)
    proven = Problem.dense(rng.random((6, 8)) * 10.0 ** rng.integers(-40, 40, (6, 8)))
    own = solve(proven, "jv", "cpu")
    batch = Problem.batch([proven, Problem.dense([[2.0, 1.0], [1.0, 2.0]])])
    partners, duals = np.append(own.col_of_row, [0, 1]).astype(np.int32), np.append(own.col_duals, [0.0, 0.0])
    answer = refined(batch, certify(batch, partners, duals, solver=""))
    np.testing.assert_array_equal(answer.block(0).col_duals, own.col_duals)
    assert answer.block(1).col_of_row.tolist() == [1, 0]
    assert verify(batch, answer)


def test_point_sets_beyond_their_matrix_are_settled_on_the_pairs_next_to_zero_slack() -> None:
    rng = np.random.default_rng(1)
    x, y = (rng.integers(8, size=(2100, 3)) + 1e-3 * rng.normal(size=(2100, 3)) for _ in range(2))
    problem = Problem.points(x, y, metric="squared")
    assert problem.n_edges > MOST_PAIRS
    proven = solve(problem, "jv", "cpu")
    noise = 1 + 1e-12 * rng.random(2100)
    unproven = certify(problem, proven.col_of_row, proven.col_duals * noise, solver="")
    assert not unproven.is_optimal
    settled = refined(problem, unproven)
    assert verify(problem, settled).is_optimal
    np.testing.assert_array_equal(settled.col_of_row, proven.col_of_row)


def _largest_slack(cost: np.ndarray, col_of_row: np.ndarray, v: np.ndarray) -> float:
    """How much more than its least any row pays, without rounding."""
    left = [[Fraction(c) - Fraction(dual) for c, dual in zip(row, v, strict=True)] for row in cost.tolist()]
    return float(max(row[j] - min(row) for row, j in zip(left, col_of_row, strict=True)))


def test_the_least_cost_of_a_column_is_the_same_of_a_matrix_and_of_its_edges() -> None:
    """To stay unassigned is one of the costs; what can be neither matched nor unassigned has 0."""
    cost = np.array([[5.0, np.inf, 2.0, np.inf], [3.0, np.inf, 9.0, 1e20]])
    bound = np.array([np.inf, np.inf, 1.5, 7.0])
    edges = as_sparse(Problem.dense(cost))
    for indices, data in ((None, cost.reshape(-1)), (edges.indices, edges.data)):
        assert refine._least_of_columns(indices, data, bound).tolist() == [3.0, 0.0, 1.5, 7.0]


@pytest.mark.parametrize("form", [Problem.dense, lambda cost: as_sparse(Problem.dense(cost))], ids=["dense", "sparse"])
@pytest.mark.parametrize("far", [1e20, -1e20])
def test_a_dual_far_from_the_others_takes_no_digits_from_them(far: float, form: Any) -> None:
    """All of them may move: the far one is to be exact, and all others near 0."""
    cost = np.random.default_rng(0).random((5, 5))
    cost[:, 0] = far  # whichever row takes it, so that the others decide
    col_of_row = linear_sum_assignment(np.where(cost == far, 0.0, cost))[1].astype(np.int32)
    found = _refined_blocks(form(cost), col_of_row, np.zeros(5))
    assert found is not None
    np.testing.assert_array_equal(found[0], col_of_row)
    assert _largest_slack(cost, *found) < 1e-15


def test_where_duals_at_hand_are_beyond_all_digits_others_begin_at_what_columns_cost_at_least() -> None:
    cost = np.random.default_rng(0).random((110, 110))  # too many pairs to be decided in whole numbers
    v = np.zeros(110)
    v[:50] = -1e30
    found = _refined_blocks(Problem.dense(cost), linear_sum_assignment(cost)[1].astype(np.int32), v)
    assert found is not None
    assert _largest_slack(cost, *found) < 1e-15


def test_no_edge_is_exchanged_for_one_that_a_mask_forbids() -> None:
    cost = np.array([[5.0, 0.0, 2.0], [2.0, 5.0, 0.0], [0.0, 2.0, 5.0]])
    problem = Problem.dense(cost, forbidden=cost == 0.0)
    better = refined(problem, _unproven(problem, [0, 1, 2]))
    assert better.col_of_row.tolist() == [2, 0, 1]
    assert verify(problem, better)


def test_large_point_sets_that_are_not_proven_near_zero_slack_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refine, "MOST_PAIRS", 3)
    x = np.arange(4.0)[:, None]
    problem = Problem.points(x, x)
    answer = _unproven(problem, [1, 0, 2, 3])
    assert not answer.is_optimal
    assert refined(problem, answer).is_optimal
    monkeypatch.setattr(refine, "_refined_blocks", lambda _, *stated: stated)
    assert refined(problem, answer) is answer
    batch = Problem.batch([problem, problem])
    answer = _unproven(batch, [1, 0, 2, 3] * 2)
    assert refined(batch, answer) is answer
