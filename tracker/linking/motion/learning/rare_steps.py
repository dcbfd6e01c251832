"""Steps that particles make now and then: jumps out of a cage, hops, a directed run among diffusers.

Of fewer than one step in fifty no class is learned, so each of them ends a track and begins another, side by side in
one frame pair. How many there are, the ends and beginnings tell that all else leaves over: by expectation-maximisation
of the share of such steps, each pair at the price of its end and its beginning. Where detections are missed and false,
ends lie beside beginnings by chance too: as often as they do once they are thrown elsewhere, as decoys are (`decoys`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .....matching.device import cuda
from ..candidates.expected import candidates_ahead
from ..candidates.graph import Graph, extended, sums_at_ends
from ..candidates.steps import EdgeSteps
from ..inference.sweep import weighed
from ..models.step_model import LEAST_SHARE, StepModel, tables
from .belief import Belief
from .decoys import ASTRAY, is_chance

FARTHEST = 1.5
"""Spacings within which they are looked for; half of it is their length to start with, root mean square."""
ROUNDS = 20
"""Of expectation-maximisation of their share."""
SWEEPS = 2
"""That follow where there are some."""


def with_rare_steps(belief: Belief) -> None:
    """Give rare steps a class of their own, where ends and beginnings that are left over tell of them."""
    share = belief.record.learn(lambda: _share_of_steps(belief))
    if share == 0.0:
        return
    belief.settle()
    left_over = _LeftOver.of(belief)
    graph, had = extended(belief.graph, left_over.pairs(left_over.ahead))
    probability = np.zeros(len(graph), like=graph.head)
    probability[had] = belief.probability
    belief.model = belief.model.with_rare_class(share, _variance(belief.movie.ndim))
    belief.restart(graph, probability)
    del graph, had, left_over  # nothing but the belief holds what it has no more
    for _ in range(SWEEPS):
        belief.sweep(damping=0.0)


def _variance(ndim: int) -> float:
    return (FARTHEST / 2) ** 2 / ndim


def _share_of_steps(belief: Belief) -> float:
    """Return the share of the links that are rare steps, 0 where they are hardly more than chance makes."""
    movie, links = belief.movie, max(float(belief.probability.sum()), 1.0)
    left_over, share = _LeftOver.of(belief), LEAST_SHARE
    odds = left_over.odds()
    for _ in range(ROUNDS):
        share = _going_on(odds, share) / links
    if is_chance(share * links, 0.0):
        return 0.0
    thrown = (_going_on(left_over.odds(way * ASTRAY / np.sqrt(movie.ndim)), share) for way in (-1, 1))
    return 0.0 if is_chance(share * links, sum(thrown) / 2) else share


def _going_on(odds: np.ndarray, share: float) -> float:
    """Return how many ends are expected to go on by rare steps, were there such a share of these."""
    return float((share * odds / (1 + share * odds)).sum())


@dataclass(frozen=True)
class _LeftOver:
    """The ends and beginnings that links leave over.

    Attributes
    ----------
    belief : Belief
    came, went : float64 (n,)
        Probability that a detection has a link into it, and one out of it.
    ends, begins : bool (n,)
        Which have probably none.
    ahead : float64 (n, d)
        Where the neighbours' flow leads each.
    """

    belief: Belief
    came: np.ndarray
    went: np.ndarray
    ends: np.ndarray
    begins: np.ndarray
    ahead: np.ndarray

    @classmethod
    def of(cls, belief: Belief) -> _LeftOver:
        """Return those of a belief."""
        came, went = sums_at_ends(belief.graph, belief.probability, belief.probability)
        ahead = belief.flow_ahead + np.zeros_like(belief.movie.position)
        return cls(belief, came, went, went < 0.5, came < 0.5, ahead)

    def pairs(self, ahead: np.ndarray) -> Graph:
        """Return the pairs of an end and a beginning in the next frame near where the end is expected."""
        expected = np.where(self.ends[:, None], ahead, np.nan)
        return candidates_ahead(self.belief.movie, 1, FARTHEST, expected, self.belief.hooks, self.begins)

    def odds(self, throw: float = 0.0) -> np.ndarray:
        """Return the odds that ends go on, were all steps rare ones, of those that can go on, on the host.

        Ends are thrown by so many spacings along each axis first, and back at the borders of the field of view.
        """
        belief, movie = self.belief, self.belief.movie
        place = movie.position + movie.of_each(movie.drift)
        far = np.asarray(movie.extent, like=place)
        ahead = self.ahead + (far - abs(far - abs(place + throw)) - place)
        near = self.pairs(ahead)
        near = replace(near, written=near.step - ahead[near.tail])
        width = np.full((1, movie.ndim), _variance(movie.ndim))
        model = tables(StepModel(np.ones(1), width, width, 0 * width, np.ones(3) / 3), 1).packed
        prior, sums = belief.shares.log_odds(movie.log_density)[:1], (self.came, self.went)
        pair = weighed(near, EdgeSteps(near), model, prior, belief.ends_by_place, sums, None).odds
        of_each = np.bincount(*map(cuda.to_host, (near.tail, pair)))
        return of_each[of_each > 0]
