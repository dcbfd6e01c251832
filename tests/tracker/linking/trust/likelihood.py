"""The likelihood of chains written out, one link after the other: what compiled code is held to."""

import numpy as np

from auctrack.tracker.linking.motion.learning import Belief
from auctrack.tracker.linking.motion.step_model import StepModel, tables


def of_one_class(belief: Belief) -> Belief:
    """The belief with a model of one class: chains then have one likelihood."""
    whole = belief.model
    first, second = whole.shares @ whole.first, whole.shares @ whole.second
    belief.model = StepModel(np.ones(1), first[None], second[None], whole.persistence[:1], whole.turns)
    belief.restart(belief.graph, belief.probability)
    belief.sweep(learn=False)
    return belief


def log_likelihood(belief: Belief, edges: set[int]) -> float:
    """Of chains of edges, against all detections alone."""
    graph, movie, model = belief.graph, belief.movie, tables(belief.model, belief.lags)
    ends = belief.ends
    prior = belief.shares.log_odds(movie.log_density)
    before = {graph.head[e]: e for e in edges}

    def normal(x, precision, norm):
        return float(np.exp(norm - 0.5 * (x**2 * precision).sum()))

    total = 0.0
    for e in edges:
        i, d = graph.tail[e], graph.lag[e] - 1
        total += prior[d] + ends.leaving[i] + ends.arriving[graph.head[e]]
        density = normal(graph.step[e], model.first_precision[0, d], model.first_norm[0, d])
        if i in before:
            p = graph.lag[before[i]] - 1
            off = graph.step[e] - model.slope[0, d] * graph.step[before[i]] / (p + 1)
            tied = normal(off, model.second_precision[0, p, d], model.second_norm[0, p, d])
            density = model.turns[:2].sum() * tied + model.turns[2] * density
            total += np.log(ends.tie[i])
        total += np.log(density)
    return total
