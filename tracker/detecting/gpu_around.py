"""What `around` sees around each peak, on a GPU: a warp a peak."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...matching.device import cuda
from ...matching.device.transfer import fetched
from .gpu_tables import there

THREADS = 128
_KERNELS = str(Path(__file__).with_name("around.cu"))


def seen_around(
    images: tuple[Any, Any],
    places: Any,
    offsets: tuple[np.ndarray, ...],
    kernels: np.ndarray,
    reach: tuple[int, ...],
    columns: int,
) -> np.ndarray:
    """Return what `around._look` writes, float64 (n, columns), on the host.

    Parameters
    ----------
    images : tuple of cupy.ndarray, float32 (z, y, x)
        Response and grey levels, on the current device.
    places : cupy.ndarray, int64 (n,)
    offsets : tuple of int32 (k, 3)
        Of core and shell.
    kernels, reach
        As in `around.Sight`.
    columns : int
    """
    cp, kernel = cuda.cupy(), cuda.load(_KERNELS)["seen_around"]
    seen = cp.empty((len(places), columns), cp.float64)
    if len(places) > 0:
        response, grey = images
        looked_at = response, cp.ascontiguousarray(grey), *map(np.int32, grey.shape), places, np.int32(len(places))
        near = (of for table in offsets for of in (there(table), np.int32(len(table))))
        filters = there(kernels), np.int32(kernels.shape[2]), *map(np.int32, reach)
        kernel((-(-32 * len(places) // THREADS),), (THREADS,), (*looked_at, *near, *filters, seen))
    return fetched(cp, seen)
