"""Rows and columns that no pair is worth: left out, and the answer is proven for the problem as stated."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from auctrack.matching import NotConverged, Problem, solve, verify
from auctrack.matching.certificate.certify import certify
from auctrack.matching.device import cuda
from auctrack.matching.presolve.beyond_reach import without_unreachable
from auctrack.matching.problem.reach import FEWEST
from auctrack.plugins.bench.assignment.hostile_problems import far_point_with_unmatched_cost
from auctrack.plugins.bench.assignment.instance import Instance

from ..cases import optimum_of

N, UNMATCHED_COST = FEWEST + 20, 1e6


def near_costs(*, far_rows: tuple[int, ...] = (), far_cols: tuple[int, ...] = (), seed: int = 0) -> np.ndarray:
    """Return costs from 0 to 3 but in rows and columns whose every cost is above two unmatched costs."""
    cost = np.random.default_rng(seed).random((N, N)) * 3
    cost[list(far_rows)] += 3 * UNMATCHED_COST
    cost[:, list(far_cols)] += 3 * UNMATCHED_COST
    return cost


def solved(problem: Problem) -> tuple[list[tuple[tuple[int, int], bool]], Any]:
    """Solve, and return the shape of what was solved and whether it had unmatched costs."""
    seen: list[tuple[tuple[int, int], bool]] = []

    def watched(stated: Problem) -> Any:
        seen.append((stated.shape, stated.has_unmatched_cost))
        return solve(stated, "jv", "cpu")

    return seen, without_unreachable(problem, watched)


@pytest.mark.parametrize(
    "unmatched_costs",
    [(UNMATCHED_COST, UNMATCHED_COST), (2 * UNMATCHED_COST, 0.0), (0.5 * UNMATCHED_COST, 1.5 * UNMATCHED_COST)],
    ids=str,
)
@pytest.mark.parametrize(("rows", "cols"), [((), (0,)), ((7,), ()), ((1, 5), (0, N - 1)), ((3, 4, 5), (2,))], ids=str)
def test_what_is_beyond_reach_is_left_out_and_the_rest_has_no_unmatched_costs(
    rows: Any, cols: Any, unmatched_costs: Any
) -> None:
    cost = near_costs(far_rows=rows, far_cols=cols)
    problem = Problem.dense(cost, unmatched_cost=unmatched_costs)
    seen, answer = solved(problem)
    assert seen == [((N - len(rows), N - len(cols)), False)]
    assert answer.is_optimal
    assert verify(problem, answer).is_optimal
    assert (answer.col_of_row[list(rows)] == -1).all()
    assert (answer.row_of_col[list(cols)] == -1).all()
    near = np.delete(np.delete(cost, rows, axis=0), cols, axis=1)
    matched = solve(near, "auction", "cpu").cost
    n_matched = min(near.shape)
    unassigned = (N - n_matched) * sum(unmatched_costs)
    assert answer.cost == pytest.approx(matched + unassigned, rel=1e-15)
    assert (answer.row_duals <= unmatched_costs[0]).all()
    assert (answer.col_duals <= unmatched_costs[1]).all()


def test_whole_numbers_are_exact() -> None:
    cost = np.random.default_rng(1).integers(0, 50, (N, N))
    cost[:, 3] += 10**7
    problem = Problem.dense(cost, unmatched_cost=10**6)
    seen, answer = solved(problem)
    assert seen == [((N, N - 1), False)]
    assert (answer.is_optimal, answer.gap) == (True, 0)
    assert verify(problem, answer).is_optimal


@pytest.mark.parametrize(
    "kind", ["nothing is far", "unmatched costs matter", "most are far", "forbidden", "small", "sparse"]
)
def test_other_problems_are_solved_as_they_are(kind: str) -> None:
    cost = near_costs(far_cols=() if kind == "nothing is far" else (0,))
    unmatched_cost = 1.0 if kind == "unmatched costs matter" else UNMATCHED_COST
    if kind == "most are far":
        cost[: N // 2] += 3 * UNMATCHED_COST
    if kind == "forbidden":
        cost[0, 1] = np.inf
    if kind == "small":
        cost = cost[:20, :20]
    problem = Problem.dense(cost, unmatched_cost=unmatched_cost)
    if kind == "sparse":
        everywhere = np.arange(N + 1) * N, np.tile(np.arange(N, dtype=np.int32), N), cost.ravel()
        problem = Problem.sparse(everywhere, shape=cost.shape, unmatched_cost=unmatched_cost)
    seen, answer = solved(problem)
    assert seen == [(problem.shape, True)]
    assert verify(problem, answer).is_optimal


def test_an_answer_that_is_not_proven_is_one_to_the_problem_as_stated() -> None:
    problem = Problem.dense(near_costs(far_cols=(0,)), unmatched_cost=UNMATCHED_COST)

    def stopped(stated: Problem) -> Any:
        raise NotConverged("stopped", assignment=solve(stated, "jv", "cpu"))

    with pytest.raises(NotConverged) as caught:
        without_unreachable(problem, stopped)
    assert caught.value.assignment is not None
    assert len(caught.value.assignment.col_of_row) == N
    assert caught.value.assignment.row_of_col[0] == -1


@pytest.mark.parametrize("dearer", [1e-2, 1e-7])
def test_verify_sees_a_dearer_matched_edge_beside_such_unmatched_costs(dearer: float) -> None:
    """An exchange of two rows' edges costs that much: 1e-7 is within what duals as large lose by rounding."""
    cost = near_costs(far_cols=(0,))
    cost[:2, 1:] = 2.9
    cost[:2, 1:3] = 0.0
    cost[2:, 1:3] = 2.9
    cost[1, 1] = dearer
    problem = Problem.dense(cost, unmatched_cost=UNMATCHED_COST)
    answer = solve(problem, device="cpu")
    assert verify(problem, answer).is_optimal
    assert answer.col_of_row[:2].tolist() == [1, 2]
    partners = answer.col_of_row.copy()
    partners[:2] = 2, 1
    forged = replace(certify(problem, partners, answer.col_duals, solver="jv"), gap=answer.gap, is_optimal=True)
    assert not verify(problem, forged).is_optimal


def test_a_far_point_and_a_high_unmatched_cost_cost_what_they_did() -> None:
    problem = far_point_with_unmatched_cost(300, 0)
    answer = solve(problem, device="cpu")
    assert answer.stats["beyond_reach"] == 1
    assert verify(problem, answer).is_optimal
    optimum = optimum_of(problem.cost_matrix, UNMATCHED_COST, UNMATCHED_COST)
    assert optimum is not None
    assert answer.cost == pytest.approx(optimum, rel=1e-14)


@pytest.mark.parametrize("n", [400, 450, 512, 600])
def test_a_far_column_is_seen_whatever_the_length_of_rows(n: int) -> None:
    """Costs that are looked at first once were 25 columns apart, and had the far one in every sixteenth place."""
    assert solve(far_point_with_unmatched_cost(n, 0), device="cpu").stats["beyond_reach"] == 1


@pytest.mark.gpu
@pytest.mark.parametrize("there", [False, True], ids=["host", "device"])
def test_a_far_point_and_a_high_unmatched_cost_on_a_gpu(there: bool) -> None:
    problem = far_point_with_unmatched_cost(400, 0)
    answer = solve(Instance(problem, "cuda:0").on_device if there else problem, device="cuda")
    assert cuda.is_device_array(answer.col_of_row) == there
    assert answer.stats["beyond_reach"] == 1
    assert verify(problem, answer).is_optimal
