"""A graph of candidates that gets more: all are there once, in order, with their steps."""

from __future__ import annotations

import numpy as np

from auctrack.tracker.linking.motion.candidates.graph import Graph, candidates, extended, merged
from auctrack.tracker.linking.motion.detections.ordered import ordered
from tests.tracker.linking.movies import walks


def edges_of(graph: Graph) -> list[tuple[int, int, int, tuple[float, ...]]]:
    step = map(tuple, graph.step.tolist())
    return list(zip(graph.tail.tolist(), graph.head.tolist(), graph.lag.tolist(), step, strict=True))


def test_edges_that_are_not_there_yet_come_in_between():
    movie = ordered(walks(80, 5)[0])
    some = np.random.default_rng(0).random(len(movie)) < 0.3
    expected = np.where(some[:, None], movie.position, np.nan)
    near = merged([candidates(movie, lag, 0.9, movie.position) for lag in (1, 2)])
    far = candidates(movie, 1, 1.5, expected, some)
    both, is_own = extended(near, far)
    assert edges_of(both) == sorted({*edges_of(near), *edges_of(far)})
    assert edges_of(both.only(is_own)) == edges_of(near)
    assert 0 < np.count_nonzero(~is_own) < len(far)


def test_steps_that_are_written_are_those_of_the_added_ones_too():
    movie = ordered(walks(80, 5)[0])
    near, far = (candidates(movie, 1, radius, movie.position) for radius in (0.7, 1.1))
    written = [Graph(graph.indptr, graph.head, graph.lag, graph.step + 1.0) for graph in (near, far)]
    assert edges_of(extended(*written)[0]) == edges_of(written[1])


def test_nothing_is_added_to_a_graph_that_has_it():
    movie = ordered(walks(80, 5)[0])
    near, far = (candidates(movie, 1, radius, movie.position) for radius in (0.7, 1.1))
    same, is_own = extended(far, near)
    assert edges_of(same) == edges_of(far)
    assert is_own.all()
