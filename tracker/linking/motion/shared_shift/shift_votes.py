"""Which shift has won a vote: the one that leads what is around it, where chance would hardly elect any."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import betainc

from .....matching.device import cuda
from .....matching.device.arrays import argmax_of_rows

FEWEST = 8
"""Votes by which the winner must lead those around it."""
BY_CHANCE = 1e-6
"""Shifts of a frame pair that chance may elect."""
NEARER, FARTHER = 2, 3
"""Bins between these distances say what chance gives, for densities change slowly with place."""
LEAST_CHANCE = 1e-3
"""Of a vote for a shift as long as the field, against one for none."""
AS_WHOLE = 4 / 3
"""What shared votes count as, an axis: weights of a half, one and a half have a sum of 2, and of squares of 3/2."""


def winning_shifts(counts: np.ndarray, field: np.ndarray, voters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the shifts that have won, and whether they are believed.

    The votes of a bin, with half of those beside it, are held against those of the bins around. Were all of them cast
    by chance, and so Poisson's, the winner's would be a binomial share of both (Przyborowski & Wilenski, Biometrika
    1940). It is believed where fewer than `BY_CHANCE` bins of all would have as large a share, and where no shift at
    all is behind by more than a standard deviation. Near the end of the field few voters have a say, each with several
    votes, and how many have one is chance too: votes then count as so many fewer (the design effect of Kish, Survey
    Sampling, 1965).

    Parameters
    ----------
    counts : float64 (pairs, bins, bins, bins)
        Votes in bins of one spacing around whole numbers, zero in the middle; the first axis has one bin in 2D. The
        work is done where they are.
    field : float64 (d,)
        How far particles are apart at most, in spacings: the farther a shift, the fewer pairs are that far apart.
    voters : int64 (pairs,)
        Particles that have voted.

    Returns
    -------
    shift : float64 (pairs, 3)
        In spacings.
    is_believed : bool (pairs,)
    """
    size, bins = counts.shape[1:], counts[0].size
    width, width_around = _widths(size, tuple(field.tolist()))
    votes, around = _shared(counts).reshape(-1, bins), _around(counts).reshape(-1, bins)
    lead = votes - around * np.asarray(width / width_around, like=counts)
    best, still = argmax_of_rows(lead), bins // 2
    of_best = np.arange(len(counts), like=counts), best
    won, won_around, ahead = (cuda.to_host(of[of_best]) for of in (votes, around, lead))
    best, ahead_of_still = cuda.to_host(best), ahead - cuda.to_host(lead[:, still])
    shift = np.stack(np.unravel_index(best, size), axis=1) - np.array(size) // 2
    inside = voters * np.prod(shares_left(shift[:, 3 - len(field) :], field), axis=1)
    design = 1 + (won - ahead) / inside * (1 - inside / voters)
    as_whole = AS_WHOLE ** len(field)
    share = as_whole * width / (as_whole * width + width_around)
    by_chance = bins * betainc(np.maximum(as_whole * won / design, 1), won_around / design + 1, share[best])
    is_ahead = (best == still) | (ahead_of_still > np.sqrt(won * design))
    return shift.astype(np.float64), (ahead >= FEWEST) & (by_chance < BY_CHANCE) & is_ahead


@lru_cache(maxsize=1)
def _widths(size: tuple[int, ...], field: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the chance of votes in each bin, by its weights, and in those around it, float64 (bins,), in any unit."""
    chance = np.ones((1, *size))
    for axis, extent in zip(range(3, 0, -1), reversed(field), strict=False):
        away = np.arange(size[axis - 1]) - size[axis - 1] // 2
        chance *= shares_left(away, extent).reshape(-1, *[1] * (3 - axis))
    return _shared(chance).ravel(), _around(chance).ravel()


def shares_left(shift: np.ndarray, extent: np.ndarray | float) -> np.ndarray:
    """Return the share of particles along an axis that a shift leaves in the field."""
    return np.maximum(1 - np.abs(shift) / np.maximum(extent, 1.0), LEAST_CHANCE)


def _shared(counts: np.ndarray) -> np.ndarray:
    """Return the votes of each bin with half of those beside it on each axis: shifts need not be whole."""
    for axis in range(1, 4):
        counts = counts + 0.5 * (_within(counts, 1, axis) - counts)
    return counts


def _around(counts: np.ndarray) -> np.ndarray:
    near = far = counts
    for axis in range(1, 4):
        near, far = _within(near, NEARER, axis), _within(far, FARTHER, axis)
    return far - near


def _within(counts: np.ndarray, reach: int, axis: int) -> np.ndarray:
    """Return the sums over bins at most `reach` away along an axis."""
    counts = np.moveaxis(counts, axis, -1)
    sums = counts.copy(order="K")  # in the order of memory, for the axis may be any
    for away in range(1, min(reach, counts.shape[-1] - 1) + 1):
        sums[..., away:] += counts[..., :-away]
        sums[..., :-away] += counts[..., away:]
    return np.moveaxis(sums, -1, axis)
