"""Prices to begin with on several GPUs: on parts of the host's memory, on parts of one GPU, on all GPUs there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from auctrack.matching import (
    Auction,
    HungarianClassical,
    HungarianTree,
    InvalidProblem,
    ShardedCosts,
    solve,
    verify,
)
from auctrack.matching.device import cuda
from auctrack.matching.hungarian.multi_gpu_classical import match_by_dual_phases
from auctrack.matching.hungarian.multi_gpu_forest import match_by_forests

from ..cases import CASES, Case, assert_solves
from .test_kernels_on_host import classical, tree
from .test_multi_gpu import OnOneGpu, OnShards, by_columns, by_rows
from .test_start import OPTIMA, PROBLEMS, starts

ON_TWINS = {"paper's tree": by_columns(3), "paper's classical": by_rows(3)}
ON_HOST = {"tree": tree(2), "classical": classical(2)}
ON_ONE_GPU = {
    "tree": OnOneGpu("hungarian-tree", 1, match_by_forests, 3),
    "classical": OnOneGpu("hungarian-classical", 0, match_by_dual_phases, 3),
}
DENSE = [name for name in PROBLEMS if name.startswith("dense")]


OF_EACH_KIND = ["dense 30x45, u None, int64", "dense 45x30, u None, float64", "dense 40x40, u 20, int64"]
ALL_KINDS = ("zero", "optimal", "shifted", "turned over", "random", "huge", "whole numbers")


def _assert_optimal_from(kinds: Sequence[str], solver: OnShards, name: str, device: str) -> None:
    problem, optimum = PROBLEMS[name], OPTIMA(name)
    prices = starts(problem, optimum.col_duals)
    for kind in kinds:
        answer = solve(problem, solver.from_prices(prices[kind]), device)
        assert verify(problem, answer)
        np.testing.assert_allclose(answer.cost, optimum.cost, rtol=1e-12)


@pytest.mark.parametrize("name", DENSE)
@pytest.mark.parametrize("solver", ON_TWINS.values(), ids=ON_TWINS)
def test_every_start_gives_the_optimum_by_the_papers_steps(solver: Any, name: str):
    _assert_optimal_from(ALL_KINDS, solver, name, "cpu")


@pytest.mark.kernels
@pytest.mark.usefixtures("host_as_devices")
@pytest.mark.parametrize(
    "name", ["dense 30x45, u None, int64", "dense 45x30, u None, float64", "dense 40x40, u 20, int64"]
)
@pytest.mark.parametrize("solver", ON_HOST.values(), ids=ON_HOST)
def test_starts_of_three_kinds_give_the_optimum_by_the_kernels(solver: Any, name: str):
    _assert_optimal_from(("shifted", "turned over", "random"), solver, name, "cpu")


@pytest.mark.parametrize("case", [case for case in CASES if case.problem.kind != "sparse"][::2], ids=str)
@pytest.mark.parametrize("solver", ON_TWINS.values(), ids=ON_TWINS)
def test_a_random_start_changes_no_named_case(solver: Any, case: Case):
    start = np.random.default_rng(1).normal(0, 10, case.problem.n_cols)
    assert_solves(case, solver.from_prices(start))


def test_lone_columns_below_their_bounds_are_raised_and_the_rows_that_gain_matched_anew():
    cost = np.zeros((2, 3))
    answer = solve(cost, by_rows(2).from_prices([-5.0, -5.0, -5.0]), "cpu")
    assert verify(cost, answer)
    np.testing.assert_array_equal(answer.col_duals, 0)


def test_optimal_prices_leave_less_to_do():
    problem = PROBLEMS["dense 40x40, u None, int64"]
    first = solve(problem, by_columns(2), "cpu")
    again = solve(problem, by_columns(2).from_prices(first), "cpu")
    assert again.stats["dual_updates"] == 0 < first.stats["dual_updates"]


@pytest.mark.gpu
@pytest.mark.parametrize("name", DENSE)
@pytest.mark.parametrize("solver", ON_ONE_GPU.values(), ids=ON_ONE_GPU)
def test_every_start_gives_the_optimum_in_shards_on_one_gpu(solver: Any, name: str):
    _assert_optimal_from(ALL_KINDS, solver, name, "cuda")


def _devices() -> list[str]:
    return [f"cuda:{device.index}" for device in cuda.devices()]


@pytest.mark.multigpu
@pytest.mark.parametrize("name", DENSE)
@pytest.mark.parametrize("variant", ["default", "paper"])
@pytest.mark.parametrize("solver", [HungarianTree, HungarianClassical])
def test_every_start_gives_the_optimum_on_all_devices(solver: Any, variant: Any, name: str):
    problem, optimum = PROBLEMS[name], OPTIMA(name)
    for start in starts(problem, optimum.col_duals).values():
        answer = solve(problem, solver(variant, start=start), _devices())
        assert verify(problem, answer)
        np.testing.assert_allclose(answer.cost, optimum.cost, rtol=1e-12)


@pytest.mark.multigpu
@pytest.mark.parametrize(("solver", "axis"), [(HungarianTree, 1), (HungarianClassical, 0)])
def test_shards_on_the_devices_are_solved_from_an_auctions_prices(solver: Any, axis: int):
    cp = cuda.cupy()
    cost = np.random.default_rng(4).integers(0, 4000, (300, 400))
    coarse = solve(cost, Auction(eps=50), "cuda:0")
    shards: list[Any] = []
    for device, part in zip(cuda.devices(), np.array_split(cost, len(cuda.devices()), axis=axis), strict=True):
        with cp.cuda.Device(device.index):
            shards.append(cp.array(part))
    answer = solve(ShardedCosts.of(shards, axis=axis), solver(start=coarse))
    assert verify(cost, answer)
    assert answer.cost == solve(cost, "jv", "cpu").cost


@pytest.mark.multigpu
@pytest.mark.parametrize("solver", [HungarianTree, HungarianClassical])
def test_a_start_that_is_none_is_refused_on_all_devices(solver: Any):
    with pytest.raises(InvalidProblem, match="each of the 2 columns"):
        solve([[1.0, 2.0], [3.0, 4.0]], solver(start=[0.0]), _devices())
