"""How good links will be, without a truth: now, and with fewer frames, by linking some of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...points import Points
from ..link import link_points
from ..settings import LinkSettings

MOST = 100_000
"""Detections that are linked to find out; of more, the first frames."""
FEWEST_FRAMES = 6
"""Frames that are linked whatever they hold."""
ENOUGH = 30
"""Links from which anything is said."""


def expected_f1(points: Points, settings: LinkSettings | None = None, *, every: int = 1) -> float | None:
    """Return the F1 that links are expected to reach if only every so many frames had been taken.

    Parameters
    ----------
    points : Points
    settings : LinkSettings, optional
        Without any, all is learned and measured. Ranges and prices that are given hold per frame that is used.
    every : int
        1: as it is; 2: at half the frame rate.

    Returns
    -------
    float or None
        Mean probability of the links: the true ones are taken to be as many as are made. None where links have no
        probability, or are too few to say. Where most links are guesses, below about 0.8, the real one is lower still:
        what is learned from guesses fits them.
    """
    given = settings or LinkSettings()
    step = points.frame_step
    used = _first(points.cut(slice(None, None, every * step)) if every > 1 and len(points) else points)
    if not given.is_learned:
        return None
    plain = replace(given, divisions=False, merges=False, pinned=None, forbidden=None)
    probability = link_points(used, plain).links["probability"].to_numpy()
    if len(probability) < ENOUGH or np.isnan(probability).any():
        return None
    return float(probability.mean())


def _first(points: Points) -> Points:
    """Return the first frames of many detections."""
    if len(points) <= MOST:
        return points
    frames = np.sort(points.frames)
    last = max(int(frames[MOST - 1]), int(points.frame_numbers[:FEWEST_FRAMES][-1]))
    return points.cut(slice(None, last + 1))
