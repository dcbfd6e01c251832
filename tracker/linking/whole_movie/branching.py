"""Divisions and merges: detections that would be new, or lost, explained as second daughters, or second parents.

They are looked for farther than ordinary links, around ends that nothing leads to; what makes them likely is in
`daughters`. Where links may miss a frame, so may those to daughters: how often is learned like the share of daughters
over one frame, and what is wider is the ordinary step of the frame in between.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..constraints import keys
from ..motion.candidates.expected import candidates_ahead
from ..motion.candidates.flow import fields_of
from ..motion.candidates.graph import Graph, merged
from ..motion.learning.belief import Belief
from ..trust.second_links import Beside
from .daughters import MOST_LAGS, TINY, Displacements, Rates, Sisters, displacements_of, learned_daughters
from .onward import onward

RADIUS = 1.5
"""Longest displacement of a daughter from her mother, in spacings, less the neighbours' flow."""
TELLING = 0.05
"""Probability of a mother's other link from which it says whether she divides."""
SURE = 0.99
"""A candidate for a second daughter above this is refused."""


@dataclass(frozen=True)
class Seconds:
    """What candidates are worth as second links, in nats, float64 (edges,) each; −inf where they cannot be one.

    Attributes
    ----------
    worth
        In an assignment. Where a mother has nothing else, half of what a pair of daughters explains is part of it.
    alone
        Without that: of one daughter.
    together : float
        How many times likelier two are at one end that has no first one than each is by itself.
    beside : Beside or None
        What that depends on, where trackings are sampled.
    """

    worth: np.ndarray
    alone: np.ndarray
    together: float
    beside: Beside | None = None

    def placed(self, place: np.ndarray, size: int) -> Seconds:
        """Return those of a graph of so many edges, in which each of these has a place."""
        worth, alone, unlinked, linked = np.full((4, size), -np.inf)
        worth[place], alone[place] = self.worth, self.alone
        beside = self.beside
        if beside is not None:
            unlinked[place], linked[place] = beside.unlinked, beside.linked
            beside = Beside(unlinked, linked, place[beside.one], place[beside.two], beside.times)
        return replace(self, worth=worth, alone=alone, beside=beside)

    def among(self, near: np.ndarray) -> Seconds:
        """Return those that are marked, bool (edges,)."""
        return replace(self, worth=np.where(near, self.worth, -np.inf), alone=np.where(near, self.alone, -np.inf))


@dataclass(frozen=True)
class Branches:
    """A movie's candidates with those of divisions and merges among them.

    Attributes
    ----------
    graph : Graph
    weight : float64 (edges,)
        As a first link.
    division, merge : Seconds or None
    """

    graph: Graph
    weight: np.ndarray
    division: Seconds | None
    merge: Seconds | None


def branches(belief: Belief, weight: np.ndarray, *, divisions: bool, merges: bool, sampled: bool = False) -> Branches:
    """Return the candidates with what they are worth as first links and, where asked for, as second ones.

    `weight` is what each of the belief's own is worth as a first link, float64 (edges,).
    """
    graph = belief.graph
    if not divisions and not merges:
        return Branches(graph, weight, None, None)
    following = np.bincount(graph.head, belief.probability, minlength=graph.n)
    followed = np.bincount(graph.tail, belief.probability, minlength=graph.n)
    wide, away = _candidates(belief, following, followed, divisions=divisions, merges=merges)
    all_edges, place_of_wide, place_of_old = _united(wide, graph)
    first = np.full(len(all_edges), -np.inf)
    first[place_of_old] = weight
    new, lost = belief.shares.new, belief.shares.lost
    kinds = (divisions, wide.head, following, Rates(new, lost)), (merges, wide.tail, followed, Rates(lost, new))
    second: list[Seconds | None] = [None, None]
    for k, (asked, end, taken, rates) in enumerate(kinds):
        if asked:
            candidates = displacements_of(belief, wide, away, end, taken)
            second[k] = seconds = _seconds(belief, wide, candidates, rates, sampled).placed(place_of_wide, len(first))
            first = np.maximum(first, seconds.worth)
    return Branches(all_edges, first, *second)


def _seconds(belief: Belief, wide: Graph, candidates: Displacements, rates: Rates, sampled: bool) -> Seconds:
    """Return what the candidates of divisions, or of merges, are worth."""
    links = np.flatnonzero((belief.graph.lag <= MOST_LAGS) & (belief.probability > TELLING))
    known = onward(belief, links, candidates.lags, divide=candidates.end is wide.head)
    sisters_of = partial(Sisters.of, belief, wide, candidates, rates, known)
    model = belief.record.learn(lambda: learned_daughters(sisters_of))
    sisters = sisters_of(model.going_on)
    row, odds = belief.movie.row, sisters.candidates.odds(model)
    further = 0.0 if belief.hooks is None else belief.hooks.further_cost(row[wide.tail], row[wide.head])

    def nats(likeness: np.ndarray | float) -> np.ndarray:
        return np.log(np.maximum(odds * likeness, TINY)) - further

    worth, alone = nats(sisters.likeness(model)), nats(sisters.likeness_alone(model))
    seconds = Seconds(worth, alone, rates.together(float(model.share.sum())))
    if not sampled:
        return seconds
    pairs = sisters.second.one, sisters.two, sisters.likeness_of_pairs(model)
    return replace(seconds, beside=Beside(nats(1.0), nats(sisters.likeness_linked(model)), *pairs))


def _candidates(
    belief: Belief, following: np.ndarray, followed: np.ndarray, *, divisions: bool, merges: bool
) -> tuple[Graph, np.ndarray]:
    """Return the pairs near each other, up to `MOST_LAGS` apart, one end of which is free, and their displacements."""
    ahead = np.zeros_like(belief.movie.position)
    if belief.near is not None:
        ahead = belief.flow_weight * fields_of(belief.graph, belief.near, belief.probability).ahead[0]
    lags = range(1, min(belief.lags, MOST_LAGS) + 1)
    wide = merged([candidates_ahead(belief.movie, lag, RADIUS, lag * ahead, belief.hooks) for lag in lags])
    free = np.zeros(len(wide), bool)
    if divisions:
        free |= following[wide.head] < SURE
    if merges:
        free |= followed[wide.tail] < SURE
    wide = wide.only(free)
    return wide, wide.step - wide.lag[:, None] * ahead[wide.tail]


def _united(wide: Graph, graph: Graph) -> tuple[Graph, np.ndarray, np.ndarray]:
    """Return the graph of the edges of either, and where those of each are in it."""
    of_each = [keys(g.tail, g.head, g.n) for g in (wide, graph)]
    both, first, place = np.unique(np.concatenate(of_each), return_index=True, return_inverse=True)
    tail, head = np.divmod(both, max(graph.n, 1))
    lag = np.concatenate([wide.lag, graph.lag])[first]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(tail, minlength=graph.n))])
    written = None if graph.written is None else np.concatenate([wide.step, graph.step])[first]
    united = Graph(indptr, head.astype(np.int32), lag, written, graph.place)
    return united, place[: len(wide)], place[len(wide) :]
