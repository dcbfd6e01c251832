"""What `peaks` asks of every voxel, on a GPU."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...matching.device import cuda

THREADS = 256
_KERNELS = str(Path(__file__).with_name("peaks.cu"))
_APART = str(Path(__file__).with_name("apart.cu"))
_ROOM = 1 << 16  # places of a list at first, at least
_VOXELS_OF_NOISE = 32  # a peak, or more
_MOST_VOXELS = 1 << 15  # that a peak looks at for rivals; where there would be more, a tree finds them sooner
_VOXELS = cuda.declared(_KERNELS, "VOXELS")  # that a thread looks at
AS_FAR = 1.0 + 1e-9  # of a separation: rivals just as far apart are told by no rounding, wherever they are
_ROUNDS = 8  # at first: one where nothing is undecided takes less than to look whether that is so
_BLOCKS = 8  # a multiprocessor, of those that go through a list whose length the GPU alone knows


@dataclass(frozen=True)
class Bounds:
    """What is enough for most images; where it is not, peaks are listed once more within others.

    Attributes
    ----------
    room : int
        Peaks that a list holds.
    rounds : int
        In which it is decided which of them stay.
    """

    room: int
    rounds: int = _ROUNDS

    @classmethod
    def of(cls, voxels: int, voxels_a_peak: int = _VOXELS_OF_NOISE) -> Bounds:
        """Return bounds for images in which peaks are no denser; those of noise are not."""
        return cls(max(_ROOM, voxels // voxels_a_peak))


@dataclass(frozen=True)
class Listed:
    """Peaks well apart on a GPU, in any order, whose number the GPU alone knows so far.

    Attributes
    ----------
    places : cupy.ndarray, int64 (room,)
        In the flattened responses; those of dips lie behind.
    heights : cupy.ndarray, float32 (room,)
        The responses there.
    counts : cupy.ndarray, int32 (2 + rounds,)
        Peaks found, peaks that stay, and peaks undecided after each round.
    bounds : Bounds
    """

    places: Any
    heights: Any
    counts: Any
    bounds: Bounds

    def outcome(self, counts: np.ndarray) -> tuple[int, Bounds | None]:
        """Return the number of peaks, by `counts` on the host, or the bounds that it takes to tell."""
        found, stay, *undecided = counts.tolist()
        if found > self.bounds.room:
            return found, Bounds(found, self.bounds.rounds)
        return stay, Bounds(self.bounds.room, 2 * self.bounds.rounds) if undecided[-1] else None


def listed(
    responses: Any, thresholds: Any, separation: float, scale: np.ndarray, bounds: Bounds, *, margin: int | None = None
) -> Listed:
    """List the peaks of several images well apart, and wait for nothing.

    Parameters
    ----------
    responses : cupy.ndarray, float32 (images, z, y, x)
    thresholds : cupy.ndarray, float32 (images,)
        For heights and for depths.
    separation : float
        Such that peaks `can_be_told_apart`; 0 leaves all of them.
    scale : float64 (3,)
        Size of a voxel along each axis.
    bounds : Bounds
    margin : int, optional
        Dips are listed too, and nothing so near the frame's edges along y and x: the mirror doubles the noise there.
    """
    cp, kernels = cuda.cupy(), cuda.load(_APART)
    images, shape = len(responses), tuple(map(np.int32, responses.shape[1:]))
    signs, voxels, room = 1 if margin is None else 2, math.prod(responses.shape[1:]), np.int32(bounds.room)
    state, counts = cp.zeros(signs * responses.size, cp.uint8), cp.zeros(2 + bounds.rounds, cp.int32)
    found, kept = cp.empty((2, bounds.room), cp.int64)
    heights = cp.empty(bounds.room, cp.float32)
    sought = responses, np.int32(images), *shape, thresholds, state, found, room, counts
    grid = -(-voxels // (_VOXELS * THREADS)), signs * images
    cuda.load(_KERNELS)["peaks_listed"](grid, (THREADS,), sought)
    near = *map(np.float64, scale), *map(np.int32, reaches(separation, scale)), np.float64((separation * AS_FAR) ** 2)
    blocks = min(_BLOCKS * cuda.multiprocessors(), -(-32 * bounds.room // THREADS))
    whose = found, counts, room, responses, np.int64(responses.size)
    for after in range(bounds.rounds):
        kernels["apart_round"]((blocks,), (THREADS,), (*whose, *shape, *near, state, counts[2 + after :]))
    wanted = *whose, *shape[1:], np.int32(margin or 0), state, kept, heights, counts[1:]
    kernels["apart_listed"]((blocks,), (THREADS,), wanted)
    return Listed(kept, heights, counts, bounds)


def steps_of(scale: np.ndarray) -> np.ndarray:
    """Return the size of a voxel along z, y and x, of an image of two axes too."""
    return np.concatenate([np.ones(3 - len(scale)), scale])


def reaches(separation: float, scale: np.ndarray) -> list[int]:
    """Return how many voxels away along each axis a rival may be."""
    return [int(separation / step) + 1 for step in scale.tolist()]


def can_be_told_apart(separation: float, scale: np.ndarray) -> bool:
    """Whether peaks look for rivals voxel by voxel: few are within their separation."""
    return math.prod(2 * reach + 1 for reach in reaches(separation, scale)) <= _MOST_VOXELS
