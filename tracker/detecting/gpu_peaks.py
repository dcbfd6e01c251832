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
_VOXELS = cuda.declared(_KERNELS, "VOXELS")  # that a thread looks at
_ROUNDS = 4  # before it is looked whether any peak is undecided, which takes longer than a round
_BLOCKS = 8  # a multiprocessor, of those that go through a list whose length the GPU alone knows


def local_maxima(response: Any, threshold: Any, separation: float | None, scale: np.ndarray) -> Any:
    """Return the peaks of a response on the current device, as `peaks.local_maxima` does.

    Parameters
    ----------
    response : cupy.ndarray, float32 (z, y, x)
    threshold : cupy.ndarray, float32 (1,)
    separation : float or None
        Such that peaks `can_be_told_apart`. None: all peaks are returned.
    scale : float64 (3,)
        Size of a voxel along each axis.

    Returns
    -------
    cupy.ndarray, int64 (n,)
        Ascending places in the flattened response.
    """
    return cuda.cupy().sort(_listed(response[None], threshold, separation, scale, of_dips=False, margin=0))


def extrema(responses: Any, thresholds: Any, separation: float, scale: np.ndarray) -> Any:
    """Return the heights of peaks well apart, above 0, and of dips, below 0, of several images; float64, in any order.

    Parameters
    ----------
    responses : cupy.ndarray, float32 (images, z, y, x)
    thresholds : cupy.ndarray, float32 (images,)
        For heights and for depths.
    separation, scale
        As in `local_maxima`.

    Returns
    -------
    cupy.ndarray, float64 (n,)
        Without those on the frame's edges along y and x, where the mirror doubles the noise.
    """
    places = _listed(responses, thresholds, separation, scale, of_dips=True, margin=1)
    return responses.reshape(-1)[places % responses.size].astype(np.float64)


def _listed(
    responses: Any, thresholds: Any, separation: float | None, scale: np.ndarray, *, of_dips: bool, margin: int
) -> Any:
    """Return places of peaks in any order, well apart unless `separation` is None; those of dips lie behind."""
    cp, kernel = cuda.cupy(), cuda.load(_KERNELS)["peaks_listed"]
    images, shape = len(responses), tuple(map(np.int32, responses.shape[1:]))
    signs, voxels = 1 + of_dips, math.prod(responses.shape[1:])
    room = max(_ROOM, signs * responses.size // _VOXELS_A_PEAK)
    while True:
        state = cp.zeros(signs * responses.size, cp.uint8)
        found, counts = cp.empty(room, cp.int64), cp.zeros(2 + _ROUNDS, cp.int32)
        known = responses, np.int32(images), *shape, thresholds, state, found, np.int32(room), counts
        kernel((-(-voxels // (_VOXELS * THREADS)), signs * images), (THREADS,), known)
        if separation is None:
            peaks = int(counts.get()[0])
        else:
            found, peaks = _well_apart(responses, found, counts, state, separation, scale, margin)
        if peaks <= room:
            return found[:peaks]
        room = peaks


def _well_apart(
    responses: Any, peaks: Any, counts: Any, state: Any, separation: float, scale: np.ndarray, margin: int
) -> tuple[Any, int]:
    """Return a list of the peaks that stay and their number; of peaks that the list did not hold, theirs."""
    cp, kernels, room = cuda.cupy(), cuda.load(_APART), np.int32(len(peaks))
    shape = tuple(map(np.int32, responses.shape[1:]))
    near = *map(np.float64, scale), *map(np.int32, reaches(separation, scale)), np.float64(separation**2)
    blocks = min(_BLOCKS * cuda.multiprocessors(), -(-32 * len(peaks) // THREADS))
    kept = cp.empty(len(peaks), cp.int64)
    while True:
        for after in range(_ROUNDS):
            known = peaks, counts, room, responses, np.int64(responses.size), *shape, *near, state, counts[2 + after :]
            kernels["apart_round"]((blocks,), (THREADS,), known)
        listed = peaks, counts, room, *shape[1:], np.int32(margin), state, kept, counts[1:]
        kernels["apart_listed"]((blocks,), (THREADS,), listed)
        found, stay, *undecided = counts.get().tolist()
        if found > room:
            return peaks, found
        if not undecided[-1]:
            return kept, stay
        counts[1:] = 0


def steps_of(scale: np.ndarray) -> np.ndarray:
    """Return the size of a voxel along z, y and x, of an image of two axes too."""
    return np.pad(scale, (3 - len(scale), 0), constant_values=1.0)


def reaches(separation: float, scale: np.ndarray) -> list[int]:
    """Return how many voxels away along each axis a rival may be."""
    return [int(separation / step) + 1 for step in scale.tolist()]


def can_be_told_apart(separation: float, scale: np.ndarray) -> bool:
    """Whether peaks look for rivals voxel by voxel: few are within their separation."""
    return math.prod(2 * reach + 1 for reach in reaches(separation, scale)) <= _MOST_VOXELS
