"""Which particle of the truth every row is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from ..errors import Column, InvalidInput, InvalidTable
from ..points import Points


def real_particles(truth: Points) -> Points:
    """Return the rows of the truth that are real particles, with their lineage."""
    real = names_of(truth) >= 0
    if real.all() and isinstance(truth.table.index, pd.RangeIndex):
        return truth
    return replace(truth, table=truth.table[real].reset_index(drop=True))


def names_of(truth: Points) -> np.ndarray:
    """Return the particle of every row: `track_id`, or `true_id` where there is none."""
    for column in ("track_id", "true_id"):
        if column in truth.table.columns:
            return whole_numbers(truth, column)
    raise InvalidInput(
        "the truth needs a column 'track_id' or 'true_id' that names its particles; "
        f"it has {', '.join(map(str, truth.table.columns))}."
    )


def real_names(truth: Points) -> np.ndarray:
    """Return what `true_id` of tracks calls every row: `true_id`, where the truth has one beside `track_id`."""
    return whole_numbers(truth, "true_id") if "true_id" in truth.table.columns else names_of(truth)


def whole_numbers(points: Points, column: str) -> np.ndarray:
    """Return a column of names, int64 (n,); raises `InvalidInput` where one is missing or no whole number."""
    values = points.table[column]
    if not pd.api.types.is_integer_dtype(values) or values.hasnans:
        raise InvalidTable(Column(column), f" needs whole numbers, none missing; it has {values.dtype} values.")
    return values.to_numpy(dtype=np.int64)
