"""Which detections are so near the border of the field of view that their particles may have come or gone there."""

from __future__ import annotations

import numpy as np

from .ordered import Ordered

ROOM = 4.0
"""Widths of the border from which an axis has one: particles of thinner fields are near it anyway."""


def at_border(movie: Ordered, width: float) -> np.ndarray:
    """Mark the detections less than `width` spacings inside the field of view, bool (n,), where positions are."""
    near = np.zeros(len(movie), bool, like=movie.position)
    for axis in np.flatnonzero(movie.extent > ROOM * width):
        along = movie.position[:, axis]
        if movie.drift.any():
            along = along + movie.of_each(movie.drift[:, axis])
        near |= (along < width) | (along > movie.extent[axis] - width)
    return near
