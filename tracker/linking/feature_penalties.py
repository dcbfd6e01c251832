"""TrackMate's feature penalties: particles whose features differ look as if they were farther apart."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from pandas.api.types import is_numeric_dtype

from ..errors import InvalidSetting
from ..points import Points

PER_WEIGHT = 3.0
"""With this, and a weight of 1, a feature twice as large doubles the distance."""


def require_columns(points: Points, weights: Mapping[str, float] | None, setting: str) -> None:
    """Refuse features that the detections do not have.

    Raises
    ------
    InvalidSetting
        If one is no column of numbers.
    """
    table = points.table
    numeric = [str(name) for name in table.columns if is_numeric_dtype(table[name])]
    missing = [name for name in weights or () if name not in numeric]
    if missing:
        raise InvalidSetting(
            f"needs columns of numbers, such as there are: {', '.join(numeric)}; got {', '.join(map(repr, missing))}.",
            setting=setting,
        )


def times_as_far(
    points: Points, weights: Mapping[str, float] | None, source: np.ndarray, target: np.ndarray
) -> np.ndarray:
    """Return how many times as far apart two detections look as they are, float64 (links,).

    That is 1 + Σ 3·w·|f1 − f2| / (f1 + f2) over the features, which TrackMate multiplies the distance by before it is
    squared (`FeaturePenaltyCostFunction`). Where either has no value, or f1 + f2 is 0, a feature adds nothing.

    Parameters
    ----------
    points : Points
    weights : mapping of str to float, or None
        By column of the table.
    source, target : int64 (links,)
        Rows of the table.
    """
    times = np.ones(len(source))
    for name, weight in (weights or {}).items():
        value = points.table[name].to_numpy(np.float64, na_value=np.nan)
        a, b = value[source], value[target]
        tells = np.isfinite(a) & np.isfinite(b) & (a + b != 0)
        times[tells] += PER_WEIGHT * weight * np.abs(a - b)[tells] / (a + b)[tells]
    return times
