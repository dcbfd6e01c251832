"""No proof hides a wrong edge behind large numbers: sentinels, far points, unmatched costs, forged certificates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from auctrack.matching import JV, Problem, solve, verify
from auctrack.matching.certificate import verification
from auctrack.matching.certificate.certify import Slackness, certify
from auctrack.matching.certificate.exact_optimum import is_small
from auctrack.plugins.bench.assignment.hostile_costs import squared_on_a_line

from .cases import ON_CPU
from .exact import optimum, paid

EVERY = ("auto", *ON_CPU)


def _sentinels(size: float, n: int = 60, sides: str = "rows") -> np.ndarray:
    """Return costs in [0, 1) but for three rows, or columns, that can only take a sentinel."""
    cost = np.random.default_rng(0).random((n, n))
    cost[:3] = size
    return cost if sides == "rows" else cost.T.copy()


@pytest.mark.parametrize("solver", EVERY, ids=str)
@pytest.mark.parametrize("sides", ["rows", "columns"])
@pytest.mark.parametrize("size", [1e14, 1e15, 1e16, 1e28, 1e300])
def test_sentinels_do_not_hide_wrong_edges(size: float, sides: str, solver: str) -> None:
    cost = _sentinels(size, sides=sides)
    answer = solve(cost, solver, "cpu")
    assert answer.is_optimal
    assert paid(cost, answer.col_of_row) == optimum(cost)
    assert verify(cost, answer)


@pytest.mark.parametrize(("seed", "n", "m"), [(37, 105, 108), (56, 105, 108), (56, 105, 105)])
def test_sentinels_do_not_hide_wrong_edges_beside_unmatched_costs_that_differ_by_more(
    seed: int, n: int, m: int
) -> None:
    """Of more pairs than are checked in whole numbers: what a column would pay unassigned says nothing of what is."""
    rng = np.random.default_rng(seed)
    cost = rng.random((n, m))
    cost[:5] = 1e17
    problem = Problem.dense(cost, unmatched_cost=tuple(10.0 ** (20 + rng.uniform(-8, 8, size)) for size in (n, m)))
    answer = solve(problem, device="cpu")
    assert answer.is_optimal
    assert verify(problem, answer)
    wrong = answer.col_of_row.copy()
    matched = np.flatnonzero(wrong >= 0)
    cheap = matched[np.argsort(cost[matched, wrong[matched]])[:3]]
    wrong[cheap] = np.roll(wrong[cheap], 1)
    forged = replace(certify(problem, wrong, answer.col_duals, solver="forged"), is_optimal=True)
    assert not verify(problem, forged)


@pytest.mark.parametrize("solver", EVERY, ids=str)
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("far", [1e5, 1e8, 1e15, 1e30])
def test_one_far_point_does_not_hide_wrong_edges(far: float, side: int, solver: str) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.random((2, 500, 3))
    (x, y)[side][0] = far
    problem = Problem.points(x, y, metric="squared")
    answer = solve(problem, solver, "cpu")
    near = ((x[:, None] - y[None]) ** 2).sum(axis=-1)
    partners = answer.col_of_row
    if side:
        near, partners = near.T, answer.row_of_col
    near = near[1:]
    others = np.delete(near, partners[0], axis=1)
    assert answer.is_optimal
    assert verify(problem, answer)
    assert near[np.arange(499), partners[1:]].sum() == pytest.approx(
        others[linear_sum_assignment(others)].sum(), rel=1e-12
    )


@pytest.mark.parametrize("shape", [(110, 110), (130, 110), (110, 130)])
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(("size", "unmatched_cost"), [(1e10, 1e27), (1e15, 1e22), (1e21, 1e27)])
def test_what_is_proven_beside_sentinels_and_high_unmatched_costs_can_be_verified(
    size: float, unmatched_cost: float, side: int, shape: tuple[int, int]
) -> None:
    """More pairs than are checked once more in whole numbers: by duals that keep the digits of the other pairs."""
    cost = np.random.default_rng(0).random(shape)
    np.moveaxis(cost, side, 0)[:4] = size
    problem = Problem.dense(cost, unmatched_cost=unmatched_cost)
    answer = solve(problem, device="cpu")
    assert answer.is_optimal
    assert verify(problem, answer).is_optimal


def test_a_large_matrix_of_near_ties_is_searched_until_no_exchange_is_left() -> None:
    """Squares on a line, some five million pairs: twenty looks at each move leave exchanges of the last digits."""
    cost = squared_on_a_line(2200, 1)
    answer = solve(cost, "jv", "cpu")
    assert answer.is_optimal
    assert answer.stats["refined"]
    assert verify(cost, answer)


@pytest.mark.parametrize("solver", EVERY, ids=str)
def test_high_unmatched_costs_of_one_block_are_lowered_beside_ordinary_ones_of_another(solver: str) -> None:
    rng = np.random.default_rng(2)
    blocks = [Problem.points(*rng.random((2, 50, 3)), unmatched_cost=u) for u in (1e30, 0.1)]
    together = solve(Problem.batch(blocks), solver, "cpu")
    assert together.is_optimal
    for answer, alone in zip(together.blocks(), blocks, strict=True):
        assert answer.cost == pytest.approx(solve(alone, solver, "cpu").cost, rel=1e-12)
    assert verify(Problem.batch(blocks), together)


def _potentials(n: int, size: float) -> np.ndarray:
    """Return costs in [0, 10⁻³) to which every column adds what all answers pay."""
    return 1e-3 * np.random.default_rng(4).random((n, n)) + size * np.arange(n)


@pytest.mark.parametrize("solver", EVERY, ids=str)
@pytest.mark.parametrize("size", [1.0, 100.0])
def test_costs_small_beside_what_every_answer_pays_are_proven(size: float, solver: str) -> None:
    cost = _potentials(60, size)
    answer = solve(cost, solver, "cpu")
    assert paid(cost, answer.col_of_row) == optimum(cost)
    assert certify(Problem.dense(cost), answer.col_of_row, answer.col_duals, solver="").is_optimal
    assert answer.is_optimal


@pytest.mark.parametrize("solver", EVERY, ids=str)
@pytest.mark.parametrize("size", [1e-13, 1e-17, 1e-28])
def test_edges_far_cheaper_than_what_stays_unassigned_are_proven(size: float, solver: str) -> None:
    """Their duals differ from an unmatched cost of 1 by less than a float can: they are pairs of floats above it."""
    rng = np.random.default_rng(9)
    cost = size * rng.random((6, 14))
    problem = Problem.dense(cost, unmatched_cost=1.0)
    answer = solve(problem, solver, "cpu")
    assert answer.is_optimal
    assert paid(cost, answer.col_of_row, (1.0, 1.0)) == optimum(cost, (1.0, 1.0))
    wrong = answer.col_of_row.copy()
    wrong[[0, 1]] = wrong[[1, 0]]
    assert not certify(problem, wrong, answer.col_duals, solver="").is_optimal


def test_an_exchange_that_costs_a_ten_millionth_more_is_not() -> None:
    cost = _potentials(60, 100.0)
    answer = solve(cost, device="cpu")
    partners = answer.col_of_row.copy()
    partners[[3, 7]] = partners[[7, 3]]
    more = paid(cost, partners) - paid(cost, answer.col_of_row)
    cost[3, partners[3]] -= float(more) - 1e-10
    best = solve(cost, device="cpu")
    assert 0 < paid(cost, partners) - paid(cost, best.col_of_row) < 1.1e-10
    assert best.is_optimal
    assert not certify(Problem.dense(cost), partners, best.col_duals, solver="").is_optimal


@pytest.mark.parametrize("n", [60, 200])
def test_a_forged_certificate_with_large_duals_is_refused(n: int) -> None:
    cost = np.random.default_rng(3).random((n, n))
    cost[0, 1] = 1e12
    right = solve(cost, "jv", "cpu")
    wrong = np.roll(np.arange(n), 3).astype(np.int32)
    v = right.col_duals + 1e16
    forged = replace(
        certify(Problem.dense(cost), wrong, v, solver="forged"),
        gap=0.0,
        is_optimal=True,
    )
    assert forged.cost > 5 * right.cost
    certificate = verify(cost, forged)
    assert not certificate
    assert not certificate.is_valid


def test_the_rounding_of_a_certificate_is_part_of_its_gap() -> None:
    cost = np.random.default_rng(4).random((30, 30))
    problem = Problem.dense(cost)
    right = solve(problem, "jv", "cpu")
    assert 0 < right.gap < 1e-12
    shifted = certify(problem, right.col_of_row, right.col_duals + 1e8, solver="")
    wrong = certify(problem, np.roll(right.col_of_row, 1), right.col_duals + 1e15, solver="")
    assert shifted.gap < 1e-5
    assert not wrong.is_optimal
    assert wrong.cost - wrong.gap <= right.cost


def test_no_part_of_a_sparse_problem_hides_another() -> None:
    small, large = np.random.default_rng(5).random((2, 40, 40))
    cost = np.full((80, 80), np.inf)
    cost[:40, :40], cost[40:, 40:] = small, large * 1e16
    right = solve(Problem.dense(cost), JV(form="sparse"), "cpu")
    assert right.is_optimal
    assert paid(small, right.col_of_row[:40]) == optimum(small)
    wrong = right.col_of_row.copy()
    wrong[:40] = np.roll(wrong[:40], 1)
    v = right.col_duals.copy()
    v[:40] += 1e16
    assert not certify(Problem.dense(cost), wrong, v, solver="").is_optimal


@pytest.mark.parametrize("excess", [1e-10, 1e-12])
def test_slack_beyond_rounding_is_not_zero_however_little_of_the_cost_it_is(excess: float) -> None:
    cost = np.full((4, 4), 10.0)
    cost[:2, :2] = [[1 + excess, 1], [1, 1]]
    cost[2:, 2:] = [[1, 3], [1, 3]]
    v = np.array([0.0, 0.0, 0.0, 2.0])
    right = certify(Problem.dense(cost), np.array([1, 0, 2, 3], np.int32), v, solver="")
    assert right.is_optimal
    wrong = certify(Problem.dense(cost), np.arange(4, dtype=np.int32), v, solver="")
    assert 0.5 * excess < wrong.gap < 1e-9 * wrong.cost
    assert not wrong.is_optimal
    assert not verify(cost, replace(wrong, is_optimal=True))


@pytest.mark.parametrize("n", [9, 150])
def test_the_optimum_of_a_small_problem_is_found_once_more_whatever_the_certificate_says(
    n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lying(*known: Any) -> Slackness:
        nothing = np.zeros(1)
        return known[-1]._replace(gap=nothing, has_zero_slack=nothing == 0, in_doubt=nothing > 0)

    cost = np.random.default_rng(11).random((n, n))
    right = solve(cost, "jv", "cpu")
    wrong = right.col_of_row.copy()
    wrong[:2] = wrong[1::-1]
    forged = certify(Problem.dense(cost), wrong, right.col_duals, solver="")
    forged = replace(forged, gap=0.0, is_optimal=True)
    assert not verify(cost, forged)
    monkeypatch.setattr(verification, "settled", lying)
    assert bool(verify(cost, forged)) == (not is_small(Problem.dense(cost)))


@pytest.mark.parametrize("kind", ["dense", "points", "sparse", "unmatched cost"])
def test_a_cost_a_thousandth_off_is_caught(kind: str) -> None:
    rng = np.random.default_rng(6)
    problems: dict[str, Any] = {
        "dense": Problem.dense(rng.random((9, 9))),
        "points": Problem.points(*rng.random((2, 9, 3))),
        "sparse": Problem.sparse((np.arange(10) * 9, np.tile(np.arange(9), 9), rng.random(81)), shape=(9, 9)),
        "unmatched cost": Problem.dense(rng.random((9, 9)), unmatched_cost=0.2),
    }
    answer = solve(problems[kind], device="cpu")
    for factor in (0.999, 1.001):
        assert not verify(problems[kind], replace(answer, cost=answer.cost * factor)).is_valid


@pytest.mark.parametrize("excess", [1e-6, 1e-9])
def test_a_dual_above_what_is_feasible_by_more_than_rounding_is_caught(excess: float) -> None:
    for n in (9, 150):
        cost = np.random.default_rng(7).random((n, n)) + 1
        answer = solve(cost, "jv", "cpu")
        raised = answer.row_duals.copy()
        raised[0] += excess
        assert not verify(cost, replace(answer, row_duals=raised)).is_valid


def test_duals_larger_than_any_path_are_refused_whatever_they_prove() -> None:
    cost = np.random.default_rng(8).integers(1, 9, (9, 9)) * 1.0
    answer = solve(cost, "jv", "cpu")
    far = 2.0**10 * cost.max()
    shifted = replace(answer, row_duals=answer.row_duals + far, col_duals=answer.col_duals - far)
    assert not verify(cost, shifted).is_valid
