"""The real graphs of the 10th DIMACS challenge: Delaunay and random geometric, in the papers' test sets."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from scipy import sparse

from auctrack.matching.cardinality import maximum_matching, verify_matching

from .conftest import permuted


def _read(path):
    with gzip.open(path, "rt") as file:
        return _coordinates(file) if path.name.endswith(".mtx.gz") else _metis(file)


def _coordinates(file):
    """One triangle of a symmetric pattern, numbered from 1, without the MatrixMarket banner."""
    i, j = np.loadtxt(file, dtype=np.int64).T - 1
    n = max(i.max(), j.max()) + 1
    return sparse.coo_array((np.ones(2 * len(i), np.int8), (np.append(i, j), np.append(j, i))), shape=(n, n)).tocsr()


def _metis(file):
    n = int(file.readline().split()[0])
    neighbours = [np.array(line.split(), int) - 1 for line in file]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in neighbours])])
    indices = np.concatenate(neighbours)
    return sparse.csr_array((np.ones(len(indices), np.int8), indices, indptr), shape=(n, n))


@pytest.mark.parametrize("name", ["delaunay_n16.mtx.gz", "rgg_n_2_15_s0.graph.gz"])
@pytest.mark.parametrize("algorithm", ["auto", "pothen-fan", "push-relabel", "parallel-pothen-fan"])
def test_real_graphs_in_their_order_and_permuted(real_data, name, algorithm):
    edges = _read(real_data(f"graphs/{name}"))
    expected = np.count_nonzero(sparse.csgraph.maximum_bipartite_matching(edges, perm_type="column") >= 0)
    for graph in (edges, permuted(edges)):
        assert verify_matching(graph, maximum_matching(graph, algorithm, device="cpu")) == expected
