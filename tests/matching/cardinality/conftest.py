"""The named graphs on which all cardinality algorithms must agree, each also with rows and columns permuted."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial import Delaunay, cKDTree


def _graph(n_rows, n_columns, rows, columns):
    edges = sparse.coo_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(n_rows, n_columns)).tocsr()
    edges.data[:] = 1
    return edges


def _symmetric(n, i, j):
    return _graph(n, n, np.concatenate([i, j]), np.concatenate([j, i]))


def delaunay():
    triangles = Delaunay(np.random.default_rng(1).random((1 << 10, 2))).simplices
    return _symmetric(1 << 10, triangles.ravel(), triangles[:, [1, 2, 0]].ravel())


def rmat():
    """Graph500 parameters (.57, .19, .19, .05): very uneven degrees, many vertices without an edge."""
    rng, scale, n_edges = np.random.default_rng(2), 9, 5000
    i = j = np.zeros(n_edges, np.int64)
    for _ in range(scale):
        u = rng.random(n_edges)
        i = 2 * i + (u >= 0.76)
        j = 2 * j + (((u >= 0.57) & (u < 0.76)) | (u >= 0.95))
    return _symmetric(1 << scale, i, j)


def random_geometric():
    points = np.random.default_rng(3).random((800, 2))
    pairs = cKDTree(points).query_pairs(0.05, output_type="ndarray")
    return _symmetric(800, pairs[:, 0], pairs[:, 1])


def three_out():
    rng, n = np.random.default_rng(4), 900
    own = np.repeat(np.arange(n), 3)
    return _graph(
        n, n, np.concatenate([own, rng.integers(0, n, 3 * n)]), np.concatenate([rng.integers(0, n, 3 * n), own])
    )


def grid():
    """5-point stencil without the centre on 23 × 29 cells: odd, so one vertex stays unassigned."""
    index = np.arange(23 * 29).reshape(23, 29)
    i = np.concatenate([index[:, :-1].ravel(), index[:-1].ravel()])
    j = np.concatenate([index[:, 1:].ravel(), index[1:].ravel()])
    return _symmetric(23 * 29, i, j)


def particle_gate():
    """Two frames of particles in 3-D, 10 % missed and false: the project's own graph."""
    rng, n = np.random.default_rng(5), 1500
    radius = (6.0 / (n * 4 / 3 * np.pi)) ** (1 / 3)
    before = rng.random((n, 3))
    after = before[rng.random(n) >= 0.1]
    after = np.vstack([after + rng.normal(0, 0.25 * radius, after.shape), rng.random((n // 9, 3))])
    edges = cKDTree(before).sparse_distance_matrix(cKDTree(after), radius, output_type="coo_matrix")
    return _graph(n, len(after), edges.row, edges.col)


def star():
    return _graph(60, 1, np.arange(60), np.zeros(60, int))


def star_of_columns():
    return _graph(1, 60, np.zeros(60, int), np.arange(60))


def chain():
    """Row i has columns i and i + 1, the last row only its own: taking i + 1 first leaves one path through all rows."""
    n = 300
    i = np.arange(n)
    return _graph(n, n, np.concatenate([i, i[:-1]]), np.concatenate([n - 1 - i, n - 2 - i[:-1]]))


def complete():
    return _graph(31, 31, *np.divmod(np.arange(31 * 31), 31))


def complete_wide():
    return _graph(12, 40, *np.divmod(np.arange(12 * 40), 40))


def complete_tall():
    return _graph(40, 12, *np.divmod(np.arange(40 * 12), 12))


def no_edges():
    return sparse.csr_array((7, 5), dtype=np.int8)


def no_rows():
    return sparse.csr_array((0, 5), dtype=np.int8)


def no_columns():
    return sparse.csr_array((5, 0), dtype=np.int8)


def nothing():
    return sparse.csr_array((0, 0), dtype=np.int8)


GRAPHS = {
    make.__name__: make
    for make in (
        delaunay,
        rmat,
        random_geometric,
        three_out,
        grid,
        particle_gate,
        star,
        star_of_columns,
        chain,
        complete,
        complete_wide,
        complete_tall,
        no_edges,
        no_rows,
        no_columns,
        nothing,
    )
}


def permuted(edges, seed=6):
    rng = np.random.default_rng(seed)
    edges = edges.tocoo()
    rows, columns = rng.permutation(edges.shape[0]), rng.permutation(edges.shape[1])
    return _graph(*edges.shape, rows[edges.row], columns[edges.col])


@pytest.fixture(scope="session", params=[*GRAPHS, *(f"{name}, permuted" for name in GRAPHS)])
def edges(request):
    """Every named graph as a SciPy CSR array, in its own order and permuted."""
    name, *is_permuted = request.param.split(", ")
    graph = GRAPHS[name]()
    return permuted(graph) if is_permuted else graph


@pytest.fixture(scope="session")
def maximum(edges):
    """SciPy's maximum cardinality of `edges`."""
    if 0 in edges.shape:
        return 0
    return int(np.count_nonzero(sparse.csgraph.maximum_bipartite_matching(edges, perm_type="column") >= 0))
