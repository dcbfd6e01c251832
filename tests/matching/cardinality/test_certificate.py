"""The vertex cover proves the maximum, and `verify_matching` finds every way a proof can break."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from auctrack.matching.cardinality import (
    BipartiteGraph,
    Matching,
    VertexCover,
    konig_cover,
    maximum_matching,
    verify_matching,
)
from auctrack.matching.errors import InvalidProblem

from ...refusals import refused

MASK = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 0]], bool)  # maximum 2: rows 1 and 2 share column 0


def _with_cover(matching, rows, columns):
    tampered = replace(matching)
    vars(tampered)["cover"] = VertexCover(np.array(rows, bool), np.array(columns, bool))
    return tampered


def _matching(col_of_row, row_of_col):
    graph = BipartiteGraph.from_any(MASK)
    return Matching(graph, np.array(col_of_row), np.array(row_of_col), "by hand", "none", "cpu", {})


def test_cover_touches_every_edge_and_leaves_isolated_vertices_out(edges, maximum):
    matching = maximum_matching(edges, device="cpu")
    pairs = edges.tocoo()
    assert np.all(matching.cover.rows[pairs.row] | matching.cover.columns[pairs.col])
    assert matching.cover.size == maximum
    assert not np.any(matching.cover.rows[np.diff(edges.indptr) == 0])
    assert not np.any(matching.cover.columns[np.diff(edges.tocsc().indptr) == 0])


def test_cover_of_either_side_is_minimum(edges, maximum):
    graph = BipartiteGraph.from_any(edges)
    matching = maximum_matching(graph, device="cpu")
    assert konig_cover(graph.transposed, matching.row_of_col, matching.col_of_row).size == maximum


def test_a_matching_says_how_large_it_is():
    assert repr(_matching([1, 0, -1], [1, 0, -1])).startswith("Matching(size=2, algorithm='by hand', ")


def test_accepts_the_maximum():
    assert verify_matching(MASK, _matching([1, 0, -1], [1, 0, -1])) == 2


@pytest.mark.parametrize(
    ("col_of_row", "row_of_col", "named"),
    [
        ([0, -1, -1], [0, -1, -1], "for [01] "),
        ([-1, -1, -1], [-1, -1, -1], "for [01] "),
        ([1, 0, 0], [1, 0, -1], "col_of_row and row_of_col"),
        ([1, 0, -1], [2, 0, -1], "col_of_row and row_of_col"),
        ([1, 0, -1], [1, 0, 2], "col_of_row and row_of_col"),
        ([1, 2, -1], [-1, 0, 1], r"\(1, 2\)"),
        ([1, 3, -1], [-1, 0, -1], "column 3"),
        ([1, 0], [1, 0, -1], r"\(2,\)"),
    ],
)
def test_refuses_what_is_no_maximum_matching(col_of_row, row_of_col, named):
    with refused(InvalidProblem, argument="matching", match=named):
        verify_matching(MASK, _matching(col_of_row, row_of_col))


@pytest.mark.parametrize(
    ("rows", "columns", "named"),
    [
        ([1, 0, 0], [0, 0, 1], "2 .*row 1 .*column 0"),
        ([1, 1, 1], [0, 0, 0], "3 .* 2 "),
        ([1, 0], [1, 0, 0], "3 rows and 3 columns"),
    ],
)
def test_refuses_a_wrong_cover(rows, columns, named):
    with refused(InvalidProblem, argument="matching", match=named):
        verify_matching(MASK, _with_cover(_matching([1, 0, -1], [1, 0, -1]), rows, columns))


def test_refuses_another_graphs_matching():
    matching = maximum_matching(np.ones((3, 3), bool), device="cpu")
    with pytest.raises(InvalidProblem):
        verify_matching(MASK, matching)
