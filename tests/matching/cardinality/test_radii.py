"""The cardinality over radii is the maximum matching of the pairs within each radius."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial import cKDTree

from auctrack.matching.cardinality import cardinality_over_radii
from auctrack.matching.errors import InvalidProblem

from ...refusals import refused


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(8)
    edges = cKDTree(rng.random((400, 3))).sparse_distance_matrix(
        cKDTree(rng.random((350, 3))), 0.2, output_type="coo_matrix"
    )
    return edges.row, edges.col, edges.data, (400, 350)


def test_each_point_is_a_maximum_matching(pairs):
    rows, columns, distances, shape = pairs
    radii = np.linspace(0, 0.2, 9)
    sizes = cardinality_over_radii(*pairs, radii)
    for radius, size in zip(radii, sizes, strict=True):
        near = distances <= radius
        gated = sparse.coo_array((np.ones(near.sum()), (rows[near], columns[near])), shape=shape).tocsr()
        assert size == np.count_nonzero(sparse.csgraph.maximum_bipartite_matching(gated, perm_type="column") >= 0)


def test_order_of_pairs_and_radii_is_free(pairs):
    rows, columns, distances, shape = pairs
    shuffle = np.random.default_rng(9).permutation(len(rows))
    radii = np.array([0.2, 0.05, 0.1, 0.05, np.inf, -1.0])
    sizes = cardinality_over_radii(rows[shuffle], columns[shuffle], distances[shuffle], shape, radii)
    assert np.array_equal(sizes, cardinality_over_radii(*pairs, np.sort(radii))[[4, 1, 3, 1, 5, 0]])


def test_a_pair_at_the_radius_counts_and_the_shortest_of_repeated_ones():
    sizes = cardinality_over_radii([0, 0, 0], [0, 0, 0], [3.0, 1.0, 2.0], (1, 1), [0.999, 1.0, 3.0])
    assert sizes.tolist() == [0, 1, 1]


def test_no_pairs_and_no_radii():
    assert cardinality_over_radii([], [], [], (3, 2), [1.0, 2.0]).tolist() == [0, 0]
    assert cardinality_over_radii([0], [0], [1.0], (1, 1), []).tolist() == []


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"rows": [0]}, ""),
        ({"distances": [1.0, np.nan]}, ""),
        ({"radii": [np.nan]}, ""),
        ({"radii": 1.0}, "radii"),
        ({"radii": ["near"]}, "radii"),
        ({"radii": [[1.0], [1.0, 2.0]]}, "radii"),
        ({"distances": [1.0, 2j]}, "distances"),
        ({"distances": ["near", "far"]}, "distances"),
        ({"rows": [0, 2]}, "rows"),
        ({"rows": [-1, 0]}, "rows"),
        ({"columns": [0, 2]}, "columns"),
        ({"columns": [0.0, 1.0]}, "columns"),
        ({"shape": (2, 2.7)}, "shape"),
        ({"device": "tpu"}, "device"),
    ],
)
def test_wrong_input_is_named(change, named):
    call = {"rows": [0, 1], "columns": [0, 1], "distances": [1.0, 2.0], "shape": (2, 2), "radii": [1.0]}
    with refused(InvalidProblem, argument=named):
        cardinality_over_radii(**{**call, **change})
