"""Matrices of squared distances or inner products are solved as points: the optimum of the matrix, proven on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from auctrack.matching import Assignment, NotConverged, Problem, solve, verify
from auctrack.matching.presolve.bilinear import FEWEST, _crosses, by_points

N = FEWEST + 20


def _sides(axes: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.random.default_rng(seed).normal(size=(2, N, axes))
    return x, y + 3.0


def _squared(axes: int) -> np.ndarray:
    return cdist(*_sides(axes), "sqeuclidean")


def _products(axes: int) -> np.ndarray:
    x, y = _sides(axes)
    return x @ y.T


def _weighted(axes: int) -> np.ndarray:
    rng = np.random.default_rng(2)
    return _products(axes) + 100.0 * rng.random((N, 1)) - 50.0 * rng.random(N)


@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize("make", [_squared, _products, _weighted], ids=lambda make: make.__name__)
def test_the_optimum_is_that_of_the_matrix(make: Callable[[int], np.ndarray], axes: int) -> None:
    costs = make(axes)
    answer = solve(costs, device="cpu")
    assert (answer.solver, "points" in answer.stats["auto"]) == ("auction", True)
    assert verify(costs, answer).is_optimal
    assert answer.cost == pytest.approx(solve(costs, "jv", "cpu").cost, rel=1e-12)


@pytest.mark.parametrize("unit", [1e-290, 1e-120, 1e200, 1e300])
def test_no_unit_is_too_small_or_too_large(unit: float) -> None:
    costs = unit * _products(3)
    answer = solve(costs, device="cpu")
    assert verify(costs, answer).is_optimal
    assert answer.cost / unit == pytest.approx(solve(costs / unit, device="cpu").cost, rel=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", range(4))
def test_one_far_point_beside_which_others_are_a_rounding_is_no_error(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.random((2, N, 2))
    x[0] = 1e8
    costs = ((x[:, None] - y[None]) ** 2).sum(axis=-1)
    assert verify(costs, solve(costs, device="cpu")).is_optimal


def _refused(problem: Problem) -> Assignment:
    raise AssertionError(f"{problem} should not be solved")


def _coincident() -> np.ndarray:
    x, y = _sides(3)
    return cdist(x[np.arange(N) // 2], y, "sqeuclidean")


def _between_points_of_a_grid() -> np.ndarray:
    x, y = np.random.default_rng(6).integers(0, 40, (2, N, 3)).astype(float)
    return cdist(x, y, "sqeuclidean")


@pytest.mark.parametrize(
    "problem",
    [
        Problem.dense(cdist(*_sides(3))),
        Problem.dense(_products(4)),
        Problem.dense(_products(3) + 1e-9 * np.random.default_rng(3).random((N, N))),
        Problem.dense(np.rint(_squared(3)).astype(np.int64)),
        Problem.dense(_between_points_of_a_grid().astype(np.int64)),
        Problem.dense(_squared(3)[:-1]),
        Problem.dense(_squared(3), unmatched_cost=9.0),
        Problem.dense(_squared(3), forbidden=np.eye(N, dtype=bool)),
        Problem.dense(_squared(3)[: FEWEST - 1, : FEWEST - 1]),
        Problem.dense(np.ones((N, N))),
        Problem.dense(np.zeros((N, N))),
        Problem.dense(_coincident()),
        Problem.dense(_coincident().T),
    ],
    ids=[
        *("distances", "four axes", "noise", "rounded", "integers", "unequal", "unmatched cost", "forbidden", "small"),
        *("constant", "zeros", "coincident rows", "coincident columns"),
    ],
)
def test_others_are_left_alone(problem: Problem) -> None:
    assert by_points(problem, _refused) is None


def test_where_neighbours_do_not_decide_the_matrix_is_solved() -> None:
    def gives_up(problem: Problem) -> Assignment:
        raise NotConverged(f"{problem} is too hard")

    assert by_points(Problem.dense(_squared(3)), gives_up) is None


def _gives_up_a_matrix(problem: Problem) -> Assignment:
    if problem.kind == "dense":
        raise NotConverged(f"{problem} is too hard")
    return solve(problem, device="cpu")


def test_what_points_leave_the_matrix_settles() -> None:
    """Many exchanges of points on a grid cost nothing, of which rounding decides."""
    costs = 0.01 * _between_points_of_a_grid()
    answer = by_points(Problem.dense(costs), _gives_up_a_matrix)
    assert answer is not None
    assert answer.is_optimal
    assert answer.stats["rows_scanned"] > 0
    assert answer.cost == pytest.approx(solve(costs, "jv", "cpu").cost, rel=1e-12)


def test_what_the_matrix_does_not_prove_is_left_to_others() -> None:
    """Beside such duals no two costs differ."""

    def errs(problem: Problem) -> Assignment:
        found = _gives_up_a_matrix(problem)
        col_of_row, row_of_col = np.roll(found.col_of_row, 1), np.empty(N, np.int32)
        row_of_col[col_of_row] = np.arange(N)
        return replace(found, col_of_row=col_of_row, row_of_col=row_of_col, col_duals=found.col_duals + 1e25)

    assert by_points(Problem.dense(_squared(3)), errs) is None


def test_the_greatest_of_many_that_tie_is_where_to_cross() -> None:
    assert _crosses(np.array([[0.0, 1.0], [1.0, 0.0]]), 1.0) == [(0, 1), (1, 0)]


def test_copies_moved_by_noise_are_matched_as_they_are() -> None:
    x = np.random.default_rng(4).random((N, 3))
    costs = cdist(x, x + 1e-3 * np.random.default_rng(5).normal(size=x.shape), "sqeuclidean")
    answer = solve(costs, device="cpu")
    assert answer.solver == "jv"
    assert answer.stats["rows_scanned"] < N
    assert verify(costs, answer).is_optimal
