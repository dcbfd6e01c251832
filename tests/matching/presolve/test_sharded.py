"""Several devices: costs in shards, and what is refused, each in one sentence."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from auctrack.matching import (
    DeviceUnavailable,
    HungarianClassical,
    HungarianTree,
    InvalidProblem,
    Problem,
    ShardedCosts,
    solve,
)
from auctrack.matching.device import cuda

from ...refusals import refused

SPLITTING = HungarianClassical(), HungarianClassical("paper"), HungarianTree("paper")

# ------------------------------------------------------------------ costs in shards


def test_unmatched_costs_far_above_all_others_are_refused_with_some_that_match_as_many():
    cost = np.random.default_rng(0).random((6, 8))
    stated = 2.0**70 + 2.0**20 * np.arange(6), 2.0**70
    with refused(InvalidProblem, argument="unmatched_cost", match=r"1\.\d+e\+21") as caught:
        ShardedCosts.of(np.split(cost, 2), axis=0, unmatched_cost=stated)
    (of_rows, more_rows), (of_cols, more_cols) = re.findall(r" - (\S+) \+ ([\d.]*\d)", str(caught.value))
    lower = stated[0] - float(of_rows) + float(more_rows), stated[1] - float(of_cols) + float(more_cols)
    ShardedCosts.of(np.split(cost, 2), axis=0, unmatched_cost=lower)
    answers = [solve(Problem.dense(cost, unmatched_cost=unmatched), "jv") for unmatched in (stated, lower)]
    np.testing.assert_array_equal(answers[0].col_of_row, answers[1].col_of_row)


@pytest.mark.parametrize("axis", [0, 1])
def test_shards_are_the_problem_that_they_are_parts_of(axis: int):
    cost = np.random.default_rng(3).integers(0, 9, (6, 8))
    shards = ShardedCosts.of(np.split(cost, 2, axis=axis), axis=axis, unmatched_cost=2.5)
    np.testing.assert_array_equal(shards.on_host().cost_matrix, cost)
    assert shards.shape == (6, 8)
    assert {shard.dtype.name for shard in shards.shards} == {"float64"}
    assert shards.on_host().has_unmatched_cost


def test_shards_are_shown_without_their_costs():
    shards = ShardedCosts.of(np.split(np.zeros((6, 8)), 2), axis=0)
    assert repr(shards) == "<ShardedCosts 6 x 8, float64, rows split over cpu, cpu>"


def test_a_shard_without_a_mask_forbids_nothing():
    mask = np.array([[True, False, False]])
    whole = ShardedCosts.of([np.ones((1, 3)), np.ones((1, 3))], axis=0, forbidden=[mask, None]).on_host()
    assert whole.forbidden is not None
    np.testing.assert_array_equal(whole.forbidden.reshape(2, 3), [[True, False, False], [False] * 3])


@pytest.mark.parametrize(
    ("shards", "options", "named"),
    [
        ([], {"axis": 0}, "shards"),
        (None, {"axis": 0}, "shards"),
        ([np.zeros((2, 2))], {"axis": 2}, "shards"),
        ([np.zeros((2, 2))], {"axis": "rows"}, "shards"),
        ([np.zeros(2)], {"axis": 0}, "shards"),
        ([[[1.0, 2.0]]], {"axis": 0}, "shards"),
        ([np.zeros((0, 3)), np.zeros((2, 3))], {"axis": 0}, "shards"),
        ([np.zeros((2, 3)), np.zeros((2, 4))], {"axis": 0}, "shards"),
        ([np.zeros((2, 3)), np.zeros((3, 3))], {"axis": 1}, "shards"),
        ([np.zeros((2, 3)), np.zeros((2, 3), int)], {"axis": 1}, "shards"),
        ([np.zeros((2, 3), complex)], {"axis": 1}, "cost"),
        ([np.zeros((2, 3)), np.full((2, 3), np.nan)], {"axis": 1}, "cost"),
        ([np.zeros((2, 2)), np.zeros((2, 2))], {"axis": 0}, "shards"),
        ([np.zeros((2, 4))], {"axis": 0, "forbidden": []}, "forbidden"),
        ([np.zeros((2, 4))], {"axis": 0, "forbidden": [np.zeros((2, 3), bool)]}, "forbidden"),
        ([np.zeros((2, 4))], {"axis": 0, "unmatched_cost": np.nan}, "unmatched_cost"),
        ([np.zeros((2, 4))], {"axis": 0, "unmatched_cost": (np.zeros(3), np.zeros(4))}, "unmatched_cost"),
        ([np.full((2, 4), 2**62)], {"axis": 0}, "cost"),
    ],
)
def test_shards_that_do_not_fit_together_are_refused(shards: Any, options: dict[str, Any], named: str):
    with refused(InvalidProblem, argument=named):
        ShardedCosts.of(shards, **options)


def _array_on(number: int, shape: tuple[int, int]) -> Any:
    """Return what passes for a CuPy array, as far as nobody looks into it."""
    kind = type("ndarray", (), {"__module__": "cupy", "ndim": 2, "shape": shape, "device": SimpleNamespace(id=number)})
    return kind()


def test_a_mask_on_another_device_than_its_shard_is_refused():
    with refused(InvalidProblem, argument="forbidden", match="cpu.* cuda:1"):
        ShardedCosts.of([np.zeros((2, 4))], axis=0, forbidden=[_array_on(1, (2, 4))])


def _shards_on(*numbers: int) -> ShardedCosts:
    there = tuple(_array_on(number, (2, 2)) for number in numbers)
    return replace(ShardedCosts.of([np.zeros((2, 4))], axis=1), shards=there)


@pytest.mark.parametrize("device", ["cuda:0", ["cuda:1", "cuda:0"], "cpu", ["cuda:0", "cuda:1", "cuda:2"]])
def test_shards_are_solved_on_their_devices_only(device: Any):
    with refused(InvalidProblem, argument="device", match="cuda:0,cuda:1"):
        solve(_shards_on(0, 1), HungarianTree(variant="paper"), device)


@pytest.mark.parametrize("device", ["auto", ["cuda:0", "cuda:1"], "cuda:0,cuda:1"])
def test_shards_may_be_sent_to_where_they_are(device: Any):
    assert _shards_on(0, 1).checked_devices(device if isinstance(device, str) else ",".join(device)) == "cuda:0,cuda:1"


def test_two_shards_on_one_device_are_refused():
    with refused(InvalidProblem, argument="shards", match="cuda:1,cuda:1"):
        solve(_shards_on(1, 1))


@pytest.mark.parametrize("axis", [0, 1])
def test_shards_in_the_hosts_memory_are_refused(axis: int):
    with refused(InvalidProblem, argument="shards", match=r"Problem\.dense"):
        solve(ShardedCosts.of([np.zeros((2, 4))], axis=axis))


@pytest.mark.parametrize("solver", [HungarianTree, None, 3])
def test_a_solver_that_is_no_instance_is_refused(solver: Any):
    for problem in (np.zeros((2, 2)), _shards_on(0, 1)):
        with refused(InvalidProblem, argument="solver"):
            solve(problem, solver)


def test_other_solvers_refuse_shards():
    with pytest.raises(DeviceUnavailable, match="jv"):
        solve(_shards_on(0, 1), "jv")


def test_options_beside_a_solver_that_has_its_own_are_refused_for_shards_too():
    with refused(InvalidProblem, argument="options"):
        solve(_shards_on(0, 1), HungarianTree(), variant="paper")


# ------------------------------------------------------------------ names of devices


NO_NAMES = [
    [],
    (),
    0,
    None,
    [0, 1],
    ["cpu", "cuda:0"],
    "cpu,cuda:0",
    ["cuda:0,cuda:1"],
    ["cuda:0", "1"],
    "cuda:0,1",
    "cuda:0,",
    ["cuda:0", " cuda:1"],
    "CUDA:0,CUDA:1",
    ["cuda:0", "cuda:x"],
    "cuda:-1,cuda:0",
    "cuda:x",
    "cpu:1",
    "",
    ["gpu"],
]


@pytest.mark.parametrize("solver", ["auto", *SPLITTING], ids=str)
@pytest.mark.parametrize("device", NO_NAMES, ids=repr)
def test_what_names_no_cuda_devices_is_refused(device: Any, solver: Any):
    with refused(InvalidProblem, argument="device"):
        solve([[1.0]], solver, device)


@pytest.mark.parametrize("solver", ["jv", "auction"])
def test_solvers_of_one_device_refuse_several(solver: str):
    with pytest.raises(DeviceUnavailable, match=solver):
        solve([[1.0]], solver, ["cuda:0", "cuda:1"])


@pytest.fixture
def devices(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A CuPy with so many devices, which are not linked, and no NCCL."""

    def device(number: int = 0) -> object:
        context = nullcontext()
        context.id = number  # type: ignore[attr-defined]
        return context

    properties = {"name": b"GPU", "major": 9, "minor": 0, "totalGlobalMem": 2**30, "multiProcessorCount": 4}
    runtime = SimpleNamespace(
        getDeviceCount=lambda: request.param,
        getDeviceProperties=lambda _: properties,
        deviceCanAccessPeer=lambda here, there: 0,  # noqa: ARG005 - as CuPy calls it
        CUDARuntimeError=OSError,
    )
    memory = SimpleNamespace(OutOfMemoryError=MemoryError)
    module = SimpleNamespace(cuda=SimpleNamespace(runtime=runtime, Device=device, memory=memory))
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.setitem(sys.modules, "cupy.cuda.nccl", SimpleNamespace(available=False))
    cuda._describe.cache_clear()
    yield
    cuda._describe.cache_clear()


with_two_devices = pytest.mark.parametrize("devices", [2], indirect=True)


@pytest.mark.usefixtures("devices")
@pytest.mark.parametrize(
    ("devices", "named", "why"),
    [
        (1, ["cuda:0", "cuda:1"], "cuda:1.* 1 "),
        (2, ["cuda:0", "cuda:2"], "cuda:2.* 2 "),
        (2, ["cuda", "cuda:0"], "'cuda', 'cuda:0'"),
    ],
    indirect=["devices"],
)
@pytest.mark.parametrize("solver", SPLITTING, ids=str)
def test_devices_that_are_missing_or_named_twice_are_refused(solver: Any, named: Any, why: str):
    with pytest.raises(DeviceUnavailable, match=why):
        solve([[1.0]], solver, named)


@with_two_devices
@pytest.mark.usefixtures("devices")
@pytest.mark.parametrize("solver", SPLITTING, ids=str)
def test_sparse_costs_are_for_one_device(solver: Any):
    sparse = Problem.sparse(([0, 1], [0], [1.0]), shape=(1, 1))
    with pytest.raises(DeviceUnavailable, match=solver.name):
        solve(sparse, solver, ["cuda:0", "cuda:1"])


@with_two_devices
@pytest.mark.usefixtures("devices")
@pytest.mark.parametrize("solver", SPLITTING, ids=str)
def test_without_nccl_nothing_is_copied_and_the_message_names_the_remedy(solver: Any):
    with pytest.raises(DeviceUnavailable, match="nvidia-nccl"):
        solve(np.ones((4, 4)), solver, ["cuda:0", "cuda:1"])


@with_two_devices
@pytest.mark.usefixtures("devices")
def test_devices_that_cannot_reach_each_other_are_told_to_take_the_papers_way():
    cuda.open_peers.cache_clear()
    with pytest.raises(DeviceUnavailable, match=r"cuda:0 .* cuda:1.*variant='paper'"):
        cuda.open_peers((0, 1))


@with_two_devices
@pytest.mark.usefixtures("devices")
@pytest.mark.parametrize("variant", ["default", "sequential"])
def test_the_tree_is_for_one_device(variant: Any):
    for problem, device in (([[1.0]], ["cuda:0", "cuda:1"]), (_shards_on(0, 1), "auto")):
        with pytest.raises(DeviceUnavailable, match="hungarian-tree"):
            solve(problem, HungarianTree(variant), device)
