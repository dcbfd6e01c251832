"""Second links of trackings drawn: from mothers to daughters that no chain leads to, and likewise where some merge.

A daughter's mother explains that no chain leads to it, and makes that likelier: by so much the links into it lose. With
that in their weights chains are drawn as if nothing divided; then each end that they leave unlinked draws its mother,
or none. That is exact but where more ends ask for one mother than she can have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LARGEST = 300.0
"""Nats beyond which all are as good as these."""


@dataclass(frozen=True)
class SecondLinks:
    """Candidates of second links.

    Attributes
    ----------
    unlinked, other : int64 (candidates,)
        The detection that would be without a link on that side, and the one that the second link leads to, or from.
    odds : float64 (candidates,)
        Against nothing that explains the unlinked one.
    """

    unlinked: np.ndarray
    other: np.ndarray
    odds: np.ndarray

    @classmethod
    def of(cls, unlinked: np.ndarray, other: np.ndarray, worth: np.ndarray, is_open: np.ndarray) -> SecondLinks:
        """Return those of some candidates that are open, and are worth something in nats (−inf: no second links)."""
        keep = is_open & np.isfinite(worth)
        odds = np.exp(np.minimum(worth[keep], LARGEST))
        return cls(unlinked[keep].astype(np.int64), other[keep].astype(np.int64), odds)

    def likelier_unlinked(self, n: int) -> np.ndarray:
        """Return how many times likelier they make it that each of n detections has no link there, float64 (n,)."""
        return 1 + np.bincount(self.unlinked, self.odds, n)

    def drawn(self, is_unlinked: np.ndarray, room: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw second links of unlinked ends as they are likely; return places among the candidates.

        Parameters
        ----------
        is_unlinked : bool (n,)
        room : int64 (n,)
            How many links each detection can take at its other end.
        rng : Generator
        """
        undecided, room, drawn = is_unlinked.copy(), room.copy(), [np.empty(0, np.int64)]
        while len(open_ := np.flatnonzero(undecided[self.unlinked] & (room[self.other] > 0))):
            # Of log-odds with Gumbel noise the largest is drawn as its odds are.
            key = np.log(np.maximum(self.odds[open_], 1e-300)) + rng.gumbel(size=len(open_))
            nothing = rng.gumbel(size=len(is_unlinked))
            order = np.lexsort((key, self.unlinked[open_]))
            unlinked = self.unlinked[open_][order]
            best = order[np.append(unlinked[1:] != unlinked[:-1], True)]
            wins = key[best] > nothing[self.unlinked[open_[best]]]
            undecided[self.unlinked[open_[best[~wins]]]] = False
            taken = _within(self.other, rng.permutation(open_[best[wins]]), room)
            undecided[self.unlinked[taken]] = False
            np.subtract.at(room, self.other[taken], 1)
            drawn.append(taken)
        return np.concatenate(drawn)


def _within(other: np.ndarray, asking: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Return those of some candidates that find room, the earlier ones first."""
    asking = asking[np.argsort(other[asking], kind="stable")]
    group = other[asking]
    first = np.flatnonzero(np.append(True, group[1:] != group[:-1])[: len(group)])
    rank = np.arange(len(group)) - np.repeat(first, np.diff(np.append(first, len(group))))
    return asking[rank < room[group]]
