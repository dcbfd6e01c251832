"""A shift that all particles of a frame pair share: stage drift and jumps, found by vote before anything is linked.

Every pair of particles votes for its displacement. Where particles move as one, right pairs agree and wrong ones do
not, however far the shift; a shift is believed where its votes are more than chance and more than those of no shift.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.ndimage import uniform_filter

from ...matching.grid import pairs_within
from .ordered import NEAREST, Ordered

VOTERS = 200
"""Particles of the earlier frame that vote."""
VOTES = 60_000
"""Votes of a frame pair, which bound how far a shift is looked for."""
CELL = 0.5
"""Width of a bin of votes, in spacings."""
FEWEST = 8
"""Particles that must agree."""
SIGMAS = 6.0
"""By how many standard deviations of chance the winner must lead."""


def without_drift(movie: Ordered) -> Ordered:
    """Return the movie with the shifts between consecutive frames taken off; `drift` has what was taken."""
    shifts = np.zeros((len(movie.number), movie.ndim))
    for f in range(len(movie.number) - 1):
        shifts[f + 1] = common_shift(movie.position[movie.of_frame(f)], movie.position[movie.of_frame(f + 1)])
    return movie if not shifts.any() else shifted(movie, shifts)


def shifted(movie: Ordered, shifts: np.ndarray) -> Ordered:
    """Return the movie with more drift taken off; `shifts`, float64 (frames, d), lead to each frame from the last."""
    drift = np.cumsum(shifts, axis=0)
    return replace(movie, position=movie.position - drift[movie.frame], drift=movie.drift + drift)


def common_shift(earlier: np.ndarray, later: np.ndarray) -> np.ndarray:
    """Return the displacement that most particles share, zero where none is beyond chance; in spacings, float64 (d,)."""
    ndim = earlier.shape[1]
    none = np.zeros(ndim)
    if min(len(earlier), len(later)) < FEWEST:
        return none
    voters = earlier[:: max(len(earlier) // VOTERS, 1)]
    volume = VOTES / len(voters) / NEAREST[ndim] ** ndim
    reach = float((volume / (4.19 if ndim == 3 else 3.14)) ** (1 / ndim))
    indptr, heads, _ = pairs_within(voters, later, reach)
    votes = later[heads] - np.repeat(voters, np.diff(indptr), axis=0)
    bins = int(np.ceil(reach / CELL))
    counts, _ = np.histogramdd(votes, bins=[2 * bins] * ndim, range=[(-bins * CELL, bins * CELL)] * ndim)
    near = _with_neighbours(counts)
    best = np.unravel_index(int(near.argmax()), near.shape)
    won, still = near[best], float(near[(slice(bins - 1, bins + 1),) * ndim].max())
    chance = float(np.median(near[near > 0])) if (near > 0).any() else 0.0
    if won < chance + SIGMAS * np.sqrt(max(chance, 1.0)) or won < FEWEST or won < still + SIGMAS / 2 * np.sqrt(won):
        return none
    shift = (np.array(best) + 0.5 - bins) * CELL
    for _ in range(3):
        agree = np.abs(votes - shift).max(axis=1) < 1.5 * CELL
        shift = np.median(votes[agree], axis=0)
    return shift


def _with_neighbours(counts: np.ndarray) -> np.ndarray:
    """Return each bin's votes with those of the bins beside it, along every axis."""
    return uniform_filter(counts, 3, mode="constant") * 3**counts.ndim
