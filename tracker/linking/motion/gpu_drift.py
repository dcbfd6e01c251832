"""The vote for a common shift on a GPU, as in `drift`, for all frame pairs at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ....matching.device import cuda
from ..gate import gpu_movie
from ..gate.gpu_movie import DeviceMovie

KEPT = 1536
"""Votes near the winner that a frame pair has room for; where there are more, particles are asked again and again."""
_KERNELS = str(Path(__file__).with_name("drift.cu"))


def common_shifts(
    grid: DeviceMovie, starts: np.ndarray, number: np.ndarray, ndim: int, limits: dict[str, float]
) -> np.ndarray:
    """Return what `drift.common_shift` does of each frame and the one after it, float64 (frames − 1, d), on the host.

    Parameters
    ----------
    grid : DeviceMovie
        In spacings.
    starts, number : int64 (frames + 1,), int64 (frames,)
        As those of `Ordered`.
    ndim : int
    limits : dict of str to float
        The numbers of `drift` by name, which kernels have from here.
    """
    cp, pairs = grid.cp, len(number) - 1
    options = (f"-D{name}={value!r}" for name, value in {**limits, "KEPT": KEPT}.items())
    kernel = cuda.load(_KERNELS, f"-DNDIM={ndim}", *options)["common_shifts"]
    shift = cp.empty((pairs, 3))
    frames = cp.asarray(starts), cp.asarray(number, np.int32)
    kernel((pairs,), (gpu_movie.THREADS,), (*frames, grid.position, grid.starts, *grid.cells, shift))
    return cuda.to_host(shift)[:, 3 - ndim :]
