"""Sparse costs on a GPU, beside their twin; and the twin on every hard case, without one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auctrack.matching import Problem, solve, verify
from auctrack.matching.hungarian import HungarianClassical, HungarianTree

from ..cases import CASES, Case, assert_solves
from .sparse_twin import match_as_the_gpu_does

NAMES = ["tree", "classical"]
SOLVERS = [HungarianTree(), HungarianClassical()]


class _Twin:
    """The twin as a solver."""

    name = "twin"
    devices = ("cpu",)

    def match(self, problem: Problem, _: str) -> Any:
        return match_as_the_gpu_does(problem)


def _gated(seed: int, n: int, m: int, degree: float, *, dtype: Any, unmatched_cost: float | None) -> Problem:
    """State random pairs, about `degree` a row; without an `unmatched_cost` some of them match the shorter side."""
    rng = np.random.default_rng(seed)
    allowed = rng.random((n, m)) < degree / m
    if unmatched_cost is None:
        short = min(n, m)
        allowed[rng.permutation(n)[:short], rng.permutation(m)[:short]] = True
    data = rng.integers(-20, 60, int(allowed.sum())) + (0 if np.issubdtype(dtype, np.integer) else rng.random())
    indptr = np.concatenate([[0], np.cumsum(allowed.sum(axis=1))])
    graph = (indptr, np.nonzero(allowed)[1], data.astype(dtype))
    return Problem.sparse(graph, shape=(n, m), unmatched_cost=unmatched_cost)


PROBLEMS = {
    f"{n}x{m}, degree {degree}, u {u}, {np.dtype(dtype)}": _gated(n, n, m, degree, dtype=dtype, unmatched_cost=u)
    for n, m, degree in [(300, 300, 1), (300, 300, 4), (200, 240, 6), (240, 200, 6), (150, 151, 150)]
    for u in (None, 10)
    for dtype in (np.int32, np.float64)
}
"""Many components and one giant one; sides equal and not; all matched or with an unmatched cost."""

WHOLE = [name for name, problem in PROBLEMS.items() if problem.must_match_all(0)]
"""Without a bound on any dual: a GPU matches them by forests."""


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_twin_solves_and_proves_every_named_case(case: Case):
    assert_solves(case, _Twin())


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_twin_costs_what_another_method_finds(name: str):
    problem = PROBLEMS[name]
    answer = solve(problem, _Twin(), "cpu")
    assert verify(problem, answer)
    np.testing.assert_allclose(answer.cost, solve(problem, "jv", "cpu").cost, rtol=1e-12)


def test_components_finish_side_by_side():
    """Twice as many components need no more searches: no tree waits for another that it does not touch."""
    one = _gated(5, 100, 100, 3, dtype=np.float64, unmatched_cost=30)
    searches = [solve(Problem.batch([one] * k), _Twin(), "cpu").stats["searches"] for k in (1, 2, 8)]
    assert searches[0] == searches[1] == searches[2]


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
def test_a_gpu_solves_and_proves_every_named_case(solver: Any, case: Case):
    assert_solves(case, solver, "cuda")


@pytest.mark.gpu
@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
def test_a_gpu_matches_whole_problems_at_what_the_twin_finds(solver: Any, name: str):
    problem = PROBLEMS[name]
    there = solve(problem, solver, "cuda")
    assert verify(problem, there)
    np.testing.assert_allclose(there.cost, solve(problem, _Twin(), "cpu").cost, rtol=1e-12)
    assert there.stats["levels"] >= there.stats["searches"] >= 1


@pytest.mark.gpu
@pytest.mark.parametrize("name", [name for name in PROBLEMS if name not in WHOLE])
@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
def test_a_gpu_does_what_the_twin_does(solver: Any, name: str):
    problem = PROBLEMS[name]
    there, here = solve(problem, solver, "cuda"), solve(problem, _Twin(), "cpu")
    assert verify(problem, there)
    np.testing.assert_array_equal(there.col_of_row, here.col_of_row)
    np.testing.assert_array_equal(there.col_duals, here.col_duals)
    assert [there.stats[count] for count in ("searches", "levels")] == [
        here.stats[count] for count in ("searches", "levels")
    ]


@pytest.mark.gpu
@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
def test_batches_of_unequal_blocks_are_proven_on_a_gpu(solver: Any):
    wide, tall = PROBLEMS["200x240, degree 6, u None, int32"], PROBLEMS["240x200, degree 6, u None, int32"]
    for blocks in ([wide, tall, wide], [tall, tall], [wide, wide]):
        batch = Problem.batch(blocks)
        assert verify(batch, solve(batch, solver, "cuda"))


@pytest.mark.gpu
@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
def test_scaling_by_a_power_of_two_changes_only_the_scale_on_a_gpu(solver: Any):
    problem = PROBLEMS["300x300, degree 4, u 10, float64"]
    before = solve(problem, solver, "cuda")
    graph = problem.indptr, problem.indices, problem.data * 2.0**-30
    scaled = Problem.sparse(graph, shape=problem.shape, unmatched_cost=10 * 2.0**-30)
    after = solve(scaled, solver, "cuda")
    np.testing.assert_array_equal(before.col_of_row, after.col_of_row)
    np.testing.assert_array_equal(before.col_duals * 2.0**-30, after.col_duals)
