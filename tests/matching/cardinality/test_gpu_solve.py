"""Maximum matchings on a GPU: every algorithm and start against SciPy, each with König's proof."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auctrack.matching.cardinality.gpu_graph import DeviceGraph
from auctrack.matching.cardinality.gpu_initial import cheap as cheap_gpu
from auctrack.matching.cardinality.gpu_solve import maximum_matching_gpu
from auctrack.matching.cardinality.graph import BipartiteGraph
from auctrack.matching.cardinality.maximum import maximum_matching
from auctrack.matching.device import cuda
from auctrack.matching.errors import InvalidProblem

from ...refusals import refused
from .gpu_cases import (
    LONG_ROUNDS,
    PUSHES_ONLY,
    TREES_ONLY,
    VARIANTS,
    assert_matches_and_proves,
    greedy_on_the_cpu,
    named_graphs,
)

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not cuda.is_available(), reason="no CUDA device of compute capability 7.0 or newer"),
]

CASES = named_graphs(
    tall=(900, 300, 1500),
    critical=(20_000, 20_000, 41_000),
    dense=(300, 300, 20_000),
    chain=400,
    star=3000,
    hubs=3000,
    hubs_of_rows=3000,
)


def _graph(name: str) -> BipartiteGraph:
    return BipartiteGraph.from_any(CASES[name])


@pytest.mark.parametrize(("algorithm", "initial", "options"), VARIANTS, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_size_is_maximum_and_the_cover_proves_it(
    name: str, algorithm: str, initial: str, options: dict[str, Any]
) -> None:
    assert_matches_and_proves(CASES[name], algorithm, initial, options)


@pytest.mark.parametrize("name", CASES)
def test_greedy_start_equals_the_sequential_one(name: str) -> None:
    graph = _graph(name)
    col_of_row, row_of_col = greedy_on_the_cpu(graph)
    with cuda.using():
        matching = cheap_gpu(DeviceGraph.of(graph))
        np.testing.assert_array_equal(matching.col_of_row.get(), col_of_row)
        np.testing.assert_array_equal(matching.row_of_col.get(), row_of_col)


def test_wide_offsets_give_the_same_size() -> None:
    graph = _graph("critical")
    wide = BipartiteGraph(graph.indptr.astype(np.int64), graph.indices, graph.n_rows, graph.n_columns)
    sizes = {
        np.count_nonzero(maximum_matching_gpu(g, algorithm)[0] >= 0)
        for g in (graph, wide)
        for algorithm in ("auto", "apfb", "g-pr")
    }
    assert len(sizes) == 1


@pytest.mark.parametrize("options", [{}, PUSHES_ONLY, LONG_ROUNDS, TREES_ONLY], ids=str)
@pytest.mark.parametrize("name", ["critical", "dense", "hubs", "hubs of rows", "tall"])
def test_auto_gives_the_same_matching_every_time(name: str, options: dict[str, Any]) -> None:
    graph = _graph(name)
    wide = BipartiteGraph(graph.indptr.astype(np.int64), graph.indices, graph.n_rows, graph.n_columns)
    first, *others = (maximum_matching_gpu(g, "auto", "none", options=options)[0] for g in (graph, graph, wide, graph))
    for other in others:
        np.testing.assert_array_equal(first, other)


@pytest.mark.parametrize("name", ["critical", "chain against the order", "tall"])
def test_auto_tells_the_size_of_each_level(name: str) -> None:
    """No row of these is long enough to be cut, so every row visited is in one frontier; the last phase finds none."""
    stats = maximum_matching_gpu(_graph(name), options=TREES_ONLY)[2]
    for phase in stats["search"]:
        assert len(phase["frontiers"]) == phase["levels"]
        assert sum(phase["frontiers"]) == phase["rows_visited"]
        assert phase["frontiers"][0] == phase["free_rows"]


def test_rounds_tell_the_size_of_each_level() -> None:
    stats = maximum_matching_gpu(_graph("critical"), options=PUSHES_ONLY)[2]
    for turn in stats["push_relabel"]:
        assert len(turn["frontiers"]) == turn["levels"]
        assert sum(turn["frontiers"]) == turn["columns_visited"]


@pytest.mark.parametrize("form", ["first", "active", "shrink"])
def test_g_pr_counts_active_columns(form: str) -> None:
    graph = _graph("critical")
    stats = maximum_matching_gpu(graph, "g-pr", options={"form": form})[2]
    active = stats["active_columns"]
    assert len(active) == stats["loops"]
    assert len(stats["relabel_seconds"]) == stats["global_relabels"] == len(stats["levels"]) == len(stats["list_sizes"])
    assert active[0] == graph.n_columns - stats["initial_size"]
    assert active[-1] == 0
    assert sum(active) >= stats["pushes"]


def test_device_graph_in_device_arrays_out() -> None:
    with cuda.using():
        graph = DeviceGraph.of(_graph("wide"))
        col_of_row, row_of_col, _ = maximum_matching_gpu(graph)
        assert cuda.is_device_array(col_of_row)
        assert cuda.is_device_array(row_of_col)


def test_a_start_may_lie_on_the_device() -> None:
    with cuda.using():
        graph = DeviceGraph.of(_graph("critical"))
        found = maximum_matching(graph)
        again = maximum_matching(graph, initial=found.col_of_row)
    assert again.initial == "given"
    assert again.stats["initial_size"] == found.size
    np.testing.assert_array_equal(again.col_of_row.get(), found.col_of_row.get())


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"algorithm": "simplex"}, "algorithm"),
        ({"initial": "lucky"}, "initial"),
        ({"options": {"speed": 9}}, "speed"),
        ({"algorithm": "apfb", "options": {"bfs": "dfs"}}, "bfs"),
        ({"algorithm": "apsb", "options": {"launch": "xt"}}, "launch"),
        ({"algorithm": "g-pr", "options": {"form": "last"}}, "form"),
        ({"algorithm": "g-pr", "options": {"strategy": ("adaptive", 0)}}, "strategy"),
    ],
)
def test_unknown_names_are_refused(arguments: dict[str, Any], named: str) -> None:
    with refused(InvalidProblem, argument=named):
        maximum_matching_gpu(_graph("wide"), **arguments)
