"""What `separable` does, on a GPU: the same sums in the same order.

Along y and x in one launch, unless a kernel is wide along x: what lies between need not go through memory, which is
what the time goes to.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...matching.device import cuda
from .gpu_tables import there
from .separable import UNTOUCHED, AxisTaps

THREADS = 256
_KERNELS = str(Path(__file__).with_name("separable.cu"))
_RUN = cuda.declared(_KERNELS, "RUN")  # voxels of a thread along z and y
_BYTES_OF_PAIR = 8


def filtered(image: Any, axes: Sequence[AxisTaps], second: float, weights: tuple[float, float]) -> Any:
    """Return a weighted sum of the two chains, mirrored at the borders.

    Parameters
    ----------
    image : cupy.ndarray, float32 (…, z, y, x) or (…, y, x)
        On the current device; one, or several side by side: the last axes are those of `axes`.
    axes, second, weights
        As in `separable.filtered`.

    Returns
    -------
    cupy.ndarray, float32, shape of `image`
        Beside it and the image two more of this size are in memory, four where a kernel is wide along x.
    """
    cp, kernels = cuda.cupy(), cuda.load(_KERNELS)
    flat = 3 - len(axes)
    volume = cp.ascontiguousarray(image).reshape((-1, *[1] * flat, *image.shape[-len(axes) :]))
    z_taps, y_taps, x_taps = ((there(axis.stacked), np.int32(len(axis.own))) for axis in (*[UNTOUCHED] * flat, *axes))
    images, depth, height, width = volume.shape
    a, b, out = (cp.empty(volume.shape, cp.float32) for _ in range(3))
    along_z, along_y = map(np.int32, (depth, height * width)), tuple(map(np.int32, (height, width)))
    begun, carried = _runs(images, depth, height * width), _runs(images * depth, height, width)
    kernels["separable_begun"](*begun, (volume, *along_z, *z_taps, np.float32(second), a, b))
    mix, columns = tuple(map(np.float32, weights)), THREADS - 2 * int(x_taps[1])
    if columns >= THREADS // 2:
        launch = (images * depth * -(-height // _RUN) * -(-width // columns),), (THREADS,)
        across = a, b, *along_y, *y_taps, *x_taps, *mix, out
        kernels["separable_across"](*launch, across, shared_mem=_BYTES_OF_PAIR * _RUN * THREADS)
    else:
        next_a, next_b = cp.empty(volume.shape, cp.float32), cp.empty(volume.shape, cp.float32)
        kernels["separable_carried"](*carried, (a, b, *along_y, *y_taps, next_a, next_b))
        launch = (images * depth * height * -(-width // THREADS),), (THREADS,)
        kernels["separable_along_x"](*launch, (next_a, next_b, np.int32(width), *x_taps, *mix, out))
    return out.reshape(image.shape)


def _runs(outer: int, size: int, inner: int) -> tuple[tuple[int], tuple[int]]:
    """Return the launch of a thread for each run along the middle axis of an array."""
    return (outer * -(-size // _RUN) * -(-inner // THREADS),), (THREADS,)
