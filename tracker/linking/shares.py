"""How often particles are seen again after one frame, after two, …, how often they are lost, and how many are new."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .graph import Graph
from .ordered import Ordered

RAREST = 0.003
"""Smallest share of lost and of new particles: clean data must not make long links free."""
COMMONEST = 0.5
"""Largest share: links that are hard to tell must not teach that there are none."""


@dataclass(frozen=True)
class Shares:
    """Shares of the detections.

    Attributes
    ----------
    seen : float64 (lags,)
        Of those followed by enough frames: seen again after exactly 1, 2, … frames.
    lost : float
        Not seen again.
    new : float
        Not seen before.
    """

    seen: np.ndarray
    lost: float
    new: float

    def log_odds(self, log_density: float) -> np.ndarray:
        """Return, per lag, the log-odds of a link before its displacement is looked at, against two alone."""
        return np.log(self.seen) - np.log(self.lost) - np.log(self.new) - log_density


def shares_of(movie: Ordered, graph: Graph, probability: np.ndarray, lags: int) -> Shares:
    """Return the shares by the links' probabilities."""
    sums = np.bincount(graph.lag, probability, minlength=lags + 1)[1:]
    size = np.diff(movie.starts)
    pairs = [np.array(movie.frames_apart(lag), np.int64).reshape(-1, 2) for lag in range(1, lags + 1)]
    tails = np.array([size[p[:, 0]].sum() for p in pairs])
    heads = np.array([size[p[:, 1]].sum() for p in pairs])
    seen = np.clip(sums / np.maximum(tails, 1), 1e-5, 1 - RAREST)
    lost = float(np.clip(1 - (sums / np.maximum(tails, 1)).sum(), RAREST, COMMONEST))
    new = float(np.clip(1 - (sums / np.maximum(heads, 1)).sum(), RAREST, COMMONEST))
    return Shares(seen, lost, new)
