"""The paper's auction beside unmatched costs far above all costs, and among costs that are all equal."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from auctrack.matching import Auction, InvalidProblem, Problem, solve, verify
from auctrack.matching.auction.bidding import as_duals
from auctrack.matching.papers.vasconcelos_2009.cpu import fixed_eps
from auctrack.matching.papers.vasconcelos_2009.gpu import increment
from auctrack.matching.points.box_tree import build_tree
from auctrack.matching.points.pricing import contradictions
from auctrack.matching.problem import INT_LIMIT
from auctrack.matching.solvers import SOLVERS

PAPER = Auction(variant="paper")


@pytest.mark.parametrize("unmatched_cost", [1e3, 1e6, 1e9])
@pytest.mark.parametrize("dtype", [float, int])
def test_unmatched_costs_far_above_the_others_end_or_are_refused(dtype: type, unmatched_cost: float) -> None:
    cost = np.random.default_rng(0).integers(0, 50, (30, 20)).astype(dtype)
    problem = Problem.dense(cost, unmatched_cost=dtype(unmatched_cost))
    if dtype is int and unmatched_cost > 1e3:
        with pytest.raises(InvalidProblem, match="unmatched_cost"):
            solve(problem, PAPER, "cpu")
    else:
        assert verify(problem, solve(problem, PAPER, "cpu")).is_valid


def as_on_a_gpu(problem: Problem) -> SimpleNamespace:
    """Return what a GPU's form of a dense problem says of costs and bounds, on the host."""
    row_bound, col_bound = problem.dual_bounds()
    kind = {"is_integer": problem.is_integer, "has_unmatched_cost": problem.row_unmatched is not None}
    none, cost = INT_LIMIT if problem.is_integer else np.inf, np.asarray(problem.data).ravel()
    bounds = {"row_bound": row_bound, "col_bound": col_bound}
    return SimpleNamespace(n_rows=30, n_cols=20, cost=cost, none=none, **bounds, **kind)


@pytest.mark.parametrize("unmatched_cost", [None, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("dtype", [float, int])
def test_a_gpu_bids_by_the_increment_of_a_cpu(dtype: type, unmatched_cost: float | None) -> None:
    cost = np.random.default_rng(0).integers(0, 50, (30, 20)).astype(dtype)
    problem = Problem.dense(cost, unmatched_cost=None if unmatched_cost is None else dtype(unmatched_cost))
    if dtype is float:
        assert increment(as_on_a_gpu(problem)) == fixed_eps(problem)
    elif unmatched_cost is None or unmatched_cost <= 1e3:
        assert increment(as_on_a_gpu(problem)) == 1 / 31
    else:
        with pytest.raises(InvalidProblem, match="unmatched_cost"):
            increment(as_on_a_gpu(problem))


@pytest.mark.parametrize("value", [1e-9, 3.0, 1e9])
@pytest.mark.parametrize("shape", [(6, 6), (5, 7), (7, 5)], ids=str)
def test_equal_costs_are_answered_validly(shape: tuple[int, int], value: float) -> None:
    problem = Problem.dense(np.full(shape, value))
    answer = solve(problem, PAPER, "cpu")
    assert verify(problem, answer).faults == ()
    assert answer.cost == pytest.approx(5 * value if 5 in shape else 6 * value)


def test_a_bid_makes_the_second_best_as_good() -> None:
    """By the increment alone, duals would take a thousand bids to part objects of this difference."""
    cost = np.array([[0.0, 1000.0], [0.0, 1000.0]])
    bids = solve(Problem.dense(cost), Auction(variant="paper", eps=1.0), "cpu").stats["bids"]
    assert bids <= 4


def test_whole_duals_are_rounded_down() -> None:
    whole = Problem.dense(np.ones((2, 2), int))
    assert as_duals(np.array([0.5, -0.5, 2.0]), whole).tolist() == [0, -1, 2]


@pytest.mark.parametrize("below", [1e-8, 1e-10, 1e-12])
def test_pairs_that_contradict_by_more_than_rounding_are_found(below: float) -> None:
    x, y = np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0]])
    rows, tree = build_tree(x), build_tree(y)
    for excess, found in ((below, 1), (1e-16, 0)):
        question = tree, rows.points, np.array([1.0 + excess]), np.zeros(1), False, 1
        assert contradictions(*question)[1].tolist() == [found]


@pytest.mark.parametrize("solver", ["auction", "auto"])
def test_free_memory_does_not_decide_between_edges_that_cost_the_same(
    solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert solver == "auto" or solver in SOLVERS
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 3, (2, 300, 3)) * np.array([[[1.0]], [[1e4]]])
    partners = []
    for pages in (1, 2**40):
        monkeypatch.setattr("os.sysconf", lambda name, n=pages: 4096 if name == "SC_PAGE_SIZE" else n)
        partners.append(solve(Problem.points(x, y), solver, "cpu").col_of_row.tolist())
    assert partners[0] == partners[1]
