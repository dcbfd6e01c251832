"""How daughters move: how far from their mother, and to which side of her when her other daughter is looked at.

The displacement of a daughter from her mother is Gaussian, and wider than a step. Two sisters go to opposite sides: the
displacements of most pairs are correlated, those of the rest are independent. So what else leads from a mother is
evidence of whether she divides: an ordinary link, as far as it is likelier the displacement of a sister than a step,
and where she has none, another candidate, as far as that is believed to be a daughter. A mother who went on before
carries both of them along, as far as daughters are found to take that, and what she would have done beside is common to
the two. How wide, how correlated, and which share of the unlinked ends are daughters, is learned from the unlinked ends
themselves and from the links to their sisters, by expectation-maximisation; where the ends are no likelier for it,
hardly any is one. Each is a daughter of a particle nearby, or of none: a mixture of Gaussians around the particles of
the frame before, and of the uniform density of unlinked ends.

All of it holds for merges, looked at from the frame after: there a "mother" is what two particles merge into.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..constraints import keys
from ..motion.candidates.graph import Graph
from ..motion.learning.belief import Belief
from ..motion.models.shares import RAREST as LEAST_LOST
from .onward import Onward
from .pairs_with import with_the_same

MOST_LAGS = 2
"""Frames from a mother to a daughter at most: one may be missed in between."""
FIRST_WIDTH, FIRST_ALIKE = 0.4, -0.5
"""To start with: standard deviation of a displacement per axis, in spacings, and the correlation of two sisters'."""
LEAST_ALIKE = -0.98
"""Sisters are not taken to mirror each other exactly."""
OPPOSITE = 0.75
"""Share of the pairs of sisters that go to opposite sides; others may divide into a small and a large cell."""
ENOUGH_PAIRS = 5.0
"""Pairs of sisters that weigh as much as the belief that they know nothing of each other."""
LEARNING_ROUNDS, ROUNDS = 20, 5
UNLINKED = 0.5
"""A detection that follows another with less than this probability teaches how daughters move."""
RAREST = 0.01
"""Smallest share of unlinked ends that are daughters."""
_SHARED = 3
"""What is learned of daughters over one frame and over more alike."""
TINY = 1e-300


@dataclass(frozen=True)
class DaughterModel:
    """How daughters move, and how many there are.

    Attributes
    ----------
    variance : float
        Of a displacement over one frame, per axis, in squared spacings.
    alike : float
        Correlation of the displacements of two sisters on an axis, of those that go to opposite sides.
    share : float64 (lags,)
        Of the unlinked ends that come from a division, per lag.
    going_on : float
        What of their mother's expected displacement daughters take.
    """

    variance: float
    alike: float
    share: np.ndarray
    going_on: float = 0.0


class Rates(NamedTuple):
    """How often a detection is new, which divisions explain, and lost, as mothers otherwise are."""

    new: float
    lost: float

    def together(self, share: float) -> float:
        """Return how many times likelier two daughters of one mother, nothing else after her, are than each by itself.

        Odds of each have her divide twice, and leave out that her end is explained. She divides with a chance of half
        the share of `new` detections that are daughters; what that leaves over of `lost` is her chance to be lost.
        """
        divides = max(share * self.new / 2, RAREST * LEAST_LOST)
        return 1 / (4 * divides * max(self.lost - divides, LEAST_LOST))


@dataclass(frozen=True)
class Displacements:
    """How far daughters may have gone: the candidates, by their displacements beyond the neighbours' flow.

    Attributes
    ----------
    lags : int
        Frames that they may span.
    lag : int32 (wide,)
    away : float64 (wide, d)
        Displacement from the mother.
    added : float64 (wide,)
        Variance per axis of the ordinary steps after the first frame, and of the mother's own.
    end : int32 (wide,)
        The detection that would be a daughter.
    taken : float64 (n,)
        How probably each detection follows another by an ordinary link.
    log_density : float
    ahead : float64 (wide, d) or None
        Displacement of the mother that was to be expected, where that is known.
    common : float64 (wide,) or float
        Of the variance that is added, what the displacements of two sisters share.
    """

    lags: int
    lag: np.ndarray
    away: np.ndarray
    added: np.ndarray
    end: np.ndarray
    taken: np.ndarray
    log_density: float
    ahead: np.ndarray | None = None
    common: np.ndarray | float = 0.0

    @cached_property
    def square(self) -> np.ndarray:
        """Squared lengths."""
        return (self.away**2).sum(axis=1)

    def odds(self, model: DaughterModel) -> np.ndarray:
        """Return the odds of each against a detection from nowhere, before other links are looked at."""
        share = model.share[self.lag - 1] / (1 - model.share.sum())
        return (
            share * _gaussian(self.square, model.variance + self.added, self.away.shape[1]) / np.exp(self.log_density)
        )

    def believed(self, odds: np.ndarray) -> np.ndarray:
        """Return the probability of each, given its odds and those of the others of its end."""
        total = 1 + np.bincount(self.end, odds, len(self.taken))
        return (1 - self.taken)[self.end] * odds / total[self.end]


def displacements_of(
    belief: Belief, wide: Graph, away: np.ndarray, end: np.ndarray, taken: np.ndarray
) -> Displacements:
    """Return the displacements of some candidates of a movie."""
    added = _added(belief, wide.lag)
    return Displacements(min(belief.lags, MOST_LAGS), wide.lag, away, added, end, taken, belief.movie.log_density)


def _added(belief: Belief, lag: np.ndarray) -> np.ndarray:
    """Return the variance of the ordinary steps after the first frame, per axis."""
    return (lag - 1) * float(belief.model.variance.mean())


class _Beside(NamedTuple):
    """Candidates, and another link of their mothers beside each.

    Attributes
    ----------
    one : int64 (pairs,)
        Candidate.
    square, dot, added, common : float64 (pairs,)
        Of the other's displacement: its square, product with the candidate's, what is added to its variance, and which
        part of that the two share.
    """

    one: np.ndarray
    square: np.ndarray
    dot: np.ndarray
    added: np.ndarray
    common: np.ndarray

    @classmethod
    def of(cls, candidates: Displacements, one: np.ndarray, other: np.ndarray, added: np.ndarray) -> _Beside:
        """Return some candidates beside others' displacements, float64 (pairs, d), and what is added to these."""
        common = np.broadcast_to(candidates.common, len(candidates.away))[one]
        return cls(one, (other**2).sum(axis=1), (candidates.away[one] * other).sum(axis=1), added, common)

    def densities(self, candidates: Displacements, model: DaughterModel) -> np.ndarray:
        """Return how likely each other is that of a sister on the opposite side, and anywhere, float64 (2, pairs)."""
        ndim, own_variance = candidates.away.shape[1], model.variance + candidates.added[self.one]
        variance, shared = model.variance + self.added, model.alike * model.variance + self.common
        slope = shared / own_variance
        around = self.square - 2 * slope * self.dot + slope**2 * candidates.square[self.one]
        opposite = _gaussian(around, variance - shared * slope, ndim)
        return np.stack([OPPOSITE * opposite, (1 - OPPOSITE) * _gaussian(self.square, variance, ndim)])


@dataclass(frozen=True)
class Sisters:
    """What else leads from the mothers of a movie's candidates.

    Attributes
    ----------
    candidates : Displacements
    linked : _Beside
        Ordinary links over up to `MOST_LAGS` frames.
    probability, density : float64 (pairs,)
        Of each, and how likely its displacement is a step.
    second : _Beside
        Other candidates, of no ordinary link.
    two : int64 (pairs,)
        These.
    rates : Rates
    going_on : float
        What of their mothers' expected displacements is subtracted from all of these.
    """

    candidates: Displacements
    linked: _Beside
    probability: np.ndarray
    density: np.ndarray
    second: _Beside
    two: np.ndarray
    rates: Rates
    going_on: float = 0.0

    @classmethod
    def of(
        cls, belief: Belief, wide: Graph, candidates: Displacements, rates: Rates, onward: Onward, going_on: float
    ) -> Sisters:
        """Return the links beside those of `wide`, whose mothers are their tails, or their heads at merges.

        Displacements are taken beyond so much of what mothers were expected to go on by.
        """
        graph, few, expected = belief.graph, onward.links, onward.expected
        divide, lag = candidates.end is wide.head, graph.lag[few]
        tail, head, added = graph.tail[few], graph.head[few], _added(belief, lag)
        mother, daughter = (tail, head) if divide else (head, tail)
        asking = wide.tail if divide else wide.head
        one, link = with_the_same(asking, mother, graph.n)
        apart = candidates.end[one] != daughter[link]
        one, link = one[apart], link[apart]
        ahead = expected[wide.lag - 1, asking]
        variance = going_on * onward.variance
        common = variance[asking]
        candidates = replace(
            candidates,
            away=candidates.away - going_on * ahead,
            ahead=ahead,
            added=candidates.added + common,
            common=common,
        )
        step = onward.step - going_on * expected[lag - 1, mother]
        linked = _Beside.of(candidates, one, step[link], (added + variance[mother])[link])
        is_linked = np.isin(keys(wide.tail, wide.head, graph.n), keys(tail, head, graph.n))
        other, two = with_the_same(asking, asking, graph.n)
        apart = (other != two) & ~is_linked[two]
        other, two = other[apart], two[apart]
        second = _Beside.of(candidates, other, candidates.away[two], candidates.added[two])
        return cls(
            candidates, linked, belief.probability[few][link], onward.density[link], second, two, rates, going_on
        )

    def likeness_alone(self, model: DaughterModel) -> np.ndarray:
        """Return how many times likelier each mother's ordinary links make it that she divides, float64 (wide,)."""
        return self._by_links(self._evidence(model)) + self._unlinked

    def likeness_linked(self, model: DaughterModel) -> np.ndarray:
        """Return the same where she has one of these links, float64 (wide,)."""
        return self._by_links(self._evidence(model)) / np.clip(self._linked, TINY, 1)

    def likeness_of_pairs(self, model: DaughterModel) -> np.ndarray:
        """Return how many times likelier each `second` is beside its candidate than by itself, float64 (pairs,)."""
        alone = _gaussian(self.second.square, model.variance + self.second.added, self.candidates.away.shape[1])
        return self.second.densities(self.candidates, model).sum(axis=0) / np.maximum(alone, TINY)

    def likeness(self, model: DaughterModel) -> np.ndarray:
        """Return how much likelier all that leads from her makes it, other candidates among that, float64 (wide,)."""
        candidates, size = self.candidates, len(self._unlinked)
        by_links, odds = self._by_links(self._evidence(model)), candidates.odds(model)
        # What a pair explains beyond each of both is half of either's.
        evidence = np.sqrt(self.rates.together(float(model.share.sum()))) * self.likeness_of_pairs(model)
        likeness = by_links + self._unlinked
        for _ in range(ROUNDS):
            believed = candidates.believed(odds * likeness)[self.two]
            sisters, seconds = (np.bincount(self.second.one, of, size) for of in (believed * evidence, believed))
            by_seconds = (sisters + np.maximum(1 - seconds, 0)) / np.maximum(seconds, 1)
            likeness = by_links + self._unlinked * by_seconds
        return likeness

    def _evidence(self, model: DaughterModel) -> np.ndarray:
        """Return the evidence of each ordinary link, as it goes to the opposite side and to any, float64 (2, pairs)."""
        linked = np.maximum(self._linked, 1)[self.linked.one]
        return self.probability / self.density / linked * self.linked.densities(self.candidates, model)

    def _by_links(self, evidence: np.ndarray) -> np.ndarray:
        """Return the sum of the evidence of the ordinary links of each mother, float64 (wide,)."""
        return np.bincount(self.linked.one, evidence.sum(axis=0), len(self.candidates.lag))

    @cached_property
    def _linked(self) -> np.ndarray:
        """How probably mothers have an ordinary link, float64 (wide,)."""
        return np.bincount(self.linked.one, self.probability, len(self.candidates.lag))

    @cached_property
    def _unlinked(self) -> np.ndarray:
        """How probably they have none, float64 (wide,)."""
        return np.maximum(1 - self._linked, 0)

    def learned(self) -> DaughterModel:
        """Return how daughters move, by the ends that are unlinked and by the links that lead to their sisters."""
        candidates = self.candidates
        model = DaughterModel(FIRST_WIDTH**2, FIRST_ALIKE, 0.5 * _rarer(candidates.lags), self.going_on)
        ends = float((1 - candidates.taken[np.unique(candidates.end[self._is_unlinked])]).sum())
        for _ in range(LEARNING_ROUNDS if ends else 0):
            evidence = self._evidence(model)
            likeness = self.likeness(model)
            daughters = self._is_unlinked * candidates.believed(candidates.odds(model) * likeness)
            beside = (daughters / np.maximum(likeness, TINY))[self.linked.one] * evidence
            model = self._model_of(daughters, beside, ends)
        return model if ends == 0 or self._pays(model, ends) else replace(model, share=RAREST * _rarer(candidates.lags))

    def _pays(self, model: DaughterModel, ends: float) -> bool:
        """Return whether so many unlinked ends are likelier with daughters among them (Schwarz, Ann. Stat. 1978)."""
        candidates = self.candidates
        total = np.bincount(candidates.end, candidates.odds(model) * self.likeness(model), len(candidates.taken))
        each = np.unique(candidates.end[self._is_unlinked])
        nats = (1 - candidates.taken[each]) @ (np.log1p(total[each]) + np.log1p(-model.share.sum()))
        return bool(nats > 0.5 * (candidates.lags + _SHARED) * np.log(max(ends, 1)))

    @cached_property
    def _is_unlinked(self) -> np.ndarray:
        """Which candidates teach how daughters move, bool (wide,)."""
        return self.candidates.taken[self.candidates.end] < UNLINKED

    def _model_of(self, daughters: np.ndarray, beside: np.ndarray, ends: float) -> DaughterModel:
        """Return the model by which candidates are daughters of so many unlinked ends.

        `beside` is how probably links lead to their sisters, on the other side and anywhere, float64 (2, pairs).
        """
        candidates, linked, square = self.candidates, self.linked, self.candidates.square
        ndim, rarer = candidates.away.shape[1], _rarer(candidates.lags)
        share = np.maximum(np.bincount(candidates.lag - 1, daughters, candidates.lags) / ends, RAREST * rarer)
        opposite, sisters = beside[0], beside.sum(axis=0)
        squares = daughters @ (square - ndim * candidates.added) + sisters @ (linked.square - ndim * linked.added)
        variance = float(squares) / max(ndim * float(daughters.sum() + sisters.sum()), 1e-12)
        pairs, product = float(opposite.sum()), float(opposite @ (linked.dot - ndim * linked.common))
        own = np.maximum(opposite @ (square - ndim * candidates.added)[linked.one], 0)
        size = float(np.sqrt(np.maximum(opposite @ (linked.square - ndim * linked.added), 0) * own))
        alike = product / max(size, 1e-12) * pairs / (pairs + ENOUGH_PAIRS)
        return DaughterModel(
            max(variance, (0.1 * FIRST_WIDTH) ** 2),
            float(np.clip(alike, LEAST_ALIKE, 0.0)),
            share * min(1.0, (1 - RAREST) / share.sum()),
            self._going_on(daughters),
        )

    def _going_on(self, daughters: np.ndarray) -> float:
        """Return what of their mother's expected displacement daughters take, by least squares."""
        ahead = self.candidates.ahead
        if ahead is None:
            return self.going_on
        squares, count = float(daughters @ (ahead**2).sum(axis=1)), float(daughters.sum())
        rest = float(daughters @ (self.candidates.away * ahead).sum(axis=1)) / max(squares, TINY)
        return float(np.clip(self.going_on + rest * count / (count + ENOUGH_PAIRS), 0.0, 1.0))


def learned_daughters(sisters: Callable[[float], Sisters]) -> DaughterModel:
    """Return how daughters move, by `sisters` whose displacements are less so much of what mothers would go on by."""
    going_on = sisters(1.0).learned().going_on
    return replace(sisters(going_on).learned(), going_on=going_on)


def _rarer(lags: int) -> np.ndarray:
    """Return how much rarer daughters over more frames are, before anything is known."""
    return 0.1 ** np.arange(lags)


def _gaussian(square: np.ndarray, variance: np.ndarray, ndim: int) -> np.ndarray:
    return np.exp(-0.5 * square / variance - 0.5 * ndim * np.log(2 * np.pi * variance))
