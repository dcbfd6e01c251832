"""What the tests of matching on a GPU, and of its kernels on the host, share: graphs, algorithms, and what to ask."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import maximum_bipartite_matching

from auctrack.matching.cardinality.cheap import cheap
from auctrack.matching.cardinality.gpu_solve import maximum_matching_gpu, minimum_cover_gpu
from auctrack.matching.cardinality.graph import BipartiteGraph
from auctrack.matching.cardinality.matching import check_matching

PUSHES_ONLY: dict[str, Any] = {"slow_share": -1.0, "steps_scale": 0.0, "steps_base": 1}
LONG_ROUNDS: dict[str, Any] = {"slow_share": -1.0, "steps_base": 1000}
TREES_ONLY: dict[str, Any] = {"slow_share": np.inf}
VARIANTS: list[tuple[str, str, dict[str, Any]]] = [
    *(("auto", initial, {}) for initial in ("auto", "none", "cheap")),
    *(("auto", "none", options) for options in (PUSHES_ONLY, LONG_ROUNDS, TREES_ONLY)),
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
"""Algorithm, start and options."""


def named_graphs(
    *,
    tall: tuple[int, int, int],
    critical: tuple[int, int, int],
    dense: tuple[int, int, int],
    chain: int,
    star: int,
    hubs: int,
    hubs_of_rows: int,
) -> dict[str, sparse.csr_matrix]:
    """Return the graphs by name, in the sizes given: rows, columns and edges of random ones (some edges twice)."""
    return {
        "one edge": _random(1, 1, 1),
        "wide": _random(5, 7, 9),
        "tall": _random(*tall),
        "critical": _random(*critical),
        "dense": _random(*dense),
        "chain": _two_bands(chain, 1),
        "chain against the order": _two_bands(chain, -1)[::-1].tocsr(),
        "star": sparse.csr_matrix(np.vstack([np.ones((1, star)), np.zeros((4, star))])),
        "star of rows": sparse.csr_matrix(np.hstack([np.ones((star, 1)), np.zeros((star, 4))])),
        "hubs": sparse.hstack([np.ones((hubs, 5)), _random(hubs, hubs, hubs * 3 // 2)]).tocsr(),
        "hubs of rows": sparse.vstack(
            [_random(hubs_of_rows, hubs_of_rows, hubs_of_rows * 3 // 2), np.ones((5, hubs_of_rows))]
        ).tocsr(),
        "no edges": sparse.csr_matrix((7, 5)),
        "no rows": sparse.csr_matrix((0, 5)),
        "no columns": sparse.csr_matrix((5, 0)),
    }


def _random(n_rows: int, n_columns: int, n_edges: int) -> sparse.csr_matrix:
    rng = np.random.default_rng(n_edges)
    ends = rng.integers(0, n_rows, n_edges), rng.integers(0, n_columns, n_edges)
    return sparse.coo_matrix((np.ones(n_edges, np.int8), ends), shape=(n_rows, n_columns)).tocsr()


def _two_bands(n: int, offset: int) -> sparse.csr_matrix:
    return sparse.diags([np.ones(n), np.ones(n - 1)], [0, offset]).tocsr()


def maximum_size(edges: sparse.csr_matrix) -> int:
    """Return how many edges a maximum matching has, by SciPy."""
    return int(np.count_nonzero(maximum_bipartite_matching(edges, perm_type="column") >= 0)) if edges.nnz else 0


def assert_matches_and_proves(edges: sparse.csr_matrix, algorithm: str, initial: str, options: dict[str, Any]) -> None:
    """Match on the GPU; hold the size to SciPy's, and the cover to König's theorem."""
    graph = BipartiteGraph.from_any(edges)
    col_of_row, row_of_col, _ = maximum_matching_gpu(graph, algorithm, initial, "cuda", options)
    check_matching(graph, col_of_row, row_of_col)
    rows, columns = minimum_cover_gpu(graph, col_of_row)
    assert (rows[_rows_of_edges(graph)] | columns[graph.indices]).all()
    assert rows.sum() + columns.sum() == np.count_nonzero(col_of_row >= 0) == maximum_size(edges)


def _rows_of_edges(graph: BipartiteGraph) -> np.ndarray:
    return np.repeat(np.arange(graph.n_rows), np.diff(graph.indptr))


def greedy_on_the_cpu(graph: BipartiteGraph) -> tuple[np.ndarray, np.ndarray]:
    """Return the sequential greedy matching, column of each row and row of each column."""
    col_of_row, row_of_col = np.full(graph.n_rows, -1, np.int32), np.full(graph.n_columns, -1, np.int32)
    cheap(graph, col_of_row, row_of_col)
    return col_of_row, row_of_col
