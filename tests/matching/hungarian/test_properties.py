"""What must hold of the Hungarian solvers beyond the named cases: sizes, scales, components, threads, options."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from auctrack.matching import HungarianTree, InvalidProblem, Problem, solve, verify

from .variants import ALL, DEFAULTS


def _gated(rng: np.random.Generator, n: int, m: int, share: float) -> Problem:
    """State a sparse problem with the given share of pairs, and an unmatched cost at which some stay unassigned."""
    allowed = rng.random((n, m)) < share
    indptr = np.concatenate([[0], np.cumsum(allowed.sum(axis=1))])
    graph = (indptr, np.nonzero(allowed)[1], rng.random(int(indptr[-1])))
    return Problem.sparse(graph, shape=(n, m), unmatched_cost=0.4)


@pytest.mark.parametrize("solver", ALL.values(), ids=ALL)
@pytest.mark.parametrize("spread", [3, 100, 100_000])
def test_larger_matrices_cost_what_scipy_finds(solver: Any, spread: int):
    cost = np.random.default_rng(spread).integers(0, spread, (180, 220))
    answer = solve(cost, solver, "cpu")
    assert answer.cost == cost[linear_sum_assignment(cost)].sum()
    assert verify(cost, answer)


@pytest.mark.parametrize("solver", ALL.values(), ids=ALL)
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_forbidden_pairs_stay_forbidden_in_every_type(solver: Any, dtype: Any):
    rng = np.random.default_rng(5)
    cost, forbidden = rng.integers(0, 10**6, (90, 110)).astype(dtype), rng.random((90, 110)) < 0.6
    answer = solve(Problem.dense(cost, forbidden=forbidden), solver, "cpu")
    allowed = np.where(forbidden, np.inf, cost)
    assert answer.cost == allowed[linear_sum_assignment(allowed)].sum()


@pytest.mark.parametrize("solver", ALL.values(), ids=ALL)
def test_scaling_by_a_power_of_two_changes_only_the_scale(solver: Any):
    cost = np.random.default_rng(0).random((120, 120))
    before = solve(cost, solver, "cpu")
    for power in (-600, -30, 30, 600):
        after = solve(cost * 2.0**power, solver, "cpu")
        np.testing.assert_array_equal(before.col_of_row, after.col_of_row)
        np.testing.assert_array_equal(before.col_duals * 2.0**power, after.col_duals)


@pytest.mark.parametrize("solver", ALL.values(), ids=ALL)
def test_many_components_and_one_giant_one_are_proven(solver: Any):
    rng = np.random.default_rng(1)
    for share in (1 / 400, 1 / 40):
        problem = _gated(rng, 400, 380, share)
        answer = solve(problem, solver, "cpu")
        assert verify(problem, answer)
        np.testing.assert_allclose(answer.cost, solve(problem, "jv").cost, rtol=1e-12)


@pytest.mark.parametrize("solver", ALL.values(), ids=ALL)
def test_rows_of_very_different_scales_are_refined_to_a_proof(solver: Any):
    rng = np.random.default_rng(2)
    cost = rng.random((60, 60)) * 10.0 ** rng.integers(-9, 9, (60, 1))
    assert verify(cost, solve(cost, solver, "cpu"))


@pytest.mark.parametrize("shape", [(500, 500), (1500, 1600)], ids=["levels are shared", "the reduction, too"])
@pytest.mark.parametrize("unmatched_cost", [None, 3], ids=["whole", "priced"])
def test_answers_do_not_depend_on_threads(shape: tuple[int, int], unmatched_cost: int | None):
    problem = Problem.dense(np.random.default_rng(3).integers(0, 5000, shape), unmatched_cost=unmatched_cost)
    most = int(numba.config.NUMBA_NUM_THREADS)
    one, all_there = (solve(problem, HungarianTree(threads=k), "cpu") for k in (1, most))
    np.testing.assert_array_equal(one.col_of_row, all_there.col_of_row)
    np.testing.assert_array_equal(one.col_duals, all_there.col_duals)


def test_a_dual_phase_finds_many_paths_also_for_real_costs():
    rng = np.random.default_rng(6)
    distances = np.linalg.norm(rng.random((400, 1, 3)) - rng.random((1, 400, 3)), axis=2)
    assert solve(distances, "hungarian-classical", "cpu").stats["searches"] <= 20


@pytest.mark.parametrize("unmatched_cost", [None, 0.1, 0.4], ids=["unequal sides", "many unassigned", "few unassigned"])
def test_a_dual_phase_finds_many_paths_also_where_some_stay_unassigned(unmatched_cost: float | None):
    rng = np.random.default_rng(7)
    distances = np.linalg.norm(rng.random((360, 1, 3)) - rng.random((1, 400, 3)), axis=2)
    problem = Problem.dense(distances, unmatched_cost=unmatched_cost)
    answer = solve(problem, "hungarian-classical", "cpu")
    assert verify(problem, answer)
    assert answer.stats["searches"] <= 20


@pytest.mark.parametrize("solver", DEFAULTS.values(), ids=DEFAULTS)
def test_a_search_finds_many_paths_in_a_gate_of_one_piece(solver: Any):
    problem = _gated(np.random.default_rng(8), 600, 580, 1 / 40)
    answer = solve(problem, solver, "cpu")
    assert verify(problem, answer)
    assert answer.stats["searches"] <= 20


def test_paths_of_the_searches_add_up_to_the_rows():
    cost = np.random.default_rng(4).integers(0, 200, (200, 200))
    stats = solve(cost, "hungarian-tree", "cpu").stats
    assert stats["searches"] < 40
    assert stats["paths_of_search"].sum() == 200
    assert stats["levels"] >= stats["searches"] + stats["dual_updates"]


@pytest.mark.parametrize(
    "options", [{"variant": "fast"}, {"threads": 0}, {"threads": 10**6}, {"threads": 1.5}, {"threads": "all"}]
)
def test_options_out_of_range_are_refused_by_name(options: dict[str, Any]):
    with pytest.raises(InvalidProblem, match=next(iter(options))):
        solve([[1.0]], "hungarian-tree", "cpu", **options)
