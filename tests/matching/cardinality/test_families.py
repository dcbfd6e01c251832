"""All algorithms agree with SciPy on graphs of the papers' kinds as they grow, in their own order and permuted."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import sparse

from auctrack.matching.cardinality import ALGORITHMS, maximum_matching, verify_matching
from auctrack.matching.cardinality.gpu_solve import ALGORITHMS as GPU_ALGORITHMS
from auctrack.matching.device import cuda
from auctrack.plugins.bench.graphs.graph_families import FAMILIES, permuted

on_gpu = [
    pytest.mark.gpu,
    pytest.mark.skipif(not cuda.is_available(), reason="no CUDA device of compute capability 7.0 or newer"),
]


@cache
def _graph(family, exponent):
    return FAMILIES[family](1 << exponent, exponent)


@cache
def _permuted(family, exponent):
    return permuted(_graph(family, exponent), exponent)


@cache
def _maximum(family, exponent):
    """SciPy's answer for the graph in its own order: on permuted ones it may take hours for the same number."""
    graph = _graph(family, exponent)
    edges = sparse.csr_array((np.ones(graph.n_edges, np.int8), graph.indices, graph.indptr), shape=graph.shape)
    return int(np.count_nonzero(sparse.csgraph.maximum_bipartite_matching(edges, perm_type="column") >= 0))


def _assert_all_agree(family, exponent, algorithm, device):
    for graph in (_graph(family, exponent), _permuted(family, exponent)):
        matching = maximum_matching(graph, algorithm, device=device)
        assert verify_matching(graph, matching) == _maximum(family, exponent)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("exponent", [10, 13])
@pytest.mark.parametrize("family", FAMILIES)
def test_on_every_family(family, exponent, algorithm):
    _assert_all_agree(family, exponent, algorithm, "cpu")


@pytest.mark.parametrize("algorithm", ["auto", "pothen-fan", "push-relabel", "p-dbfs", "parallel-pothen-fan"])
@pytest.mark.parametrize("exponent", [15, 17])
def test_on_delaunay_as_it_grows(exponent, algorithm):
    _assert_all_agree("delaunay", exponent, algorithm, "cpu")


@pytest.mark.parametrize("algorithm", GPU_ALGORITHMS)
@pytest.mark.parametrize(
    ("family", "exponent"),
    [*((family, 13) for family in FAMILIES), ("delaunay", 17), ("delaunay", 20), ("k-out", 17), ("rmat", 17)],
)
@pytest.mark.parametrize("device", [pytest.param("cuda", marks=on_gpu)])
def test_on_a_gpu(family, exponent, algorithm, device):
    _assert_all_agree(family, exponent, algorithm, device)


@pytest.mark.parametrize("device", [pytest.param("cuda", marks=on_gpu)])
def test_cpu_and_gpu_agree_on_a_million_points(device):
    """Delaunay 2^20: only where there is a GPU, for making it takes a while."""
    graph = _permuted("delaunay", 20)
    sizes = {verify_matching(graph, maximum_matching(graph, device=where)) for where in ("cpu", device)}
    assert sizes == {_maximum("delaunay", 20)}
