"""The large graphs: the ones that others' code was measured on, kept where they take long."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.matching.cardinality import maximum_matching
from auctrack.plugins.bench.graphs import large_graphs
from auctrack.plugins.bench.graphs.large_graphs import LARGE, Recipe, make_graph
from auctrack.plugins.bench.reproduced import cardinality_peers as peers


def test_every_graph_that_others_were_measured_on_can_be_made():
    assert {*peers.GPU, *peers.CPU} == set(LARGE)


def test_a_named_graph_is_the_one_that_others_were_measured_on():
    graph = make_graph(LARGE["gate_1e5"])
    assert (graph.shape, graph.n_edges) == ((100_000, 100_000), 671_500)
    assert maximum_matching(graph, device="cpu").size == 99_900


def test_a_large_graph_is_kept_and_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(large_graphs, "KEPT_FROM", 100)
    large_graphs._natural.cache_clear()
    recipe = Recipe("delaunay", 128, 1)
    made = make_graph(recipe, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["delaunay-128-1.npz"]
    large_graphs._natural.cache_clear()
    monkeypatch.setattr(large_graphs, "FAMILIES", {})
    read = make_graph(recipe, tmp_path)
    assert np.array_equal(read.indptr, made.indptr)
    assert np.array_equal(read.indices, made.indices)
    permuted = make_graph(recipe._replace(order_seed=1), tmp_path)
    assert (permuted.n_edges, permuted.shape) == (made.n_edges, made.shape)
    assert (permuted.indices != made.indices).any()


def test_a_small_graph_is_not_kept(tmp_path):
    make_graph(Recipe("gate", 64, 1), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", peers.GPU)
def test_the_best_of_the_gpu_peers_has_its_start_in_it(name):
    row = peers.GPU[name]
    assert row.matchmaker2 == row.start + min(row.apfb, row.apsb)
    assert row.best in {row.matchmaker2, row.ecl_mm}
