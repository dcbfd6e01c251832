"""Maximum matchings on a GPU: every algorithm and start against SciPy, each with König's proof."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import maximum_bipartite_matching

from auctrack.matching import cuda
from auctrack.matching.cardinality.best_gpu import Tuning
from auctrack.matching.cardinality.cheap import cheap
from auctrack.matching.cardinality.graph import BipartiteGraph
from auctrack.matching.cardinality.graph_gpu import DeviceGraph
from auctrack.matching.cardinality.initial_gpu import cheap as cheap_gpu
from auctrack.matching.cardinality.initial_gpu import karp_sipser as karp_sipser_gpu
from auctrack.matching.cardinality.matching import check_matching
from auctrack.matching.cardinality.maximum import maximum_matching
from auctrack.matching.cardinality.solve_gpu import maximum_matching_gpu, minimum_cover_gpu
from auctrack.matching.errors import InvalidProblem

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not cuda.is_available(), reason="no CUDA device of compute capability 7.0 or newer"),
]

PUSHES_ONLY = Tuning(slow_share=-1.0, steps_scale=0.0, steps_base=1)
LONG_ROUNDS = Tuning(slow_share=-1.0, steps_base=1000)
TREES_ONLY = Tuning(slow_share=np.inf)
VARIANTS: list[tuple[str, str, dict[str, Any]]] = [
    *(("auto", initial, {}) for initial in ("auto", "none", "cheap", "karp-sipser")),
    *(("auto", "none", {"tuning": tuning}) for tuning in (PUSHES_ONLY, LONG_ROUNDS, TREES_ONLY)),
    *(
        (algorithm, "cheap", {"bfs": bfs, "launch": launch})
        for algorithm in ("apfb", "apsb")
        for bfs in ("gpubfs", "gpubfs-wr")
        for launch in ("ct", "mt")
    ),
    *(
        ("g-pr", "cheap", {"form": form, "strategy": strategy})
        for form in ("first", "active", "shrink")
        for strategy in (("adaptive", 0.7), ("fix", 5))
    ),
    ("g-pr", "none", {"gap": False}),
]


def _random(n_rows: int, n_columns: int, n_edges: int) -> sparse.csr_matrix:
    rng = np.random.default_rng(n_edges)
    ends = rng.integers(0, n_rows, n_edges), rng.integers(0, n_columns, n_edges)
    return sparse.coo_matrix((np.ones(n_edges, np.int8), ends), shape=(n_rows, n_columns)).tocsr()


def _two_bands(n: int, offset: int) -> sparse.csr_matrix:
    return sparse.diags([np.ones(n), np.ones(n - 1)], [0, offset]).tocsr()


CASES: dict[str, sparse.csr_matrix] = {
    "one edge": _random(1, 1, 1),
    "wide": _random(5, 7, 9),
    "tall": _random(900, 300, 1500),
    "critical": _random(20_000, 20_000, 41_000),
    "dense": _random(300, 300, 20_000),
    "chain": _two_bands(400, 1),
    "chain against the order": _two_bands(400, -1)[::-1].tocsr(),
    "star": sparse.csr_matrix(np.vstack([np.ones((1, 3000)), np.zeros((4, 3000))])),
    "star of rows": sparse.csr_matrix(np.hstack([np.ones((3000, 1)), np.zeros((3000, 4))])),
    "hubs": sparse.hstack([np.ones((3000, 5)), _random(3000, 3000, 4500)]).tocsr(),
    "hubs of rows": sparse.vstack([_random(3000, 3000, 4500), np.ones((5, 3000))]).tocsr(),
    "no edges": sparse.csr_matrix((7, 5)),
    "no rows": sparse.csr_matrix((0, 5)),
    "no columns": sparse.csr_matrix((5, 0)),
}


def _graph(name: str) -> BipartiteGraph:
    return BipartiteGraph.from_any(CASES[name])


@pytest.mark.parametrize(("algorithm", "initial", "options"), VARIANTS, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_size_is_maximum_and_the_cover_proves_it(
    name: str, algorithm: str, initial: str, options: dict[str, Any]
) -> None:
    graph = _graph(name)
    col_of_row, row_of_col, _ = maximum_matching_gpu(graph, algorithm, initial, "cuda", options)
    check_matching(graph, col_of_row, row_of_col)
    size = np.count_nonzero(col_of_row >= 0)
    rows, columns = minimum_cover_gpu(graph, col_of_row)
    ends = np.repeat(np.arange(graph.n_rows), np.diff(graph.indptr))
    assert (rows[ends] | columns[graph.indices]).all()
    assert rows.sum() + columns.sum() == size
    if graph.n_edges:
        assert size == np.count_nonzero(maximum_bipartite_matching(CASES[name], perm_type="column") >= 0)


@pytest.mark.parametrize("name", CASES)
def test_greedy_start_equals_the_sequential_one(name: str) -> None:
    graph = _graph(name)
    col_of_row = np.full(graph.n_rows, -1, np.int32)
    row_of_col = np.full(graph.n_columns, -1, np.int32)
    cheap(graph, col_of_row, row_of_col)
    with cuda.using():
        matching = cheap_gpu(DeviceGraph.of(graph))
        np.testing.assert_array_equal(matching.col_of_row.get(), col_of_row)
        np.testing.assert_array_equal(matching.row_of_col.get(), row_of_col)


@pytest.mark.parametrize("name", CASES)
def test_karp_sipser_start_is_a_maximal_matching(name: str) -> None:
    graph = _graph(name)
    with cuda.using():
        matching = karp_sipser_gpu(DeviceGraph.of(graph))
        col_of_row, row_of_col = matching.col_of_row.get(), matching.row_of_col.get()
    check_matching(graph, col_of_row, row_of_col)
    ends = np.repeat(np.arange(graph.n_rows), np.diff(graph.indptr))
    assert not ((col_of_row[ends] < 0) & (row_of_col[graph.indices] < 0)).any()


def test_karp_sipser_is_perfect_on_a_tree() -> None:
    graph = _graph("chain")
    with cuda.using():
        assert karp_sipser_gpu(DeviceGraph.of(graph)).n_free == 0


def test_wide_offsets_give_the_same_size() -> None:
    graph = _graph("critical")
    wide = BipartiteGraph(graph.indptr.astype(np.int64), graph.indices, graph.n_rows, graph.n_columns)
    sizes = {
        np.count_nonzero(maximum_matching_gpu(g, algorithm)[0] >= 0)
        for g in (graph, wide)
        for algorithm in ("auto", "apfb", "g-pr")
    }
    assert len(sizes) == 1


@pytest.mark.parametrize("tuning", [Tuning(), PUSHES_ONLY, LONG_ROUNDS, TREES_ONLY], ids=str)
@pytest.mark.parametrize("name", ["critical", "dense", "hubs", "hubs of rows", "tall"])
def test_auto_gives_the_same_matching_every_time(name: str, tuning: Tuning) -> None:
    graph = _graph(name)
    wide = BipartiteGraph(graph.indptr.astype(np.int64), graph.indices, graph.n_rows, graph.n_columns)
    first, *others = (
        maximum_matching_gpu(g, "auto", "none", options={"tuning": tuning})[0] for g in (graph, graph, wide, graph)
    )
    for other in others:
        np.testing.assert_array_equal(first, other)


@pytest.mark.parametrize("name", ["critical", "chain against the order", "tall"])
def test_auto_tells_the_size_of_each_level(name: str) -> None:
    """No row of these is long enough to be cut, so every row visited is in one frontier; the last phase finds none."""
    stats = maximum_matching_gpu(_graph(name), options={"tuning": TREES_ONLY})[2]
    for phase in stats["search"]:
        assert len(phase["frontiers"]) == phase["levels"]
        assert sum(phase["frontiers"]) == phase["rows_visited"]
        assert phase["frontiers"][0] == phase["free_rows"]


def test_rounds_tell_the_size_of_each_level() -> None:
    stats = maximum_matching_gpu(_graph("critical"), options={"tuning": PUSHES_ONLY})[2]
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
    ("arguments", "message"),
    [
        ({"algorithm": "simplex"}, "algorithm needs one of"),
        ({"initial": "lucky"}, "initial needs one of"),
        ({"options": {"speed": 9}}, "algorithm 'auto' has no option 'speed'"),
        ({"algorithm": "apfb", "options": {"bfs": "dfs"}}, "bfs needs"),
        ({"algorithm": "apsb", "options": {"launch": "xt"}}, "launch needs"),
        ({"algorithm": "g-pr", "options": {"form": "last"}}, "form needs"),
        ({"algorithm": "g-pr", "options": {"strategy": ("adaptive", 0)}}, "strategy needs"),
    ],
)
def test_unknown_names_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidProblem, match=message):
        maximum_matching_gpu(_graph("wide"), **arguments)
