"""Detections that tracks may have exchanged or skipped: their odds, against the likelihood of all tracks."""

import itertools
from collections import Counter

import numpy as np
import pytest

from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.motion.learning import Belief
from auctrack.tracker.linking.motion.ordered import ordered
from auctrack.tracker.linking.motion.recipe import believed
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.linking.trust.exchanges import exchange_odds
from auctrack.tracker.linking.whole_movie.best_links import best_links

from ..movies import table, walks
from .likelihood import log_likelihood, of_one_class


@pytest.fixture(scope="module")
def belief() -> Belief:
    """What is believed of a dense movie, by a model of one class."""
    points, _ = walks(80, frames=6, step=0.9, missed=0.15, false=0.15)
    return of_one_class(believed(ordered(points), 1, "velocity"))


def exchanged(belief: Belief, edges: set[int], j: int, other: int) -> set[int] | None:
    """The edges with two detections in each other's place; None where one is no candidate."""
    graph = belief.graph
    swap = {j: other, other: j}
    new = set()
    for e in edges:
        i, k = (swap.get(int(end), int(end)) for end in (graph.tail[e], graph.head[e]))
        found = np.flatnonzero((graph.tail == i) & (graph.head == k))
        if not len(found):
            return None
        new.add(int(found[0]))
    return new


def edge(belief: Belief, i: int, k: int) -> set[int] | None:
    """The edge from one detection to another as a set of one; None where it is no candidate."""
    found = np.flatnonzero((belief.graph.tail == i) & (belief.graph.head == k))
    return {int(found[0])} if len(found) else None


def without(belief: Belief, edges: set[int], j: int) -> tuple[set[int], set[int]] | None:
    """The edges at a detection, and what joins its track over the gap; None where nothing can."""
    graph = belief.graph
    touched = {e for e in edges if j in (graph.tail[e], graph.head[e])}
    if len(touched) < 2:
        return touched, set()
    into, out = sorted(touched, key=lambda e: graph.tail[e])
    joined = edge(belief, graph.tail[into], graph.head[out])
    return None if joined is None else (touched, joined)


def exchanges(belief: Belief, edges: set[int], inside: set[int]):
    """Edges undone and made by each exchange of two detections of a frame."""
    graph, frame = belief.graph, belief.movie.frame
    for j, other in itertools.combinations(range(graph.n), 2):
        if frame[j] == frame[other] and {j, other} & inside:
            touched = {e for e in edges if {int(graph.tail[e]), int(graph.head[e])} & {j, other}}
            new = exchanged(belief, touched, j, other)
            if new is not None:
                yield "exchanged", touched, new


def skips(belief: Belief, edges: set[int], inside: set[int]):
    """Edges undone and made where a track does without a detection, or another takes one in place of a gap."""
    graph, frame = belief.graph, belief.movie.frame
    for j in range(graph.n):
        found = without(belief, edges, j)
        if found is None:
            continue
        touched, joined = found
        if j in inside:
            yield "skipped", touched, joined
        for gap in edges - touched:
            i, k = graph.tail[gap], graph.head[gap]
            if frame[i] < frame[j] < frame[k]:
                first, second = edge(belief, i, j), edge(belief, j, k)
                if first is not None and second is not None:
                    yield "taken" if touched else "found", touched | {gap}, joined | first | second


def test_odds_are_those_of_all_tracks_with_two_detections_exchanged_or_one_skipped(belief):
    graph = belief.graph
    answer = best_links(graph, belief.weight)
    pairs = zip(answer.source.tolist(), answer.target.tolist(), strict=True)
    link = {e: k for k, pair in enumerate(pairs) for e in edge(belief, *pair) or ()}
    edges = set(link)
    inside = set(answer.source.tolist()) & set(answer.target.tolist())
    expected, counted = np.zeros(len(link)), Counter[str]()
    now = log_likelihood(belief, edges)
    for kind, undone, made in itertools.chain(exchanges(belief, edges, inside), skips(belief, edges, inside)):
        ratio = np.exp(log_likelihood(belief, edges - undone | made) - now)
        expected[[link[e] for e in undone]] += ratio
        counted[kind] += ratio > 1e-3
    odds = exchange_odds(belief, answer.source, answer.target, np.ones(len(graph), bool))
    assert min(counted[kind] for kind in ("exchanged", "skipped", "found", "taken")) > 0
    np.testing.assert_allclose(odds, expected, rtol=1e-6, atol=1e-4)


def test_what_is_not_allowed_is_not_exchanged(belief):
    answer = best_links(belief.graph, belief.weight)
    assert not exchange_odds(belief, answer.source, answer.target, np.zeros(len(belief.graph), bool)).any()


@pytest.mark.parametrize("divisions", [False, True])
@pytest.mark.parametrize("changed", ["mirrored", "shifted", "axes exchanged", "permuted"])
def test_no_order_of_the_detections_changes_probabilities(changed, divisions):
    points, _ = walks(400, frames=8, step=0.75, seed=5)
    row, positions = np.arange(len(points)), points.positions
    if changed == "permuted":
        row = np.random.default_rng(0).permutation(len(points))
    there = {
        "mirrored": positions * [-1, 1, -1],
        "shifted": positions - np.array([0.317, 13.1, -2.3]),
        "axes exchanged": positions[:, [2, 0, 1]],
    }.get(changed, positions)
    settings = LinkSettings(divisions=divisions)
    links = link_points(points, settings).links.set_index(["source", "target"]).sort_index()
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
