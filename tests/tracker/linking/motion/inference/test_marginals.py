"""Probabilities of links, against the sum over all matchings."""

import itertools

import numpy as np

from auctrack.tracker.linking.motion.candidates.graph import Graph
from auctrack.tracker.linking.motion.inference.marginals import link_marginals


def by_enumeration(indptr, head, weight):
    tail = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    total, sums = 0.0, np.zeros(len(head))
    for chosen in itertools.product([False, True], repeat=len(head)):
        mask = np.array(chosen)
        if len(set(tail[mask])) == mask.sum() == len(set(head[mask])):
            odds = np.exp(weight[mask].sum())
            total += odds
            sums[mask] += odds
    return sums / total


def marginals_of(indptr, head, weight):
    found, arriving, message = np.empty(len(head)), np.empty(len(head)), np.ones(len(head))
    graph = Graph(indptr, head.astype(np.int32), np.ones(len(head), np.int32), np.zeros((len(head), 2)))
    link_marginals(graph, np.exp(weight), message, 100, 1e-12, (found, 0.0), found, arriving)
    return found


def test_they_are_exact_where_candidates_form_a_tree():
    indptr, head = np.array([0, 2, 4, 5, 5, 5, 5]), np.array([3, 4, 4, 5, 5])
    weight = np.array([2.0, 1.0, 0.5, -1.0, 3.0])
    found = marginals_of(indptr, head, weight)
    np.testing.assert_allclose(found, by_enumeration(indptr, head, weight), atol=1e-9)


def test_two_sure_candidates_of_one_tail_keep_their_odds_at_any_weight():
    """A sum from which the large term is taken off again would lose the small one."""
    indptr, head = np.array([0, 2, 2, 2]), np.array([1, 2])
    found = marginals_of(indptr, head, np.array([60.0, 57.0]))
    np.testing.assert_allclose(found, [1 / (1 + np.exp(-3)), 1 / (1 + np.exp(3))], rtol=1e-9)
