"""The default Hungarian kernels, run on the host: the CPU's answer, edge by edge."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from auctrack.matching import NotConverged, Problem, solve
from auctrack.matching.choice import FIRST_TRIED
from auctrack.matching.device import cuda
from auctrack.matching.hungarian import gpu_batch, gpu_classical, gpu_tree_batch
from auctrack.matching.hungarian.gpu_classical import MOST_LEVELS, MOST_ROWS
from auctrack.matching.hungarian.multi_gpu_classical import match_by_dual_phases
from auctrack.matching.hungarian.shards import Shards
from auctrack.matching.papers.date_nagi_2016.zero_trees import _claim_of
from auctrack.matching.paths import gpu_dense, gpu_forest
from auctrack.matching.paths.gpu_dense import DeviceState
from auctrack.matching.paths.state import FREE
from auctrack.plugins.bench.assignment import hostile_costs

from ..auction.on_host import CUPY, KernelsOnHost, draw_turns
from . import host_kernels
from .host_kernels import HOST, EmulatedCosts
from .test_multi_gpu import OnShards

pytestmark = pytest.mark.kernels

TREE_THREADS = 64
"""Of a block of the alternating-tree method where there are several: a fiber each."""
STEPS_OF_ALL_BLOCKS = f"-DTHREADS={TREE_THREADS}", "-DFEW_ROWS=4", "-DFEW_MEMBERS=4", "-DMOST_HEAVY=4"
"""Options with which small problems take the steps that all blocks do together, and those that one does by itself."""


class OnHost(OnShards):
    """A solver whose devices are parts of the host's memory, and whose kernels run there."""

    xp = HOST
    costs = EmulatedCosts


def classical(n_shards: int) -> OnHost:
    return OnHost("hungarian-classical", 0, match_by_dual_phases, n_shards)


def tree() -> OnHost:
    return OnHost("hungarian-tree", 1, _by_forests, 1)


def _by_forests(shards: Shards, state: DeviceState) -> tuple[int, DeviceState, dict[str, Any]]:
    """Match by the kernel of one device."""
    (part,) = shards.parts
    there = DeviceState(*(part.cp.array(array) for array in vars(state).values()))
    free = part.cp.flatnonzero(there.col_of_row == FREE).astype(np.int32)
    infeasible_row, counts = gpu_forest.match_by_forests(part, there, free)
    return infeasible_row, DeviceState(*(cuda.to_host(array) for array in vars(there).values())), counts


SOLVERS = {
    "classical-1-int32": (classical(1), np.int32),
    "classical-3-float32": (classical(3), np.float32),
    "tree-int32": (tree(), np.int32),
    "tree-float32": (tree(), np.float32),
}

BATCHES = {"hungarian-classical": gpu_batch.match_by_dual_phases, "hungarian-tree": gpu_tree_batch.match_by_trees}


def on_one_device(problem: Problem, name: str) -> Any:
    """Return the answer to a batch that is matched at once."""
    found = gpu_batch.match_batch(CUPY, problem, BATCHES[name])
    return found.certified(problem, solver=name, device="cuda", stats=found.stats)


@pytest.mark.usefixtures("host_as_devices")
@pytest.mark.parametrize(("solver", "dtype"), SOLVERS.values(), ids=SOLVERS)
def test_the_answer_is_the_cpus_edge_by_edge(solver: Any, dtype: Any):
    rng = np.random.default_rng(3)
    square, wide = (40, 40), (20, 40)
    for shape, spread, unmatched_cost in ((square, 400, None), (square, 3, None), (wide, 80, None), (square, 200, 40)):
        forbidden = rng.random(shape) < 0.1
        problem = Problem.dense(
            rng.integers(0, spread, shape).astype(dtype), unmatched_cost=unmatched_cost, forbidden=forbidden
        )
        here, there = solve(problem, solver.name, "cpu"), solve(problem, solver, "cpu")
        np.testing.assert_array_equal(here.col_of_row, there.col_of_row)
        np.testing.assert_array_equal(here.col_duals, there.col_duals)


@pytest.fixture
def several_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small problems have several blocks of `TREE_THREADS` columns at most."""
    monkeypatch.setattr(gpu_forest, "THREADS", TREE_THREADS)
    monkeypatch.setattr(gpu_forest, "LEAST_COLUMNS", 16)


@pytest.mark.usefixtures("host_as_devices", "several_blocks")
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("solver", [classical(1), tree()], ids=["classical", "tree"])
def test_the_answer_does_not_depend_on_whose_turn_it_is(solver: Any, seed: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(host_kernels, "STEPS", STEPS_OF_ALL_BLOCKS)
    monkeypatch.setattr(host_kernels, "SEED", seed)
    rng = np.random.default_rng(seed)
    for unmatched_cost in (None, 40):
        problem = Problem.dense(rng.integers(0, 300, (64, 70)).astype(np.int32), unmatched_cost=unmatched_cost)
        here, there = solve(problem, solver.name, "cpu"), solve(problem, solver, "cpu")
        np.testing.assert_array_equal(here.col_of_row, there.col_of_row)
        np.testing.assert_array_equal(here.col_duals, there.col_duals)


def dense_cluster(seed: int, shape: tuple[int, ...]) -> np.ndarray:
    """Return distances of points all over a line to some at its two ends: every row has many columns within reach."""
    rng = np.random.default_rng(seed)
    *count, n, m = shape
    clusters = np.where(rng.random((*count, 1, m)) < 0.5, 0, 400) + rng.integers(0, 8, (*count, 1, m))
    return np.abs(rng.integers(0, 400, (*count, n, 1)) - clusters).astype(np.int32)


PAIRS_KEPT = pytest.mark.parametrize("pairs_kept", [0, 60, 140], ids="{}-pairs-a-row".format)


@pytest.mark.usefixtures("host_as_devices")
def test_rows_left_after_so_many_changes_of_the_duals_end_in_an_error():
    problem = Problem.dense(np.random.default_rng(5).integers(0, 400, (30, 30)).astype(np.int32))

    def matched(most_updates: int | None, few_left: int = 0) -> tuple[Any, int]:
        (part,) = classical(1)._shards(problem).parts
        state, free = gpu_dense.reduced(part), HOST.array(np.arange(30, dtype=np.int32))
        limits = {"most_updates": most_updates, "few_left": few_left}
        _, counts = gpu_classical.match_by_dual_phases(part, state, free, **limits)
        return state.col_of_row, counts["dual_updates"]

    partners, updates = matched(None)
    assert updates > 1
    np.testing.assert_array_equal(matched(updates)[0], partners)
    with pytest.raises(NotConverged, match="most_updates"):
        matched(updates - 1)
    np.testing.assert_array_equal(matched(1, few_left=30)[0], partners)


@pytest.mark.usefixtures("host_as_devices")
@pytest.mark.parametrize("spare", [0, 1], ids=["square", "one-column-more"])
def test_what_needs_few_changes_is_told_from_what_needs_one_for_every_other_row(spare: int):
    """By the rows left where `auto` looks: a ball and a shell keep to this method, blobs apart do not."""
    n = 400
    limits = dict(FIRST_TRIED["hungarian-classical"](n))["hungarian-classical"]

    def matched(cost: np.ndarray) -> np.ndarray:
        (part,) = classical(1)._shards(Problem.dense(cost)).parts
        state, free = gpu_dense.reduced(part), HOST.array(np.arange(n, dtype=np.int32))
        gpu_classical.match_by_dual_phases(part, state, free, **limits)
        return np.asarray(state.col_of_row)

    partners = matched(hostile_costs.ball_to_shell(n + spare, 0)[:n])
    assert partners.min() >= 0
    assert len(np.unique(partners)) == n
    with pytest.raises(NotConverged, match="most_updates"):
        matched(hostile_costs.two_blobs(n + spare, 0)[:n])


@PAIRS_KEPT
@pytest.mark.usefixtures("host_as_devices")
@pytest.mark.parametrize(("m", "unmatched_cost"), [(144, None), (200, None), (140, 90)])
@pytest.mark.parametrize(
    ("solver", "steps"),
    [(classical(1), ()), (classical(1), STEPS_OF_ALL_BLOCKS), (classical(3), ())],
    ids=["one-device", "all-blocks", "three"],
)
def test_rows_with_many_columns_within_reach_get_the_cpus_edges(
    pairs_kept: int,
    m: int,
    unmatched_cost: int | None,
    solver: Any,
    steps: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
):
    n = 140
    monkeypatch.setattr(host_kernels, "STEPS", steps)
    monkeypatch.setattr(gpu_classical, "PAIRS_KEPT", pairs_kept * n)
    problem = Problem.dense(dense_cluster(2, (n, m)), unmatched_cost=unmatched_cost)
    here, there = solve(problem, "hungarian-classical", "cpu"), solve(problem, solver, "cpu")
    np.testing.assert_array_equal(here.col_of_row, there.col_of_row)
    np.testing.assert_array_equal(here.col_duals, there.col_duals)


@PAIRS_KEPT
@pytest.mark.parametrize(("m", "unmatched_cost"), [(74, None), (70, 90)])
def test_so_do_those_of_a_batch_whosever_turn_it_is(
    pairs_kept: int, m: int, unmatched_cost: int | None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cuda, "load", KernelsOnHost)
    monkeypatch.setattr(cuda, "require_memory", lambda *_: None)
    draw_turns(monkeypatch, 1)
    shape = 2, 70, m
    monkeypatch.setattr(gpu_classical, "PAIRS_KEPT", pairs_kept * shape[0] * shape[1])
    problem = Problem.dense(dense_cluster(3, shape), unmatched_cost=unmatched_cost)
    here = solve(problem, "hungarian-classical", "cpu")
    there = on_one_device(problem, "hungarian-classical")
    np.testing.assert_array_equal(here.col_of_row, there.col_of_row)
    np.testing.assert_array_equal(here.col_duals, there.col_duals)


def test_what_rows_keep_at_least_is_what_kernels_read_before_they_know_how_many_there_are():
    constants = dict(re.findall(r"constexpr int (\w+) = (\d+);", cuda.source("hungarian/classical.cu")))
    assert int(constants["LEAST_CAPACITY"]) <= gpu_classical.LEAST_CAPACITY
    assert int(constants["ZEROS"]) == gpu_classical.ZEROS


@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize("name", BATCHES)
def test_the_answers_to_a_batch_are_the_cpus_whosever_turn_it_is(
    name: str, seed: int | None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cuda, "load", KernelsOnHost)
    monkeypatch.setattr(cuda, "require_memory", lambda *_: None)
    if seed is not None:
        draw_turns(monkeypatch, seed)
    rng = np.random.default_rng(1)
    for unmatched_cost in (None, 40):
        problem = Problem.dense(rng.integers(0, 300, (3, 24, 30)).astype(np.int32), unmatched_cost=unmatched_cost)
        here, there = solve(problem, name, "cpu"), on_one_device(problem, name)
        np.testing.assert_array_equal(here.col_of_row, there.col_of_row)
        np.testing.assert_array_equal(here.col_duals, there.col_duals)


@pytest.mark.usefixtures("host_as_devices")
@pytest.mark.parametrize("solver", [classical(2), tree()], ids=["classical", "tree"])
def test_scaling_by_a_power_of_two_changes_only_the_scale(solver: Any):
    cost = np.random.default_rng(5).random((24, 24))
    before, after = solve(cost, solver, "cpu"), solve(cost * 2.0**-300, solver, "cpu")
    np.testing.assert_array_equal(before.col_of_row, after.col_of_row)
    np.testing.assert_array_equal(before.col_duals * 2.0**-300, after.col_duals)


@pytest.mark.usefixtures("host_as_devices")
@pytest.mark.parametrize(
    ("solver", "phases"),
    [
        (classical(1), {"reduction_s", "search_s", "compaction_s", "augment_s", "dual_update_s", "certificate_s"}),
        (tree(), {"reduction_s", "grow_s", "augment_s", "certificate_s"}),
    ],
    ids=["classical", "tree"],
)
def test_phases_are_told(solver: Any, phases: set[str]):
    stats = solve(np.random.default_rng(1).integers(0, 80, (24, 24)), solver, "cpu").stats
    assert phases <= set(stats)
    assert stats["searches"] >= 1


def test_claims_compare_by_as_many_bits_as_their_kernels_have_room_for():
    bits = dict(re.findall(r"(\w+)_BITS = (\d+)", cuda.source("hungarian/claims.cuh")))
    claims = [int(_claim_of(row, col)) for row in range(40) for col in range(40)]
    assert max(claims).bit_length() == int(bits["HASH"]) + int(bits["ROW"])
    assert (1 << int(bits["LEVEL"]), 1 << int(bits["ROW"])) == (MOST_LEVELS, MOST_ROWS)
