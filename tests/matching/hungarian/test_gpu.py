"""Both variants on a GPU: every dense named case, and the whole answer beside the CPU's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auctrack.matching import DeviceUnavailable, Problem, solve, verify
from auctrack.matching.hungarian import HungarianClassical, HungarianTree

from ..cases import CASES, Case, assert_solves

pytestmark = pytest.mark.gpu

SOLVERS = [HungarianTree(), HungarianTree(variant="paper"), HungarianClassical()]
NAMES = ["tree", "tree-paper", "classical"]


@pytest.mark.parametrize("case", [case for case in CASES if case.problem.kind != "sparse"], ids=str)
@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
def test_a_named_case_is_solved_and_proven(solver: Any, case: Case):
    assert_solves(case, solver, "cuda")


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(700, 700), (500, 900), (900, 500), (1300, 1300)])
@pytest.mark.parametrize("spread", [3, 10_000])
def test_the_forest_is_the_cpus_link_by_link_and_dual_by_dual(shape: tuple[int, int], dtype: Any, spread: int):
    rng = np.random.default_rng(spread)
    for unmatched_cost in (None, spread // 3):
        problem = Problem.dense(rng.integers(0, spread, shape).astype(dtype), unmatched_cost=unmatched_cost)
        here, there = solve(problem, "hungarian-tree", "cpu"), solve(problem, "hungarian-tree", "cuda")
        np.testing.assert_array_equal(here.col_of_row, there.col_of_row)
        np.testing.assert_array_equal(here.col_duals, there.col_duals)
        assert verify(problem, there)


@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
def test_real_costs_are_proven_optimal(solver: Any):
    problem = Problem.dense(np.random.default_rng(0).random((800, 800)))
    assert verify(problem, solve(problem, solver, "cuda"))


def test_sparse_costs_are_refused_with_the_remedy():
    with pytest.raises(DeviceUnavailable, match="device='cpu'"):
        solve(Problem.sparse(([0, 1], [0], [1.0]), shape=(1, 1)), "hungarian-tree", "cuda")
