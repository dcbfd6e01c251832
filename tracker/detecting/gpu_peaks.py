"""What `peaks` asks of every voxel, on a GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...matching.device import cuda

THREADS = 256
_KERNELS = str(Path(__file__).with_name("peaks.cu"))
_ROOM = 1 << 16  # places of the list at first; where peaks are more it is made anew


def peaks_above(response: Any, threshold: float) -> np.ndarray:
    """Return the voxels of a response on the current device that no neighbour exceeds, as `peaks.peaks_above`.

    Parameters
    ----------
    response : cupy.ndarray, float32 (z, y, x)
    threshold : float
        A number of float32.

    Returns
    -------
    ndarray, int64 (n,)
        Ascending places in the flattened response, on the host.
    """
    cp, kernel = cuda.cupy(), cuda.load(_KERNELS)["peaks_listed"]
    shape = tuple(map(np.int32, response.shape))
    blocks = -(-response.size // THREADS)
    room = _ROOM
    while True:
        found, count = cp.empty(room, cp.int64), cp.zeros(1, cp.int32)
        kernel((blocks,), (THREADS,), (response, *shape, np.float32(threshold), found, np.int32(room), count))
        peaks = int(count.get()[0])
        if peaks <= room:
            return np.sort(found[:peaks].get())
        room = peaks
