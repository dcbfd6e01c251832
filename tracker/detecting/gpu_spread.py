"""How wide responses spread, `threshold._spread`, on a GPU: several images in one launch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...matching.device import cuda

THREADS = 512
_KERNELS = str(Path(__file__).with_name("spread.cu"))
_COUNTS = cuda.declared(_KERNELS, "COUNTS")  # of each image


def spreads(responses: Any, mad_to_sigma: float, clip: float, clippings: int) -> Any:
    """Return the standard deviation of what lies within `clip` of it, begun from the median absolute deviation.

    Parameters
    ----------
    responses : cupy.ndarray, float32 (images, voxels)
        On the current device.
    mad_to_sigma, clip, clippings
        As in `threshold`.

    Returns
    -------
    cupy.ndarray, float64 (images,)
        Not waited for.
    """
    cp, kernel = cuda.cupy(), cuda.load(_KERNELS, cooperative=True)["spreads"]
    images, voxels = responses.shape
    blocks = max(cuda.multiprocessors() // images, 1) * images  # one a multiprocessor: all are resident
    counts, arrived = cp.zeros(images * _COUNTS, cp.int32), cp.zeros(1, cp.uint32)
    partials = cp.empty(clippings * 2 * blocks * THREADS // 32, cp.float64)
    found = cp.empty(images, cp.float64)
    how = np.int32(voxels), np.int32(images), np.float64(mad_to_sigma), np.float64(clip), np.int32(clippings)
    kernel((blocks,), (THREADS,), (cp.ascontiguousarray(responses), *how, counts, partials, arrived, found))
    return found
