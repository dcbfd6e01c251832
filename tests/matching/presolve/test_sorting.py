"""Costs that sorting solves are recognised by their numbers alone, and proven; others are left to the solvers."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from auctrack.matching import Problem, solve, verify
from auctrack.matching.presolve.sorting import FEWEST, by_sorting, calls_for_sorting

N = FEWEST + 44


def sides(n=N, seed=0):
    return np.random.default_rng(seed).random((2, n))


def on_a_line(metric, n=N, m=N):
    """Points of a line that runs obliquely through space, shuffled."""
    x, y = sides(n)[0], sides(m)[1]
    along = np.array([1.0, 2.0, -0.5])
    return Problem.points(x[:, None] * along, y[:, None] * along, metric=metric)


def dense(cost):
    x, y = sides()
    return Problem.dense(cost(x[:, None], y))


def dense_unequal(cost, n=N, m=N + 20):
    return Problem.dense(cost(sides(n)[0][:, None], sides(m)[1]))


SORTED = {
    "distances": lambda: dense(lambda x, y: abs(x - y)),
    "squares": lambda: dense(lambda x, y: (x - y) ** 2),
    "products": lambda: dense(lambda x, y: x * y),
    "dearer to the right": lambda: dense(lambda x, y: np.where(y > x, 3.0, 1.0) * abs(x - y)),
    "exponentials": lambda: dense(lambda x, y: np.exp(x - y)),
    "cubes of whole numbers, many equal": lambda: dense(
        lambda x, y: abs((100 * x).astype(int) - (100 * y).astype(int)) ** 3
    ),
    "products of whole numbers, float32": lambda: Problem.dense(np.outer(*np.rint(1000 * sides())).astype(np.float32)),
    "all equal": lambda: Problem.dense(np.ones((N, N), np.int64)),
    "points, distances": lambda: on_a_line("distance"),
    "points, squares": lambda: on_a_line("squared"),
    "unequal: distances": lambda: dense_unequal(lambda x, y: abs(x - y)),
    "unequal: squares, tall": lambda: dense_unequal(lambda x, y: (x - y) ** 2, N + 30, N),
    "unequal: products": lambda: dense_unequal(lambda x, y: x * y),
    "unequal: products, half as many more": lambda: dense_unequal(lambda x, y: x * y, N, N * 3 // 2),
    "unequal: whole numbers": lambda: Problem.dense(np.outer(np.arange(1, N + 1), np.arange(N + 5, 0, -1))),
    "unequal: whole numbers, tall": lambda: Problem.dense(np.subtract.outer(np.arange(N + 5) ** 2, np.arange(N)) ** 2),
    "unequal: all equal": lambda: Problem.dense(np.ones((N, N + 7), np.int64)),
    "unequal: points, distances": lambda: on_a_line("distance", N, N + 12),
    "unequal: points, squares, tall": lambda: on_a_line("squared", N + 12, N),
}


@pytest.mark.parametrize("name", SORTED)
def test_convex_costs_on_a_line_are_sorted_and_proven(name):
    problem = SORTED[name]()
    answer = by_sorting(problem)
    assert answer is not None
    assert answer.is_optimal
    assert verify(problem, answer)
    cost = problem.cost_matrix if problem.kind == "dense" else np.sqrt(((problem.x[:, None] - problem.y) ** 2).sum(2))
    cost = cost**2 if problem.metric == "squared" else cost
    assert answer.cost == pytest.approx(cost[linear_sum_assignment(cost)].sum(), rel=1e-6)


LEFT_ALONE = {
    "independent costs": lambda: np.random.default_rng(0).random((N, N)),
    "a concave cost": lambda: dense(lambda x, y: np.sqrt(abs(x - y))),
    "points in space": lambda: Problem.points(*np.random.default_rng(0).random((2, N, 3))),
    "points in space, in a large unit": lambda: Problem.points(*1e-12 * np.random.default_rng(0).random((2, N, 3))),
    "unequal sides, independent costs": lambda: np.random.default_rng(0).random((N, N + 1)),
    "unequal sides, a concave cost": lambda: dense_unequal(lambda x, y: np.sqrt(abs(x - y))),
    "twice as many columns": lambda: dense_unequal(lambda x, y: (x - y) ** 2, N, 2 * N),
    "an unmatched cost": lambda: Problem.points(*sides()[..., None], unmatched_cost=0.1),
    "a forbidden pair": lambda: np.where(np.eye(N, k=5) > 0, np.inf, np.subtract.outer(*sides()) ** 2),
    "few rows": lambda: np.subtract.outer(*sides(20)) ** 2,
    "a batch": lambda: Problem.batch([np.subtract.outer(*sides()) ** 2] * 2),
}


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_other_costs_are_left_to_the_solvers(name):
    assert by_sorting(Problem.of(LEFT_ALONE[name]())) is None


@pytest.mark.parametrize("name", [*SORTED, *LEFT_ALONE])
def test_some_rows_and_columns_tell_which_matrices_to_fetch_from_a_gpu(name):
    problem = SORTED[name]() if name in SORTED else Problem.of(LEFT_ALONE[name]())
    assert calls_for_sorting(problem) == (name in SORTED and problem.kind == "dense")


@pytest.mark.parametrize("more", [0, 1, 9])
def test_one_crossing_that_pays_is_found(more):
    """Neighbours along the two orders say nothing of a pair far from them; the certificate does."""
    cost = np.subtract.outer(sides()[0], sides(N + more)[1]) ** 2
    cheap = np.argmax(cost, axis=1)[:3]
    cost[np.arange(3), cheap] = -5.0
    answer = solve(cost)
    assert answer.is_optimal
    assert answer.cost == pytest.approx(cost[linear_sum_assignment(cost)].sum())


def test_auto_says_that_it_sorted():
    answer = solve(np.subtract.outer(*sides()) ** 2)
    assert answer.solver == "sorting"
    assert "sorting" in answer.stats["auto"]


@pytest.mark.parametrize("seed", range(40))
def test_whoever_is_left_out_of_either_side_the_rest_is_the_cheapest(seed, monkeypatch):
    monkeypatch.setattr("auctrack.matching.presolve.sorting.FEWEST", 8)
    rng = np.random.default_rng(seed)
    n, more = rng.integers(8, 40), rng.integers(0, 5)
    x, y = rng.random(n + more) * 10.0 ** rng.integers(-2, 3), rng.random(n) + rng.integers(-2, 3)
    cost = [lambda d: d**2, abs, lambda d: np.where(d > 0, 3.0, 1.0) * abs(d)][seed % 3](np.subtract.outer(x, y))
    for stated in (cost, cost.T.copy()):
        problem = Problem.dense(stated)
        answer = by_sorting(problem)
        assert answer is not None
        assert verify(problem, answer)
        assert answer.cost == pytest.approx(cost[linear_sum_assignment(cost)].sum(), rel=1e-9)


@pytest.mark.parametrize("more", [0, 40])
@pytest.mark.parametrize("axes", [1, 3])
def test_many_points_are_proven_without_their_matrix(axes, more):
    """So near to each other that the rounding of all duals together is more than the cheapest edges cost."""
    along = np.array([1.0, 2.0, -0.5])[:axes]
    x, y = (side[:, None] * along for side in (sides(4000)[0], sides(4000 + more)[1]))
    problem = Problem.points(x, y, metric="squared")
    answer = by_sorting(problem)
    assert answer is not None
    assert answer.is_optimal
    assert verify(problem, answer)


@pytest.mark.parametrize(("n", "seed"), [(20_000, 1), (50_000, 1), (50_000, 4)])
def test_distances_that_tie_are_proven(n, seed):
    """Matched edges that point the same way can be exchanged at no cost; the cheapest cost next to nothing."""
    problem = Problem.points(*(sides(n, seed)[..., None] * np.array([1.0, 2.0, -0.5])))
    answer = solve(problem, device="cpu")
    assert answer.solver == "sorting"
    assert verify(problem, answer)
