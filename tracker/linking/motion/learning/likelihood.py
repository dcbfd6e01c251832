"""How likely the best links make a movie, and which links these are."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from .....matching.solving import solve
from ..candidates.matching_problem import matching_problem
from ..detections.ordered import Ordered
from . import held_out
from .belief import Belief


def log_likelihood(belief: Belief) -> float:
    """Return how likely the best links make a movie beside particles that come from anywhere, in nats.

    Whether a detection has a link into it and one out of it counts as often as it is so: what the shares say of that
    has made the links.
    """
    movie, graph, model = belief.movie, belief.graph, belief.model
    tail, head = best_links(belief)
    links = np.searchsorted(graph.tail * np.int64(graph.n) + graph.head, tail * graph.n + head)
    step, into, out = belief.own_steps().at(links), *np.full((2, graph.n), -1, np.int64)
    into[head] = out[tail] = np.arange(len(links))
    density = held_out.log_density(step, model)
    if belief.linked:
        after = np.flatnonzero(into[tail] >= 0)
        density[after] = held_out.log_density_after(step[after], step[into[tail[after]]], model)
    return float(density.sum()) - len(links) * movie.log_density + _log_of_ends(movie, into >= 0, out >= 0)


def best_links(belief: Belief) -> tuple[np.ndarray, np.ndarray]:
    """Return tails and heads, int64 (links,) each, of the links whose weights have the largest sum."""
    graph, weight = belief.graph, belief.weight
    worth = np.flatnonzero(weight > 0)
    problem = matching_problem(graph.tail[worth], graph.head[worth], weight[worth], (graph.n, graph.n))
    follower = solve(problem, device="cpu").col_of_row
    tail = np.flatnonzero(follower >= 0)
    return tail, follower[tail]


def _log_of_ends(movie: Ordered, into: np.ndarray, out: np.ndarray) -> float:
    """Return the log-likelihood of which detections have a link into them, and out of them, by how many have."""
    follows, is_followed = np.zeros((2, len(movie.number)), bool)
    earlier, later = movie.pairs_apart(1)
    is_followed[earlier] = follows[later] = True
    asked = movie.of_each(2 * follows + is_followed)
    states = 2 * (into & movie.of_each(follows)) + (out & movie.of_each(is_followed))
    counts = (np.bincount(states[asked == each], minlength=4) for each in range(1, 4))
    return float(sum(xlogy(count, count / max(count.sum(), 1)).sum() for count in counts))
