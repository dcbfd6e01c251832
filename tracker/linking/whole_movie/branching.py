"""Divisions and merges: detections that would be new, or lost, explained as second daughters, or second parents.

Daughters move apart, farther than a step: how far, and which share of the unlinked ends come from a division, is
learned from the unlinked ends themselves. Each is a daughter of a particle nearby, or of none: a mixture of Gaussians
around the particles of the frame before, and of the uniform density of unlinked ends. Both daughters move that far: a
particle whose other link is an ordinary step is no mother. Where links may miss a frame, so may those to daughters: how
often is learned like the share of daughters over one frame, and what is wider is the ordinary step of the frame in
between.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ..motion.expected import candidates_ahead
from ..motion.flow import fields_of
from ..motion.graph import Graph, merged
from ..motion.learning import Belief
from ..motion.shares import RAREST as LEAST_LOST
from ..motion.step_model import tables
from ..motion.sweep import densities_of

MOST_LAGS = 2
"""Frames from a mother to a daughter at most: one may be missed in between."""
RADIUS = 1.5
"""Longest way from a mother to a daughter, in spacings, less the neighbours' flow."""
FIRST_WIDTH = 0.4
"""Its standard deviation per axis to start with, in spacings."""
ROUNDS = 10
UNLINKED = 0.5
"""A detection that follows another with less than this probability teaches how daughters move."""
TELLING = 0.05
"""Probability of a mother's other link from which it says whether she divides."""
SURE = 0.99
"""A candidate for a second daughter above this is refused."""
RAREST = 0.01
"""Smallest share of unlinked ends that are daughters."""


@dataclass(frozen=True)
class Branches:
    """A movie's candidates with those of divisions and merges among them.

    Attributes
    ----------
    graph : Graph
    weight : float64 (edges,)
        As a first link.
    division, merge : float64 (edges,) or None
        As a second one; −inf where it cannot be one.
    together : tuple of float
        Of divisions and of merges: how many times likelier two second links are at one end that has no first one than
        each is by itself.
    """

    graph: Graph
    weight: np.ndarray
    division: np.ndarray | None
    merge: np.ndarray | None
    together: tuple[float, float] = (1.0, 1.0)


def branches(belief: Belief, weight: np.ndarray, *, divisions: bool, merges: bool) -> Branches:
    """Return the candidates with what they are worth as first links and, where asked for, as second ones.

    `weight` is what each of the belief's own is worth as a first link, float64 (edges,).
    """
    graph = belief.graph
    if not divisions and not merges:
        return Branches(graph, weight, None, None)
    following = np.bincount(graph.head, belief.probability, minlength=graph.n)
    followed = np.bincount(graph.tail, belief.probability, minlength=graph.n)
    wide, away = _candidates(belief, following, followed, divisions=divisions, merges=merges)
    added = (wide.lag - 1) * float(belief.model.variance.mean())
    lags = min(belief.lags, MOST_LAGS)
    ways = _Ways(lags, wide.lag, (away**2).sum(axis=1), away.shape[1], added, belief.movie.log_density)
    all_edges, place_of_wide, place_of_old = _united(wide, graph)
    row, second, together = belief.movie.row, list[np.ndarray | None](), [1.0, 1.0]
    further = 0.0 if belief.hooks is None else belief.hooks.further_cost(row[wide.tail], row[wide.head])
    first = np.full(len(all_edges), -np.inf)
    first[place_of_old] = weight
    new, lost = belief.shares.new, belief.shares.lost
    for asked, end, taken in ((divisions, wide.head, following), (merges, wide.tail, followed)):
        if not asked:
            second.append(None)
            continue
        worth = np.full(len(all_edges), -np.inf)
        other = _OtherLinks.of(belief, wide, wide.tail if end is wide.head else wide.head)
        variance, share = belief.record.learn(partial(_learned, ways, end, taken, other))
        odds = np.maximum(ways.odds(variance, share) * other.likeness(variance), 1e-300)
        worth[place_of_wide] = np.log(odds) - np.log(1 - share.sum()) - further
        first = np.maximum(first, worth)
        together[len(second)] = _together(share.sum(), *((new, lost) if end is wide.head else (lost, new)))
        second.append(worth)
    return Branches(all_edges, first, second[0], second[1], (together[0], together[1]))


def _together(share: float, new: float, lost: float) -> float:
    """Return how many times likelier two daughters of one mother, nothing else after her, are than each by itself.

    Odds of each have her divide twice, and leave out that her end is explained. She divides with a chance of half the
    share of `new` detections that are daughters; what that leaves over of `lost` is her chance to be lost.
    """
    divides = max(share * new / 2, RAREST * LEAST_LOST)
    return 1 / (4 * divides * max(lost - divides, LEAST_LOST))


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


@dataclass(frozen=True)
class _Ways:
    """How far daughters may have gone.

    Attributes
    ----------
    lags : int
        Frames that they may span.
    lag : int32 (wide,)
    square : float64 (wide,)
        Squared displacement of each candidate.
    ndim : int
    added : float64 (wide,)
        Variance per axis of the ordinary steps after the first frame.
    log_density : float
    """

    lags: int
    lag: np.ndarray
    square: np.ndarray
    ndim: int
    added: np.ndarray
    log_density: float

    def odds(self, variance: float, share: np.ndarray) -> np.ndarray:
        """Return the odds of each against a detection from nowhere, before others are looked at."""
        wide = variance + self.added
        log_likelihood = -0.5 * self.square / wide - 0.5 * self.ndim * np.log(2 * np.pi * wide)
        return share[self.lag - 1] * np.exp(log_likelihood - self.log_density)


@dataclass(frozen=True)
class _OtherLinks:
    """What else is linked to the mothers of a movie's candidates: the first daughter, if they are mothers.

    Attributes
    ----------
    mother : int32 (edges,)
        Of each ordinary candidate over up to `MOST_LAGS` frames.
    probability, square, added, density : float64 (edges,)
        Of each, its squared displacement, what daughters add to theirs as in `_Ways`, and how likely an ordinary link
        makes it.
    asking, own : int32 (wide,), int64 (wide,)
        Mother of each candidate of a division, and the ordinary candidate of the same pair, −1 without one.
    n, ndim : int
    """

    mother: np.ndarray
    probability: np.ndarray
    square: np.ndarray
    added: np.ndarray
    density: np.ndarray
    asking: np.ndarray
    own: np.ndarray
    n: int
    ndim: int

    @classmethod
    def of(cls, belief: Belief, wide: Graph, asking: np.ndarray) -> _OtherLinks:
        """Return the links beside those of `wide`, whose mothers are `asking`: their tails, or heads at merges."""
        graph, few = belief.graph, np.flatnonzero(belief.graph.lag <= MOST_LAGS)
        steps = belief.own_steps()
        density = densities_of(graph, steps, tables(belief.model, belief.lags).packed).sum(axis=1)
        mother = (graph.tail if asking is wide.tail else graph.head)[few]
        keys, asked = (g.tail.astype(np.int64) * g.n + g.head for g in (graph, wide))
        keys = keys[few]
        at = np.minimum(np.searchsorted(keys, asked), max(len(keys) - 1, 0))
        own = np.where(keys[at] == asked, at, -1) if len(keys) else np.full(len(asked), -1)
        step = steps.all()
        square, added = (step[few] ** 2).sum(axis=1), (graph.lag[few] - 1) * float(belief.model.variance.mean())
        return cls(mother, belief.probability[few], square, added, density[few], asking, own, graph.n, step.shape[1])

    def likeness(self, variance: float) -> np.ndarray:
        """Return how many times likelier each mother's other link makes it that it divides, float64 (wide,)."""
        wide = variance + self.added
        log_daughter = -0.5 * self.square / wide - 0.5 * self.ndim * np.log(2 * np.pi * wide)
        linked = np.where(self.probability > TELLING, self.probability, 0.0)
        told = linked * np.exp(log_daughter) / self.density
        told, linked = (np.bincount(self.mother, of, self.n)[self.asking] - self._own(of) for of in (told, linked))
        return np.where(linked > TELLING, told / np.maximum(linked, TELLING), 1.0)

    def _own(self, values: np.ndarray) -> np.ndarray:
        return np.where(self.own >= 0, np.append(values, 0.0)[self.own], 0.0)


def _learned(ways: _Ways, end: np.ndarray, taken: np.ndarray, other: _OtherLinks) -> tuple[float, np.ndarray]:
    """Return the variance of unlinked ends' ways over one frame, and the shares of them from a division, per lag."""
    rarer = 0.1 ** np.arange(ways.lags)
    variance, share = FIRST_WIDTH**2, 0.5 * rarer
    unlinked = taken[end] < UNLINKED
    ends = len(np.unique(end[unlinked]))
    lag, square = ways.lag[unlinked], (ways.square - ways.ndim * ways.added)[unlinked]
    for _ in range(ROUNDS if ends else 0):
        each = (ways.odds(variance, share) * other.likeness(variance))[unlinked]
        total = np.bincount(end[unlinked], each, minlength=len(taken))
        r = each / (1 - share.sum() + total)[end[unlinked]]
        share = np.maximum(np.bincount(lag - 1, r, ways.lags) / ends, RAREST * rarer)
        share *= min(1.0, (1 - RAREST) / share.sum())
        variance = max(float(r @ square / max(r.sum() * ways.ndim, 1e-12)), (0.1 * FIRST_WIDTH) ** 2)
    return variance, share


def _united(wide: Graph, graph: Graph) -> tuple[Graph, np.ndarray, np.ndarray]:
    """Return the graph of the edges of either, and where those of each are in it."""
    keys = [g.tail.astype(np.int64) * g.n + g.head for g in (wide, graph)]
    both, first, place = np.unique(np.concatenate(keys), return_index=True, return_inverse=True)
    tail, head = np.divmod(both, max(graph.n, 1))
    lag = np.concatenate([wide.lag, graph.lag])[first]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(tail, minlength=graph.n))])
    written = None if graph.written is None else np.concatenate([wide.step, graph.step])[first]
    united = Graph(indptr, head.astype(np.int32), lag, written, graph.place)
    return united, place[: len(wide)], place[len(wide) :]
