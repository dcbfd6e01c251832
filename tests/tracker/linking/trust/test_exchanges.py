"""Detections that tracks may have exchanged or skipped: their odds, against the likelihood of all tracks."""

import itertools
from collections import Counter

import numpy as np
import pytest

from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.motion.detections.ordered import ordered
from auctrack.tracker.linking.motion.learning.belief import Belief
from auctrack.tracker.linking.motion.recipe import believed
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.linking.trust.exchanges import exchange_odds
from auctrack.tracker.linking.whole_movie.best_links import best_links

from ..movies import table, walks
from .likelihood import log_likelihood_of, of_one_class


@pytest.fixture(scope="module")
def belief() -> Belief:
    """What is believed of a dense movie, by a model of one class."""
    points, _ = walks(80, frames=6, step=0.9, missed=0.15, false=0.15)
    return of_one_class(believed(ordered(points), 1, "velocity"))


class Tracks:
    """The tracks of edges, and what would become of them."""

    def __init__(self, belief: Belief, edges: set[int]) -> None:
        self.tail, self.head = belief.graph.tail.tolist(), belief.graph.head.tolist()
        self.frame, self.edges = belief.movie.frame.tolist(), edges
        self.edge = {ends: e for e, ends in enumerate(zip(self.tail, self.head, strict=True))}
        self.at = [{e for e in edges if j in (self.tail[e], self.head[e])} for j in range(belief.graph.n)]

    def exchanged(self, edges: set[int], j: int, other: int) -> set[int] | None:
        """The edges with two detections in each other's place; None where one is no candidate."""
        swap = {j: other, other: j}
        new = {
            self.edge.get((swap.get(self.tail[e], self.tail[e]), swap.get(self.head[e], self.head[e]))) for e in edges
        }
        return None if None in new else new

    def without(self, j: int) -> set[int] | None:
        """What joins a detection's track over the gap where it is left out; None where nothing can."""
        if len(self.at[j]) < 2:
            return set()
        into, out = sorted(self.at[j], key=lambda e: self.tail[e])
        joined = self.edge.get((self.tail[into], self.head[out]))
        return None if joined is None else {joined}

    def exchanges(self, inside: set[int]):
        """Edges undone and made by each exchange of two detections of a frame."""
        for j, other in itertools.combinations(range(len(self.frame)), 2):
            if self.frame[j] == self.frame[other] and {j, other} & inside:
                touched = self.at[j] | self.at[other]
                new = self.exchanged(touched, j, other)
                if new is not None:
                    yield "exchanged", touched, new

    def skips(self, inside: set[int]):
        """Edges undone and made where a track does without a detection, or another takes one in place of a gap."""
        for j, touched in enumerate(self.at):
            joined = self.without(j)
            if joined is None:
                continue
            if j in inside:
                yield "skipped", touched, joined
            for gap in self.edges - touched:
                i, k = self.tail[gap], self.head[gap]
                if self.frame[i] < self.frame[j] < self.frame[k] and {(i, j), (j, k)} <= self.edge.keys():
                    yield "taken" if touched else "found", touched | {gap}, joined | {self.edge[i, j], self.edge[j, k]}


def test_odds_are_those_of_all_tracks_with_two_detections_exchanged_or_one_skipped(belief):
    graph = belief.graph
    answer = best_links(graph, belief.weight)
    pairs = zip(answer.source.tolist(), answer.target.tolist(), strict=True)
    edge = {ends: e for e, ends in enumerate(zip(graph.tail.tolist(), graph.head.tolist(), strict=True))}
    link = {edge[pair]: k for k, pair in enumerate(pairs)}
    tracks, inside = Tracks(belief, set(link)), set(answer.source.tolist()) & set(answer.target.tolist())
    expected, counted = np.zeros(len(link)), Counter[str]()
    log_likelihood = log_likelihood_of(belief)
    now = log_likelihood(tracks.edges)
    for kind, undone, made in itertools.chain(tracks.exchanges(inside), tracks.skips(inside)):
        ratio = np.exp(log_likelihood(tracks.edges - undone | made) - now)
        expected[[link[e] for e in undone]] += ratio
        counted[kind] += ratio > 1e-3
    odds = exchange_odds(belief, answer.source, answer.target, np.ones(len(graph), bool))
    assert min(counted[kind] for kind in ("exchanged", "skipped", "found", "taken")) > 0
    np.testing.assert_allclose(odds, expected, rtol=1e-6, atol=1e-4)


def test_what_is_not_allowed_is_not_exchanged(belief):
    answer = best_links(belief.graph, belief.weight)
    assert not exchange_odds(belief, answer.source, answer.target, np.zeros(len(belief.graph), bool)).any()


@pytest.fixture(scope="module", params=[False, True], ids=["one daughter", "divisions"])
def dense(request):
    """A dense movie, how it is linked, and its links."""
    points, settings = walks(400, frames=8, step=0.75, seed=5)[0], LinkSettings(divisions=request.param)
    return points, settings, link_points(points, settings).links.set_index(["source", "target"]).sort_index()


@pytest.mark.parametrize("changed", ["mirrored", "shifted", "axes exchanged", "permuted"])
def test_no_order_of_the_detections_changes_probabilities(changed, dense):
    points, settings, links = dense
    row, positions = np.arange(len(points)), points.positions
    if changed == "permuted":
        row = np.random.default_rng(0).permutation(len(points))
    there = {
        "mirrored": positions * [-1, 1, -1],
        "shifted": positions - np.array([0.317, 13.1, -2.3]),
        "axes exchanged": positions[:, [2, 0, 1]],
    }.get(changed, positions)
    other = link_points(table(points.frames[row], there[row]), settings).links
    other = other.assign(source=row[other["source"]], target=row[other["target"]])
    other = other.set_index(["source", "target"]).sort_index()
    assert (links["probability"] < 0.9).sum() > 50
    np.testing.assert_array_equal(links.index, other.index)
    np.testing.assert_allclose(links["probability"], other["probability"], rtol=0, atol=1e-9)


def test_particles_that_pass_each_other_are_less_sure_than_one_link_tells():
    """Two lines that cross between other particles; at the crossing either detection may be either's."""
    points, _ = walks(300, frames=9, step=0.3, missed=0.0, false=0.0)
    far = points.positions[:, 0].max() + 50
    frames = np.arange(9)
    along = 0.15 * (frames - 4.0)

    crossing = [np.stack([np.full(9, far), along, s * (along + 0.004)], axis=1) for s in (1, -1)]
    movie = table(np.concatenate([points.frames, frames, frames]), np.concatenate([points.positions, *crossing]))
    links = link_points(movie, LinkSettings(max_missed_frames=0)).links
    at = links[(links["source"] >= len(points)) & (movie.frames[links["target"]] == 4)]
    assert len(at) == 2
    assert (at["probability"] < 0.7).all()


@pytest.mark.parametrize("step", [0.45, 0.6])
def test_expected_wrong_links_are_as_many_as_are_wrong_where_particles_are_fast(step):
    points, names = walks(3000, frames=10, step=step)
    links = link_points(points).links
    source = links["source"].to_numpy()
    wrong = (names[source] < 0) | (names[source] != names[links["target"]])
    expected = 1 - links["probability"].to_numpy()
    assert 0.72 < expected.sum() / wrong.sum() < 1.25
    least_sure = np.argsort(-expected, kind="stable")[: len(links) // 20]
    assert wrong[least_sure].mean() * len(least_sure) > 0.85 * wrong.sum()
