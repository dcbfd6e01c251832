"""Positions of particles at the border of a frame, where the filter sees them beside their mirror image.

The mirrored response is even about the border: its peak is drawn to the outermost voxel and tells nothing of where
within it the particle is. What tells is how the particle fades inwards, plane by plane, in the image itself. Filtered
along the other axes alone, no mirrored voxel enters and the background is gone; the profile that is left is taken for
a Gaussian, as wide as the particles inside the frame.
"""

from __future__ import annotations

import math

import numpy as np

from ...matching.device.arrays import median
from ...matching.jit.compiled import SMALL, compiled
from .around import NEAR, PLANES, Around

_WIDEST = 16.0  # variance of a profile over that of the diameter's own, and the other way round
_ROUNDS = 20  # of the widths' equations, which settle to a part in a thousand


def refine_at_borders(
    positions: np.ndarray, voxels: np.ndarray, shape: tuple[int, ...], seen: Around, sigma: np.ndarray
) -> np.ndarray:
    """Return positions whose coordinates next to a border come from the image instead of the mirrored response.

    Parameters
    ----------
    positions : ndarray, float64 (n, ndim)
        From `peaks.refine`, in voxels.
    voxels : ndarray, int64 (n, ndim)
        The peaks themselves.
    shape : tuple of int
        Of the image.
    seen : Around
        Around the peaks.
    sigma : ndarray, float64 (ndim,)
        Of the filter, in voxels.

    Returns
    -------
    ndarray, float64 (n, ndim)
        Inside the outermost voxels, whose edges are half a voxel from their centres. What does not fade inwards, and an
        axis of one voxel, is left as it is.
    """
    moved = positions.copy()
    variance = _variances(voxels, shape, seen, sigma)
    _move(voxels, np.array(shape), seen.near, seen.profiles, variance, moved)
    return moved


@compiled(plain=SMALL)
def _move(
    voxels: np.ndarray,
    shape: np.ndarray,
    near: np.ndarray,
    profiles: np.ndarray,
    variance: np.ndarray,
    positions: np.ndarray,
) -> None:
    """Write the coordinates that come from the image."""
    for axis in range(len(shape)):
        size = shape[axis]
        depth = min(PLANES, size)
        for number in range(len(near) if depth > 1 else 0):
            i = near[number]
            for side in range(2):
                rank = voxels[i, axis] if side == 0 else size - 1 - voxels[i, axis]
                if rank >= NEAR or 2 * rank >= size:
                    continue
                centre = _centre(profiles[axis, side, number], depth, variance[axis])
                if centre < depth - 0.5:  # False where nothing can be told, too
                    place = _within_frame(centre)
                    positions[i, axis] = place if side == 0 else size - 1 - place


def _variances(voxels: np.ndarray, shape: tuple[int, ...], seen: Around, sigma: np.ndarray) -> np.ndarray:
    """Return the variance of the particles' Gaussian profile along each axis, float64 (ndim,), in voxels squared.

    A Gaussian spot of variances s² answers the filter with a peak whose relative bend along an axis is (1 + 2·share)/v,
    with v = s² + sigma² and share = (sigma²/v) over its sum along all axes. The bend is the median of the peaks inside
    the frame; an axis along which there are none gets the filter's own width.
    """
    ndim = len(sigma)
    of_filter = sigma**2
    own = of_filter * ndim / 2.0
    bend = (1.0 + 2.0 / ndim) / (own + of_filter)
    bends = np.empty(len(voxels))
    for axis in range(ndim):
        inside = bends[: _bends(voxels, np.array(shape), axis, seen.height, seen.before, seen.after, bends)]
        if len(inside):
            bend[axis] = max(bend[axis] / _WIDEST, median(inside))
    total = own + of_filter
    _settle(bend, of_filter, total)
    return np.maximum(total - of_filter, own / _WIDEST)


@compiled(plain=SMALL)
def _bends(
    voxels: np.ndarray,
    shape: np.ndarray,
    axis: int,
    height: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    bends: np.ndarray,
) -> int:
    """Write how much the responses bend along an axis, of peaks that are inside the frame along it, and count these."""
    count = 0
    for i in range(len(voxels)):
        if NEAR <= voxels[i, axis] < shape[axis] - NEAR:
            bends[count] = (2.0 * height[i] - before[axis, i] - after[axis, i]) / height[i]
            count += 1
    return count


@compiled(plain=SMALL)
def _settle(bend: np.ndarray, of_filter: np.ndarray, total: np.ndarray) -> None:
    """Bring the variances of the answers to the peaks into line with their bends."""
    for _ in range(_ROUNDS):
        shares = 0.0
        for axis in range(len(total)):
            shares += of_filter[axis] / total[axis]
        for axis in range(len(total)):
            total[axis] = (1.0 + 2.0 * (of_filter[axis] / total[axis]) / shares) / bend[axis]


@compiled
def _centre(profile: np.ndarray, depth: int, variance: float) -> float:
    """Return where a Gaussian of a variance that has this profile (planes,) is centred, NaN where it is open."""
    weights, middle = 0.0, 0.0
    for plane in range(depth):
        seen = max(profile[plane], 0.0)
        weight = seen * seen  # noise of a logarithm goes with one over the height
        weights += weight
        middle += weight * plane
    if weights == 0.0:
        return np.nan
    middle /= weights
    slope, spread = 0.0, 0.0
    for plane in range(depth):
        seen = max(profile[plane], 0.0)
        lever = seen * seen * (plane - middle)
        straight = (math.log(seen) if seen > 0.0 else 0.0) + plane * plane / (2.0 * variance)
        slope += lever * straight
        spread += lever * (plane - middle)
    return variance * slope / spread if spread != 0.0 else np.nan


@compiled
def _within_frame(centre: float) -> float:
    """Return a centre, one beyond the border voxel's centre drawn smoothly into its outer half.

    A limit would collect them at one value.
    """
    return centre / (1.0 - 2.0 * centre) if centre < 0.0 else centre
