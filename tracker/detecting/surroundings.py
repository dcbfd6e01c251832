"""Grey levels within particles and in the shells around them."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ...matching.device import cuda
from . import gpu_surroundings
from .blobs import ball

_SHELL = 1.5  # outer radius of the surroundings, in radii of the particle


def surroundings(
    grey: np.ndarray, voxels: np.ndarray, radius: float, scale: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return per voxel, float64 (n,): mean within the radius, mean and standard deviation of the shell around it.

    Only what lies within the image counts; of a shell that has nothing there, both are 0.

    Parameters
    ----------
    grey : ndarray, float32 (z, y, x) or (y, x)
    voxels : ndarray, int64 (n, ndim)
    radius : float
        In the unit of `scale`.
    scale : ndarray, float64 (ndim,)
        Size of a voxel along each axis.
    """
    volume = grey.reshape((-1, *grey.shape[-2:]))
    core = ball(radius, scale)
    shell = ball(_SHELL * radius, scale, inner=np.nextafter(radius, np.inf))
    centres, core, shell = (np.pad(table, ((0, 0), (3 - grey.ndim, 0))) for table in (voxels, core, shell))
    measure = gpu_surroundings.mean_and_deviation if cuda.is_device_array(grey) else _mean_and_deviation
    inside, _ = measure(volume, centres, core)
    around, spread = measure(volume, centres, shell)
    return inside, around, spread


@njit(cache=True, nogil=True)
def _mean_and_deviation(grey: np.ndarray, centres: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation (n,) of the grey levels at the offsets (z, y, x) that fall into the image."""
    depth, height, width = grey.shape
    mean, deviation = np.zeros(len(centres)), np.zeros(len(centres))
    values = np.empty(len(offsets))
    for centre in range(len(centres)):
        count, total, squares = 0, 0.0, 0.0
        for offset in range(len(offsets)):
            z = centres[centre, 0] + offsets[offset, 0]
            y = centres[centre, 1] + offsets[offset, 1]
            x = centres[centre, 2] + offsets[offset, 2]
            if 0 <= z < depth and 0 <= y < height and 0 <= x < width:
                values[count] = grey[z, y, x]
                total += values[count]
                count += 1
        for i in range(count):
            squares += (values[i] - total / count) ** 2
        if count:
            mean[centre] = total / count
            deviation[centre] = math.sqrt(squares / count)
    return mean, deviation
