"""Several GPUs: the paper's section 5 on shards in the host's memory, with the kernels' twins, and what is refused."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auctrack.matching import (
    Infeasible,
    InvalidProblem,
    Problem,
    ShardedCosts,
    solve,
    verify,
)
from auctrack.matching.certificate.matched import SolverMatching, nothing_matched
from auctrack.matching.device import cuda
from auctrack.matching.device.collectives import Copies
from auctrack.matching.hungarian import HungarianClassical, HungarianTree
from auctrack.matching.hungarian.multi_gpu import Method, match_shards
from auctrack.matching.hungarian.multi_gpu_classical import match_by_dual_phases
from auctrack.matching.hungarian.shards import Shards, even_split, place
from auctrack.matching.papers.date_nagi_2016.multi_gpu_classical import match_by_zeros
from auctrack.matching.papers.date_nagi_2016.multi_gpu_tree import match_by_trees
from auctrack.matching.presolve.groups import one_by_one
from auctrack.matching.problem.convert import as_dense

from ...refusals import refused
from ..cases import CASES, Case, assert_solves
from .kernel_twins import HostCosts


class OnShards:
    """A solver that splits dense problems among shards in the host's memory."""

    devices = ("cpu",)
    xp: Any = np
    costs: Any = HostCosts

    def __init__(self, name: str, axis: int, method: Method, n_shards: int) -> None:
        self.name, self.axis, self.method, self.n_shards = name, axis, method, n_shards

    def groups(self, problem: Problem, _: str) -> list[np.ndarray]:
        return one_by_one(problem)

    def match(self, problem: Problem, _: str) -> SolverMatching:
        block = as_dense(problem)
        return match_shards(self._shards(block), self.method) if min(block.shape) else nothing_matched(block)

    def _shards(self, block: Problem) -> Shards:
        first = even_split(block.shape[self.axis], self.n_shards)
        parts = tuple(self._part(block, slice(a, b)) for a, b in pairwise(first))
        return Shards(block, parts, self.axis, first, Copies(self.xp))

    def _part(self, block: Problem, own: slice) -> Any:
        window = (own, slice(None)) if self.axis == 0 else (slice(None), own)
        there = self.xp.asarray
        mask = None if block.forbidden is None else there(block.forbidden.reshape(block.shape)[window])
        bounds = (there(bound[side]) for bound, side in zip(block.dual_bounds(), window, strict=True))
        return self.costs(self.xp, there(block.cost_matrix[window]), mask, *bounds)


class OnOneGpu(OnShards):
    """The same with all shards on the current GPU."""

    devices = ("cuda",)

    def _shards(self, block: Problem) -> Shards:
        cp = cuda.cupy()
        first = even_split(block.shape[self.axis], self.n_shards)
        parts = tuple(place(cp, block, [0] * self.n_shards, self.axis))
        return Shards(block, parts, self.axis, first, Copies(cp))


def by_columns(n_shards: int) -> OnShards:
    return OnShards("hungarian-tree", 1, match_by_trees, n_shards)


def by_rows(n_shards: int) -> OnShards:
    return OnShards("hungarian-classical", 0, match_by_zeros, n_shards)


SPLITS = [split(n) for split in (by_columns, by_rows) for n in (2, 4)]
NAMES = [f"{split.name}-{split.n_shards}" for split in SPLITS]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("solver", SPLITS, ids=NAMES)
def test_a_named_case_is_solved_and_proven(solver: Any, case: Case):
    assert_solves(case, solver)


@pytest.mark.parametrize("solver", SPLITS, ids=NAMES)
@pytest.mark.parametrize("unmatched_cost", [None, 40])
def test_the_cost_does_not_depend_on_the_split(solver: Any, unmatched_cost: int | None):
    cost = np.random.default_rng(0).integers(0, 200, (60, 70))
    problem = Problem.dense(cost, unmatched_cost=unmatched_cost)
    answer = solve(problem, solver, "cpu")
    assert answer.cost == solve(problem, "jv", "cpu").cost
    assert verify(problem, answer)


@pytest.mark.parametrize("solver", SPLITS, ids=NAMES)
def test_scaling_by_a_power_of_two_changes_only_the_scale(solver: Any):
    cost = np.random.default_rng(0).random((30, 30))
    before, after = solve(cost, solver, "cpu"), solve(cost * 2.0**-300, solver, "cpu")
    np.testing.assert_array_equal(before.col_of_row, after.col_of_row)
    np.testing.assert_array_equal(before.col_duals * 2.0**-300, after.col_duals)


@pytest.mark.parametrize("solver", SPLITS, ids=NAMES)
def test_edges_that_rounding_left_with_slack_are_matched_again(solver: Any):
    rng = np.random.default_rng(2)
    cost = rng.random((40, 40)) * 10.0 ** rng.integers(-9, 9, (40, 1))
    answer = solve(cost, solver, "cpu")
    assert answer.stats["refinements"] > 0
    assert verify(cost, answer)


@pytest.mark.parametrize("solver", SPLITS, ids=NAMES)
def test_phases_and_paths_are_told(solver: Any):
    stats = solve(np.random.default_rng(1).integers(0, 80, (40, 40)), solver, "cpu").stats
    assert stats["paths_of_search"].sum() == 40
    assert stats["levels"] >= stats["searches"] >= 1
    phases = {"reduction_s", "compaction_s", "forward_s", "reverse_s", "augment_s", "dual_update_s", "certificate_s"}
    assert phases <= set(stats)


@pytest.mark.parametrize(("size", "parts"), [(0, 3), (2, 4), (7, 3), (8, 4)])
def test_an_even_split_covers_all_and_leaves_no_part_empty(size: int, parts: int):
    first = even_split(size, parts)
    assert (first[0], first[-1], len(first)) == (0, size, max(min(size, parts), 1) + 1)
    lengths = np.diff(first)
    assert lengths.max() - lengths.min() <= 1


# ------------------------------------------------------------------ on GPUs


def _devices() -> list[str]:
    return [f"cuda:{device.index}" for device in cuda.devices()]


GPU_SOLVERS = [("hungarian-classical", "default"), ("hungarian-classical", "paper"), ("hungarian-tree", "paper")]


@pytest.mark.gpu
@pytest.mark.parametrize("case", [case for case in CASES if case.problem.kind != "sparse"], ids=str)
@pytest.mark.parametrize(
    "solver",
    [
        OnOneGpu("hungarian-tree", 1, match_by_trees, 3),
        OnOneGpu("hungarian-classical", 0, match_by_zeros, 3),
        OnOneGpu("hungarian-classical", 0, match_by_dual_phases, 3),
    ],
    ids=["tree-paper", "classical-paper", "classical"],
)
def test_a_named_case_is_solved_and_proven_in_shards_on_one_gpu(solver: Any, case: Case):
    assert_solves(case, solver, "cuda")


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("spread", [3, 10_000])
@pytest.mark.parametrize("share", [0, 0.5])
def test_lists_of_several_devices_lead_to_the_answer_of_one(spread: int, share: float, dtype: Any):
    rng = np.random.default_rng(7)
    cost, forbidden = rng.integers(0, spread, (700, 900)).astype(dtype), rng.random((700, 900)) < share
    for unmatched_cost in (None, spread // 2):
        problem = Problem.dense(cost, unmatched_cost=unmatched_cost, forbidden=forbidden if share else None)
        one = solve(problem, "hungarian-classical", "cuda")
        several = solve(problem, OnOneGpu("hungarian-classical", 0, match_by_dual_phases, 4), "cuda")
        np.testing.assert_array_equal(one.col_of_row, several.col_of_row)
        np.testing.assert_array_equal(one.col_duals, several.col_duals)


@pytest.mark.multigpu
@pytest.mark.parametrize("case", [case for case in CASES if case.problem.kind != "sparse"], ids=str)
@pytest.mark.parametrize(("solver", "variant"), GPU_SOLVERS)
def test_a_named_case_is_solved_and_proven_on_all_devices(solver: str, variant: str, case: Case):
    assert_solves(case, solver, _devices(), variant=variant)  # type: ignore[arg-type]


@pytest.mark.multigpu
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(700, 700), (500, 900), (900, 500)])
@pytest.mark.parametrize(("solver", "variant"), GPU_SOLVERS)
def test_all_types_and_shapes_are_proven_on_all_devices(solver: str, variant: str, shape: tuple[int, int], dtype: Any):
    cost = np.random.default_rng(5).integers(0, 1000, shape).astype(dtype)
    for unmatched_cost in (None, 30):
        problem = Problem.dense(cost, unmatched_cost=unmatched_cost)
        answer = solve(problem, solver, _devices(), variant=variant)
        assert answer.device == ",".join(_devices())
        assert verify(problem, answer)


@pytest.mark.multigpu
@pytest.mark.parametrize(("solver", "axis"), [(HungarianTree(variant="paper"), 1), ("hungarian-classical", 0)])
def test_shards_that_are_on_the_devices_are_solved_there(solver: Any, axis: int):
    cp = cuda.cupy()
    shards: list[Any] = []
    for device in cuda.devices():
        with cp.cuda.Device(device.index):
            shards.append(cp.random.default_rng(device.index).integers(0, 900, (300, 300)).astype(cp.float32))
    costs = ShardedCosts.of(shards, axis=axis, unmatched_cost=200)
    answer = solve(costs, solver)
    assert verify(costs.on_host(), answer)
    with refused(InvalidProblem, argument="solver"):
        solve(costs, "auto" if axis == 1 else HungarianTree(variant="paper"))


@pytest.mark.multigpu
@pytest.mark.parametrize("solver", [HungarianTree(variant="paper"), HungarianClassical()], ids=["tree", "classical"])
def test_costs_go_to_the_devices_from_a_file_and_from_one_of_them(solver: Any, tmp_path: Path):
    file = np.memmap(tmp_path / "costs", np.float32, "w+", shape=(400, 500))
    file[:] = np.random.default_rng(8).random((400, 500), np.float32)
    from_file = solve(file, solver, _devices())
    assert verify(np.asarray(file), from_file)
    cp = cuda.cupy()
    from_device = solve(cp.asarray(file), solver, _devices())
    assert isinstance(from_device.col_of_row, cp.ndarray)
    np.testing.assert_array_equal(cuda.to_host(from_device.col_of_row), from_file.col_of_row)


@pytest.mark.multigpu
def test_a_row_without_a_partner_is_named_on_all_devices():
    cost = np.ones((20, 30))
    cost[7] = np.inf
    with pytest.raises(Infeasible) as caught:
        solve(cost, "hungarian-classical", _devices())
    assert caught.value.rows == (7,)
