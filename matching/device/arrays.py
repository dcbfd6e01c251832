"""Small steps on arrays in device memory that several rooms take."""

from __future__ import annotations

from typing import Any

import numpy as np


def spread(cp: Any, values: np.ndarray, sizes: np.ndarray) -> Any:
    """Repeat each block's value for each of its members, on the device."""
    if len(sizes) == 1:
        return cp.full(int(sizes[0]), values[0], values.dtype)
    return cp.asarray(np.repeat(values, sizes))


def ascending(cp: Any, rows: Any) -> Any:
    """Sort rows; the sort of none takes as long as that of some."""
    return cp.sort(rows) if len(rows) > 1 else rows
