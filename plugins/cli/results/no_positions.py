"""Points that are known by their ids alone: what is made of these needs no memory for positions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from ....tracker.points import Points

    AnyPoints = TypeVar("AnyPoints", bound=Points)


def without_positions(points: AnyPoints) -> AnyPoints:
    """Return points, whose positions were checked and nobody will ask for, all at one 0 that is held once."""
    import numpy as np
    import pandas as pd

    zeros = pd.Series(np.broadcast_to(0.0, len(points)), points.table.index, copy=False)
    return replace(points, table=points.table.assign(**dict.fromkeys(points.axes, zeros)))
