"""The recipe: first order, then the neighbours' flow, then past and future, then gaps; each kept where it helps."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from scipy.special import chdtri

from ..settings import Motion
from .drift import without_drift
from .features import FeatureLaw, Features
from .flow import flow_of_edges, neighbours
from .gaps import with_gaps
from .graph import Graph, candidates
from .learning import Belief
from .ordered import Ordered
from .shares import shares_of
from .start import mutual_nearest, starting_law

FIRST_RADIUS = 1.5
"""Candidates of the first pass, in spacings; learned laws that reach farther widen it up to `WIDEST_RADIUS`."""
WIDEST_RADIUS = 2.2
LEAST_RADIUS = 0.3
RIM = 1e-3
"""Share of the true links that a gate may leave out."""
ENOUGH = 30
"""Links from which a context is learned; fewer say too little."""
FLOW_GAIN = 0.1
"""Share of the median step that the flow must explain to be a context."""
SAMPLE = 20_000
"""Links that are asked first: where these say that the flow explains nothing, no others are."""
LINK_GAIN = 0.02
"""Nats a link by which the link before must make it likelier to be a context."""


def believed(
    movie: Ordered,
    max_missed_frames: int | Literal["auto"],
    motion: Motion = "auto",
    features: Features | None = None,
) -> Belief:
    """Learn how the particles of a movie move, and how probable their links are.

    Contexts named in `motion` are taken whatever they bring; with "auto" each is kept where it makes links likelier, as
    `features` always are.
    """
    belief = _first_order(without_drift(movie))
    if features is not None:
        _take_features(belief, features)
    free = motion == "auto"
    if free or "flow" in motion:
        _take_flow(belief, FLOW_GAIN if free else -np.inf)
    if free or "velocity" in motion:
        _take_past_and_future(belief, LINK_GAIN if free else -np.inf)
    with_gaps(belief, max_missed_frames, radius_of(belief))
    return belief


def _first_order(movie: Ordered) -> Belief:
    """Learn the law of a step and the shares of the lost and the new, without a context."""
    graph = candidates(movie, 1, FIRST_RADIUS, movie.position)
    mutual = mutual_nearest(graph)
    probability = mutual.astype(np.float64)
    shares = shares_of(movie, graph, probability, probability, 1)
    belief = Belief(movie, graph, starting_law(graph, mutual), shares, probability)
    _sweeps(belief, 4)
    radius = min(radius_of(belief), WIDEST_RADIUS)
    if radius > FIRST_RADIUS:
        graph = candidates(movie, 1, radius, movie.position)
        belief.restart(graph, np.zeros(len(graph)))
        _sweeps(belief, 3)
    belief.drop_idle_classes()
    _sweeps(belief, 1)
    return belief


def _sweeps(belief: Belief, count: int, damping: float = 0.0) -> None:
    for _ in range(count):
        belief.sweep(damping=damping)


def radius_of(belief: Belief) -> float:
    """Return the radius around the prediction that all but `RIM` of the steps stay in, in spacings."""
    law = belief.law
    mass = np.minimum(RIM / len(law.shares) / law.shares, 1)
    return float(np.sqrt(law.first.max(axis=1) * chdtri(law.first.shape[1], mass)).max())


def _take_features(belief: Belief, features: Features) -> None:
    """Weigh links by their ends' features, where these tell links of every other frame that taught nothing of them."""
    sure = np.flatnonzero(belief.probability > 0.5)
    is_asked = belief.movie.frame[belief.graph.tail[sure]] % 2 == 1
    asked, teaching = sure[is_asked], sure[~is_asked]
    if min(len(asked), len(teaching)) < ENOUGH:
        belief.notes.append(f"too few links to learn from {', '.join(features.names)}")
        return
    change = features.change(belief.graph.tail, belief.graph.head)
    law = FeatureLaw.learned(change[teaching], belief.probability[teaching])
    gain = float(np.log(law.ratio(change[asked])).mean())
    if gain < LINK_GAIN:
        belief.notes.append(f"{', '.join(features.names)} tell nothing of which link is right")
        return
    belief.features, belief.feature_law, belief.feature_gain = features, law, gain
    _sweeps(belief, 2)


def _take_flow(belief: Belief, least_gain: float) -> None:
    """Make the neighbours' flow a context where it explains the steps, and look for candidates where it leads."""
    sure = np.flatnonzero(belief.probability > 0.5)
    if len(sure) < ENOUGH:
        belief.notes.append("too few links to learn from neighbours")
        return
    if len(sure) > 2 * SAMPLE and _gain_of_some(belief, sure[:: len(sure) // SAMPLE]) < least_gain / 2:
        return
    near = neighbours(belief.movie)
    weight, gain, ahead = _flow(belief, near, sure)
    if gain < least_gain:
        return
    belief.near = near
    for narrowing in (True, True, True, False):
        belief.flow_weight = weight
        if narrowing:
            radius = min(max(radius_of(belief), LEAST_RADIUS), FIRST_RADIUS)
            graph = candidates(belief.movie, 1, radius, belief.movie.position + weight * ahead)
            belief.restart(graph, _carried(belief, graph))
        _sweeps(belief, 2)
        weight, belief.flow_gain, ahead = _flow(belief, near, np.flatnonzero(belief.probability > 0.5))


def _gain_of_some(belief: Belief, links: np.ndarray) -> float:
    """Return the share of the median step that the flow explains of some links: those that know of none are many."""
    asked = np.zeros(len(belief.movie), bool)
    asked[belief.graph.tail[links]] = asked[belief.graph.head[links]] = True
    return _flow(belief, neighbours(belief.movie, asked), links)[1]


def _flow(belief: Belief, near: np.ndarray, sure: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Return the best weight of the flow, the share of the median step that it explains, and where it leads.

    `sure` are the links, int64 (k,), that are asked for the first two.
    """
    flow, ahead = flow_of_edges(belief.graph, near, belief.probability)
    step, flow = belief.graph.step[sure], flow[sure]
    weight = 0.0
    for _ in range(4):
        square = ((step - weight * flow) ** 2).sum(axis=1)
        trust = 1 / (1 + square / max(float(np.median(square)), 1e-12))
        weight = float(trust @ (step * flow).sum(axis=1) / max(float(trust @ (flow**2).sum(axis=1)), 1e-300))
    weight = float(np.clip(weight, 0, 1.1))
    before = np.median((step**2).sum(axis=1))
    after = np.median(((step - weight * flow) ** 2).sum(axis=1))
    return weight, 1 - float(np.sqrt(after / max(before, 1e-12))), ahead


def _carried(belief: Belief, graph: Graph) -> np.ndarray:
    """Return what is believed of the edges of another graph: as before where they were there, else nothing."""
    old = belief.graph.tail.astype(np.int64) * belief.graph.n + belief.graph.head
    new = graph.tail.astype(np.int64) * graph.n + graph.head
    if not len(old):
        return np.zeros(len(new))
    at = np.minimum(np.searchsorted(old, new), len(old) - 1)
    return np.where(old[at] == new, belief.probability[at], 0.0)


def _take_past_and_future(belief: Belief, least_gain: float) -> None:
    """Make the links before and after a link contexts, where they make links likelier."""
    if (belief.probability > 0.5).sum() < ENOUGH:
        belief.notes.append("too few links to learn from those before and after them")
        return
    belief.law = replace(belief.law, second=0.8 * belief.law.first)
    belief.linked = True
    _sweeps(belief, 5, damping=0.5)
    sums = belief.sums
    if sums is None or sums.pairs < ENOUGH or sums.gain < least_gain * sums.pairs:
        belief.linked, belief.sums = False, None
        _sweeps(belief, 2)
