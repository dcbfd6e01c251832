"""Components, Hall violators, coarse blocks, unused edges and the curve over radii on a GPU equal the CPU's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auctrack.matching.cardinality import (
    BipartiteGraph,
    DeviceGraph,
    cardinality_over_radii,
    connected_components,
    dulmage_mendelsohn,
    edges_in_no_maximum_matching,
    hall_violator,
    maximum_matching,
)
from auctrack.matching.device import cuda
from auctrack.matching.errors import InvalidProblem

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not cuda.is_available(), reason="no CUDA device of compute capability 7.0 or newer"),
]

QUESTIONS = [hall_violator, dulmage_mendelsohn, edges_in_no_maximum_matching]


def _device_graph(edges: Any) -> Any:
    with cuda.using():
        return DeviceGraph.of(BipartiteGraph.from_any(edges))


def _arrays(answer: Any) -> list[Any]:
    return [part for part in (answer if isinstance(answer, tuple) else (answer,)) if not isinstance(part, int)]


def _assert_equal(ours: Any, theirs: Any, *, on_device: bool) -> None:
    for mine, other in zip(_arrays(ours), _arrays(theirs), strict=True):
        assert cuda.is_device_array(mine) == on_device
        assert mine.dtype == other.dtype
        np.testing.assert_array_equal(cuda.to_host(mine), other)


def test_components(edges: Any) -> None:
    expected = connected_components(edges)
    found = connected_components(_device_graph(edges))
    assert found.n_components == expected.n_components
    _assert_equal(found, expected, on_device=True)
    _assert_equal(connected_components(edges, "cuda"), expected, on_device=False)


@pytest.mark.parametrize("question", QUESTIONS)
def test_structure(edges: Any, question: Any) -> None:
    """The answers do not depend on which maximum matching they start from, nor on where that lies."""
    on_host = maximum_matching(edges, device="cpu")
    expected = question(BipartiteGraph.from_any(edges), on_host)
    graph = _device_graph(edges)
    on_device = maximum_matching(graph)
    assert cuda.is_device_array(on_device.col_of_row)
    _assert_equal(question(graph, on_device), expected, on_device=True)
    _assert_equal(question(graph, on_host), expected, on_device=True)
    _assert_equal(question(edges, on_device), expected, on_device=False)
    _assert_equal(question(edges, on_host, "cuda"), expected, on_device=False)
    _assert_equal(question(graph, on_device, "cpu"), expected, on_device=True)


def test_graphs_of_cupy_are_taken() -> None:
    with cuda.using() as cp:
        sparse = pytest.importorskip("cupyx.scipy.sparse")
        graph = sparse.csr_matrix(cp.asarray([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
        matching = maximum_matching(graph)
        assert cuda.is_device_array(matching.col_of_row)
        assert connected_components(graph).n_components == 2
        assert matching.graph.indices.data.ptr == graph.indices.data.ptr, "it went through another array"
        as_tuple = graph.indptr, graph.indices, graph.shape
        _assert_equal(connected_components(as_tuple), connected_components(graph.get()), on_device=True)


def test_a_graph_on_the_device_is_checked_and_cleaned_there() -> None:
    with cuda.using() as cp:
        untidy = cp.asarray([0, 4, 4, 8]), cp.asarray([2, 0, 2, 2, 3, 1, 0, 3]), (3, 4)
        graph = DeviceGraph.from_any(untidy)
        assert graph.indptr.tolist() == [0, 2, 2, 5]
        assert graph.indices.tolist() == [0, 2, 0, 1, 3]
        assert DeviceGraph.from_any(graph) is graph
        with pytest.raises(InvalidProblem, match=r"\[0, 4\); got 4"):
            maximum_matching((cp.asarray([0, 1]), cp.asarray([4]), (1, 4)))


@pytest.mark.parametrize("n_pairs", [0, 1, 20_000])
def test_curve_over_radii(n_pairs: int) -> None:
    rng = np.random.default_rng(n_pairs)
    rows, columns = rng.integers(0, 900, n_pairs), rng.integers(0, 700, n_pairs)  # some pairs twice
    distances = rng.random(n_pairs)
    radii = [0.3, 0.01, 1.0, -1.0, 0.03, 0.01]
    expected = cardinality_over_radii(rows, columns, distances, (900, 700), radii)
    with cuda.using() as cp:
        pairs = cp.asarray(rows), cp.asarray(columns), cp.asarray(distances), (900, 700)
        _assert_equal(cardinality_over_radii(*pairs, radii), expected, on_device=True)
        _assert_equal(cardinality_over_radii(*pairs, cp.asarray(radii), "cpu"), expected, on_device=True)
    found = cardinality_over_radii(rows, columns, distances, (900, 700), radii, "cuda")
    _assert_equal(found, expected, on_device=False)
