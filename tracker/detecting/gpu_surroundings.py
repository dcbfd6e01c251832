"""What `surroundings` measures around each centre, on a GPU: a warp a centre."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...matching.device import cuda

THREADS = 128
_KERNELS = str(Path(__file__).with_name("surroundings.cu"))


def mean_and_deviation(grey: Any, centres: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation (n,), on the host, of the grey levels at offsets that fall into the image.

    Parameters
    ----------
    grey : cupy.ndarray, float32 (z, y, x)
        On the current device.
    centres, offsets : ndarray, int64 (n, 3), (k, 3)
    """
    cp, kernel = cuda.cupy(), cuda.load(_KERNELS)["surroundings_measured"]
    measured = cp.empty((2, len(centres)), cp.float64)
    if len(centres) > 0:
        kernel(
            (-(-32 * len(centres) // THREADS),),
            (THREADS,),
            (
                *(cp.ascontiguousarray(grey), *map(np.int32, grey.shape)),
                *(cp.asarray(centres.astype(np.int32)), np.int32(len(centres))),
                *(cp.asarray(offsets.astype(np.int32)), np.int32(len(offsets)), measured[0], measured[1]),
            ),
        )
    mean, deviation = measured.get()
    return mean, deviation
