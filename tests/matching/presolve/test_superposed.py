"""Sets from different distributions, laid over each other, have the optimum that they have as stated."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from auctrack.matching import NotConverged, Problem, solve, verify
from auctrack.matching.device import cuda
from auctrack.matching.presolve.superposed import FEWEST, solve_superposed

Sets = tuple[np.ndarray, np.ndarray]


def _apart(n: int, rng: np.random.Generator) -> Sets:
    x, y = rng.normal(size=(2, n, 3))
    return x, y + np.array([3.0, 0.0, 0.0])


def _cube_and_slab(n: int, rng: np.random.Generator) -> Sets:
    return rng.random((n, 3)), rng.uniform([0, 0, 0.4], [1, 1, 0.5], (n, 3))


def _of_other_units(n: int, rng: np.random.Generator) -> Sets:
    return 1e-9 * rng.random((n, 2)), 1e6 + 1e3 * rng.random((n, 2))


def _turned(n: int, rng: np.random.Generator) -> Sets:
    x, y = rng.normal(size=(2, n, 2)) * [10.0, 1.0]
    return x, y[:, ::-1]


def _plane_and_space(n: int, rng: np.random.Generator) -> Sets:
    return rng.random((n, 3)) * [1, 1, 0], rng.random((n, 3)) + 5.0


def _one_place(n: int, rng: np.random.Generator) -> Sets:
    return np.ones((n, 3)), rng.random((n, 3))


def _far_from_origin(n: int, rng: np.random.Generator) -> Sets:
    x, y = 1e8 + rng.random((2, n, 3))
    return x, y + np.array([1.0, 0.0, 0.0])


DIFFERING = _apart, _cube_and_slab, _of_other_units, _turned, _plane_and_space, _one_place, _far_from_origin


def _problem(make: Callable[[int, np.random.Generator], Sets], n: int, seed: int = 1) -> Problem:
    return Problem.points(*make(n, np.random.default_rng(seed)), metric="squared")


@pytest.mark.parametrize("solver", ["auction", "jv", "hungarian-classical"])
@pytest.mark.parametrize("make", DIFFERING, ids=lambda make: make.__name__)
def test_differing_sets_are_matched_at_the_least_cost(
    make: Callable[[int, np.random.Generator], Sets], solver: str
) -> None:
    problem = _problem(make, FEWEST + 20)
    answer = solve(problem, solver, "cpu")
    assert verify(problem, answer).is_optimal
    assert problem.x is not None
    assert problem.y is not None
    costs = ((problem.x[:, None] - problem.y) ** 2).sum(axis=2)
    assert answer.cost == pytest.approx(solve(costs, "jv", "cpu").cost, rel=1e-12)


def test_clouds_apart_are_no_harder_than_clouds_over_each_other() -> None:
    """Over several draws: of one, bids may be half as many again, or fewer, by the order in which pairs are found."""
    bids = np.zeros(2)
    for seed in range(3):
        apart = _problem(_apart, 2000, seed)
        assert apart.y is not None
        over = Problem.points(apart.x, apart.y - [3.0, 0.0, 0.0], metric="squared")
        stats = [solve(problem, "auction", "cpu").stats for problem in (apart, over)]
        assert all("matrix" not in counted for counted in stats)
        bids += [counted["bids"] for counted in stats]
    assert bids[0] < 1.5 * bids[1]


def _seen_by_the_method(problem: Problem) -> Problem:
    seen: list[Problem] = []

    def method(part: Problem) -> object:
        seen.append(part)
        return solve(part, "jv", "cpu")

    solve_superposed(problem, method)  # pyright: ignore[reportArgumentType]
    return seen[0]


def test_both_sides_are_moved_to_the_origin_and_get_one_covariance() -> None:
    seen = _seen_by_the_method(_problem(_cube_and_slab, 400))
    assert seen.x is not None
    assert seen.y is not None
    np.testing.assert_allclose([seen.x.mean(axis=0), seen.y.mean(axis=0)], 0, atol=1e-15)
    np.testing.assert_allclose(np.cov(seen.x.T), np.cov(seen.y.T), rtol=0.1, atol=1e-3)


def test_sets_that_are_alike_and_what_stretching_would_change_are_left_as_they_are() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.random((2, 300, 3))
    far = y + 9.0
    for problem in (
        Problem.points(x, y, metric="squared"),
        Problem.points(x, far),
        Problem.points(x[:-1], far, metric="squared"),
        Problem.points(x, far, metric="squared", unmatched_cost=1e3),
        Problem.points(x[: FEWEST - 1], far[: FEWEST - 1], metric="squared"),
    ):
        assert _seen_by_the_method(problem) is problem


def test_a_spent_budget_carries_an_answer_for_the_sets_as_stated() -> None:
    problem = _problem(_apart, 400)
    with pytest.raises(NotConverged) as caught:
        solve(problem, "auction", "cpu", max_bids=2)
    known = caught.value.assignment
    assert known is not None
    assert problem.x is not None
    assert problem.y is not None
    rows, cols = known.edges()
    assert known.cost == pytest.approx(((problem.x[rows] - problem.y[cols]) ** 2).sum())
    assert (
        known.row_duals + known.col_duals[:, None] <= ((problem.x - problem.y[:, None]) ** 2).sum(axis=2) + 1e-12
    ).all()


@pytest.mark.gpu
def test_arrays_on_a_gpu_stay_there() -> None:
    problem = _problem(_apart, 3000)
    assert problem.x is not None
    assert problem.y is not None
    x, y = map(cuda.cupy().asarray, (problem.x, problem.y))
    answer = solve(Problem.points(x, y, metric="squared"), device="cuda")
    assert cuda.is_device_array(answer.col_of_row)
    assert verify(problem, answer).is_optimal
    assert answer.cost == pytest.approx(solve(problem, device="cpu").cost, rel=1e-12)
