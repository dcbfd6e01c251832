"""Both variants on a GPU: every dense named case, and the whole answer beside the CPU's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auctrack.matching import Problem, solve, verify
from auctrack.matching.hungarian import HungarianClassical, HungarianTree

from ..cases import CASES, Case, assert_solves

pytestmark = pytest.mark.gpu

SOLVERS = [
    HungarianTree(),
    HungarianTree(variant="paper"),
    HungarianClassical(),
    HungarianClassical(variant="paper"),
]
NAMES = ["tree", "tree-paper", "classical", "classical-paper"]


@pytest.mark.parametrize("case", [case for case in CASES if case.problem.kind != "sparse"], ids=str)
@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
def test_a_named_case_is_solved_and_proven(solver: Any, case: Case):
    assert_solves(case, solver, "cuda")


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(700, 700), (500, 900), (900, 500), (1300, 1300)])
@pytest.mark.parametrize("spread", [3, 10_000])
@pytest.mark.parametrize("solver", ["hungarian-tree", "hungarian-classical"])
def test_the_answer_is_the_cpus_edge_by_edge_and_dual_by_dual(
    solver: str, shape: tuple[int, int], dtype: Any, spread: int
):
    rng = np.random.default_rng(spread)
    for unmatched_cost in (None, spread // 3):
        problem = Problem.dense(rng.integers(0, spread, shape).astype(dtype), unmatched_cost=unmatched_cost)
        here, there = solve(problem, solver, "cpu"), solve(problem, solver, "cuda")
        np.testing.assert_array_equal(here.col_of_row, there.col_of_row)
        np.testing.assert_array_equal(here.col_duals, there.col_duals)
        assert here.stats["searches"] == there.stats["searches"]
        assert verify(problem, there)


@pytest.mark.parametrize("unmatched_cost", [None, 0.1, 0.3])
def test_a_dual_phase_finds_many_paths_also_where_some_stay_unassigned(unmatched_cost: float | None):
    rng = np.random.default_rng(1)
    distances = np.linalg.norm(rng.random((900, 1, 3)) - rng.random((1, 1000, 3)), axis=2)
    problem = Problem.dense(distances, unmatched_cost=unmatched_cost)
    here, there = (solve(problem, "hungarian-classical", device) for device in ("cpu", "cuda"))
    np.testing.assert_array_equal(here.col_of_row, there.col_of_row)
    assert here.stats["searches"] == there.stats["searches"] <= 20


@pytest.mark.parametrize("n", [700, 2000])
def test_rows_that_all_want_the_same_columns(n: int):
    # Most lists are lengthened here, while other blocks lower the keys that say how far.
    rng = np.random.default_rng(3)
    here, there = rng.random((n, 1, 2)), 50 * rng.random((1, n, 2))
    problem = Problem.dense(np.linalg.norm(here - there, axis=2))
    assert verify(problem, solve(problem, "hungarian-classical", "cuda"))


@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
def test_real_costs_are_proven_optimal(solver: Any):
    problem = Problem.dense(np.random.default_rng(0).random((800, 800)))
    assert verify(problem, solve(problem, solver, "cuda"))


@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
def test_scaling_by_a_power_of_two_changes_only_the_scale(solver: Any):
    cost = np.random.default_rng(4).random((300, 300))
    before, after = solve(cost, solver, "cuda"), solve(cost * 2.0**-300, solver, "cuda")
    np.testing.assert_array_equal(before.col_of_row, after.col_of_row)
    assert before.cost * 2.0**-300 == after.cost


@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
def test_phases_and_paths_are_told(solver: Any):
    stats = solve(np.random.default_rng(1).integers(0, 800, (400, 400)), solver, "cuda").stats
    of_all = {"reduction_s", "augment_s"}
    of_paper = {"compaction_s", "forward_s", "reverse_s", "dual_update_s"}
    assert (of_all | of_paper if solver.variant == "paper" else of_all) <= set(stats)
    assert solver.variant != "paper" or stats["paths_of_search"].sum() == 400
