"""Second links of sampled trackings: from mothers to daughters that no chain leads to, and likewise where some merge.

A daughter's mother explains that no chain leads to it, and makes that likelier: by so much the links into it lose. With
that in their weights chains are sampled as if nothing divided; then the ends that they leave unlinked sample their
mothers, or none, in turns, each as likely as it is with the others as they are (Gibbs). A mother without a daughter on
her chain has two of them or none, unless one was missed: the second is likelier where there is a first.
"""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ....matching.jit.compiled import compiled

LARGEST = 300.0
"""Nats beyond which all are as good as these."""
TURNS = 30
"""Samples of each unlinked end's mother; the last one stays."""


class Beside(NamedTuple):
    """What second links are worth by what else there is at their other end.

    Attributes
    ----------
    unlinked, linked : float64 (candidates,)
        In nats: where no chain goes on from there, and where one does.
    one, two : int64 (pairs,)
        Candidates with the same other end, each pair either way round.
    times : float64 (pairs,)
        How many times likelier the first is beside the second, beyond `SecondLinks.together`.
    """

    unlinked: np.ndarray
    linked: np.ndarray
    one: np.ndarray
    two: np.ndarray
    times: np.ndarray

    def of(self, keep: np.ndarray) -> Beside:
        """Return those of some candidates, in that order."""
        place = np.full(len(self.unlinked), -1)
        place[keep] = np.arange(len(keep))
        one, two = place[self.one], place[self.two]
        both = np.flatnonzero((one >= 0) & (two >= 0))
        both = both[np.argsort(one[both], kind="stable")]
        return Beside(self.unlinked[keep], self.linked[keep], one[both], two[both], self.times[both])


@dataclass(frozen=True)
class SecondLinks:
    """Candidates of second links.

    Attributes
    ----------
    unlinked, other : int64 (candidates,)
        The detection that would be without a link on that side, and the one that the second link leads to, or from.
    odds : float64 (candidates,)
        Against nothing that explains the unlinked one, on the average over what else there is at the other.
    together : float
        How many times likelier two are at one detection that no chain goes on from than each is by itself.
    beside : Beside or None
        What odds depend on; left out, nothing. Pairs come in the order of their first.
    """

    unlinked: np.ndarray
    other: np.ndarray
    odds: np.ndarray
    together: float
    beside: Beside | None = None

    @classmethod
    def of(
        cls,
        unlinked: np.ndarray,
        other: np.ndarray,
        worth: np.ndarray,
        is_open: np.ndarray,
        together: float,
        beside: Beside | None = None,
    ) -> SecondLinks:
        """Return those of some candidates that are open, and are worth something in nats (−inf: no second links)."""
        keep = np.flatnonzero(is_open & np.isfinite(worth))
        keep = keep[np.argsort(unlinked[keep], kind="stable")]
        ends = unlinked[keep].astype(np.int64), other[keep].astype(np.int64)
        return cls(*ends, _odds(worth[keep]), together, None if beside is None else beside.of(keep))

    def likelier_unlinked(self, n: int) -> np.ndarray:
        """Return how many times likelier they make it that each of n detections has no link there, float64 (n,)."""
        return 1 + np.bincount(self.unlinked, self.odds, n)

    def likelier_end(self, free: np.ndarray) -> np.ndarray:
        """Return how many times likelier pairs make it that no chain goes on from each detection, float64 (n,).

        `free` is how probably no link leads to each, float64 (n,).
        """
        if self.beside is None:
            return np.ones(len(free))
        _, _, one, two, times = self.beside
        odds = _odds(self.beside.unlinked) * (free / self.likelier_unlinked(len(free)))[self.unlinked]
        pairs = self.together * times * odds[one] * odds[two]
        return 1 + np.minimum(np.bincount(self.other[one], pairs, len(free)) / 2, np.exp(LARGEST))

    def sampled(
        self, is_unlinked: np.ndarray, room: np.ndarray, is_end: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Sample second links of unlinked ends by their likelihood; return places among the candidates.

        Parameters
        ----------
        is_unlinked : bool (n,)
        room : int64 (n,)
            How many links each detection can take at its other end.
        is_end : bool (n,)
            Which have no link of a chain there.
        rng : Generator
        """
        asking = np.flatnonzero(is_unlinked[self.unlinked])
        starts = np.flatnonzero(np.diff(self.unlinked[asking], prepend=-1, append=-1))
        sampled = np.full(max(len(starts) - 1, 0), -1)
        odds, pairs = self.odds, (np.zeros(len(self.odds) + 1, np.int64), np.empty(0, np.int64), np.empty(0))
        if self.beside is not None:
            unlinked, linked, one, *partners = self.beside
            odds = _odds(np.where(is_end[self.other], unlinked, linked))
            pairs = np.searchsorted(one, np.arange(len(odds) + 1)), *partners
        _take_turns((starts, asking, self.other, odds), pairs, room.copy(), is_end, self.together, sampled, rng)
        return sampled[sampled >= 0]


def _odds(nats: np.ndarray) -> np.ndarray:
    return np.exp(np.minimum(nats, LARGEST))


@compiled
def _take_turns(candidates, pairs, room, is_end, together, sampled, rng):
    """Let each unlinked end, those that `starts[k]:starts[k+1]` ask for, sample one of them or none, many times."""
    starts, asking, other, odds = candidates
    is_made = np.zeros(len(odds), np.bool_)
    for _ in range(TURNS):
        for k in range(len(sampled)):
            if sampled[k] >= 0:
                room[other[sampled[k]]] += 1
                is_made[sampled[k]] = False
            sampled[k], total = -1, 1.0
            for c in asking[starts[k] : starts[k + 1]]:
                m = other[c]
                if room[m] > 0:
                    own = odds[c] * (_beside(c, pairs, is_made) * together if is_end[m] and room[m] == 1 else 1.0)
                    total += own
                    if rng.random() * total < own:
                        sampled[k] = c
            if sampled[k] >= 0:
                room[other[sampled[k]]] -= 1
                is_made[sampled[k]] = True


@compiled
def _beside(c, pairs, is_made):
    """Return how many times likelier a candidate is beside the one that is made at its other end."""
    starts, two, times = pairs
    for pair in range(starts[c], starts[c + 1]):
        if is_made[two[pair]]:
            return times[pair]
    return 1.0
