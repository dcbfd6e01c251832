"""Matrices in which all but few pairs cost the same, and none more, are solved as the graph of the cheaper pairs."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from auctrack.matching import Assignment, Problem, solve, verify
from auctrack.matching.certificate.certify import certify
from auctrack.matching.presolve.few_cheap_pairs import by_cheap_pairs
from auctrack.matching.problem import cheaper_pairs

SHAPES = (300, 300), (300, 301), (300, 450), (301, 300), (450, 300)
GRAPH = partial(solve, device="cpu")


def _zeros_among_ones(shape: tuple[int, int], zeros_a_row: float, seed: int = 0) -> np.ndarray:
    return (np.random.default_rng(seed).random(shape) > zeros_a_row / shape[1]).astype(float)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("zeros_a_row", [0.3, 1, 2, 4, 15])
@pytest.mark.parametrize("costs", [(0, 1), (-1, 0), (0.1, 0.3), (1e-9, 1e9), (-(2**50), 2**50), (-7, -3)])
def test_two_costs_are_the_optimum_proven(shape, zeros_a_row, costs):
    is_dear = _zeros_among_ones(shape, zeros_a_row)
    cost = np.where(is_dear == 1, costs[1], costs[0])
    answer = by_cheap_pairs(Problem.dense(cost), GRAPH)
    assert answer is not None
    assert answer.is_optimal
    assert verify(cost, answer).is_valid
    n_dear = int(is_dear[linear_sum_assignment(is_dear)].sum())
    n_cheap = min(shape) - n_dear
    assert answer.stats["cheap_pairs"] == n_cheap
    assert answer.cost == pytest.approx(n_cheap * costs[0] + n_dear * costs[1], rel=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("cheap_a_row", [1, 3, 12])
@pytest.mark.parametrize("highest", [1.0, 1e3, 1e6, 1e9, 1e13, 1e20])
def test_few_pairs_below_a_sentinel_are_the_optimum_proven(shape, cheap_a_row, highest):
    rng = np.random.default_rng(5)
    cost = np.where(_zeros_among_ones(shape, cheap_a_row) == 0, rng.random(shape), highest)
    answer = by_cheap_pairs(Problem.dense(cost), GRAPH)
    assert answer is not None
    assert answer.is_optimal
    assert answer.n_matched == min(shape)
    assert verify(cost, answer).is_valid
    paid = cost[answer.edges()]
    lower = np.minimum(cost, 1e3)  # as few pay it all the same, as no other costs add up to it
    least = cost[linear_sum_assignment(lower)]
    assert answer.stats["cheap_pairs"] == (paid < highest).sum() == (least < highest).sum()
    assert paid[paid < highest].sum() == pytest.approx(least[least < highest].sum(), rel=1e-9)


@pytest.mark.parametrize("seed", [6, 7, 10])
def test_costs_of_thirty_decades_below_a_sentinel_are_refined(seed):
    rng = np.random.default_rng(seed)
    cost = np.where(rng.random((200, 200)) < 0.03, 10.0 ** rng.uniform(-30, 0, (200, 200)), 1e100)
    answer = by_cheap_pairs(Problem.dense(cost), GRAPH)
    assert answer is not None
    assert verify(cost, answer).is_optimal


def test_what_is_not_proven_is_left_to_others():
    problem = Problem.dense(_zeros_among_ones((300, 300), 2).astype(np.int64))
    nobody, no_duals = np.full(300, -1, np.int32), np.zeros(300, np.int64)
    assert by_cheap_pairs(problem, lambda graph: certify(graph, nobody, no_duals, solver="none")) is None


def test_auto_takes_a_graph_for_ones_with_two_zeros_a_row():
    cost = _zeros_among_ones((400, 400), 2)
    answer = solve(cost, device="cpu")
    assert "cheaper" in answer.stats["auto"]
    assert answer.cost == solve(cost, "jv").cost
    most = solve(1 - cost, device="cpu", maximize=True)
    assert "cheaper" in most.stats["auto"]
    assert most.cost == 400 - answer.cost
    assert verify(1 - cost, most)


def _refused(graph: Problem) -> Assignment:
    raise AssertionError(f"{graph} should not be solved")


@pytest.mark.parametrize("kind", ["dearer", "many cheap", "infinite", "forbidden", "priced", "small", "batch", "graph"])
def test_other_costs_are_left_alone(kind):
    cost = _zeros_among_ones((300, 300), 150 if kind == "many cheap" else 2)
    stated = {"unmatched_cost": 2.0} if kind == "priced" else {}
    if kind == "forbidden":
        stated = {"forbidden": np.random.default_rng(1).random(cost.shape) < 0.01}
    elif kind == "dearer":
        cost[17, 4] = 1.5
    elif kind == "infinite":
        cost[cost == 1] = np.inf
    elif kind == "small":
        cost = cost[: cheaper_pairs.FEWEST - 1]
    problem = Problem.batch([cost, cost]) if kind == "batch" else Problem.dense(cost, **stated)
    if kind == "graph":
        problem = Problem.sparse(csr_array(1 - cost))
    assert by_cheap_pairs(problem, _refused) is None
