"""Graph families with the shapes of the cardinality papers' test set, made here from a number of rows and a seed.

The papers took theirs from the SuiteSparse collection: meshes (delaunay, huge*), random geometric graphs (rgg),
power-law graphs (kron), road networks. The last two below are not in the papers: random k-out graphs, and the gate of a
particle tracker. Points are numbered along a space-filling curve where the collection's are.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

import numpy as np

from ....matching.cardinality import BipartiteGraph

Pairs = tuple[np.ndarray, np.ndarray]


def delaunay(n: int, seed: int) -> BipartiteGraph:
    """Return the Delaunay triangulation of uniform points in the plane, as the matrix of a mesh."""
    from scipy.spatial import Delaunay

    points = np.random.default_rng(seed).random((n, 2))
    triangles = Delaunay(points[_along_curve_in_rounds(points)]).simplices
    return _symmetric(n, (triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()))


def rgg(n: int, seed: int) -> BipartiteGraph:
    """Return the random geometric graph of uniform points in the plane, radius 0.55·√(ln n / n)."""
    from scipy.spatial import cKDTree

    points = np.random.default_rng(200 + seed).random((n, 2))
    points = points[np.argsort(_morton(points))]
    pairs = cKDTree(points).query_pairs(0.55 * np.sqrt(np.log(n) / n), output_type="ndarray")
    return _symmetric(n, (pairs[:, 0], pairs[:, 1]))


def rmat(n: int, seed: int) -> BipartiteGraph:
    """Return an R-MAT graph with Graph500's parameters and 48 draws a vertex, numbered at random (as kron_g500).

    Its rows are 2^k, the least that are `n` or more.
    """
    exponent = (n - 1).bit_length()
    n, draws = 2**exponent, 48 * 2**exponent
    rng = np.random.default_rng(100 + seed)
    a, b, c = 0.57, 0.19, 0.19
    i, j = np.zeros(draws, np.int32), np.zeros(draws, np.int32)
    for bit in range(exponent):
        u = rng.random(draws, dtype=np.float32)
        i |= (u >= a + b).astype(np.int32) << bit
        j |= (((u >= a) & (u < a + b)) | (u >= a + b + c)).astype(np.int32) << bit
    number = rng.permutation(n).astype(np.int32)
    i, j = number[i], number[j]
    return _symmetric(n, (i[i != j], j[i != j]))


def road(n: int, seed: int) -> BipartiteGraph:
    """Return a road-like network: a square lattice with 35 % of its streets closed, thin and of long paths.

    Its rows are a square number, the largest up to `n`.
    """
    side = isqrt(n)
    rng = np.random.default_rng(300 + seed)
    node = np.arange(side * side).reshape(side, side)
    i = np.concatenate([node[:, :-1].ravel(), node[:-1].ravel()])
    j = np.concatenate([node[:, 1:].ravel(), node[1:].ravel()])
    is_open = rng.random(len(i)) >= 0.35
    return _symmetric(side * side, (i[is_open], j[is_open]))


def k_out(n: int, seed: int, k: int = 3) -> BipartiteGraph:
    """Return a graph in which every row picks k random columns and every column k random rows."""
    rng = np.random.default_rng(seed)
    each = np.repeat(np.arange(n), k)
    cols = np.concatenate([rng.integers(0, n, n * k), each])
    rows = np.concatenate([each, rng.integers(0, n, n * k)])
    return _graph((n, n), (rows, cols))


def gate(n: int, seed: int) -> BipartiteGraph:
    """Return the candidate links of two noisy frames in 3D: degree near 6.8, 10 % of the particles replaced."""
    from scipy.spatial import cKDTree

    rng = np.random.default_rng(seed)
    cells = max(1, round((n / 8) ** (1 / 3)))

    def by_cell(points: np.ndarray) -> np.ndarray:
        x, y, z = np.clip((points * cells).astype(np.int64), 0, cells - 1).T
        return points[np.lexsort((points[:, 0], x, y, z))]

    first = by_cell(rng.random((n, 3)))
    radius = (6.0 / (n * 4 / 3 * np.pi)) ** (1 / 3)
    second = (first + rng.normal(0, 0.25 * radius, (n, 3)))[rng.random(n) >= 0.10]
    second = by_cell(np.vstack([second, rng.random((n - len(second), 3))]))
    pairs = cKDTree(first).sparse_distance_matrix(cKDTree(second), radius, output_type="coo_matrix")
    return _graph((n, n), (pairs.row, pairs.col))


FAMILIES: dict[str, Callable[[int, int], BipartiteGraph]] = {
    "delaunay": delaunay,
    "rgg": rgg,
    "rmat": rmat,
    "road": road,
    "k-out": k_out,
    "gate": gate,
}
"""make(rows, seed)."""


PERMUTED = ", permuted"
"""What the names of permuted graphs end in."""


def permuted(graph: BipartiteGraph, seed: int) -> BipartiteGraph:
    """Return the graph with its rows and its columns in random order (the papers' RCP)."""
    rng = np.random.default_rng(seed)
    row, col = rng.permutation(graph.n_rows), rng.permutation(graph.n_columns)
    rows = np.repeat(np.arange(graph.n_rows), np.diff(graph.indptr))
    return _graph(graph.shape, (row[rows], col[graph.indices]))


def _graph(shape: tuple[int, int], pairs: Pairs) -> BipartiteGraph:
    from scipy.sparse import coo_array

    return BipartiteGraph.from_any(coo_array((np.ones(len(pairs[0]), np.int8), pairs), shape=shape).tocsr())


def _symmetric(n: int, pairs: Pairs) -> BipartiteGraph:
    i, j = pairs
    return _graph((n, n), (np.concatenate([i, j]), np.concatenate([j, i])))


def _along_curve_in_rounds(points: np.ndarray) -> np.ndarray:
    """Order points by rounds that grow fourfold, each along a space-filling curve: how CGAL numbers a triangulation."""
    key = _morton(points)
    rounds: list[np.ndarray] = []
    end = len(points)
    while end > 64:
        begin = end // 4
        rounds.append(begin + np.argsort(key[begin:end]))
        end = begin
    return np.concatenate([np.arange(end), *rounds[::-1]])


def _morton(points: np.ndarray) -> np.ndarray:
    """Places along the Z-curve of points in the unit square, uint64."""
    x, y = (_spread((points * 2**16).astype(np.uint64)[:, axis]) for axis in (0, 1))
    return x | (y << np.uint64(1))


def _spread(v: np.ndarray) -> np.ndarray:
    """Put a zero between every two of the low 16 bits."""
    for shift, mask in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
        v = (v | (v << np.uint64(shift))) & np.uint64(mask)
    return v
