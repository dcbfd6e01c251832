"""The likelihood of chains written out, one link after the other: what compiled code is held to."""

import functools
from collections.abc import Callable

import numpy as np

from auctrack.tracker.linking.motion.learning.belief import Belief
from auctrack.tracker.linking.motion.models.step_model import StepModel, tables


def of_one_class(belief: Belief) -> Belief:
    """The belief with a model of one class: chains then have one likelihood."""
    whole = belief.model
    first, second = whole.shares @ whole.first, whole.shares @ whole.second
    belief.model = StepModel(np.ones(1), first[None], second[None], whole.persistence[:1], whole.turns)
    belief.restart(belief.graph, belief.probability)
    belief.sweep(learn=False)
    return belief


def log_likelihood_of(belief: Belief) -> Callable[[set[int]], float]:
    """Of chains of edges, against leaving all detections unlinked; a link after the same link is worked out once."""
    graph, movie, model, ends = belief.graph, belief.movie, tables(belief.model, belief.lags), belief.ends
    tail, head, prior = graph.tail.tolist(), graph.head.tolist(), belief.shares.log_odds(movie.log_density)

    def normal(x, precision, norm):
        return float(np.exp(norm - 0.5 * (x**2 * precision).sum()))

    @functools.cache
    def of_link(e: int, before: int | None) -> float:
        i, d = tail[e], graph.lag[e] - 1
        density, tie = normal(graph.step[e], model.first_precision[0, d], model.first_norm[0, d]), 0.0
        if before is not None:
            p = graph.lag[before] - 1
            off = graph.step[e] - model.slope[0, d] * graph.step[before] / (p + 1)
            tied = normal(off, model.second_precision[0, p, d], model.second_norm[0, p, d])
            density = model.turns[:2].sum() * tied + model.turns[2] * density
            tie = np.log(ends.tie[i])
        return prior[d] + ends.leaving[i] + ends.arriving[head[e]] + tie + np.log(density)

    def log_likelihood(edges: set[int]) -> float:
        before = {head[e]: e for e in edges}
        return sum(of_link(e, before.get(tail[e])) for e in edges)

    return log_likelihood
