"""The building blocks keep their word: exact labels, kinds of graphs, rows searched out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from auctrack.matching.cardinality import BipartiteGraph, maximum_matching
from auctrack.matching.cardinality.best import choose
from auctrack.matching.cardinality.cheap import cheap
from auctrack.matching.cardinality.labels import global_relabel
from auctrack.matching.cardinality.pothen_fan import search_each_out
from auctrack.matching.jit.bitset import empty_bits

from .conftest import GRAPHS, permuted


def _distances_to_free_columns(edges, col_of_row):
    """Alternating distance of each column: along any edge to a row, along its matched edge to the next column."""
    n_rows, n_columns = edges.shape
    matched = np.flatnonzero(col_of_row >= 0)
    pairs = edges.tocoo()
    # reversed: from column j to row i over any edge, from row i to its own column; a source joins the free columns
    free = np.setdiff1d(np.arange(n_columns), col_of_row)
    tails = np.concatenate([n_rows + pairs.col, matched, np.full(len(free), n_rows + n_columns)])
    heads = np.concatenate([pairs.row, n_rows + col_of_row[matched], n_rows + free])
    n = n_rows + n_columns + 1
    arcs = sparse.coo_array((np.ones(len(tails)), (tails, heads)), shape=(n, n)).tocsr()
    distance = sparse.csgraph.dijkstra(arcs, indices=n - 1, unweighted=True) - 1
    return distance[:n_rows], distance[n_rows:-1]


@pytest.mark.parametrize("name", ["delaunay", "particle_gate", "chain", "rmat", "complete_tall"])
def test_global_relabelling_gives_exact_distances(name):
    edges = permuted(GRAPHS[name]())
    graph = BipartiteGraph.from_any(edges)
    col_of_row, row_of_col = np.full(graph.n_rows, -1, np.int32), np.full(graph.n_columns, -1, np.int32)
    cheap(graph, col_of_row, row_of_col)
    label, bound_of_row = np.zeros(graph.n_columns, np.int32), np.zeros(graph.n_rows, np.int32)
    global_relabel(
        graph.transposed.indptr,
        graph.transposed.indices,
        col_of_row,
        row_of_col,
        label,
        bound_of_row,
        np.empty(graph.n_columns, np.int32),
        empty_bits(graph.n_rows),
        graph.n_rows + 1,  # more than there are: no early stop
    )
    rows, columns = _distances_to_free_columns(edges, col_of_row)
    unreachable = sum(edges.shape)
    assert np.array_equal(label, np.where(np.isinf(columns), unreachable, columns))
    free = col_of_row < 0
    assert np.array_equal(bound_of_row[free], np.where(np.isinf(rows), unreachable, rows)[free])


def test_early_stop_and_old_labels_stay_below_the_distance():
    graph = BipartiteGraph.from_any(permuted(GRAPHS["particle_gate"]()))
    col_of_row, row_of_col = np.full(graph.n_rows, -1, np.int32), np.full(graph.n_columns, -1, np.int32)
    cheap(graph, col_of_row, row_of_col)

    def relabelled(n_active, label):
        bound = np.zeros(graph.n_rows, np.int32)
        queue = np.empty(graph.n_columns, np.int32)
        other = graph.transposed
        bits = empty_bits(graph.n_rows)
        global_relabel(other.indptr, other.indices, col_of_row, row_of_col, label, bound, queue, bits, n_active)
        return label

    exact = relabelled(graph.n_rows + 1, np.zeros(graph.n_columns, np.int32))
    early = relabelled(1, np.zeros(graph.n_columns, np.int32))
    assert np.all(early <= exact)
    assert np.any(early < exact), "the early stop must have left something out"
    again = relabelled(1, early.copy())
    assert np.all((early <= again) & (again <= exact))


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (GRAPHS["rmat"], "uneven"),
        (GRAPHS["chain"], "thin"),
        (lambda: sparse.diags_array([1.0] * 4, offsets=range(4), shape=(2000, 2000)).tocsr(), "ordered"),
        (GRAPHS["three_out"], "general"),
    ],
)
def test_auto_names_the_kind_it_saw(make, kind):
    edges = make()
    assert choose(BipartiteGraph.from_any(edges)) == kind
    matching = maximum_matching(edges, device="cpu")
    assert matching.stats["kind"] == kind
    assert matching.initial == ("scarce-first" if kind == "uneven" else "cheap")


def test_searching_each_row_out_takes_one_phase(edges, maximum):
    graph = BipartiteGraph.from_any(edges)
    col_of_row, row_of_col = np.full(graph.n_rows, -1, np.int32), np.full(graph.n_columns, -1, np.int32)
    cheap(graph, col_of_row, row_of_col)
    is_maximum, _ = search_each_out(graph, col_of_row, row_of_col, np.inf)
    assert is_maximum
    assert np.count_nonzero(col_of_row >= 0) == maximum


def test_searching_each_row_out_ends_where_it_should_and_says_so():
    graph = BipartiteGraph.from_any(GRAPHS["rmat"]())
    col_of_row, row_of_col = np.full(graph.n_rows, -1, np.int32), np.full(graph.n_columns, -1, np.int32)
    cheap(graph, col_of_row, row_of_col)
    n_before = np.count_nonzero(col_of_row >= 0)
    is_maximum, stats = search_each_out(graph, col_of_row, row_of_col, 100)
    assert not is_maximum
    n_after = np.count_nonzero(col_of_row >= 0)
    assert stats["augmentations"] == [n_after - n_before]
    assert n_before < n_after < maximum_matching(graph, device="cpu").size
