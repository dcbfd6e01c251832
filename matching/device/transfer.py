"""Long columns to a GPU and back, through pinned memory that all processors fill or empty.

One thread copies 5 GB/s into pinned memory and fetches fresh pages of the host at 3 GB/s, where the bus takes 50.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from ..jit.threads import side_by_side

WORTH_STAGING = 2**24
"""Bytes in all from which pinned memory and threads are worth their start."""
_PART = 2**17
"""Members that a thread copies at a time; all columns' parts at once, as threads take 4 ms to start and end."""


def uploaded(cp: Any, columns: Sequence[np.ndarray]) -> list[Any]:
    """Copy one-dimensional arrays to the current device, each contiguous there; done when this returns."""
    if sum(column.nbytes for column in columns) < WORTH_STAGING:
        return [cp.ascontiguousarray(cp.asarray(column)) for column in columns]
    stream = cp.cuda.get_current_stream()
    there, staged = [cp.empty(column.shape, column.dtype) for column in columns], _pinned(cp, columns)
    _copy_parts(list(zip(staged, columns, strict=True)))
    for array, pinned in zip(there, staged, strict=True):
        array.set(pinned, stream=stream)
    stream.synchronize()
    return there


def downloaded(cp: Any, arrays: Sequence[Any]) -> list[np.ndarray]:
    """Copy one-dimensional contiguous arrays from the current device."""
    if sum(array.nbytes for array in arrays) < WORTH_STAGING:
        return [array.get() for array in arrays]
    staged, stream = _pinned(cp, arrays), cp.cuda.get_current_stream()
    for array, pinned in zip(arrays, staged, strict=True):
        array.get(stream=stream, out=pinned, blocking=False)
    here = [np.empty(array.shape, array.dtype) for array in arrays]
    stream.synchronize()
    _copy_parts(list(zip(here, staged, strict=True)))
    return here


def fetched(cp: Any, array: Any) -> np.ndarray:
    """Copy a contiguous array from the current device into pinned memory: faster, for what is soon let go."""
    memory = cp.cuda.alloc_pinned_memory(max(array.nbytes, 1))
    here = np.frombuffer(memory, array.dtype, array.size).reshape(array.shape)
    array.get(out=here)
    return here


def _pinned(cp: Any, like: Sequence[Any]) -> list[np.ndarray]:
    """Return arrays of these shapes in pinned memory, which CuPy's pool keeps for the next time."""
    ends = list(accumulate((-(-array.nbytes // 64) * 64 for array in like), initial=0))
    memory = cp.cuda.alloc_pinned_memory(max(ends[-1], 1))
    return [np.frombuffer(memory, array.dtype, len(array), begin) for array, begin in zip(like, ends[:-1], strict=True)]


def _copy_parts(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
    """Copy each second array to the first, in parts side by side."""
    parts = [(to[a : a + _PART], of[a : a + _PART]) for to, of in pairs for a in range(0, len(of), _PART)]
    side_by_side(lambda part: np.copyto(*part), parts)
