"""Candidates where a movie is far denser than its spacing says: no more than elsewhere, the nearest."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.motion.candidates.graph import MOST, Graph, candidates
from auctrack.tracker.linking.motion.detections.ordered import Ordered, ordered
from auctrack.tracker.linking.motion.learning.belief import Belief
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points
from tests.tracker.linking.movies import f1, table


def clustered(ndim: int = 2, frames: int = 8) -> tuple[Points, np.ndarray]:
    """Two groups that go towards each other through particles far apart, and who each detection is."""
    rng, n = np.random.default_rng(0), 100
    place = np.concatenate([rng.normal(size=(2 * n, ndim)), rng.uniform(-40, 40, (n, ndim))])
    velocity = np.zeros((3 * n, ndim))
    place[:n, 0] -= 3
    velocity[:n, 0], velocity[n : 2 * n, 0] = 0.4, -0.4
    path = place + np.arange(frames)[:, None, None] * velocity + rng.normal(scale=0.01, size=(frames, 3 * n, ndim))
    return table(np.repeat(np.arange(frames), 3 * n), path.reshape(-1, ndim)), np.tile(np.arange(3 * n), frames)


@pytest.mark.parametrize("radius", [0.3, 3.0, 30.0])
@pytest.mark.parametrize("ndim", [2, 3])
def test_they_are_the_nearest_within_the_radius(ndim, radius):
    movie = ordered(clustered(ndim, frames=3)[0])
    ahead = np.random.default_rng(1).normal(size=movie.position.shape)
    graph = candidates(movie, 1, radius, movie.position + ahead)
    found = [set(graph.head[graph.indptr[i] : graph.indptr[i + 1]].tolist()) for i in range(len(movie))]
    assert found == [_nearest(movie, i, radius, ahead[i]) for i in range(len(movie))]


def _nearest(movie: Ordered, i: int, radius: float, ahead: np.ndarray) -> set[int]:
    later = np.flatnonzero(movie.frame == movie.frame[i] + 1)
    away = np.linalg.norm(movie.position[later] - movie.position[i] - ahead, axis=1)
    return set(later[np.argsort(away)][: min(MOST, int((away <= radius).sum()))].tolist())


def test_a_sweep_looks_at_no_more_of_them_where_particles_are_dense(monkeypatch):
    """At each detection any candidate into it may come before any out of it: these pairs are what sweeps take."""
    points, who = clustered()
    pairs: list[float] = []
    swept = Belief.sweep

    def counted(belief: Belief, **how) -> None:
        pairs.append(_pairs_a_detection(belief.graph))
        swept(belief, **how)

    monkeypatch.setattr(Belief, "sweep", counted)
    links = link_points(points, LinkSettings(device="cpu", max_missed_frames=0)).links
    assert max(pairs) <= 1024
    assert f1(points, who, links["source"].to_numpy(), links["target"].to_numpy()) > 0.99


def _pairs_a_detection(graph: Graph) -> float:
    coming, going = np.bincount(graph.head, minlength=graph.n), np.diff(graph.indptr)
    return float(coming @ going) / graph.n


def test_of_more_at_one_place_than_are_looked_at_each_has_others_near():
    n = 2 * MOST
    points = table(np.repeat(np.arange(3), n), np.ones((3 * n, 2)))
    assert len(link_points(points, LinkSettings(device="cpu", max_missed_frames=0)).links) == 2 * n
