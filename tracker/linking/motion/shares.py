"""How often particles are seen again after one frame, after two, …, how often they are lost, new, or seen just once.

Ends and beginnings of tracks do not fall on detections independently. A false detection has neither a link into it nor
one out of it, so whoever has no way on is likelier to have come from nowhere: without that, a movie of many false
detections is full of tracks made of them. Next to frames that were not looked at, either side may be hidden; a particle
is missed only where others are seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .graph import Graph, sums_at_ends
from .ordered import Ordered

RAREST = 0.003
"""Smallest share of lost and of new particles: clean data must not make long links free."""
COMMONEST = 0.5
"""Largest share: links that are hard to tell must not teach that there are none."""
HIDDEN = 0.1
"""Detections for which more than this share of the links may fall outside the movie do not teach who is alone."""


@dataclass(frozen=True)
class Shares:
    """Shares of the detections.

    Attributes
    ----------
    seen : float64 (lags,)
        Of those followed by enough frames: seen again at exactly the 1st, 2nd, … look (`Ordered.looked`).
    lost : float
        Not seen again.
    new : float
        Not seen before.
    alone : float
        Neither: at least the product of the two, which it is where ends and beginnings fall independently.
    """

    seen: np.ndarray
    lost: float
    new: float
    alone: float

    def log_odds(self, log_density: float) -> np.ndarray:
        """Return, per look, the log-odds of a link before its ends and its displacement are looked at."""
        return np.log(self.seen) - np.log1p(-self.lost) - np.log1p(-self.new) - log_density


@dataclass(frozen=True)
class Ends:
    """What the ends of a link say of it, per detection.

    Attributes
    ----------
    leaving : float64 (n,)
        Log-odds that a detection without a link into it has one out of it.
    arriving : float64 (n,)
        Log-odds that a detection without a link out of it has one into it.
    tie : float64 (n,)
        How many times likelier either link makes the other.
    """

    leaving: np.ndarray
    arriving: np.ndarray
    tie: np.ndarray


def ends_of(movie: Ordered, shares: Shares) -> Ends:
    """Return what the shares say of every detection, links that fall outside the movie taken into account."""
    ended, begun = shares.lost - shares.alone, shares.new - shares.alone
    followed = 1 - shares.lost - shares.new + shares.alone
    tie = followed * shares.alone / (ended * begun)
    before, after = _hidden(movie, shares.seen)
    before, after = before * ended / shares.alone, after * begun / shares.alone
    neither = 1 + before + after + tie * before * after
    leaving = begun / shares.alone * (1 + tie * before) / neither
    arriving = ended / shares.alone * (1 + tie * after) / neither
    tied = tie * neither / ((1 + tie * before) * (1 + tie * after))
    return Ends(movie.of_each(np.log(leaving)), movie.of_each(np.log(arriving)), movie.of_each(tied))


def shares_of(movie: Ordered, graph: Graph, probability: np.ndarray, into: np.ndarray, lags: int) -> Shares:
    """Return the shares by the links' probabilities; `into` are those that know nothing of what follows."""
    looks = graph.lag if lags == 1 else looks_of(movie, graph)
    at_look = (probability if lags == 1 else probability[looks == look] for look in range(1, lags + 1))
    sums = np.array([float(each.sum()) for each in at_look])
    size = np.diff(movie.starts)
    pairs = [movie.looks_apart(look, lags) for look in range(1, lags + 1)]
    tails = np.array([size[earlier].sum() for earlier, _ in pairs])
    heads = np.array([size[later].sum() for _, later in pairs])
    seen = np.clip(sums / np.maximum(tails, 1), 1e-5, 1 - RAREST)
    lost = float(np.clip(1 - (sums / np.maximum(tails, 1)).sum(), RAREST, COMMONEST))
    seen *= max((1 - COMMONEST) / seen.sum(), 1.0)
    new = float(np.clip(1 - (sums / np.maximum(heads, 1)).sum(), RAREST, COMMONEST))
    return Shares(seen, lost, new, _alone(movie, graph, probability, into, seen, lost, new))


def looks_of(movie: Ordered, graph: Graph) -> np.ndarray:
    """Return at which look after its tail each edge has its head, int (edges,)."""
    if np.array_equal(movie.looked, movie.number):
        return graph.lag
    at = movie.of_each(movie.looked)
    return at[graph.head] - at[graph.tail]


def _alone(
    movie: Ordered, graph: Graph, probability: np.ndarray, into: np.ndarray, seen: np.ndarray, lost: float, new: float
) -> float:
    """Return the share of detections without a link on either side, between independence and what ends leave over."""
    before, after = _hidden(movie, seen)
    is_inside = before + after < HIDDEN
    independent = lost * new
    if not is_inside.any():
        return independent
    reached, left = sums_at_ends(graph, into, probability)
    neither = _mean_inside(movie, is_inside, (1 - left) * (1 - reached))
    most = min(lost, new)
    return float(np.clip(neither, independent, max(most - RAREST, independent)))


def _mean_inside(movie: Ordered, is_inside: np.ndarray, value: np.ndarray) -> float:
    """Return the mean over the detections of some of the frames, bool (frames,), which mostly follow each other."""
    changes = np.flatnonzero(np.diff(np.concatenate([[False], is_inside, [False]]).astype(np.int8)))
    runs = movie.starts[changes].reshape(-1, 2)
    return sum(float(value[a:b].sum()) for a, b in runs.tolist()) / int((runs[:, 1] - runs[:, 0]).sum())


def _hidden(movie: Ordered, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return per frame the shares of the links into it, and out of it, whose other end would lie outside the movie."""
    before, after = np.ones((2, len(movie.number)))
    for look, share in enumerate(seen / seen.sum(), 1):
        earlier, later = movie.looks_apart(look, len(seen))
        before[later] -= share
        after[earlier] -= share
    return np.maximum(before, 0.0), np.maximum(after, 0.0)
