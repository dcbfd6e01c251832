"""What a division is worth: a detection that is new, explained as the second daughter of a mother that goes on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .law import tables
from .learning import Belief
from .sweep import first_densities

WIDER = 4.0
"""Variance of the displacement from a mother to a daughter, in that of a step: daughters move apart."""
RAREST = 1e-3
"""Smallest share of detections that divide, or merge, where that is asked for."""


def division_weights(belief: Belief) -> np.ndarray:
    """Return what each edge is worth as the second link out of its tail, float64 (edges,), −inf across gaps."""
    shares = belief.shares
    return _second_link(belief, max(shares.new - shares.lost, RAREST) / shares.new)


def merge_weights(belief: Belief) -> np.ndarray:
    """Return what each edge is worth as the second link into its head, float64 (edges,), −inf across gaps."""
    shares = belief.shares
    return _second_link(belief, max(shares.lost - shares.new, RAREST) / shares.lost)


def _second_link(belief: Belief, share: float) -> np.ndarray:
    """Weigh second links: `share` of those that would be alone have one."""
    law = belief.law
    wider = tables(replace(law, first=WIDER * law.first, second=WIDER * law.second), belief.lags)
    density = first_densities(belief.own_steps(), belief.graph.lag, wider.packed).sum(axis=1)
    return np.where(belief.graph.lag == 1, np.log(share) + np.log(density) - belief.movie.log_density, -np.inf)
