"""Peaks of a response: local maxima above a threshold, well apart, placed between the voxels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...matching.device import cuda
from ...matching.jit.compiled import SMALL, compiled
from ...matching.points.grid import build_grid, pairs_in_grid
from ..reading.frames import BRIGHTEST
from . import gpu_peaks
from .gpu_tables import there

if TYPE_CHECKING:
    from .around import Around

_FEW_ROWS, _PAIRS_AT_A_TIME = 1024, 1 << 23
"""Peaks whose rivals are looked for at a time, at least, and some pairs of them: these are what takes memory."""


def local_maxima(response: np.ndarray, threshold: float, separation: float, scale: np.ndarray) -> np.ndarray:
    """Return the peaks above a threshold, well apart, as places in the flattened response.

    They ascend, int64 (n,), and are held where the response is.

    A peak is at least as high as its neighbours (diagonal ones too) and above `threshold`. Of two peaks within
    `separation` (physical) only the higher stays, of two of equal height the first in raster order, so that a plateau
    no wider than `separation` is one peak.
    """
    if cuda.is_device_array(response):
        by_voxels = can_be_listed(separation, scale)
        peaks = _maxima_there(response, threshold, separation if by_voxels else 0.0, scale)
        if by_voxels:
            return peaks
    else:
        peaks = peaks_above(response.reshape((-1, *response.shape[-2:])), _limit(threshold))
    positions = np.stack(np.unravel_index(cuda.to_host(peaks), response.shape), axis=1) * scale
    heights = cuda.to_host(response.reshape(-1)[peaks])
    return peaks[np.asarray(apart(positions, heights, separation), like=peaks)]


def can_be_listed(separation: float, scale: np.ndarray) -> bool:
    """Whether a GPU tells peaks apart by itself: few voxels are within their separation."""
    return gpu_peaks.can_be_told_apart(separation, gpu_peaks.steps_of(scale))


def listed_maxima(
    response: Any, threshold: float, separation: float, scale: np.ndarray, bounds: gpu_peaks.Bounds
) -> gpu_peaks.Listed:
    """List what `local_maxima` returns of a response on a GPU, in any order, without waiting for it."""
    volumes = response.reshape((1, -1, *response.shape[-2:]))
    thresholds = there(np.array([_limit(threshold)], np.float32))
    return gpu_peaks.listed(volumes, thresholds, separation, gpu_peaks.steps_of(scale), bounds)


def _maxima_there(response: Any, threshold: float, separation: float, scale: np.ndarray) -> Any:
    """Return what `local_maxima` does of a response on a GPU, whatever the number of peaks."""
    bounds = gpu_peaks.Bounds.of(response.size)
    while True:
        peaks = listed_maxima(response, threshold, separation, scale, bounds)
        stay, more = peaks.outcome(peaks.counts.get())
        if more is None:
            return np.sort(peaks.places[:stay])
        bounds = more


def _limit(threshold: float) -> float:
    """Return a threshold that float32 holds."""
    return float(np.float32(min(threshold, BRIGHTEST)))


def peaks_above(response: np.ndarray, threshold: float) -> np.ndarray:
    """Return the voxels (z, y, x) above a threshold that no neighbour exceeds: ascending places, int64 (n,)."""
    marked = np.empty(response.shape, dtype=np.bool_)
    _mark_peaks(response, threshold, marked)
    return np.flatnonzero(marked)


@compiled
def _mark_peaks(response: np.ndarray, threshold: float, peaks: np.ndarray) -> None:
    """Mark the voxels (z, y, x) above a threshold that are at least as high as all of their 26 neighbours.

    Four of them are compared first, a row at a time and without branches: few voxels are left for the others.
    """
    depth, height, width = response.shape
    for z in range(depth):
        below, above = response[max(z - 1, 0)], response[min(z + 1, depth - 1)]
        for y in range(height):
            row, marked = response[z, y], peaks[z, y]
            before, after = response[z, max(y - 1, 0)], response[z, min(y + 1, height - 1)]
            under, over = below[y], above[y]
            for x in range(width):
                here = row[x]
                sideways = (here >= before[x]) & (here >= after[x])
                marked[x] = (here > threshold) & sideways & (here >= under[x]) & (here >= over[x])
            for x in range(width):
                if marked[x]:
                    marked[x] = _is_highest(response, z, y, x)


@compiled
def _is_highest(response: np.ndarray, z: int, y: int, x: int) -> bool:
    """Whether no neighbour of a voxel is higher."""
    depth, height, width = response.shape
    for k in range(max(z - 1, 0), min(z + 2, depth)):
        for j in range(max(y - 1, 0), min(y + 2, height)):
            for i in range(max(x - 1, 0), min(x + 2, width)):
                if response[k, j, i] > response[z, y, x]:
                    return False
    return True


def apart(positions: np.ndarray, heights: np.ndarray, separation: float) -> np.ndarray:
    """Return a mask (n,) of the points that stay when each drops every lower one at most `separation` away."""
    if separation <= 0.0:
        return np.ones(len(positions), dtype=bool)
    return keep_highest(_rivals(positions, separation * gpu_peaks.AS_FAR), heights)


def _rivals(positions: np.ndarray, separation: float) -> np.ndarray:
    """Return the pairs of points within `separation`, each once, int32 (p, 2); those of some points at a time."""
    if len(positions) == 0:
        return np.empty((0, 2), np.int32)
    grid, pairs = build_grid(positions, separation), list[np.ndarray]()
    rows = max(_FEW_ROWS, int(_PAIRS_AT_A_TIME / (27 * grid.density)))  # points of the cells around one's own
    for first in range(0, len(positions), rows):
        indptr, places, _ = pairs_in_grid(positions[first : first + rows], grid, separation)
        own = np.repeat(np.arange(first, first + len(indptr) - 1, dtype=np.int32), np.diff(indptr))
        others = grid.order[places]
        is_once = own < others
        pairs.append(np.stack([own[is_once], others[is_once]], axis=1))
    return np.concatenate(pairs)


def keep_highest(pairs: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """Return a mask (n,) of the points that stay when, from the highest down, each drops its rivals.

    Parameters
    ----------
    pairs : ndarray, int64 (p, 2)
        Rivals, in any order.
    heights : ndarray (n,)
        Of equal heights the first is the higher.
    """
    one, other = pairs.T
    is_first = (heights[one] > heights[other]) | ((heights[one] == heights[other]) & (one < other))
    higher, lower = np.where(is_first, one, other), np.where(is_first, other, one)
    stays = np.zeros(len(heights), dtype=bool)
    undecided = np.ones(len(heights), dtype=bool)
    while undecided.any():
        # A peak that has no higher rival left would be the next to choose in the descending order too.
        winners = undecided.copy()
        winners[lower] = False
        stays |= winners
        undecided &= ~winners
        undecided[lower[winners[higher]]] = False
        rivals = undecided[higher] & undecided[lower]
        higher, lower = higher[rivals], lower[rivals]
    return stays


def refine(voxels: np.ndarray, shape: tuple[int, ...], seen: Around) -> np.ndarray:
    """Return sub-voxel positions, float64 (n, ndim): a parabola through each peak and its two neighbours, per axis.

    The shift is at most half a voxel; along an axis where the peak lies on the border it is zero
    (`borders.refine_at_borders` looks there again).
    """
    positions = voxels.astype(np.float64)
    _shift(voxels, np.array(shape), seen.height, seen.before, seen.after, positions)
    return positions


@compiled(plain=SMALL)
def _shift(
    voxels: np.ndarray,
    shape: np.ndarray,
    height: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    positions: np.ndarray,
) -> None:
    """Add how far from its voxel each parabola is highest."""
    for axis in range(len(shape)):
        for i in range(len(voxels)):
            low, high = before[axis, i], after[axis, i]
            bend = 2.0 * height[i] - low - high
            if 0 < voxels[i, axis] < shape[axis] - 1 and bend > 0.0:
                positions[i, axis] += min(max(0.5 * (high - low) / bend, -0.5), 0.5)
