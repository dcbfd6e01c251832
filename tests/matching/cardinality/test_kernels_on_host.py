"""The GPU's matching run on the host by its own kernels, small: every algorithm against SciPy, whoever is quick."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from auctrack.matching.cardinality import (
    cardinality_over_radii,
    connected_components,
    dulmage_mendelsohn,
    edges_in_no_maximum_matching,
    hall_violator,
    maximum_matching,
)
from auctrack.matching.cardinality.gpu_best import best_gpu
from auctrack.matching.cardinality.gpu_forest import search
from auctrack.matching.cardinality.gpu_graph import DeviceGraph, DeviceMatching
from auctrack.matching.cardinality.gpu_initial import cheap as cheap_gpu
from auctrack.matching.cardinality.gpu_initial import given
from auctrack.matching.cardinality.gpu_rounds import push_relabel
from auctrack.matching.cardinality.gpu_solve import maximum_matching_gpu
from auctrack.matching.cardinality.graph import BipartiteGraph
from auctrack.matching.cardinality.matching import check_matching
from auctrack.matching.cardinality.radii import curve, match_more_on_gpu
from auctrack.matching.device import cuda

from ..auction.on_host import CUPY
from ..hungarian.host_kernels import HostKernel, compiled, draw_from
from .gpu_cases import (
    LONG_ROUNDS,
    VARIANTS,
    assert_matches_and_proves,
    greedy_on_the_cpu,
    maximum_size,
    named_graphs,
)
from .on_host import PERSISTENT, be_the_small_device, draw_turns_from

pytestmark = pytest.mark.kernels


CASES = named_graphs(
    tall=(60, 30, 100), critical=(70, 70, 144), dense=(24, 24, 160), chain=20, star=40, hubs=30, hubs_of_rows=40
)
WITH_EDGES = [name for name, edges in CASES.items() if edges.nnz]
SEEDS = range(5)


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> None:
    be_the_small_device(monkeypatch)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    be_the_small_device(monkeypatch, drawn=PERSISTENT)


def _graph(name: str) -> BipartiteGraph:
    return BipartiteGraph.from_any(CASES[name])


def _from_nothing(graph: DeviceGraph) -> DeviceMatching:
    return given(graph, np.full(graph.n_rows, -1, np.int32))


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize(("algorithm", "initial", "options"), VARIANTS, ids=str)
def test_size_is_maximum_and_the_cover_proves_it(algorithm: str, initial: str, options: dict[str, Any]) -> None:
    for edges in CASES.values():
        assert_matches_and_proves(edges, algorithm, initial, options)


@pytest.mark.usefixtures("host")
def test_wide_offsets_give_the_same_matching() -> None:
    graph = _graph("critical")
    wide = BipartiteGraph(graph.indptr.astype(np.int64), graph.indices, graph.n_rows, graph.n_columns)
    options = {"slow_share": -1.0}
    here, there = (maximum_matching_gpu(g, "auto", "none", options=options)[0] for g in (graph, wide))
    np.testing.assert_array_equal(here, there)


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize("name", CASES)
def test_greedy_start_equals_the_sequential_one(name: str) -> None:
    graph = _graph(name)
    col_of_row, row_of_col = greedy_on_the_cpu(graph)
    matching = cheap_gpu(DeviceGraph.of(graph))
    np.testing.assert_array_equal(matching.col_of_row, col_of_row)
    np.testing.assert_array_equal(matching.row_of_col, row_of_col)


@pytest.mark.usefixtures("host")
def test_levels_are_told() -> None:
    """The sizes of a round's levels add up to the columns visited; those of a phase to the rows, where none is cut."""
    graph = DeviceGraph.of(_graph("critical"))
    rounds = push_relabel(graph, _from_nothing(graph), 1.0, 20)
    chain = DeviceGraph.of(_graph("chain"))
    _, phases = search(chain, _from_nothing(chain))
    for turns, visited in ((rounds, "columns_visited"), (phases, "rows_visited")):
        for turn in turns:
            assert len(turn["frontiers"]) == turn["levels"]
            assert sum(turn["frontiers"]) == turn[visited]


def _search(graph: DeviceGraph) -> DeviceMatching:
    matching = _from_nothing(graph)
    assert search(graph, matching)[0]
    return matching


def _pushes(steps_scale: float, steps_base: int) -> Callable[[DeviceGraph], DeviceMatching]:
    def run(graph: DeviceGraph) -> DeviceMatching:
        matching = _from_nothing(graph)
        push_relabel(graph, matching, steps_scale, steps_base)
        return matching

    return run


def _both(graph: DeviceGraph) -> DeviceMatching:
    matching = _from_nothing(graph)
    best_gpu(graph, matching, **LONG_ROUNDS)
    return matching


SEARCHES = {"trees": _search, "pushes, long rounds": _pushes(1.0, 1000), "pushes": _pushes(0.0, 1), "both": _both}


@pytest.mark.usefixtures("drawn")
@pytest.mark.parametrize("name", WITH_EDGES)
@pytest.mark.parametrize("way", SEARCHES)
def test_the_matching_is_the_same_whoever_is_quick(way: str, name: str) -> None:
    graph = _graph(name)
    found: list[Any] = []
    for seed in SEEDS:
        draw_turns_from(seed)
        matching = SEARCHES[way](DeviceGraph.of(graph))
        check_matching(graph, cuda.to_host(matching.col_of_row), cuda.to_host(matching.row_of_col))
        found.append(cuda.to_host(matching.col_of_row))
        np.testing.assert_array_equal(found[0], found[-1])
    assert np.count_nonzero(found[0] >= 0) == maximum_size(CASES[name])


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize("name", CASES)
def test_structure_equals_the_cpus(name: str) -> None:
    edges = CASES[name]
    for here, there in zip(connected_components(edges, "cuda"), connected_components(edges, "cpu"), strict=True):
        np.testing.assert_array_equal(here, there)
    matching = maximum_matching(edges, device="cpu")
    for question in (hall_violator, dulmage_mendelsohn):
        for here, there in zip(question(edges, matching, "cuda"), question(edges, matching, "cpu"), strict=True):
            np.testing.assert_array_equal(here, there)
    np.testing.assert_array_equal(
        edges_in_no_maximum_matching(edges, matching, "cuda"), edges_in_no_maximum_matching(edges, matching, "cpu")
    )


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize("n_pairs", [0, 1, 200])
def test_curve_over_radii_equals_the_cpus(n_pairs: int) -> None:
    rng = np.random.default_rng(n_pairs)
    rows, columns = rng.integers(0, 60, n_pairs), rng.integers(0, 50, n_pairs)  # some pairs twice
    distances, radii = rng.random(n_pairs), np.array([0.3, 0.01, 1.0, -1.0, 0.03, 0.01])
    pairs = CUPY.array(rows), CUPY.array(columns), CUPY.array(distances)
    np.testing.assert_array_equal(
        curve(CUPY, *pairs, (60, 50), radii, match_more_on_gpu),
        cardinality_over_radii(rows, columns, distances, (60, 50), radii),
    )


DEADLOCKS = {
    "a barrier of the grid that one block does not come to": "if (blockIdx.x > 0) grid_barrier(arrived);",
    "lanes that wait in two places": "if (threadIdx.x > 0) __syncwarp(); else __syncthreads();",
}


@pytest.mark.parametrize("kind", DEADLOCKS)
def test_a_launch_that_nobody_can_go_on_with_ends_and_says_so(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    body = DEADLOCKS[kind]
    text = f'{cuda.source("device/common.cuh")}\nextern "C" __global__ void endless(uint32* arrived) {{ {body} }}\n'
    monkeypatch.setattr(cuda, "source", lambda _: text)
    kernel = HostKernel(compiled(f"{kind}.cu", "endless"))
    with pytest.raises(AssertionError, match="deadlock"):
        kernel((2,), (32,), (CUPY.zeros(1, np.uint32),))


def test_turns_come_as_they_are_numbered_or_as_a_seed_draws_them(monkeypatch: pytest.MonkeyPatch) -> None:
    body = "came[atomicAdd(count, 1)] = global_thread();"
    text = f'{cuda.source("device/common.cuh")}\nextern "C" __global__ void turns(int* count, int* came) {{ {body} }}\n'
    monkeypatch.setattr(cuda, "source", lambda _: text)

    def came(seed: int | None) -> list[int]:
        order = CUPY.zeros(64, np.int32)
        if seed is not None:
            draw_from(seed, "turns.cu")
        kernel = HostKernel(compiled("turns.cu", "turns", drawn=seed is not None))
        kernel((2,), (32,), (CUPY.zeros(1, np.int32), order))
        return order.tolist()

    assert came(None) == list(range(64))
    assert came(1) == came(1) != came(None)
    assert came(2) not in (came(1), came(None))
