"""Excerpts: the part of a frame pair that is enough to measure on, with a margin around what is counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ....matching.points.grid import build_grid
from .candidates import Frame

MARGIN = 1 / 8
"""Width of the margin on each side, in edges of the box: particles in it compete for partners and are not counted."""
_SEEN = 10
"""The box is found on this many times as many positions as it shall hold."""


@dataclass(frozen=True)
class Excerpt:
    """Two frames that follow each other, or the parts of them in and around a box.

    Attributes
    ----------
    earlier, later : Frame
    earlier_counted, later_counted : bool (n,), (m,)
        Which of their points lie in the box.
    """

    earlier: Frame
    later: Frame
    earlier_counted: np.ndarray
    later_counted: np.ndarray


def excerpts(pairs: Iterator[tuple[Frame, Frame]], enough: int) -> Iterator[Excerpt]:
    """Yield excerpts of the first frame pairs, until these had `enough` particles in their earlier frames."""
    seen = 0
    for earlier, later in pairs:
        yield _excerpt(earlier, later, enough)
        seen += len(earlier)
        if seen >= enough:
            return


def _excerpt(earlier: Frame, later: Frame, enough: int) -> Excerpt:
    """Return a pair as it is, or what lies in and around a box with about `enough` of the earlier frame's points."""
    if len(earlier) <= enough:
        return Excerpt(earlier, later, np.ones(len(earlier), bool), np.ones(len(later), bool))
    low, high = _box(earlier.grid.points, enough)
    margin = MARGIN * (high - low)
    earlier, later = (_cut(frame, low - margin, high + margin) for frame in (earlier, later))
    counted = (_inside(frame.grid.points, low, high) for frame in (earlier, later))
    return Excerpt(earlier, later, *counted)


def _box(points: np.ndarray, enough: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of a box in the middle of the points that holds about `enough` of them."""
    kept = points[:: max(len(points) // (_SEEN * enough), 1)]
    axes = np.flatnonzero(np.ptp(kept, axis=0) > 0)
    low, high = kept.min(axis=0), kept.max(axis=0)
    share = (enough / len(points)) ** (1 / max(len(axes), 1))
    for axis in axes:
        along = kept[:, axis]
        low[axis], high[axis] = np.quantile(along, [(1 - share) / 2, (1 + share) / 2])
        kept = kept[(along >= low[axis]) & (along <= high[axis])]
    return low, high


def _inside(points: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.all((points >= low) & (points <= high), axis=1)


def _cut(frame: Frame, low: np.ndarray, high: np.ndarray) -> Frame:
    """Return the points of a frame that lie in a box, with a grid of their own; all of them where none does."""
    kept = np.flatnonzero(_inside(frame.grid.points, low, high))
    if len(kept) == 0:
        return frame
    grid = build_grid(frame.grid.points[kept], frame.grid.cell)
    return Frame(frame.number, frame.rows[kept][grid.order], grid)
