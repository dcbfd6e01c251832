"""Candidates where a movie is far denser than its spacing says: no more than elsewhere, the nearest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.motion.candidates import graph as graphs
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


@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.sampled_from([0, 1, 3, 20, 80]), min_size=2, max_size=10),
    spread=st.sampled_from([0.0, 1.0, 8.0]),
    lag=st.integers(1, 3),
    radius=st.sampled_from([0.3, 1.0, 5.0]),
    at_once=st.sampled_from([30, 2_000, graphs.AT_ONCE]),
)
@settings(deadline=None, derandomize=True, max_examples=150)
def test_those_of_many_frame_pairs_at_once_are_those_of_each_alone(seed, sizes, spread, lag, radius, at_once):
    rng, frame = np.random.default_rng(seed), np.repeat(np.arange(len(sizes)), sizes)
    if len(frame) == 0:
        return
    movie = ordered(table(frame, rng.random((len(frame), 3)) * spread))
    predicted = movie.position + rng.normal(scale=0.2, size=movie.position.shape)
    predicted[rng.random(len(movie)) < 0.2] = np.nan
    heads = None if seed % 2 else rng.random(len(movie)) < 0.7
    made = []
    for most in (0, at_once):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(graphs, "AT_ONCE", most)
            made.append(candidates(movie, lag, radius, predicted, heads))
    for name in ("indptr", "head", "lag"):
        alone, together = (getattr(graph, name) for graph in made)
        assert alone.dtype == together.dtype
        np.testing.assert_array_equal(alone, together)


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
