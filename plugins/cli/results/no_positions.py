"""Points that are known by their ids alone: what is made of these needs no memory for positions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from ....tracker.points import Points

    AnyPoints = TypeVar("AnyPoints", bound=Points)

_FRAMES, _OF_A_FRAME = 20, 500
"""Frames of which some are asked for, and how many of each."""


def without_positions(points: AnyPoints) -> AnyPoints:
    """Return points, whose positions were checked and nobody will ask for, all at one 0 that is held once."""
    import numpy as np
    import pandas as pd

    zeros = pd.Series(np.broadcast_to(0.0, len(points)), points.table.index, copy=False)
    return replace(points, table=points.table.assign(**dict.fromkeys(points.axes, zeros)))


def some_of(points: AnyPoints) -> AnyPoints:
    """Return some of many points, positions and all: of frames from the first to the last, those that come first."""
    import numpy as np

    numbers, cuts, order = points.by_frame()
    if len(points) <= _FRAMES * _OF_A_FRAME:
        return points
    looked_at = np.linspace(0, len(numbers) - 1, min(len(numbers), _FRAMES)).astype(int)
    every = np.arange(len(points))
    rows = np.concatenate([every[cuts[k] : cuts[k + 1]][:_OF_A_FRAME] for k in looked_at])
    return replace(points, table=points.table.iloc[rows if order is None else order[rows]].reset_index(drop=True))
