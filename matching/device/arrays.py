"""Small steps on arrays in device memory that several rooms take.

CuPy is installed with sorts, sums, and the least and greatest of numbers compiled. Its other reductions, of masks for
one, it compiles at their first call with headers that take two seconds, for each of two passes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import cuda


def spread(cp: Any, values: np.ndarray, sizes: np.ndarray) -> Any:
    """Repeat each block's value for each of its members, on the device."""
    if len(sizes) == 1:
        return cp.full(int(sizes[0]), values[0], values.dtype)
    return cp.asarray(np.repeat(values, sizes))


def ascending(cp: Any, rows: Any) -> Any:
    """Sort rows; the sort of none takes as long as that of some."""
    return cp.sort(rows) if len(rows) > 1 else rows


def any_true(mask: Any) -> bool:
    """Return whether one of a mask is true; of none, none is."""
    return mask.size > 0 and bool(mask.view(np.uint8).max())


def all_true(mask: Any) -> bool:
    """Return whether all of a mask are true."""
    return mask.size == 0 or bool(mask.view(np.uint8).min())


def count_true(mask: Any) -> int:
    """Return how many of a mask are true; their places are written for it."""
    return len(np.flatnonzero(mask))


def median(values: Any) -> float:
    """Return the median of some numbers, none of them NaN; an array on the host is left in another order."""
    if cuda.is_device_array(values):
        count = values.size
        values = cuda.to_host(np.sort(values, axis=None)[(count - 1) // 2 : count // 2 + 1])
    return float(np.median(values, overwrite_input=True))


def begins_of(members: Any, count: int) -> Any:
    """Return where each of `count` numbers begins among ascending ones, and where they end, int64 (count + 1,)."""
    if cuda.is_device_array(members):
        return np.searchsorted(members, np.arange(count + 1, dtype=members.dtype, like=members))
    return np.append(0, np.cumsum(counts_of(members, count)))


def counts_of(members: Any, count: int) -> Any:
    """Return how often each of `count` numbers is among some, int64 (count,)."""
    if cuda.is_device_array(members):
        return np.diff(begins_of(np.sort(members), count))
    return np.bincount(members, minlength=count)


def argmax_of_rows(values: Any) -> Any:
    """Return the first place of the greatest number in each row, int64 (rows,)."""
    if not cuda.is_device_array(values):
        return values.argmax(axis=1)
    rows, columns = values.shape
    places = np.flatnonzero(values == values.max(axis=1)[:, None])
    first = np.searchsorted(places, np.arange(rows, like=places) * columns)
    return places[first] - np.arange(rows, like=places) * columns
