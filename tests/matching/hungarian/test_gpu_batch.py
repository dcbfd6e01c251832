"""Batches of dense problems on a GPU: every block's answer is the one that the CPU gives."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from auctrack.matching import HungarianClassical, HungarianTree, Infeasible, Problem, solve, verify
from auctrack.matching.device import cuda

pytestmark = pytest.mark.gpu

SOLVERS = [HungarianClassical(), HungarianTree()]
NAMES = ["classical", "tree"]


def _batch(rng: np.random.Generator, shapes: list[tuple[int, int]], dtype: Any, spread: int, **options: Any) -> Problem:
    return Problem.batch([Problem.dense(rng.integers(0, spread, shape).astype(dtype), **options) for shape in shapes])


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (40, 40), (30, 70), (70, 30), (300, 300)])
@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
def test_blocks_of_one_shape_are_answered_as_on_the_cpu(solver: Any, shape: tuple[int, int], dtype: Any):
    rng = np.random.default_rng(0)
    for unmatched_cost in (None, 200):
        problem = _batch(rng, [shape] * 20, dtype, 1000, unmatched_cost=unmatched_cost)
        here, there = solve(problem, solver, "cpu"), solve(problem, solver, "cuda")
        np.testing.assert_array_equal(here.col_of_row, there.col_of_row)
        np.testing.assert_array_equal(here.col_duals, there.col_duals)
        np.testing.assert_array_equal(here.cost, there.cost)
        assert verify(problem, there)


@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
def test_blocks_of_many_shapes_come_back_in_their_order(solver: Any):
    rng = np.random.default_rng(1)
    shapes = [(20, 20), (7, 30), (20, 20), (0, 4), (30, 7), (20, 20), (7, 30), (200, 1)]
    problem = _batch(rng, shapes, np.float64, 100)
    there = solve(problem, solver, "cuda")
    assert verify(problem, there)
    np.testing.assert_array_equal(there.cost, solve(problem, solver, "cpu").cost)


@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
def test_real_costs_of_many_scales_are_refined_to_a_proof(solver: Any):
    rng = np.random.default_rng(2)
    blocks = [rng.random((60, 60)) * 10.0 ** rng.integers(-9, 9, (60, 1)) for _ in range(10)]
    problem = Problem.batch([Problem.dense(block) for block in blocks])
    assert verify(problem, solve(problem, solver, "cuda"))


@pytest.mark.parametrize("unmatched_cost", [None, 0.2])
@pytest.mark.parametrize("n_blocks", [1, 5])
@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
def test_scaling_by_a_power_of_two_changes_only_the_scale(solver: Any, n_blocks: int, unmatched_cost: float | None):
    cost = np.random.default_rng(3).random((n_blocks, 90, 110))
    before = solve(Problem.dense(cost, unmatched_cost=unmatched_cost), solver, "cuda")
    for power in (-600, -30, 30, 600):
        scaled = Problem.dense(
            cost * 2.0**power, unmatched_cost=None if unmatched_cost is None else unmatched_cost * 2.0**power
        )
        after = solve(scaled, solver, "cuda")
        np.testing.assert_array_equal(before.col_of_row, after.col_of_row)
        np.testing.assert_array_equal(before.col_duals * 2.0**power, after.col_duals)


@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
def test_the_block_without_an_assignment_is_named(solver: Any):
    blocks = [np.ones((4, 4)) for _ in range(6)]
    blocks[3][:2, 1:] = np.inf
    with pytest.raises(Infeasible, match="Block 3") as caught:
        solve(Problem.batch([Problem.dense(block) for block in blocks]), solver, "cuda")
    assert caught.value.rows == (0, 1)
    assert caught.value.columns == (0,)


@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
@pytest.mark.parametrize("shape", [(50, 50), (50, 20), (20, 50)])
def test_a_batch_on_the_device_stays_there(solver: Any, shape: tuple[int, int]):
    costs = cuda.cupy().asarray(np.random.default_rng(3).random((8, *shape)))
    problem = Problem.dense(costs)
    answer = solve(problem, solver, "cuda")
    assert cuda.is_device_array(answer.col_of_row)
    assert verify(problem, answer)


def test_offsets_of_a_batch_count_all_its_rows():
    problem = _batch(np.random.default_rng(4), [(5, 6)] * 3, np.int64, 10)
    answer = solve(problem, "hungarian-classical", "cuda")
    for (r0, r1), (c0, c1) in zip(pairwise(answer.row_offsets), pairwise(answer.col_offsets), strict=True):
        assert (r1 - r0, c1 - c0) == (5, 6)
        assert (answer.col_of_row[r0:r1] < 6).all()
