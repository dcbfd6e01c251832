"""Unmatched costs far above all costs: as many are matched as can be, and at the least cost, to its last digit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from auctrack.matching import SOLVERS, Assignment, NotConverged, Problem, solve, verify
from auctrack.matching.auction import Auction
from auctrack.matching.certificate.certify import certify
from auctrack.matching.device import cuda
from auctrack.matching.problem.convert import as_sparse
from auctrack.matching.solvers import make_solver

from ..cases import ON_CPU, optimum_of

DEAR = 1e3
"""An unmatched cost that leaves none unassigned that can be matched, but costs no digits."""


def _cost(name: str) -> np.ndarray:
    rng = np.random.default_rng(3)
    n, m = {"more columns": (30, 40), "more rows": (40, 30)}.get(name, (30, 30))
    cost = rng.normal(size=(n, m))
    if name == "unassigned on both sides":
        cost[:8, 3:] = np.inf
        cost[10:, 20:] = np.inf
        cost[rng.random((n, m)) < 0.3] = np.inf
    return cost


def _least(cost: np.ndarray, row_dearer: Any = 0.0) -> float:
    """Return the least cost of edges and of what some rows pay beyond `DEAR`, beside as many edges as there can be."""
    n, m = cost.shape
    matched = (n + m - _least_unassigned(cost)) // 2
    optimum = optimum_of(cost, DEAR + row_dearer, DEAR)
    assert optimum is not None
    return optimum - DEAR * (n + m - 2 * matched)


def _least_unassigned(cost: np.ndarray) -> int:
    unassigned = optimum_of(np.where(cost < np.inf, 0.0, np.inf), 1.0, 1.0)
    assert unassigned is not None
    return round(unassigned)


EACH_ON_CPU = [pytest.param(solver, "cpu", id=str(solver)) for solver in ON_CPU]
ON_GPU = [
    pytest.param(name, "cuda", id=f"{name}-cuda", marks=pytest.mark.gpu)
    for name in SOLVERS
    if "cuda" in make_solver(name).devices
]


@pytest.mark.parametrize(
    "unmatched_cost", [1e15, 1e30, (1e30, 0.0), (-1e9, 1e20), (-1e15, 1e20), (1e25, -1e20)], ids=str
)
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("name", ["equal sides", "more columns", "more rows", "unassigned on both sides"])
@pytest.mark.parametrize(("solver", "device"), [*EACH_ON_CPU, *ON_GPU])
def test_the_cheapest_of_the_most_edges_are_found(
    solver: str, device: str, name: str, form: str, unmatched_cost: Any
) -> None:
    cost = _cost(name)
    problem = Problem.dense(cost, unmatched_cost=unmatched_cost)
    problem = problem if form == "dense" else as_sparse(problem)
    _assert_cheapest(cost, problem, solve(problem, solver, device))


def _assert_cheapest(cost: np.ndarray, problem: Problem, answer: Assignment) -> None:
    assert sum(cost.shape) - 2 * answer.n_matched == _least_unassigned(cost)
    assert cost[answer.edges()].sum() == pytest.approx(_least(cost), rel=1e-12)
    _assert_duals_add_up(answer)
    assert answer.is_optimal
    assert answer.gap <= 1e-9 * abs(cost[answer.edges()]).sum()
    assert verify(problem, answer).is_optimal


def _assert_duals_add_up(answer: Assignment) -> None:
    """To the cost, at the unmatched costs as stated."""
    largest = max(abs(answer.row_duals).max(initial=0.0), abs(answer.col_duals).max(initial=0.0))
    assert answer.row_duals.sum() + answer.col_duals.sum() == pytest.approx(answer.cost, rel=1e-12, abs=1e-12 * largest)


@pytest.mark.gpu
@pytest.mark.parametrize(("solver", "device"), ON_GPU)
def test_costs_on_a_gpu_have_their_answer_there(solver: str, device: str) -> None:
    cp = cuda.cupy()
    cost = _cost("unassigned on both sides")
    problem = Problem.dense(cp.asarray(cost), unmatched_cost=1e25)
    answer = solve(problem, solver, device)
    assert isinstance(answer.col_duals, cp.ndarray)
    _assert_cheapest(cost, problem.on_host(), answer.on_host())


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [(30, 40), (3000, 2900)])
def test_points_on_a_gpu_are_linked_as_if_they_had_to_be(shape: tuple[int, int]) -> None:
    cp = cuda.cupy()
    x, y = (cp.random.default_rng(seed).random((size, 3)) for seed, size in enumerate(shape))
    with_unmatched_cost = solve(Problem.points(x, y, unmatched_cost=1e25), "auction")
    assert with_unmatched_cost.is_optimal
    assert (with_unmatched_cost.col_of_row == solve(Problem.points(x, y), "auction").col_of_row).all()


def test_what_a_budget_left_undone_is_told_at_the_unmatched_costs_as_stated() -> None:
    problem = Problem.dense(np.random.default_rng(2).random((60, 60)), unmatched_cost=1e25)
    with pytest.raises(NotConverged) as caught:
        solve(problem, Auction(max_bids=1, eps=1e-4), "cpu")
    known = caught.value.assignment
    assert known is not None
    assert known.n_matched < 60
    assert verify(problem, known).is_valid
    assert known.cost == pytest.approx(2e25 * (60 - known.n_matched), rel=1e-9)
    assert known.cost - solve(problem, "jv", "cpu").cost <= known.gap < np.inf


@pytest.mark.parametrize("solver", ON_CPU, ids=str)
def test_what_rows_pay_more_than_others_still_counts(solver: str) -> None:
    cost = _cost("more rows")
    dearer = np.random.default_rng(0).integers(0, 3, len(cost)) / 4
    answer = solve(Problem.dense(cost, unmatched_cost=(2.0**44 + dearer, 2.0**44)), solver, "cpu")
    paid = cost[answer.edges()].sum() + dearer[answer.col_of_row < 0].sum()
    assert paid == pytest.approx(_least(cost, dearer), rel=1e-12)


@pytest.mark.parametrize(("solver", "device"), [*EACH_ON_CPU, *ON_GPU])
def test_point_sets_and_batches_too(solver: str, device: str) -> None:
    rng = np.random.default_rng(1)
    for sizes in ((30, 30), (25, 40)):
        x, y = (rng.random((size, 2)) for size in sizes)
        points = Problem.points(x, y, unmatched_cost=1e25)
        whole = Problem.points(x, y)
        matched = [solve(problem, solver, device).col_of_row.tolist() for problem in (points, whole)]
        assert matched[0] == matched[1]
    costs = [_cost(name) for name in ("equal sides", "more columns", "unassigned on both sides")]
    answer = solve(Problem.batch([Problem.dense(cost, unmatched_cost=1e25) for cost in costs]), solver, device)
    for cost, block in zip(costs, answer.blocks(), strict=True):
        assert cost[block.edges()].sum() == pytest.approx(_least(cost), rel=1e-12)


@pytest.mark.parametrize("solver", ON_CPU, ids=str)
def test_costs_of_zero_are_no_reason_to_match_none(solver: str) -> None:
    problem = Problem.dense(np.zeros((30, 40)), unmatched_cost=1e25)
    answer = solve(problem, solver, "cpu")
    assert answer.n_matched == 30
    assert verify(problem, answer).is_optimal


def test_a_dear_cost_after_many_others_is_one_to_be_paid() -> None:
    """The first thousand costs say that all are low, the first thousand rows that all must be matched."""
    n = 1100
    cost = csr_array(np.diag(np.random.default_rng(0).random(n)))
    cost.data[-2] = 1e9
    unmatched_cost = np.full(n, 1e25)
    unmatched_cost[-1] = 2 * cost.data[-1]
    for stated in ((unmatched_cost, 0.0), (0.0, unmatched_cost), 1e13):
        assert solve(Problem.sparse(cost, unmatched_cost=stated), "jv", "cpu").n_matched == n


@pytest.mark.parametrize("unmatched_cost", [1e25, (1e30, 0.0), (0.0, 1e30)], ids=str)
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_blocks_without_a_first_cost_are_solved_as_they_would_be_alone(form: str, unmatched_cost: Any) -> None:
    few = _cost("unassigned on both sides")
    few[0, 0] = np.inf
    parts = [few, _cost("unassigned on both sides"), np.full((3, 2), np.inf), np.empty((2, 0))]
    for costs in (parts, parts[2:], parts[3:]):
        problems = [Problem.dense(cost, unmatched_cost=unmatched_cost) for cost in costs]
        batch = Problem.batch(problems if form == "dense" else [as_sparse(problem) for problem in problems])
        answer = solve(batch, "jv", "cpu")
        assert verify(batch, answer).is_optimal
        for cost, block in zip(costs, answer.blocks(), strict=True):
            assert sum(cost.shape) - 2 * block.n_matched == _least_unassigned(cost)
            assert cost[block.edges()].sum() == pytest.approx(_least(cost), rel=1e-12)
            _assert_duals_add_up(block)


@pytest.mark.parametrize("shape", [(30, 40), (40, 30), (290, 300), (300, 290), (31, 31)])
@pytest.mark.parametrize("form", ["dense", "points"])
@pytest.mark.parametrize("solver", ["jv", "auction"])
def test_whichever_side_is_longer_the_edges_are_verified(solver: str, form: str, shape: tuple[int, int]) -> None:
    x, y = (np.random.default_rng(seed).random((size, 3)) for seed, size in enumerate(shape))
    cost = np.sqrt(((x[:, None] - y) ** 2).sum(axis=2))
    given = (x, y) if form == "points" else (cost,)
    problem = getattr(Problem, form)(*given, unmatched_cost=1e25)
    answer = solve(problem, solver, "cpu")
    assert answer.is_optimal
    assert answer.gap <= 1e-12 * cost[answer.edges()].sum()
    assert cost[answer.edges()].sum() == pytest.approx(_least(cost), rel=1e-12)
    assert verify(problem, answer).is_optimal


@pytest.mark.parametrize("shape", [(40, 30), (30, 40), (300, 290), (290, 300)])
def test_unmatched_costs_do_not_hide_edges_that_are_too_dear(shape: tuple[int, int]) -> None:
    """The digits of the costs are lost beside such duals, which then prove any edges."""
    cost = np.random.default_rng(0).random(shape)
    problem, least = Problem.dense(cost, unmatched_cost=1e25), min(shape)
    col_of_row = np.full(shape[0], -1, np.int32)
    col_of_row[:least] = np.arange(least)
    side = -1e25 if shape[0] > shape[1] else 1e25
    forged = certify(problem, col_of_row, np.full(shape[1], side), solver="none")
    assert not forged.is_optimal
    assert not verify(problem, forged).is_optimal
    assert not verify(problem, replace(forged, gap=0.0, is_optimal=True)).is_valid
