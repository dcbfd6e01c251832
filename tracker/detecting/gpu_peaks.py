"""What `peaks` asks of every voxel, on a GPU."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from ...matching.device import cuda

THREADS = 256
_KERNELS = str(Path(__file__).with_name("peaks.cu"))
_APART = str(Path(__file__).with_name("apart.cu"))
_ROOM = 1 << 16  # places of the list at first, at least; where peaks are more it is made anew
_VOXELS_A_PEAK = 32  # of noise there are as many or more
_MOST_VOXELS = 1 << 15  # that a peak looks at for rivals; where there would be more, a tree finds them sooner
_OPEN, _STAYS = 1, 2  # states of apart.cu
_ROUNDS = 3  # before it is looked whether any peak is undecided, which takes longer than a round


def peaks_above(response: Any, threshold: float) -> Any:
    """Return the voxels of a response on the current device that no neighbour exceeds, as `peaks.peaks_above`.

    Parameters
    ----------
    response : cupy.ndarray, float32 (z, y, x)
    threshold : float
        A number of float32.

    Returns
    -------
    cupy.ndarray, int64 (n,)
        Ascending places in the flattened response.
    """
    cp, kernel = cuda.cupy(), cuda.load(_KERNELS)["peaks_listed"]
    shape = tuple(map(np.int32, response.shape))
    blocks = -(-response.size // THREADS)
    room = max(_ROOM, response.size // _VOXELS_A_PEAK)
    while True:
        found, count = cp.empty(room, cp.int64), cp.zeros(1, cp.int32)
        kernel((blocks,), (THREADS,), (response, *shape, np.float32(threshold), found, np.int32(room), count))
        peaks = int(count.get()[0])
        if peaks <= room:
            return cp.sort(found[:peaks])
        room = peaks


def reaches(separation: float, scale: np.ndarray) -> list[int]:
    """Return how many voxels away along each axis a rival may be."""
    return [int(separation / step) + 1 for step in scale.tolist()]


def can_be_told_apart(separation: float, scale: np.ndarray) -> bool:
    """Whether peaks look for rivals voxel by voxel: few are within their separation."""
    return math.prod(2 * reach + 1 for reach in reaches(separation, scale)) <= _MOST_VOXELS


def apart(response: Any, peaks: Any, separation: float, scale: np.ndarray) -> Any:
    """Return the peaks that stay when each drops every lower one nearer than `separation`, as `peaks.apart`.

    Parameters
    ----------
    response : cupy.ndarray, float32 (z, y, x)
    peaks : cupy.ndarray, int64 (n,)
        Places in the flattened response.
    separation : float
    scale : float64 (3,)
        Size of a voxel along each axis.
    """
    cp, kernel = cuda.cupy(), cuda.load(_APART)["apart_round"]
    state = cp.zeros(response.size, cp.uint8)
    state[peaks] = _OPEN
    near = *map(np.float64, scale), *map(np.int32, reaches(separation, scale)), np.float64(separation**2)
    known = peaks, np.int32(len(peaks)), response, *map(np.int32, response.shape), *near
    left = len(peaks)
    while left:
        undecided = cp.zeros(_ROUNDS, cp.int32)
        for after in range(_ROUNDS):
            kernel((-(-32 * len(peaks) // THREADS),), (THREADS,), (*known, state, undecided[after:]))
        left = int(undecided.get()[-1])
    return peaks[state[peaks] == _STAYS]
