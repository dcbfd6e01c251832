"""Displacements that are made where they are asked for, against those of all edges at once."""

import numpy as np
import pytest

from auctrack.tracker.linking.motion.candidates import graph as graphs
from auctrack.tracker.linking.motion.candidates.flow import fields_of, flow_at, flow_of_some, neighbours
from auctrack.tracker.linking.motion.candidates.graph import Graph, candidates
from auctrack.tracker.linking.motion.candidates.steps import EdgeSteps
from auctrack.tracker.linking.motion.detections.ordered import ordered

from ...movies import stirred


@pytest.fixture
def movie(monkeypatch):
    monkeypatch.setattr(graphs, "PIECE", 100)
    return ordered(stirred(300, 4)[0])


@pytest.fixture
def graph(movie) -> Graph:
    return candidates(movie, 1, 1.0, movie.position)


def test_they_lead_from_tail_to_head(movie, graph):
    assert len(graph.pieces) > 3
    np.testing.assert_array_equal(graph.step, movie.position[graph.head] - movie.position[graph.tail])
    np.testing.assert_array_equal(graph.squares, (graph.step**2).sum(axis=1))


def test_written_ones_are_taken_as_they_are(graph):
    written = Graph(graph.indptr, graph.head, graph.lag, 2 * graph.step)
    np.testing.assert_array_equal(written.step, 2 * graph.step)
    np.testing.assert_array_equal(written.squares, 4 * graph.squares)
    np.testing.assert_array_equal(written.only(graph.lag == 1).step, 2 * graph.step)


def test_less_the_flow_they_are_the_same_by_piece_of_all_and_of_some(movie, graph):
    fields = fields_of(graph, neighbours(movie), np.full(len(graph), 0.5))
    steps = EdgeSteps(graph, fields, 0.7)
    expected = graph.step - 0.7 * flow_at(graph, fields, slice(None))
    assert np.abs(expected - graph.step).max() > 0.01
    some = np.arange(5, len(graph), 7)
    np.testing.assert_array_equal(steps.all(), expected)
    np.testing.assert_array_equal(np.concatenate([steps.at(piece.edges) for piece in graph.pieces]), expected)
    np.testing.assert_array_equal(steps.at(some), expected[some])


@pytest.mark.parametrize("are_known", [False, True])
def test_the_flow_of_some_is_that_of_all_at_these(movie, graph, are_known):
    near, sure = neighbours(movie), np.linspace(0, 1, len(graph))
    some = np.arange(5, len(graph), 70)
    expected = flow_at(graph, fields_of(graph, near, sure), some)
    np.testing.assert_array_equal(flow_of_some(movie, graph, sure, near if are_known else None, some), expected)
    assert np.abs(expected).max() > 0.01
