"""Which shift a frame pair elects, wherever votes were counted: the near one of most, or one beyond chance."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .near_shifts import near_shifts
from .shift_votes import winning_shifts

NEAR_WINNER, WINNER = 0.5, 1.5
"""Spacings on every axis from a near shift that was elected, and from another, within which votes say where it is."""


class Elected(NamedTuple):
    """What was elected for each frame pair.

    Attributes
    ----------
    shift : float64 (pairs, 3)
        In spacings, to half a bin.
    within : float64 (pairs,)
        How far from it votes are to say where it is; 0 where none was elected.
    repeats : bool (pairs,)
        As that of `NearShifts`.
    """

    shift: np.ndarray
    within: np.ndarray
    repeats: np.ndarray


def elected(
    near: np.ndarray, far_of: Callable[[np.ndarray], np.ndarray], field: np.ndarray, voters: np.ndarray
) -> Elected:
    """Return the near shift that most particles of a frame pair share, or else one that has more votes than by chance.

    Parameters
    ----------
    near : int32 (pairs, bins, bins, bins)
        Votes as `near_shifts` takes them.
    far_of : callable
        Called with frame pairs, int64, for their votes as `winning_shifts` takes them.
    field, voters
        As both take them.
    """
    shift, is_found, repeats = near_shifts(near, field, voters)
    within = np.where(is_found, NEAR_WINNER, 0.0)
    others = np.flatnonzero(~is_found)
    if len(others):
        shift[others], is_believed = winning_shifts(far_of(others), field, voters[others])
        within[others] = np.where(is_believed, WINNER, 0.0)
    return Elected(shift, within, repeats)
