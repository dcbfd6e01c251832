"""Rows and columns far above all others: the least of their costs is taken off, and the answer proven as stated."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from auctrack.matching import Problem, solve, verify
from auctrack.matching.auction.scaling import cost_scale
from auctrack.matching.certificate import exact_gap
from auctrack.matching.certificate.not_converged import NotConverged
from auctrack.matching.presolve import far_above
from auctrack.matching.presolve.far_above import solve_beside_far_points, solved_above_least

from ..exact import optimum, paid

on_cpu = partial(solve, device="cpu")


def _costs(shape: tuple[int, int] = (40, 40)) -> np.ndarray:
    return np.random.default_rng(0).random(shape)


def _with_sentinels(cost: np.ndarray, size: float, sides: str) -> np.ndarray:
    cost = cost.copy()
    if "rows" in sides:
        cost[[2, 5]] += size
    if "columns" in sides:
        cost[:, [3, 4]] += size
    return cost


@pytest.mark.parametrize("size", [1e4, 1e20, -1e20, 1e300])
@pytest.mark.parametrize("sides", ["rows", "columns"])
def test_what_members_pay_in_any_case_is_taken_off_and_proven_as_stated(size: float, sides: str) -> None:
    given: list[Problem] = []

    def solve_rest(problem: Problem) -> Any:
        given.append(problem)
        return on_cpu(problem, "jv")

    cost = _with_sentinels(_costs(), size, sides)
    answer = solved_above_least(Problem.dense(cost), solve_rest)
    assert answer is not None
    assert answer.is_optimal
    assert verify(cost, answer)
    (rest,) = given
    assert np.abs(rest.cost_matrix).max() <= 1
    assert answer.cost == pytest.approx(cost[linear_sum_assignment(cost)].sum())


@pytest.mark.parametrize("sides", ["rows", "columns"])
def test_matrices_of_one_shape_are_solved_above_their_least_together(sides: str) -> None:
    given: list[Problem] = []

    def solve_rest(problem: Problem) -> Any:
        given.append(problem)
        return on_cpu(problem, "jv")

    costs = [_with_sentinels(cost, 1e20, sides) for cost in np.random.default_rng(1).random((5, 40, 40))]
    costs.append(_costs())
    batch = Problem.batch(costs)
    answer = solved_above_least(batch, solve_rest)
    assert answer is not None
    assert answer.is_optimal
    assert verify(batch, answer)
    (rest,) = given
    assert rest.n_blocks == 6
    assert np.abs(rest.data).max() <= 1
    np.testing.assert_allclose(answer.cost, [cost[linear_sum_assignment(cost)].sum() for cost in costs])


def test_of_unequal_sides_only_rows_pay_in_any_case() -> None:
    cost = _costs((30, 40))
    cost[:, 3] += 1e20
    assert solved_above_least(Problem.dense(cost), on_cpu) is None
    cost[2] += 1e20
    answer = solved_above_least(Problem.dense(cost), on_cpu)
    assert answer is not None
    assert verify(cost, answer)


def test_where_two_far_members_meet_their_costs_add_up() -> None:
    cost = _with_sentinels(_costs(), 1e20, "rows and columns")
    assert verify(cost, solve(cost, device="cpu"))


def test_forbidden_pairs_stay_forbidden() -> None:
    cost = _with_sentinels(_costs(), 1e20, "rows")
    cost[2, ::2] = np.inf
    answer = solved_above_least(Problem.dense(cost, forbidden=np.eye(40, dtype=bool)), on_cpu)
    assert answer is not None
    assert answer.col_of_row[2] % 2 == 1
    assert (answer.col_of_row != np.arange(40)).all()
    assert verify(Problem.dense(cost, forbidden=np.eye(40, dtype=bool)), answer)


@pytest.mark.parametrize(
    "problem",
    [
        Problem.dense(_costs()),
        Problem.dense(_with_sentinels(_costs(), 1e20, "rows"), unmatched_cost=1.0),
        Problem.dense(_with_sentinels(1000 * _costs(), 2.0**40, "rows").astype(np.int64)),
        Problem.batch([_with_sentinels(_costs(shape), 1e20, "rows") for shape in ((40, 40), (40, 41))]),
        Problem.sparse(([0, 1, 2], [0, 1], [1e20, 1.0]), shape=(2, 2)),
        Problem.dense(_with_sentinels(_costs((40, 30)), 1e20, "rows")),
    ],
    ids=["none far", "unmatched cost", "integers", "batch of shapes", "sparse", "more rows"],
)
def test_nothing_is_taken_off_where_nothing_has_to_be(problem: Problem) -> None:
    assert solved_above_least(problem, on_cpu) is None


def test_a_budget_that_runs_out_names_the_answer_to_the_problem_as_stated() -> None:
    cost = _with_sentinels(_costs(), 1e20, "columns")

    def give_up(problem: Problem) -> Any:
        raise NotConverged("given up", assignment=on_cpu(problem, "jv"))

    with pytest.raises(NotConverged) as caught:
        solved_above_least(Problem.dense(cost), give_up)
    assert caught.value.assignment is not None
    assert verify(cost, caught.value.assignment)


def _sets(far: float, side: int, n: int = 300) -> Problem:
    x, y = np.random.default_rng(1).random((2, n, 3))
    (x, y)[side][0] = far
    return Problem.points(x, y, metric="squared")


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(("far", "kind"), [(5.0, "points"), (1e5, "dense")])
def test_far_points_are_matched_by_their_matrix(far: float, kind: str, side: int) -> None:
    given: list[str] = []

    def solve_rest(problem: Problem) -> Any:
        given.append(problem.kind)
        return on_cpu(problem)

    problem = _sets(far, side)
    assert verify(problem, solve_beside_far_points(problem, solve_rest))
    assert given == [kind]


def test_far_points_whose_matrix_is_too_large_are_matched_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(far_above, "MATRIX_PAIRS", 100)
    problem = _sets(1e5, 0)
    assert verify(problem, solve_beside_far_points(problem, on_cpu))


@pytest.mark.parametrize("sides", ["rows", "columns"])
def test_matrices_with_sentinels_are_proven_however_many_rows(sides: str) -> None:
    cost = _with_sentinels(_costs((2100, 2100)), 1e20, sides)
    answer = solve(cost, device="cpu")
    assert answer.is_optimal
    assert verify(cost, answer)
    assert not verify(cost, replace(answer, cost=0.0)).is_valid


def test_one_row_far_from_all_others_does_not_set_the_increments_of_an_auction() -> None:
    cost = _costs((400, 400))
    own, _ = cost_scale(np.arange(400), np.arange(401) * 400, cost.reshape(-1))
    cost[0] *= 1e9
    scale, largest = cost_scale(np.arange(400), np.arange(401) * 400, cost.reshape(-1))
    assert scale == pytest.approx(own, rel=0.01)
    assert largest == cost.max()
    stats = solve(cost, "auction", "cpu").stats
    assert stats["rows_scanned"] < 40 * 400


@pytest.mark.parametrize("sizes", [(60,), (220,), (20, 30, 40)])
def test_a_matrix_beside_whose_sentinels_most_costs_lose_their_digits_is_not_looked_at_pair_by_pair(
    sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search for duals as pairs of floats takes longer than the solve, for each block."""
    rng = np.random.default_rng(0)
    costs = [rng.random((n, n)) for n in sizes]
    for cost in (*costs[:1], *costs[2:]):  # one of several has none
        cost[:3] = 1e16
    problem = Problem.batch(costs) if len(costs) > 1 else Problem.dense(costs[0])

    def refuse(*_: object) -> bool:
        raise AssertionError

    monkeypatch.setattr(exact_gap, "_lower_until_rows_pay_least", refuse)
    answer = solve(problem, "jv", "cpu")
    assert answer.is_optimal
    for cost, block in zip(costs, answer.blocks(), strict=True):
        assert paid(cost, block.col_of_row) == optimum(cost)
