"""`BipartiteGraph.from_any` reads what users have, cleans what has a meaning, and refuses the rest by name."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from auctrack.matching.cardinality import BipartiteGraph, maximum_matching
from auctrack.matching.errors import InvalidProblem

MASK = np.array([[1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 0, 1]], bool)
INDPTR, INDICES = [0, 2, 2, 5], [0, 2, 0, 1, 3]


def _assert_is_mask(graph):
    assert graph.shape == MASK.shape
    assert graph.n_edges == 5
    assert graph.indptr.tolist() == INDPTR
    assert graph.indices.tolist() == INDICES
    assert graph.indptr.dtype == graph.indices.dtype == np.int32


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("format_", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_reads_every_sparse_format(container, format_):
    _assert_is_mask(BipartiteGraph.from_any(container(MASK.astype(float)).asformat(format_)))


def test_reads_boolean_arrays_triples_and_itself():
    graph = BipartiteGraph.from_any(MASK)
    _assert_is_mask(graph)
    _assert_is_mask(BipartiteGraph.from_any((INDPTR, INDICES, (3, 4))))
    assert BipartiteGraph.from_any(graph) is graph


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_narrows_any_integer_indices(dtype):
    _assert_is_mask(BipartiteGraph.from_any((np.array(INDPTR, dtype), np.array(INDICES, dtype), (3, 4))))


def test_reads_non_contiguous_and_read_only_arrays():
    indices = np.repeat(np.array(INDICES, np.int32), 2)[::2]
    indptr = np.array(INDPTR, np.int32)
    indptr.flags.writeable = False
    _assert_is_mask(BipartiteGraph.from_any((indptr, indices, (3, 4))))


def test_clean_arrays_are_shared_and_stay_the_callers():
    indices = np.array(INDICES, np.int32)
    graph = BipartiteGraph.from_any((np.array(INDPTR, np.int32), indices, (3, 4)))
    assert np.shares_memory(graph.indices, indices)
    assert indices.flags.writeable
    assert not graph.indices.flags.writeable


def test_sorts_columns_and_merges_repeated_ones():
    indptr, indices = np.array([0, 4, 4, 8]), np.array([2, 0, 2, 2, 3, 1, 0, 3])
    before = indices.copy()
    _assert_is_mask(BipartiteGraph.from_any((indptr, indices, (3, 4))))
    assert np.array_equal(indices, before), "the caller's array must not change"


def test_a_stored_zero_is_an_edge():
    zero = sparse.csr_array((np.zeros(1), np.array([1]), np.array([0, 1])), shape=(1, 2))
    assert BipartiteGraph.from_any(zero).indices.tolist() == [1]


def test_transposing_twice_comes_back(edges):
    graph = BipartiteGraph.from_any(edges)
    expected = edges.T.tocsr()
    expected.sort_indices()
    assert np.array_equal(graph.transposed.indptr, expected.indptr)
    assert np.array_equal(graph.transposed.indices, expected.indices)
    assert graph.transposed is graph.transposed
    assert graph.transposed.transposed is graph


def test_permuting_changes_nothing_but_the_names(edges):
    rng = np.random.default_rng(11)
    rows, columns = rng.permutation(edges.shape[0]), rng.permutation(edges.shape[1])
    moved = edges[rows][:, columns] if edges.nnz else edges
    assert maximum_matching(moved, device="cpu").size == maximum_matching(edges, device="cpu").size


BROKEN = [
    (([0, 1], [4], (1, 4)), r"\[0, 4\); got 4"),
    (([0, 1], [-1], (1, 4)), r"\[0, 4\); got -1"),
    (([0, 1], [2**40], (1, 4)), str(2**40)),
    (([0, 1], [0], (2, 4)), "= 3"),
    (([0, 2], [0], (1, 4)), "indptr"),
    (([1, 1], [0], (1, 4)), "indptr"),
    (([0, 2, 1, 3], [0, 1, 2], (3, 4)), "row 1"),
    (([0, 1], [0.0], (1, 4)), "indices"),
    (([0, 1], [[0]], (1, 4)), "indices"),
    (([0, 1], [0], (1,)), "shape"),
    (([0, 1], [0], None), "shape"),
    (([0, 1], [0], (1, 1.7)), "shape"),
    (([0], [], (0, 2**31)), r"2\*\*31"),
    (([0], [], (0, -1)), r"2\*\*31"),
]
"""(row pointer, columns, shape) that are no graph, and what is said of them."""


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        *BROKEN,
        (([0, 1], [0]), "of 2"),
        (np.ones((2, 2)), "boolean"),
        (np.ones(3, bool), "1 dimension"),
        (np.ma.masked_array(np.ones((2, 2), bool), mask=np.eye(2)), "masked"),
        ([[1, 0]], "list"),
        ("graph", "str"),
        (None, "NoneType"),
        (sparse.coo_array(([1], ([0],)), shape=(3,)), "2-D"),
    ],
)
def test_refuses_what_is_no_graph(graph, said):
    with pytest.raises(InvalidProblem, match=said):
        BipartiteGraph.from_any(graph)


def test_sorts_and_merges_as_scipy_does(edges):
    rng = np.random.default_rng(3)
    rows = np.repeat(np.arange(edges.shape[0]), np.diff(edges.indptr))
    rows, columns = np.append(rows, rows[::2]), np.append(edges.indices, edges.indices[::2])  # every second edge twice
    order = np.lexsort((rng.random(len(rows)), rows))
    indptr = np.searchsorted(rows[order], np.arange(edges.shape[0] + 1))
    expected = sparse.csr_array((np.ones(len(rows)), columns[order], indptr), shape=edges.shape)
    found = BipartiteGraph.from_any((indptr, columns[order], edges.shape))
    expected.sum_duplicates()
    assert np.array_equal(found.indptr, expected.indptr)
    assert np.array_equal(found.indices, expected.indices)
    assert found.indptr.dtype == found.indices.dtype == np.int32
