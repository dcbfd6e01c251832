"""The near shift that most particles share, told in bins so fine that the holes of a packing show.

In a dense packing a bin of a spacing holds about one wrong partner of each particle, whatever the shift. Where all move
as one, right ones share a window of half a spacing, and wrong ones are spread over their shells.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import gammainc

from .....matching.device import cuda
from .shift_votes import BY_CHANCE, FEWEST, shares_left

NEAR = 3
"""Longest shift that is looked for along an axis, in spacings."""
FINE = 4
"""Bins a spacing; a window is two of them wide along each axis, and so holds any blob as wide as one."""
WIDTH = 2 * (NEAR * FINE + 1)
"""Bins along an axis, as many on either side of zero."""
SHARED = 0.4
"""Share of the particles whose partner a shift leaves in the field that have it in the window that has won.

A tenth of them missed, as many false, and steps of a tenth of a spacing along each axis leave as many.
"""
RIVAL = 0.3
"""The same of a window that may be as full but for chance."""
CLEAR = 4.0
"""Standard deviations by which the fullest window leads one that is not as full."""
APART = 0.75
"""Spacings along an axis from which two windows share no blob."""


class NearShifts(NamedTuple):
    """What most particles of each frame pair share.

    Attributes
    ----------
    shift : float64 (pairs, 3)
        The middle of the fullest window, in spacings; of windows that may be as full that of the shortest shift.
    is_found : bool (pairs,)
        Whether it holds enough, and more than chance, Poisson's, gives as many windows as there are.
    repeats : bool (pairs,)
        Whether a window apart from it may be as full and what is between them is not, as in a crystal: moved by one of
        its spacings it looks the same. In a dense cluster windows are full all the way.
    """

    shift: np.ndarray
    is_found: np.ndarray
    repeats: np.ndarray


def near_shifts(counts: np.ndarray, field: np.ndarray, voters: np.ndarray) -> NearShifts:
    """Return the near shifts that most particles share.

    Parameters
    ----------
    counts : int32 (pairs, WIDTH, WIDTH, WIDTH)
        Votes in bins of 1 / FINE spacings; the first axis has one bin in 2D. The work is done where they are.
    field : float64 (d,)
        How far particles are apart at most, in spacings: the farther a shift, the fewer partners are in the field.
    voters : int64 (pairs,)
        Particles that have voted.
    """
    for axis in range(4 - len(field), 4):
        along = np.moveaxis(counts, axis, -1)
        counts = np.moveaxis(along[..., 1:] + along[..., :-1], -1, axis)
    held = counts.reshape(len(counts), -1)
    middle, left = _windows(tuple(field.tolist()))
    share, of_all = np.asarray(RIVAL * left, like=held), np.asarray(voters, like=held)
    pair, window = np.nonzero(held >= np.maximum(share * of_all[:, None], FEWEST))
    votes, pair, window = (cuda.to_host(of) for of in (held[pair, window], pair, window))
    mean = cuda.to_host(held.sum(axis=1)) / (left.sum() * voters)
    return _fullest(mean, pair, votes, middle[window], left[window] * voters[pair])


def _fullest(
    mean: np.ndarray, pair: np.ndarray, votes: np.ndarray, middle: np.ndarray, asked: np.ndarray
) -> NearShifts:
    """Return what wins among windows of some pairs by their votes, middles, and voters with a partner in the field.

    `mean` is the share of such voters that a window of each pair holds.
    """
    length = np.linalg.norm(middle, axis=1)
    order = np.lexsort((length, -votes, pair))
    pair, votes, middle, asked, length = (of[order] for of in (pair, votes, middle, asked, length))
    named, first = np.unique(pair, return_index=True)
    best = first[np.searchsorted(named, pair)]
    share = np.minimum(votes / asked, 1)
    variance = share * (1 - share) / asked
    is_as_full = share >= share[best] - CLEAR * np.sqrt(variance + variance[best])
    is_rival = is_as_full & (np.abs(middle - middle[best]).max(axis=1) >= APART)
    stands = np.flatnonzero(is_rival | (np.arange(len(pair)) == best))
    stands = stands[np.lexsort((length[stands], pair[stands]))]
    shift, (is_found, repeats) = np.zeros((len(mean), 3)), np.zeros((2, len(mean)), bool)
    shift[named] = middle[stands[np.unique(pair[stands], return_index=True)[1]]]
    by_chance = gammainc(votes[first], mean[named] * asked[first])
    is_found[named] = (share[first] >= SHARED) & (by_chance < BY_CHANCE / (WIDTH - 1) ** 3)
    repeats[pair[is_rival & (_halfway(pair, middle, best, share) < share / 2)]] = True
    return NearShifts(shift, is_found, repeats & is_found)


def _halfway(pair: np.ndarray, middle: np.ndarray, best: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return what share the window halfway from each to the best holds, 0 where it holds too few to be given."""
    cell = np.rint(FINE * middle).astype(np.int64)
    sides = (int(pair.max(initial=0)) + 1, *[2 * WIDTH] * 3)
    key, halfway = (np.ravel_multi_index((pair, *(at.T + WIDTH)), sides) for at in (cell, (cell + cell[best]) // 2))
    order = np.argsort(key)
    found = order[np.minimum(np.searchsorted(key, halfway, sorter=order), len(key) - 1)]
    return np.where(key[found] == halfway, share[found], 0.0)


@lru_cache(maxsize=1)
def _windows(field: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the middles of windows, float64 (windows, 3), and the share of particles that each leaves in the field."""
    ndim = len(field)
    along = (np.arange(1, WIDTH) - WIDTH / 2) / FINE
    axes = np.meshgrid(*[np.zeros(1)] * (3 - ndim), *[along] * ndim, indexing="ij")
    middle = np.stack([axis.ravel() for axis in axes], axis=1)
    return middle, np.prod(shares_left(middle[:, 3 - ndim :], np.array(field)), axis=1)
