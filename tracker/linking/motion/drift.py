"""A shift that all particles of a frame pair share: stage drift and jumps, found by vote before anything is linked.

Every pair of particles votes for its displacement. Where particles move as one, right pairs agree and wrong ones do
not, however far the shift; a shift is believed where its votes are more than chance and more than those of no shift.
"""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numba import njit

from ....matching.jit.threads import side_by_side
from .ordered import Ordered

VOTERS = 100
"""Particles of the earlier frame that vote."""
REACH = 10
"""Longest shift that is looked for along an axis, in bins of one spacing."""
FEWEST = 8
"""Particles that must agree."""
SIGMAS = 6.0
"""By how many standard deviations of chance the winner must lead; by one before no shift."""
LEAST = 0.3
"""Shortest shift that is taken off, in spacings; shorter ones do not hinder linking."""


def without_drift(movie: Ordered) -> Ordered:
    """Return the movie with the shifts between consecutive frames taken off; `drift` has what was taken."""
    frames = [movie.position[movie.of_frame(f)] for f in range(len(movie.number))]
    later = side_by_side(lambda f: common_shift(frames[f], frames[f + 1]), range(len(frames) - 1))
    shifts = np.zeros((len(frames), movie.ndim))
    shifts[1:] = np.reshape(later, (-1, movie.ndim))
    if not shifts.any():
        return movie
    drift = np.cumsum(shifts, axis=0)
    return replace(movie, position=movie.position - drift[movie.frame], drift=drift)


def common_shift(earlier: np.ndarray, later: np.ndarray) -> np.ndarray:
    """Return the displacement that most particles share, zero where none is beyond chance.

    Parameters
    ----------
    earlier, later : float64 (n, d), (m, d)
        In spacings.

    Returns
    -------
    float64 (d,)
    """
    if min(len(earlier), len(later)) < FEWEST:
        return np.zeros(earlier.shape[1])
    voters = np.ascontiguousarray(earlier[:: max(len(earlier) // VOTERS, 1)])  # one layout, compiled once
    counts = _near(_counted(voters, later))
    best = np.unravel_index(int(counts.argmax()), counts.shape)
    won = counts[best]
    still = counts[counts.shape[0] // 2, REACH, REACH]
    chance = float(np.median(counts[counts > 0]))
    leads = won > chance + SIGMAS * np.sqrt(chance + 1) and (won == still or won > still + np.sqrt(won))
    if won < FEWEST or not leads:
        return np.zeros(earlier.shape[1])
    shift = np.array(best[3 - earlier.shape[1] :], dtype=np.float64) - REACH
    for reach in (1.5, 1.0, 0.75):
        shift = np.median(_votes_near(voters, later, shift, reach), axis=0)
    return shift if np.linalg.norm(shift) > LEAST else np.zeros(earlier.shape[1])


@njit(cache=True, nogil=True)
def _counted(voters, later):
    """Count the votes in bins of one spacing around whole numbers; the first axis has one bin in 2D."""
    ndim = voters.shape[1]
    width = 2 * REACH + 1
    counts = np.zeros((width if ndim == 3 else 1, width, width))
    at = np.zeros(3, np.int64)
    for i in range(len(voters)):
        for j in range(len(later)):
            inside = True
            for axis in range(ndim):
                bin_ = later[j, axis] - voters[i, axis] + (REACH + 0.5)
                inside = 0 <= bin_ < width
                if not inside:
                    break
                at[3 - ndim + axis] = np.int64(bin_)
            if inside:
                counts[at[0], at[1], at[2]] += 1
    return counts


def _near(counts: np.ndarray) -> np.ndarray:
    """Return the votes of each bin with a share of those beside it: shifts need not be whole."""
    for axis in range(3):
        beside = np.zeros_like(counts)
        along, beside_along = np.moveaxis(counts, axis, 0), np.moveaxis(beside, axis, 0)
        beside_along[1:] += along[:-1]
        beside_along[:-1] += along[1:]
        counts = counts + 0.5 * beside
    return counts


@njit(cache=True, nogil=True)
def _votes_near(voters, later, shift, reach):
    """Return the votes at most `reach` from a shift on every axis."""
    ndim = voters.shape[1]
    out = np.empty((64 * len(voters), ndim))
    n = 0
    for i in range(len(voters)):
        for j in range(len(later)):
            inside = True
            for axis in range(ndim):
                inside = abs(later[j, axis] - voters[i, axis] - shift[axis]) <= reach
                if not inside:
                    break
            if inside and n < len(out):
                for axis in range(ndim):
                    out[n, axis] = later[j, axis] - voters[i, axis]
                n += 1
    return out[:n]
