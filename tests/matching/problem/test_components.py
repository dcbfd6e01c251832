"""Connected components against SciPy, and their grouping for the threads."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import block_array, coo_array
from scipy.sparse.csgraph import connected_components

from auctrack.matching.problem.components import chunks_of_components, components, rows_by_component


def _graph(n: int, m: int, edges: int, seed: int) -> coo_array:
    rng = np.random.default_rng(seed)
    if n * m == 0:
        return coo_array((n, m))
    picked = np.unique(rng.integers(0, n * m, edges))
    return coo_array((np.ones(len(picked)), (picked // m, picked % m)), shape=(n, m))


def _by_scipy(graph: coo_array) -> np.ndarray:
    """Labels of rows, then columns, numbered by first occurrence."""
    whole = block_array([[coo_array((graph.shape[0],) * 2), graph], [graph.T, coo_array((graph.shape[1],) * 2)]])
    _, label = connected_components(whole, directed=False)
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


@given(n=st.integers(0, 40), m=st.integers(0, 40), edges=st.integers(0, 60), seed=st.integers(0, 1000))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_labels_are_those_of_scipy(n: int, m: int, edges: int, seed: int):
    graph = _graph(n, m, edges, seed)
    csr = graph.tocsr()
    row_label, col_label = components(csr.indptr.astype(np.int64), csr.indices, m)
    np.testing.assert_array_equal(np.concatenate([row_label, col_label]), _by_scipy(graph) if n + m else [])


def test_a_path_of_a_million_members_is_one_component():
    n = 500_000
    indices = np.stack([np.arange(n), np.minimum(np.arange(n) + 1, n - 1)], axis=1).ravel()
    row_label, col_label = components(np.arange(n + 1) * 2, indices, n)
    assert not row_label.any()
    assert not col_label.any()


@pytest.mark.parametrize("n_chunks", [1, 2, 7, 64])
@pytest.mark.parametrize("edges", [0, 30, 200])
def test_chunks_hold_whole_components_in_order(edges: int, n_chunks: int):
    csr = _graph(100, 80, edges, 0).tocsr()
    row_label, _ = components(csr.indptr.astype(np.int64), csr.indices, 80)
    rows, starts = rows_by_component(row_label)
    cuts = chunks_of_components(starts, rows, csr.indptr.astype(np.int64), n_chunks)
    assert sorted(rows.tolist()) == list(range(100))
    assert (np.diff(row_label[rows]) >= 0).all()
    assert len(cuts) <= n_chunks + 1
    assert (cuts[0], cuts[-1]) == (0, 100)
    assert (np.diff(cuts) > 0).all()
    chunks = [set(row_label[rows[a:b]].tolist()) for a, b in pairwise(cuts)]
    assert sum(map(len, chunks)) == row_label.max() + 1


def test_chunks_carry_about_equal_edges():
    csr = _graph(4000, 4000, 3000, 1).tocsr()
    indptr = csr.indptr.astype(np.int64)
    row_label, _ = components(indptr, csr.indices, 4000)
    rows, starts = rows_by_component(row_label)
    cuts = chunks_of_components(starts, rows, indptr, 8)
    weight = [(np.diff(indptr)[rows[a:b]] + 1).sum() for a, b in pairwise(cuts)]
    assert len(weight) == 8
    assert max(weight) < 1.5 * min(weight)


def test_no_rows():
    row_label, col_label = components(np.zeros(1, np.int64), np.empty(0, np.int32), 3)
    assert len(row_label) == 0
    assert col_label.tolist() == [0, 1, 2]
    rows, starts = rows_by_component(row_label)
    assert chunks_of_components(starts, rows, np.zeros(1, np.int64), 4).tolist() == [0]
