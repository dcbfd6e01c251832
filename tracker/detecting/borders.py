"""Positions of particles at the border of a frame, where the filter sees them beside their mirror image.

The mirrored response is even about the border: its peak is drawn to the outermost voxel and tells nothing of where
within it the particle is. What tells is how the particle fades inwards, plane by plane, in the image itself. Filtered
along the other axes alone, no mirrored voxel enters and the background is gone; the profile that is left is taken for
a Gaussian, as wide as the particles inside the frame.
"""

from __future__ import annotations

import numpy as np

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
    for axis, size in enumerate(shape):
        depth = min(PLANES, size)
        for side in (0, 1):
            rank = voxels[:, axis] if side == 0 else size - 1 - voxels[:, axis]
            near = np.flatnonzero(rank < min(NEAR, size / 2))
            if depth < 2 or len(near) == 0:
                continue
            centre = _centre(seen.profiles[axis, side, near, :depth].T, variance[axis])
            fades = centre < depth - 0.5  # False where nothing can be told, too
            place = _within_frame(centre[fades])
            moved[near[fades], axis] = place if side == 0 else size - 1 - place
    return moved


def _variances(voxels: np.ndarray, shape: tuple[int, ...], seen: Around, sigma: np.ndarray) -> np.ndarray:
    """Return the variance of the particles' Gaussian profile along each axis, float64 (ndim,), in voxels squared.

    A Gaussian spot of variances s² answers the filter with a peak whose relative bend along an axis is (1 + 2·share)/v,
    with v = s² + sigma² and share = (sigma²/v) over its sum along all axes. The bend is the median of the peaks inside
    the frame; an axis along which there are none gets the filter's own width.
    """
    ndim = len(sigma)
    own = sigma**2 * ndim / 2.0
    total = own + sigma**2
    bend = (1.0 + 2.0 / ndim) / total
    for axis, size in enumerate(shape):
        inside = (voxels[:, axis] >= NEAR) & (voxels[:, axis] < size - NEAR)
        if inside.any():
            low, peak, high = seen.before[axis, inside], seen.height[inside], seen.after[axis, inside]
            bend[axis] = max(bend[axis] / _WIDEST, float(np.median((2.0 * peak - low - high) / peak)))
    for _ in range(_ROUNDS):
        part = sigma**2 / total
        total = (1.0 + 2.0 * part / part.sum()) / bend
    return np.maximum(total - sigma**2, own / _WIDEST)


def _centre(profile: np.ndarray, variance: float) -> np.ndarray:
    """Return where Gaussians of a variance that have these profiles (planes, n) are centred, NaN where it is open."""
    plane = np.arange(len(profile), dtype=np.float64)[:, None]
    seen = np.maximum(profile, 0.0)
    straight = np.log(np.where(seen > 0, seen, 1.0)) + plane**2 / (2.0 * variance)
    weight = seen**2  # noise of a logarithm goes with one over the height
    with np.errstate(invalid="ignore", divide="ignore"):
        middle = (weight * plane).sum(axis=0) / weight.sum(axis=0)
        lever = weight * (plane - middle)
        return variance * (lever * straight).sum(axis=0) / (lever * (plane - middle)).sum(axis=0)


def _within_frame(centre: np.ndarray) -> np.ndarray:
    """Return centres with those beyond the border voxel's centre drawn smoothly into its outer half.

    A limit would collect them at one value.
    """
    beyond = np.maximum(-centre, 0.0)
    return np.where(centre < 0, -beyond / (1.0 + 2.0 * beyond), centre)
