"""Linking with motion learned from the movie itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import chi2

from ..margins import link_margins
from ..points import Points
from .flow import flow_of_edges, neighbours
from .graph import Graph, candidates, merged
from .law import Law
from .learning import Belief
from .ordered import Ordered, ordered
from .shares import Shares, shares_of
from .start import mutual_nearest, starting_law
from .whole_movie import assignment

FIRST_RADIUS = 1.5
WIDEST = 3.0
RIM = 1e-3


@dataclass(frozen=True)
class Learned:
    links: pd.DataFrame
    belief: Belief
    report: dict


def link_learned(points: Points, *, max_missed_frames: int = 2, log=None) -> Learned:
    movie = ordered(points)
    belief = _first_order(movie)
    say = log or (lambda *a: None)
    say("first", belief)
    near = neighbours(movie)
    _try_flow(belief, near, say)
    belief.linked = True
    belief.law = belief.law
    for _ in range(5):
        belief.sweep()
    say("linked", belief)
    if max_missed_frames:
        _add_gaps(belief, max_missed_frames + 1)
        for _ in range(4):
            belief.sweep()
        say("gaps", belief)
    problem, answer = assignment(belief.graph, belief.weight)
    source, target = answer.links()
    margin = link_margins(problem, answer)
    links = pd.DataFrame(
        {
            "source": movie.row[source],
            "target": movie.row[target],
            "margin": margin,
            "probability": 1 / (1 + np.exp(-margin)),
        }
    )
    return Learned(links, belief, {"is_optimal": answer.is_optimal})


def _first_order(movie: Ordered) -> Belief:
    graph = candidates(movie, 1, FIRST_RADIUS, movie.position)
    mutual = mutual_nearest(graph)
    probability = mutual.astype(np.float64)
    belief = Belief(movie, graph, starting_law(graph, mutual), shares_of(movie, graph, probability, 1), probability)
    for _ in range(4):
        belief.sweep(damping=0.0)
    radius = _radius(belief.law.shares, belief.law.first)
    if radius > FIRST_RADIUS:
        graph = candidates(movie, 1, min(radius, 2.2), movie.position)
        belief.restart(graph, np.zeros(len(graph)))
        for _ in range(3):
            belief.sweep(damping=0.0)
    belief.law = belief.law.without_idle_classes()
    belief.restart(belief.graph, belief.probability)
    return belief


def _radius(shares: np.ndarray, variance: np.ndarray) -> float:
    ndim = variance.shape[1]
    mass = np.minimum(RIM / len(shares) / shares, 1)
    return float(np.sqrt(variance.max(axis=1) * chi2.isf(mass, ndim)).max())


def _try_flow(belief: Belief, near: np.ndarray, say) -> None:
    flow, ahead = flow_of_edges(belief.graph, near, belief.probability)
    sure = belief.probability > 0.5
    weight, gain = _flow_weight(belief.graph.step[sure], flow[sure])
    say("flow try", weight, gain)
    if gain < 0.1:
        return
    belief.near = near
    for round_ in range(4):
        belief.flow_weight = weight
        if round_ in (0, 1, 2):
            radius = min(max(_radius(belief.law.shares, belief.law.first), 0.3), FIRST_RADIUS)
            moved = candidates(belief.movie, 1, radius, belief.movie.position + weight * ahead)
            p = _carried(belief, moved)
            belief.restart(moved, p)
        for _ in range(2):
            belief.sweep(damping=0.0 if round_ else 0.0)
        flow, ahead = flow_of_edges(belief.graph, near, belief.probability)
        sure = belief.probability > 0.5
        weight, gain = _flow_weight(belief.graph.step[sure], flow[sure])
        say("flow", round_, weight, gain, belief)


def _carried(belief: Belief, graph: Graph) -> np.ndarray:
    old = belief.graph.tail.astype(np.int64) * belief.graph.n + belief.graph.head
    new = graph.tail.astype(np.int64) * graph.n + graph.head
    at = np.minimum(np.searchsorted(old, new), len(old) - 1)
    return np.where(old[at] == new, belief.probability[at], 0.0) if len(old) else np.zeros(len(new))


def _flow_weight(step: np.ndarray, flow: np.ndarray) -> tuple[float, float]:
    if len(step) < 30:
        return 0.0, 0.0
    b = 0.0
    for _ in range(4):
        r2 = ((step - b * flow) ** 2).sum(axis=1)
        w = 1 / (1 + r2 / np.median(r2).clip(1e-12))
        b = float((w[:, None] * step * flow).sum() / max((w[:, None] * flow * flow).sum(), 1e-300))
    b = float(np.clip(b, 0, 1.1))
    before = np.sqrt(np.median((step**2).sum(axis=1)))
    after = np.sqrt(np.median(((step - b * flow) ** 2).sum(axis=1)))
    return b, float(1 - after / max(before, 1e-12))


def _add_gaps(belief: Belief, lags: int) -> None:
    movie, graph = belief.movie, belief.graph
    n = graph.n
    went = np.bincount(graph.tail, belief.probability, minlength=n)
    came = np.bincount(graph.head, belief.probability, minlength=n)
    expected = np.zeros((n, movie.ndim))
    for axis in range(movie.ndim):
        expected[:, axis] = np.bincount(graph.head, belief.probability * graph.step[:, axis], minlength=n)
    flow = np.zeros_like(expected)
    if belief.near is not None:
        _, flow = flow_of_edges(graph, belief.near, belief.probability)
        flow *= belief.flow_weight
    graphs = [graph]
    p = float(belief.law.shares @ belief.law.persistence)
    radius = _radius(belief.law.shares, belief.law.first)
    for lag in range(2, lags + 1):
        predicted = movie.position + lag * flow
        predicted[went > 1 - 1e-2] = np.nan
        graphs.append(candidates(movie, lag, min(radius * np.sqrt(lag), WIDEST), predicted, came < 1 - 1e-2))
    both = merged(graphs)
    probability = np.zeros(len(both))
    probability[both.lag == 1] = belief.probability
    past, future, message = belief.past, belief.future, belief.message
    into, out_of = belief.into, belief.out_of
    belief.lags = lags
    seen = np.concatenate([belief.shares.seen, np.full(lags - 1, 0.02) / np.arange(1, lags) ** 2])
    belief.shares = Shares(seen, belief.shares.lost, belief.shares.new)
    belief.restart(both, probability)
    one = both.lag == 1
    belief.into, belief.out_of = probability.copy(), probability.copy()
    belief.into[one], belief.out_of[one] = into, out_of
    belief.past[one], belief.future[one], belief.message[one] = past, future, message
