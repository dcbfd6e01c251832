"""What `around` sees around each peak, on a GPU: a warp a peak."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...matching.device import cuda
from .gpu_tables import there

if TYPE_CHECKING:
    from .around import Sight

THREADS = 128
_KERNELS = str(Path(__file__).with_name("around.cu"))


def seen_around(response: Any, grey: Any, places: Any, sight: Sight, columns: int) -> np.ndarray:
    """Return what `around._look` writes, float64 (n, columns), on the host.

    Parameters
    ----------
    response, grey : cupy.ndarray, float32 (z, y, x)
        On the current device.
    places : cupy.ndarray, int64 (n,)
    sight : Sight
    columns : int
    """
    cp, kernel = cuda.cupy(), cuda.load(_KERNELS)["seen_around"]
    seen = cp.empty((len(places), columns), cp.float64)
    offsets = (of for table in (sight.core, sight.shell) for of in (there(table), np.int32(len(table))))
    kernels = there(sight.kernels), np.int32(sight.kernels.shape[2]), *map(np.int32, sight.reach)
    images = response, cp.ascontiguousarray(grey), *map(np.int32, grey.shape)
    if len(places) > 0:
        launch = (-(-32 * len(places) // THREADS),), (THREADS,)
        kernel(*launch, (*images, places, np.int32(len(places)), *offsets, *kernels, seen))
    return seen.get()
