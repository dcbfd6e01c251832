"""How often particles are seen again after one frame, after two, …, how often they are lost, new, or seen just once.

Ends and beginnings of tracks do not fall on detections independently. A false detection has neither a link into it nor
one out of it, so whoever has no way on is likelier to have come from nowhere: without that, a movie of many false
detections is full of tracks made of them. Near the border of the field of view particles come and go more often than
inside, where the movie says so. Next to frames that were not looked at, either side may be hidden; a particle
is missed only where others are seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import xlogy

from .border import at_border
from .graph import Graph, sums_at_ends
from .ordered import Ordered

RAREST = 0.003
"""Smallest share of lost and of new particles: clean data must not make long links free."""
COMMONEST = 0.5
"""Largest share: links that are hard to tell must not teach that there are none."""
HIDDEN = 0.1
"""Detections for which more than this share of the links may fall outside the movie do not teach who is alone."""


@dataclass(frozen=True)
class Fates:
    """Shares of some detections.

    Attributes
    ----------
    lost : float
        Not seen again.
    new : float
        Not seen before.
    alone : float
        Neither: at least the product of the two, which it is where ends and beginnings fall independently.
    """

    lost: float
    new: float
    alone: float


@dataclass(frozen=True)
class Shares(Fates):
    """Shares of the detections.

    Attributes
    ----------
    seen : float64 (lags,)
        Of those followed by enough frames: seen again at exactly the 1st, 2nd, … look (`Ordered.looked`).
    inside, outside : Fates or None
        Away from the border of the field of view and near it, where these differ.
    width : float
        How near that is, in spacings.
    """

    seen: np.ndarray
    inside: Fates | None = None
    outside: Fates | None = None
    width: float = 0.0

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
    inside = [movie.of_each(values) for values in _of_frames(movie, shares.seen, shares.inside or shares)]
    if shares.outside is None:
        return Ends(*inside)
    near = at_border(movie, shares.width)
    outside = (movie.of_each(values) for values in _of_frames(movie, shares.seen, shares.outside))
    return Ends(*(np.where(near, there, here) for there, here in zip(outside, inside, strict=True)))


def ends_inside(movie: Ordered, shares: Shares) -> Ends:
    """Return what the shares say of detections away from the border, by frame."""
    return Ends(*_of_frames(movie, shares.seen, shares.inside or shares))


def _of_frames(movie: Ordered, seen: np.ndarray, fates: Fates) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the columns of `Ends` of detections with some fates, by frame, float64 (frames,) each."""
    ended, begun = fates.lost - fates.alone, fates.new - fates.alone
    followed = 1 - fates.lost - fates.new + fates.alone
    tie = followed * fates.alone / (ended * begun)
    before, after = _hidden(movie, seen)
    before, after = before * ended / fates.alone, after * begun / fates.alone
    neither = 1 + before + after + tie * before * after
    leaving = begun / fates.alone * (1 + tie * before) / neither
    arriving = ended / fates.alone * (1 + tie * after) / neither
    return np.log(leaving), np.log(arriving), tie * neither / ((1 + tie * before) * (1 + tie * after))


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
    before, after = _hidden(movie, seen)
    is_inside = before + after < HIDDEN
    if not is_inside.any():
        return Shares(lost, new, lost * new, seen)
    reached, left = sums_at_ends(graph, into, probability)
    followed = sums_at_ends(graph, probability, probability)[0]
    free = 1 - left, 1 - followed, (1 - left) * (1 - reached)
    alone = _mean_inside(movie, is_inside, free[2])
    shares = Shares(lost, new, _between(alone, lost, new), seen)
    return _by_border(movie, graph, probability, free, movie.of_each(is_inside), shares)


def _between(alone: float, lost: float, new: float) -> float:
    """Return the share of detections without a link on either side, between independence and what ends leave over."""
    independent = lost * new
    return float(np.clip(alone, independent, max(min(lost, new) - RAREST, independent)))


def _by_border(
    movie: Ordered,
    graph: Graph,
    probability: np.ndarray,
    free: tuple[np.ndarray, ...],
    is_judged: np.ndarray,
    shares: Shares,
) -> Shares:
    """Return shares apart for near the border, a step wide, and inside, where that pays (Schwarz, Ann. Stat. 1978).

    `free` are the probabilities that each detection has no link out of it, none into it, and neither.
    """
    width = _typical_step(graph, probability)
    near = at_border(movie, width)
    groups = [(is_judged & where).astype(np.float64) for where in (~near, near)]
    size = np.array([float(group.sum()) for group in groups])
    if size.min() == 0:
        return shares
    mean = np.array([[float((each * group).sum()) for each in free] for group in groups]) / size[:, None]
    mean = np.clip(mean, 0.0, 1.0)
    overall = size @ mean / size.sum()
    gain = (size @ (_information(mean) - _information(overall)))[:2].sum()
    if gain < np.log(size.sum()):
        return shares
    # Whole shares are of all frames, these of the judged ones: what differs is taken over.
    lost, new = (
        np.clip(whole + mean[:, k] - overall[k], RAREST, COMMONEST) for k, whole in enumerate((shares.lost, shares.new))
    )
    inside, outside = (
        Fates(float(ended), float(begun), _between(float(neither), float(ended), float(begun)))
        for ended, begun, neither in zip(lost, new, mean[:, 2], strict=True)
    )
    return replace(shares, inside=inside, outside=outside, width=width)


def _typical_step(graph: Graph, probability: np.ndarray) -> float:
    """Return the root mean square step over one frame, in spacings."""
    weight = probability * (graph.lag == 1)
    square = sum(float((along * along * weight).sum()) for along in graph.step.T)
    return float(np.sqrt(square / max(float(weight.sum()), 1.0)))


def _information(share: np.ndarray) -> np.ndarray:
    """Return the log-likelihood a detection of a share, at its best."""
    return xlogy(share, share) + xlogy(1 - share, 1 - share)


def looks_of(movie: Ordered, graph: Graph) -> np.ndarray:
    """Return at which look after its tail each edge has its head, int (edges,)."""
    if np.array_equal(movie.looked, movie.number):
        return graph.lag
    at = movie.of_each(movie.looked)
    return at[graph.head] - at[graph.tail]


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
