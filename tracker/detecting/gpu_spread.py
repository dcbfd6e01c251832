"""How wide responses spread, `threshold._spread`, on a GPU: several images in one launch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...matching.device import cuda

THREADS = 512
_KERNELS = str(Path(__file__).with_name("spread.cu"))
_COUNTS = 33  # of each image, as in the kernel


def spreads(responses: Any, step: int, mad_to_sigma: float, clip: float, clippings: int) -> np.ndarray:
    """Return the standard deviation of what lies within `clip` of it, begun from the median absolute deviation.

    Parameters
    ----------
    responses : cupy.ndarray, float32 (images, …)
        On the current device.
    step : int
        Of each image every so many voxels are looked at.
    mad_to_sigma, clip, clippings
        As in `threshold`.

    Returns
    -------
    ndarray, float64 (images,)
        On the host.
    """
    cp, kernel = cuda.cupy(), cuda.load(_KERNELS, cooperative=True)["spreads"]
    images = len(responses)
    size = responses.size // images
    blocks = max(cuda.multiprocessors() // images, 1) * images  # one a multiprocessor: all are resident
    counts, arrived = cp.zeros(images * _COUNTS, cp.int32), cp.zeros(1, cp.uint32)
    partials = cp.empty(clippings * 2 * blocks * THREADS // 32, cp.float64)
    found = cp.empty(images, cp.float64)
    looked_at = np.int64(size), np.int64(step), np.int32(-(-size // step)), np.int32(images)
    how = np.float64(mad_to_sigma), np.float64(clip), np.int32(clippings)
    kernel((blocks,), (THREADS,), (responses, *looked_at, *how, counts, partials, arrived, found))
    return found.get()
