"""Points matched without a matrix: the optimum over all pairs, whatever the points look like."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auctrack.matching import Auction, NotConverged, Problem, solve, verify
from auctrack.matching.auction import cpu, matrix_instead

RNG = np.random.default_rng(0)
LATTICE = np.stack(np.meshgrid(*[np.arange(6.0)] * 3), -1).reshape(-1, 3)


def _near(x: np.ndarray, noise: float) -> np.ndarray:
    return x[RNG.permutation(len(x))] + noise * RNG.normal(size=x.shape)


def _clusters(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.random((4, 1, 3)) + 0.01 * rng.normal(size=(4, 60, 3))).reshape(-1, 3)


X = {d: np.random.default_rng(d).random((250, d)) for d in (1, 2, 3)}
POINTS: dict[str, tuple[np.ndarray, np.ndarray]] = {
    **{f"moved a little, {d}D": (X[d], _near(X[d], 0.02)) for d in X},
    **{f"independent, {d}D": (X[d], RNG.random((250, d))) for d in X},
    **{f"a few more columns, {d}D": (X[d], RNG.random((270, d))) for d in X},
    **{f"a few more rows, {d}D": (X[d], RNG.random((230, d))) for d in X},
    "many more columns": (X[3], RNG.random((900, 3))),
    "clusters onto themselves": (_clusters(1), _near(_clusters(1), 0.001)),
    "clusters onto others": (_clusters(1), _clusters(2)),
    "lattice, all ties": (LATTICE, LATTICE + 0.5),
    "lattice moved by three": (LATTICE, LATTICE + np.array([3.0, 0, 0])),
    "part of a lattice": (LATTICE[:150], LATTICE[40:]),
    "all in one place": (np.zeros((100, 3)), np.zeros((100, 3))),
    "each point ten times": (np.repeat(LATTICE[:20], 10, 0), np.repeat(LATTICE[10:30], 10, 0) + 0.1),
    "on a line in space": (np.c_[X[1], X[1], X[1]], np.c_[X[1], X[1], X[1]][::-1] + 0.01),
    "far from the origin": (X[3] + 1e6, RNG.random((250, 3)) + 1e6),
    "fewer than neighbours": (X[3][:3], X[3][5:10]),
    "one and one": (X[2][:1], X[2][1:2]),
}


def assert_optimal(problem: Problem, **options: Any) -> Any:
    answer = solve(problem, Auction(**options))
    certificate = verify(problem, answer)
    assert certificate.faults == ()
    assert certificate.is_optimal
    assert answer.is_optimal
    reference = solve(problem, "jv")
    np.testing.assert_allclose(answer.cost, reference.cost, rtol=1e-11, atol=1e-13)
    return answer


@pytest.mark.parametrize("power", [-450, 450])
@pytest.mark.parametrize("metric", ["distance", "squared"])
@pytest.mark.parametrize("name", ["independent, 3D", "a few more columns, 2D"])
def test_no_unit_is_too_small_or_too_large(name: str, metric: Any, power: int):
    problem = Problem.points(*(np.ldexp(part, power) for part in POINTS[name]), metric=metric)
    answer = solve(problem, Auction(), "cpu")
    assert verify(problem, answer).is_optimal
    unscaled = solve(Problem.points(*POINTS[name], metric=metric), Auction(), "cpu")
    assert np.ldexp(answer.cost, -power * (1 if metric == "distance" else 2)) == pytest.approx(unscaled.cost, rel=1e-12)


@pytest.mark.parametrize("metric", ["distance", "squared"])
@pytest.mark.parametrize("name", POINTS)
def test_finds_the_optimum_over_all_pairs(name: str, metric: Any):
    x, y = POINTS[name]
    assert_optimal(Problem.points(x, y, metric=metric))


@pytest.mark.parametrize("metric", ["distance", "squared"])
@pytest.mark.parametrize("name", ["independent, 3D", "a few more columns, 2D"])
def test_their_matrix_is_taken_at_once_where_the_caller_wants_that(name: str, metric: Any):
    problem = Problem.points(*POINTS[name], metric=metric)
    assert assert_optimal(problem, matrix="only").stats["matrix"] == 1
    assert "matrix" not in assert_optimal(problem).stats


@pytest.mark.parametrize("name", ["all in one place", "fewer than neighbours", "one and one"])
def test_neighbours_decide_between_few_points_too(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cpu, "SMALL", 0)
    assert assert_optimal(Problem.points(*POINTS[name])).stats["pricings"] >= 1


@pytest.mark.parametrize("unmatched_cost", [0.0, 0.02, 0.1, 2.0])
@pytest.mark.parametrize(
    "name", ["moved a little, 2D", "independent, 3D", "a few more rows, 3D", "clusters onto others"]
)
def test_unassigned_points_pay_their_unmatched_cost(name: str, unmatched_cost: float):
    x, y = POINTS[name]
    assert_optimal(Problem.points(x, y, unmatched_cost=unmatched_cost))


def test_an_unmatched_cost_for_every_point():
    x, y = POINTS["a few more columns, 3D"]
    unmatched = RNG.uniform(-0.05, 0.3, len(x)), RNG.uniform(-0.05, 0.3, len(y))
    assert_optimal(Problem.points(x, y, unmatched_cost=unmatched))


def test_the_graph_stays_small():
    x, y = np.random.default_rng(5).random((2, 3000, 3))
    answer = solve(Problem.points(x, y), Auction())
    assert answer.is_optimal
    assert answer.stats["edges"] < 20 * 3000
    assert answer.stats["pricings"] <= 20


FAR_APART: dict[str, tuple[np.ndarray, np.ndarray]] = {
    "a square and one fifty times as wide": (X[2], 50 * RNG.random((250, 2))),
    "clusters onto others": (_clusters(1), _clusters(2)),
    "a cloud beside a cloud": (RNG.random((400, 2)), RNG.random((400, 2)) + np.array([5.0, 0.0])),
}


@pytest.mark.parametrize("name", FAR_APART)
def test_the_matrix_is_made_where_it_is_the_shorter_way(name: str):
    x, y = FAR_APART[name]
    answer = assert_optimal(Problem.points(x, y))
    assert answer.stats["matrix"] == 1
    assert answer.stats["bids"] < 100 * len(x)


@pytest.mark.parametrize("name", FAR_APART)
def test_shortest_paths_match_the_matrix_where_some_stay_unassigned(name: str):
    x, y = FAR_APART[name]
    for problem in (Problem.points(x[:-9], y), Problem.points(x, y[:-9])):
        answer, dense = assert_optimal(problem), solve(problem, "jv")
        assert answer.stats["matrix"] == 1
        assert answer.stats["rows_scanned"] == dense.stats["rows_scanned"]


@pytest.mark.parametrize("name", FAR_APART)
def test_without_memory_for_the_matrix_the_optimum_is_found_all_the_same(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(matrix_instead, "MATRIX_BYTES", 1000)
    x, y = FAR_APART[name]
    answer = assert_optimal(Problem.points(x[:150], y[:150]))
    assert "matrix" not in answer.stats


@pytest.mark.parametrize(("n", "m"), [(1201, 1100), (1100, 1201), (1201, 600)])
def test_points_at_one_place_ask_for_different_columns(n: int, m: int, monkeypatch: pytest.MonkeyPatch):
    # If all rows asked for the same few columns, there would be a pricing for every few columns.
    monkeypatch.setattr(matrix_instead, "MATRIX_BYTES", 1000)
    answer = solve(Problem.points(np.zeros((n, 3)), np.zeros((m, 3)), unmatched_cost=2.0), "auction")
    assert answer.is_optimal
    assert answer.cost == 2.0 * abs(n - m)
    assert answer.stats["pricings"] <= 4


def test_eps_is_kept_in_the_matrix():
    x, y = FAR_APART["a square and one fifty times as wide"]
    answer = solve(Problem.points(x, y), Auction(eps=1e-3))
    assert answer.gap <= 1e-3 * len(x)


def test_a_budget_is_not_spent_twice():
    x, y = FAR_APART["a square and one fifty times as wide"]
    with pytest.raises(NotConverged) as caught:
        solve(Problem.points(x, y), Auction(max_bids=3))
    assert caught.value.assignment is not None
    assert "matrix" not in caught.value.assignment.stats


def test_blocks_are_solved_on_their_own():
    problems = [Problem.points(*POINTS[name]) for name in ("independent, 3D", "a few more rows, 3D")]
    answer = assert_optimal(Problem.batch(problems))
    assert answer.cost.tolist() == [solve(problem, Auction()).cost for problem in problems]


@pytest.mark.parametrize("unmatched_cost", [None, 0.2])
def test_small_sets_of_a_batch_need_no_trees(unmatched_cost: float | None, monkeypatch: pytest.MonkeyPatch):
    sizes = [(30, 30), (250, 250), (5, 127), (0, 3), (127, 20), (128, 9), (60, 60)]
    sets = [(RNG.random((n, 2)), RNG.random((m, 2))) for n, m in sizes]
    problems = [Problem.points(x, y, unmatched_cost=unmatched_cost) for x, y in sets]
    alone = [solve(problem, Auction(), "cpu") for problem in problems]
    assert ["pricings" in answer.stats for answer in alone] == [max(shape) >= 128 for shape in sizes]
    for at_once in (cpu.PAIRS_AT_ONCE, 1000):
        monkeypatch.setattr(cpu, "PAIRS_AT_ONCE", at_once)
        answer = assert_optimal(Problem.batch(problems))
        assert answer.cost == pytest.approx([one.cost for one in alone], rel=1e-12)
        assert answer.stats["pricings"] == sum(one.stats.get("pricings", 0) for one in alone)


@pytest.mark.parametrize("eps", [0.3, 1e-2, 1e-4])
@pytest.mark.parametrize(("m", "unmatched_cost"), [(250, None), (250, 0.2), (375, None)])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_eps_bounds_the_gap_and_each_edge_over_all_pairs(axes: int, m: int, unmatched_cost: float | None, eps: float):
    rng = np.random.default_rng(2)
    x, y = rng.random((250, axes)), rng.random((m, axes))
    problem = Problem.points(x, y, unmatched_cost=unmatched_cost)
    answer = solve(problem, Auction(eps=eps))
    assert verify(problem, answer).is_valid
    assert answer.gap <= 250 * eps * (1 + 1e-9)
    reduced = np.linalg.norm(x[:, None] - y, axis=2) - answer.col_duals
    rows, cols = answer.edges()
    best = np.minimum(reduced.min(axis=1), np.inf if unmatched_cost is None else unmatched_cost)[rows]
    assert (reduced[rows, cols] - best).max(initial=0) <= eps * (1 + 1e-9)


def test_no_points_on_one_side():
    answer = solve(Problem.points(np.empty((0, 3)), X[3]), Auction())
    assert answer.is_optimal
    assert answer.cost == 0


def test_same_points_same_answer():
    problem = Problem.points(*POINTS["independent, 3D"])
    first, second = (solve(problem, Auction()) for _ in range(2))
    np.testing.assert_array_equal(first.col_of_row, second.col_of_row)
    np.testing.assert_array_equal(first.col_duals, second.col_duals)
