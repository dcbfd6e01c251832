"""How often particles are seen again after one frame, after two, …, how often they are lost, new, or seen just once.

Ends and beginnings of tracks do not fall on detections independently. A false detection has neither a link into it nor
one out of it, so one that leads nowhere is likelier to have come from nowhere: without that, a movie of many false
detections is full of tracks made of them. Near the border of the field of view particles come and go more often than
inside, where the movie says so. Next to frames that were not looked at, either side may be hidden; a particle
is missed only where others are seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from .....matching.device import cuda
from ..candidates.graph import Graph, sums_at_ends
from ..detections.border import Border
from ..detections.ordered import Ordered

RAREST = 0.003
"""Smallest share of lost and of new particles: clean data must not make long links free."""
COMMONEST = 0.5
"""Largest share: links that are hard to tell must not teach that there are none."""
HIDDEN = 0.1
"""Detections for which more than this share of the links may fall outside the movie do not teach which are unlinked."""


@dataclass(frozen=True)
class Fates:
    """Shares of some detections.

    Attributes
    ----------
    lost : float
        Not seen again.
    new : float
        Not seen before.
    unlinked : float
        Neither: at least the product of the two, which it is where ends and beginnings fall independently.
    """

    lost: float
    new: float
    unlinked: float


@dataclass(frozen=True)
class Shares(Fates):
    """Shares of the detections.

    Attributes
    ----------
    seen : float64 (lags,)
        Of those followed by enough frames: seen again at exactly the 1st, 2nd, … look (`Ordered.looked`).
    inside, outside : Fates or None
        Away from the border of the field of view and near it, where these differ.
    """

    seen: np.ndarray
    inside: Fates | None = None
    outside: Fates | None = None

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


class EndsByPlace(NamedTuple):
    """What the ends of a link say of it where detections share that.

    Attributes
    ----------
    place : int32 (n,)
        Of each detection, in the arrays of `shared`.
    shared : Ends
        On the host.
    """

    place: np.ndarray
    shared: Ends

    @property
    def tie(self) -> np.ndarray:
        """That of every detection, float64 (n,)."""
        return self._of_each(self.shared.tie)

    def of_each(self) -> Ends:
        """Return those of every detection."""
        shared = self.shared
        return Ends(*map(self._of_each, (shared.leaving, shared.arriving, shared.tie)))

    def _of_each(self, values: np.ndarray) -> np.ndarray:
        return np.asarray(values, like=self.place)[self.place]


def ends_by_place(movie: Ordered, shares: Shares, border: Border | None = None) -> EndsByPlace:
    """Return what the shares say of detections, links that fall outside the movie taken into account.

    They share it by frame, and where the shares are apart for near the border, by frame and side of it.
    """
    inside = _of_frames(movie, shares.seen, shares.inside or shares)
    if border is None or shares.outside is None:
        return EndsByPlace(movie.frame, Ends(*inside))
    tables = np.concatenate([inside, _of_frames(movie, shares.seen, shares.outside)], axis=1)
    return EndsByPlace(border.place, Ends(*tables))


def ends_inside(movie: Ordered, shares: Shares) -> Ends:
    """Return what the shares say of detections away from the border, by frame."""
    return Ends(*_of_frames(movie, shares.seen, shares.inside or shares))


def _of_frames(movie: Ordered, seen: np.ndarray, fates: Fates) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the columns of `Ends` of detections with some fates, by frame, float64 (frames,) each."""
    ended, begun = fates.lost - fates.unlinked, fates.new - fates.unlinked
    followed = 1 - fates.lost - fates.new + fates.unlinked
    tie = followed * fates.unlinked / (ended * begun)
    before, after = _hidden(movie, seen)
    before, after = before * ended / fates.unlinked, after * begun / fates.unlinked
    neither = 1 + before + after + tie * before * after
    leaving = begun / fates.unlinked * (1 + tie * before) / neither
    arriving = ended / fates.unlinked * (1 + tie * after) / neither
    return np.log(leaving), np.log(arriving), tie * neither / ((1 + tie * before) * (1 + tie * after))


def shares_of(
    movie: Ordered,
    graph: Graph,
    probability: np.ndarray,
    into: np.ndarray,
    lags: int,
    border: Border | None = None,
) -> Shares:
    """Return the shares by the links' probabilities; `into` are those that know nothing of what follows."""
    looks = graph.lag if lags == 1 else looks_of(movie, graph)
    at_look = (probability if lags == 1 else probability * (looks == look) for look in range(1, lags + 1))
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
    is_judged = before + after < HIDDEN
    if not is_judged.any():
        return Shares(lost, new, lost * new, seen)
    reached, left = sums_at_ends(graph, into, probability)
    free = np.stack([1 - left, 1 - reached, (1 - left) * (1 - reached)])
    overall, n = _means_of(free, movie.starts, is_judged)
    shares = Shares(lost, new, _between(overall[2], lost, new), seen)
    if border is None:
        return shares
    near, n_near = _means_of(np.take(free, border.at, axis=1), border.starts, is_judged)
    return _by_border(shares, np.array([n - n_near, n_near]), overall, near)


def _between(unlinked: float, lost: float, new: float) -> float:
    """Return the share of detections without a link on either side, between independence and what ends leave over."""
    independent = lost * new
    return float(np.clip(unlinked, independent, max(min(lost, new) - RAREST, independent)))


def _by_border(shares: Shares, size: np.ndarray, overall: np.ndarray, near: np.ndarray) -> Shares:
    """Return shares apart for near the border and inside, where that pays (Schwarz, Ann. Stat. 1978).

    Parameters
    ----------
    shares : Shares
    size : int (2,)
        How many detections are inside, and near the border.
    overall, near : float64 (3,)
        Of all detections, and of those near the border: probability of no link out of it, of none into it, of neither.
    """
    if not size.all():
        return shares
    n = size.sum()
    mean = np.clip([(n * overall - size[1] * near) / size[0], near], 0.0, 1.0)
    gain = (size @ (_information(mean) - _information(np.clip(overall, 0.0, 1.0))))[:2].sum()
    if gain < np.log(n):
        return shares
    # Whole shares are of all frames, these of the judged ones: what differs is taken over.
    lost, new = (
        np.clip(whole + mean[:, k] - overall[k], RAREST, COMMONEST) for k, whole in enumerate((shares.lost, shares.new))
    )
    inside, outside = (
        Fates(float(ended), float(begun), _between(float(neither), float(ended), float(begun)))
        for ended, begun, neither in zip(lost, new, mean[:, 2], strict=True)
    )
    return replace(shares, inside=inside, outside=outside)


def _information(share: np.ndarray) -> np.ndarray:
    """Return the log-likelihood a detection of a share, at its best."""
    return xlogy(share, share) + xlogy(1 - share, 1 - share)


def looks_of(movie: Ordered, graph: Graph) -> np.ndarray:
    """Return at which look after its tail each edge has its head, int (edges,)."""
    if np.array_equal(movie.looked, movie.number):
        return graph.lag
    at = movie.of_each(movie.looked)
    return at[graph.head] - at[graph.tail]


def _means_of(values: np.ndarray, starts: np.ndarray, is_judged: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the means over the judged frames, bool (frames,), which mostly follow each other, and of how many.

    `values` float64 (kinds, n), where positions are; means on the host.
    """
    changes = np.flatnonzero(np.diff(np.concatenate([[False], is_judged, [False]]).astype(np.int8)))
    runs = starts[changes].reshape(-1, 2)
    count = int((runs[:, 1] - runs[:, 0]).sum())
    sums = [values[:, a:b].sum(axis=1) for a, b in runs.tolist()]
    return cuda.to_host(sum(sums, np.zeros(len(values), like=values))) / max(count, 1), count


def _hidden(movie: Ordered, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return per frame the shares of the links into it, and out of it, whose other end would lie outside the movie."""
    before, after = np.ones((2, len(movie.number)))
    for look, share in enumerate(seen / seen.sum(), 1):
        earlier, later = movie.looks_apart(look, len(seen))
        before[later] -= share
        after[earlier] -= share
    return np.maximum(before, 0.0), np.maximum(after, 0.0)
