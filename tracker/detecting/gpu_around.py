"""What `around` sees around each peak, on a GPU: a warp a peak."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...matching.device import cuda
from .gpu_tables import there

THREADS = 128
_BLOCKS = 16  # a multiprocessor: all that it can have at a time
_KERNELS = str(Path(__file__).with_name("around.cu"))


def seen_around(
    images: tuple[Any, Any],
    places: Any,
    count: Any,
    offsets: tuple[np.ndarray, ...],
    kernels: np.ndarray,
    reach: tuple[int, ...],
    columns: int,
) -> Any:
    """Return what `around._look` writes, and wait for nothing.

    Parameters
    ----------
    images : tuple of cupy.ndarray, float32 (z, y, x)
        Response and grey levels, on the current device.
    places : cupy.ndarray, int64 (room,)
    count : cupy.ndarray, int32 (1,)
        Of the places, how many there are; where they are more than there is room for, the first of them are looked at.
    offsets : tuple of int32 (k, 3)
        Of core and shell.
    kernels, reach
        As in `around.Sight`.
    columns : int

    Returns
    -------
    cupy.ndarray, float64 (room, columns)
    """
    cp, kernel = cuda.cupy(), cuda.load(_KERNELS)["seen_around"]
    room, (response, grey) = len(places), images
    seen = cp.empty((room, columns), cp.float64)
    if room > 0:
        looked_at = response, cp.ascontiguousarray(grey), *map(np.int32, grey.shape), places, count, np.int32(room)
        near = (of for table in offsets for of in (there(table), np.int32(len(table))))
        filters = there(kernels), np.int32(kernels.shape[2]), *map(np.int32, reach)
        blocks = min(_BLOCKS * cuda.multiprocessors(), -(-32 * room // THREADS))
        kernel((blocks,), (THREADS,), (*looked_at, *near, *filters, seen))
    return seen
