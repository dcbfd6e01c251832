"""Where learning starts: three classes, as wide as the steps of mutual nearest neighbours have it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from auctrack.tracker.linking.motion.candidates.graph import Graph
from auctrack.tracker.linking.motion.detections.rounding import NARROWEST
from auctrack.tracker.linking.motion.learning.start import SIZES, mutual_nearest, starting_model


def pairs(lengths: np.ndarray) -> Graph:
    """As many particles that step from one detection to another, and nothing else."""
    n = len(lengths)
    step = np.stack([np.zeros(n), lengths], axis=1)
    return Graph(np.append(np.arange(n + 1), np.full(n, n)), np.arange(n, 2 * n, dtype=np.int32), np.ones(n, int), step)


@pytest.mark.parametrize(
    "lengths", [np.linspace(0.9, 1.0, 101), np.linspace(0.0, 1.0, 101) ** 3], ids=["nearly alike", "some run"]
)
def test_the_variance_is_the_larger_reading_at_half_and_at_four_fifths_of_the_steps(lengths):
    graph = pairs(lengths)
    model = starting_model(graph, mutual_nearest(graph))
    reading = max(np.quantile(lengths, q) ** 2 / chi2.ppf(q, 2) for q in (0.5, 0.8))
    np.testing.assert_allclose(model.first, np.outer(SIZES, [reading, reading]))
    np.testing.assert_allclose(model.second, 0.8 * model.first)


def test_particles_that_stand_still_have_the_least_width_there_is():
    graph = pairs(np.zeros(20))
    model = starting_model(graph, mutual_nearest(graph))
    np.testing.assert_allclose(model.first, np.outer(SIZES, [NARROWEST**2] * 2))


def test_of_two_candidates_the_nearer_is_the_neighbour():
    graph = Graph(
        np.array([0, 2, 3, 3, 3]), np.array([2, 3, 3], np.int32), np.ones(3, int), np.array([[2.0], [1], [3]])
    )
    assert mutual_nearest(graph).tolist() == [False, True, False]
