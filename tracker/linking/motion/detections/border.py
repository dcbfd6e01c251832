"""Which detections are so near the border of the field of view that their particles may have come or gone there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .....matching.device import cuda
from .ordered import Ordered

ROOM = 4.0
"""Widths of the border from which an axis has one: particles of thinner fields are near it anyway."""


@dataclass(frozen=True)
class Border:
    """The detections near the border of the field of view.

    Attributes
    ----------
    at : int64 (k,)
        Those near it, where positions are.
    starts : int64 (frames + 1,)
        Where the ones of each frame begin in `at`, and where the last ends; on the host.
    place : int32 (n,)
        Of every detection, in two tables of all frames one after the other, of the inside first; where positions are.
    """

    at: np.ndarray
    starts: np.ndarray
    place: np.ndarray

    def on_host(self) -> Border:
        """Return the same in the memory of the host."""
        return Border(cuda.to_host(self.at), self.starts, cuda.to_host(self.place))


def border_of(movie: Ordered, width: float) -> Border | None:
    """Return the border that is `width` spacings wide, None where no detection or every one is near it."""
    near = np.zeros(len(movie), bool, like=movie.position)
    for axis in np.flatnonzero(movie.extent > ROOM * width):
        along = movie.position[:, axis]
        if movie.drift.any():
            along = along + movie.of_each(movie.drift[:, axis])
        near |= (along < width) | (along > movie.extent[axis] - width)
    at = np.flatnonzero(near)
    if len(at) in (0, len(movie)):
        return None
    starts = np.searchsorted(at, np.asarray(movie.starts, like=at))
    place = movie.frame + len(movie.number) * near
    return Border(at, cuda.to_host(starts), place.astype(np.int32))
