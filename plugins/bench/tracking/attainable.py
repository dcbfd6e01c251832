"""The most that any method can reach that sees positions only: what trackings sampled by the true model agree on.

No method can expect more right links than each detection's likeliest follower has, whose probability is the share of
the trackings that it follows in. They are sampled with the model that made the movie, from the true links on.
"""

from __future__ import annotations

import numpy as np

from ....tracker.linking.motion.candidates.graph import candidates
from ....tracker.linking.motion.detections.ordered import Ordered, ordered
from ....tracker.linking.motion.learning.belief import Belief
from ....tracker.linking.motion.models.shares import Shares
from ....tracker.linking.motion.models.step_model import StepModel
from ....tracker.linking.trust.posterior import sampled_links
from ....tracker.stepwise import finished
from .movies import LinkingInput

TRACKINGS = 200
WIDEST = 5.0
"""Longest step that is a candidate, in its standard deviations."""
NONE = 1e-6
"""Share of the particles that are lost, and new."""
TURNS = np.array([0.99, 0.0, 0.01])
"""`StepModel.turns` of particles of one class; what begins afresh are steps that bounce off the walls."""


def attainable_f1(given: LinkingInput, trackings: int = TRACKINGS) -> float:
    """Return the F1 of links that the best of all methods can expect, of a movie without missed and false detections.

    Parameters
    ----------
    given : LinkingInput
        Clean: every particle is detected in every frame.
    trackings : int
    """
    movie = ordered(given.points)
    source, target = _true_links(movie, given.points.table["true_id"].to_numpy())
    model = _true_model(movie, source, target)
    radius = WIDEST * float(np.sqrt(model.first.sum()))
    graph = candidates(movie, 1, radius, movie.position)
    shares = Shares(NONE, NONE, NONE**2, np.array([1 - NONE]))
    belief = Belief(movie, graph, model, shares, np.zeros(len(graph)), linked=True)
    sampled = finished(sampled_links(belief, source, target, np.ones(len(graph), bool), trackings))
    follows = sampled[:, source].T
    likeliest = [np.unique(each[each >= 0], return_counts=True)[1].max(initial=0) for each in follows]
    return float(np.sum(likeliest)) / trackings / len(source)


def _true_links(movie: Ordered, true_id: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the links between consecutive frames, as detections of the movie."""
    who = true_id[movie.row]
    order = np.lexsort((movie.frame, who))
    source, target = order[:-1], order[1:]
    linked = (who[source] == who[target]) & (movie.frame[target] == movie.frame[source] + 1)
    return source[linked], target[linked]


def _true_model(movie: Ordered, source: np.ndarray, target: np.ndarray) -> StepModel:
    """Return the model of the true steps."""
    step = np.full_like(movie.position, np.nan)
    step[target] = movie.position[target] - movie.position[source]
    before, after = step[source], step[target]
    pairs = np.isfinite(before).all(axis=1)
    before, later = before[pairs], after[pairs]
    persistence = float((before * later).sum() / (before**2).sum())
    second = ((later - persistence * before) ** 2).mean(axis=0)
    first = (after**2).mean(axis=0)[None]
    return StepModel(np.ones(1), first, second[None], np.full_like(first, persistence), TURNS)
