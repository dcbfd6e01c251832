"""Second links of sampled trackings: from mothers to daughters that no chain leads to, and likewise where some merge.

A daughter's mother explains that no chain leads to it, and makes that likelier: by so much the links into it lose. With
that in their weights chains are sampled as if nothing divided; then the ends that they leave unlinked sample their
mothers, or none, in turns, each as likely as it is with the others as they are (Gibbs). A mother without a daughter on
her chain has two of them or none, unless one was missed: the second is likelier where there is a first.
"""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....matching.jit.compiled import compiled

LARGEST = 300.0
"""Nats beyond which all are as good as these."""
TURNS = 30
"""Samples of each unlinked end's mother; the last one stays."""


@dataclass(frozen=True)
class SecondLinks:
    """Candidates of second links.

    Attributes
    ----------
    unlinked, other : int64 (candidates,)
        The detection that would be without a link on that side, and the one that the second link leads to, or from.
    odds : float64 (candidates,)
        Against nothing that explains the unlinked one.
    together : float
        How many times likelier two are at one detection that no chain goes on from than each is by itself.
    """

    unlinked: np.ndarray
    other: np.ndarray
    odds: np.ndarray
    together: float

    @classmethod
    def of(
        cls, unlinked: np.ndarray, other: np.ndarray, worth: np.ndarray, is_open: np.ndarray, together: float
    ) -> SecondLinks:
        """Return those of some candidates that are open, and are worth something in nats (−inf: no second links)."""
        keep = np.flatnonzero(is_open & np.isfinite(worth))
        keep = keep[np.argsort(unlinked[keep], kind="stable")]
        odds = np.exp(np.minimum(worth[keep], LARGEST))
        return cls(unlinked[keep].astype(np.int64), other[keep].astype(np.int64), odds, together)

    def likelier_unlinked(self, n: int) -> np.ndarray:
        """Return how many times likelier they make it that each of n detections has no link there, float64 (n,)."""
        return 1 + np.bincount(self.unlinked, self.odds, n)

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
        candidates = starts, self.other[asking], self.odds[asking]
        _take_turns(candidates, room.copy(), is_end, self.together, sampled, rng)
        return asking[sampled[sampled >= 0]]


@compiled
def _take_turns(candidates, room, is_end, together, sampled, rng):
    """Let each unlinked end, those of candidates `starts[k]:starts[k+1]`, sample one of them or none, many times."""
    starts, other, odds = candidates
    for _ in range(TURNS):
        for k in range(len(sampled)):
            if sampled[k] >= 0:
                room[other[sampled[k]]] += 1
            sampled[k], total = -1, 1.0
            for c in range(starts[k], starts[k + 1]):
                m = other[c]
                if room[m] > 0:
                    own = odds[c] * together if is_end[m] and room[m] == 1 else odds[c]
                    total += own
                    if rng.random() * total < own:
                        sampled[k] = c
            if sampled[k] >= 0:
                room[other[sampled[k]]] -= 1
