"""Components, Hall violators and Dulmage–Mendelsohn blocks keep what their definitions promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from auctrack.matching.cardinality import (
    BipartiteGraph,
    Block,
    connected_components,
    dulmage_mendelsohn,
    edges_in_no_maximum_matching,
    hall_violator,
    maximum_matching,
    verify_matching,
)
from auctrack.matching.errors import InvalidProblem

from ...refusals import refused

SHARED = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 0]], bool)  # rows 1 and 2 share column 0


@pytest.fixture
def graph(edges):
    return BipartiteGraph.from_any(edges)


@pytest.fixture
def matching(graph):
    return maximum_matching(graph, device="cpu")


def test_components_are_scipys(edges, graph):
    row_label, col_label, n_components = connected_components(graph)
    n = sum(edges.shape)
    both = sparse.coo_array(
        (np.ones(edges.nnz), (edges.tocoo().row, edges.shape[0] + edges.tocoo().col)), shape=(n, n)
    ).tocsr()
    expected, label = sparse.csgraph.connected_components(both, directed=False) if n else (0, np.zeros(0, int))
    assert n_components == expected
    ours = np.concatenate([row_label, col_label])
    assert len(np.unique(np.stack([ours, label]), axis=1).T) == expected, "the two labellings must be one to one"


def test_hall_violator_has_fewer_columns_than_rows(edges, graph, matching):
    rows, columns = hall_violator(graph, matching)
    assert len(rows) - len(columns) == graph.n_rows - matching.size
    assert set(edges[rows].indices) == set(columns) if len(rows) else len(columns) == 0


def test_dulmage_mendelsohn_is_block_triangular(edges, graph, matching):
    row_block, col_block = dulmage_mendelsohn(graph, matching)
    pairs = edges.tocoo()
    assert np.all(row_block[pairs.row] <= col_block[pairs.col])
    n_rows = [np.count_nonzero(row_block == block) for block in Block]
    n_columns = [np.count_nonzero(col_block == block) for block in Block]
    assert n_rows[Block.SQUARE] == n_columns[Block.SQUARE]
    assert n_columns[Block.HORIZONTAL] - n_rows[Block.HORIZONTAL] == graph.n_columns - matching.size
    assert n_rows[Block.VERTICAL] - n_columns[Block.VERTICAL] == graph.n_rows - matching.size


@pytest.mark.parametrize("algorithm", ["hopcroft-karp", "push-relabel", "apfb"])
def test_structure_does_not_depend_on_the_matching(graph, matching, algorithm):
    other = maximum_matching(graph, algorithm, "scarce-first", "cpu")
    for ours, theirs in zip(dulmage_mendelsohn(graph, matching), dulmage_mendelsohn(graph, other), strict=True):
        assert np.array_equal(ours, theirs)
    assert np.array_equal(edges_in_no_maximum_matching(graph, matching), edges_in_no_maximum_matching(graph, other))


def test_matched_edges_are_never_reported(graph, matching):
    unused = edges_in_no_maximum_matching(graph, matching)
    rows = np.repeat(np.arange(graph.n_rows), np.diff(graph.indptr))
    assert not np.any(unused & (matching.col_of_row[rows] == graph.indices))


def test_a_chain_uses_half_of_its_edges():
    """A path with as many rows as columns has one perfect matching; the other edges are in none."""
    n = 6
    graph = BipartiteGraph.from_any(sparse.diags_array([np.ones(n), np.ones(n - 1)], offsets=[0, 1]).tocsr())
    unused = edges_in_no_maximum_matching(graph, maximum_matching(graph, device="cpu"))
    rows = np.repeat(np.arange(n), np.diff(graph.indptr))
    assert np.array_equal(unused, rows != graph.indices)


def test_any_graph_will_do(edges, graph, matching):
    assert hall_violator(edges, matching).rows.tolist() == hall_violator(graph, matching).rows.tolist()
    assert connected_components(edges).n_components == connected_components(graph).n_components
    assert np.array_equal(edges_in_no_maximum_matching(edges, matching), edges_in_no_maximum_matching(graph, matching))


@pytest.mark.parametrize("device", ["tpu", "cuda:x", ""])
def test_unknown_devices_are_named(graph, matching, device):
    for question, *given in (
        (connected_components,),
        (hall_violator, matching),
        (dulmage_mendelsohn, matching),
        (edges_in_no_maximum_matching, matching),
    ):
        with pytest.raises(InvalidProblem, match="cuda:N"):
            question(graph, *given, device=device)


def _questions(edges, matching):
    for question in (hall_violator, dulmage_mendelsohn, edges_in_no_maximum_matching):
        with refused(InvalidProblem, argument="matching"):
            question(edges, matching)


@pytest.mark.parametrize("wrong", [None, np.array([0, 1, -1]), ([0, 1], [0, 1])], ids=["nothing", "partners", "pairs"])
def test_what_is_no_matching_is_refused(wrong):
    _questions(SHARED, wrong)
    with refused(InvalidProblem, argument="matching"):
        verify_matching(SHARED, wrong)


@pytest.mark.parametrize(
    "other",
    [SHARED[:2], SHARED[:, :1], np.ones((40, 50), bool), ~SHARED, np.zeros_like(SHARED)],
    ids=["fewer rows", "fewer columns", "larger", "of other edges", "not maximum"],
)
def test_a_matching_of_another_graph_is_refused(other):
    """That of a larger graph names partners that are not there: it had ended the process."""
    _questions(SHARED, maximum_matching(other, device="cpu"))
