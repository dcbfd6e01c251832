"""Blob filters and their local maxima: scale-normalised LoG and DoG with one sigma per axis, sub-voxel peaks.

A bright ball of diameter D answers a Laplacian of Gaussian most strongly at sigma = D / (2·sqrt(ndim)) (Lindeberg,
"Feature detection with automatic scale selection", IJCV 30, 1998). Sigma is isotropic in physical space, hence
anisotropic in voxels where the voxels are.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Literal

import numpy as np
from numba import njit
from scipy.spatial import cKDTree

from .separable import UNTOUCHED, AxisTaps, filtered

Method = Literal["log", "dog"]

DOG_RATIO = 1.6  # Marr & Hildreth's ratio of the two Gaussians
_TRUNCATE = 4.0
_BRIGHTEST = 1e18  # the squares of grey levels must be numbers of float32
_SMALLEST_SIGMA = 0.3  # below this a sampled Gaussian is one voxel and its second derivative underflows


def grey_levels(image: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the image in float32 and, where some voxels have no value in it, a mask of those that have.

    Voxels without a value (NaN, infinite, or too large: some programs mark them by the largest float) get the median of
    the others, the background's grey level.
    """
    with np.errstate(over="ignore"):  # beyond float32 is infinite
        grey = np.ascontiguousarray(image, dtype=np.float32)
    known = np.abs(grey) < _BRIGHTEST
    if known.all():
        return grey, None
    return np.where(known, grey, np.median(grey[known]) if known.any() else np.float32(0.0)), known


def sigma_of(diameter: float, scale: np.ndarray) -> np.ndarray:
    """Return the sigma per axis, in voxels, that answers best to balls of a physical diameter.

    Parameters
    ----------
    diameter : float
        Diameter of the particle, in the unit of `scale`. A Gaussian spot of standard deviation s has the diameter
        2·sqrt(2)·s in this sense, 1.2 times its full width at half maximum, in 2D and 3D alike.
    scale : ndarray, float64 (ndim,)
        Size of a voxel along each axis.
    """
    return diameter / (2.0 * math.sqrt(len(scale))) / scale


def blob_response(
    image: np.ndarray, diameter: float, scale: np.ndarray, method: Method = "log", threads: int = 1
) -> np.ndarray:
    """Filter an image so that bright balls of a diameter become peaks.

    The response is in grey levels and independent of the diameter: a ball of that diameter and contrast C peaks at
    0.92·C in 3D, a disc at 0.74·C in 2D. A constant image gives zero.

    Parameters
    ----------
    image : ndarray, float32 (z, y, x) or (y, x)
        Finite values.
    diameter, scale
        As in `sigma_of`.
    method : {"log", "dog"}
        "log": minus the sum of sigma²·∂² per axis of the smoothed image (scale-normalised Laplacian of Gaussian).
        "dog": its mean over sigmas from sigma/sqrt(1.6) to sigma·sqrt(1.6), which is a difference of two Gaussians
        divided by ln 1.6; a little broader, and no faster.
    threads : int
        That take part; the response is the same for any number.

    Returns
    -------
    ndarray, float32, shape of `image`
        The only array of this size that is made.
    """
    sigma = sigma_of(diameter, scale)
    return laplacian_of_gaussian(image, sigma, threads) if method == "log" else _dog(image, sigma, threads)


def laplacian_of_gaussian(image: np.ndarray, sigma: np.ndarray, threads: int = 1) -> np.ndarray:
    """Return minus the sum of sigma²·∂² of the smoothed image, float32; an axis of sigma 0 is left alone."""
    axes = [_laplacian_taps(float(s)) if s > 0 else UNTOUCHED for s in sigma]
    return filtered(image, axes, 0.0, (0.0, -1.0), threads)


def _laplacian_taps(sigma: float) -> AxisTaps:
    """Return what carries (smoothed, Laplacian) along an axis."""
    gauss, second = (_one_side(kernel) for kernel in gaussian_kernels(sigma))
    return AxisTaps(gauss, second, gauss)


def _dog(image: np.ndarray, sigma: np.ndarray, threads: int) -> np.ndarray:
    """Return the narrow Gaussian minus the wide one, over ln(ratio)."""
    weight = 1.0 / math.log(DOG_RATIO)
    return filtered(image, [_dog_taps(float(s)) for s in sigma], 1.0, (weight, -weight), threads)


def _dog_taps(sigma: float) -> AxisTaps:
    """Return what carries (narrow, wide) along an axis."""
    widen = math.sqrt(DOG_RATIO)
    narrow, wide = (_one_side(gaussian_kernels(s)[0]) for s in (sigma / widen, sigma * widen))
    return AxisTaps(np.pad(narrow, (0, len(wide) - len(narrow))), np.zeros(len(wide)), wide)


def _one_side(kernel: np.ndarray) -> np.ndarray:
    """Return the values after the centre of an even kernel."""
    return kernel[len(kernel) // 2 + 1 :]


def noise_gain(diameter: float, scale: np.ndarray, method: Method = "log") -> float:
    """Return the standard deviation of the response to white noise of standard deviation 1, far from borders."""
    terms = _separable_terms(sigma_of(diameter, scale), method)
    energy = sum(
        one_weight * other_weight * math.prod(_inner(a, b) for a, b in zip(one, other, strict=True))
        for one_weight, one in terms
        for other_weight, other in terms
    )
    return math.sqrt(energy)


def _separable_terms(sigma: np.ndarray, method: Method) -> list[tuple[float, list[np.ndarray]]]:
    """Return the filter as a weighted sum of products of one kernel per axis."""
    if method == "log":
        pairs = [gaussian_kernels(float(s)) for s in sigma]
        axes = range(len(pairs))
        return [(-1.0, [pairs[axis][1 if axis == bent else 0] for axis in axes]) for bent in axes]
    widen = math.sqrt(DOG_RATIO)
    weight = 1.0 / math.log(DOG_RATIO)
    narrow = [gaussian_kernels(float(s) / widen)[0] for s in sigma]
    wide = [gaussian_kernels(float(s) * widen)[0] for s in sigma]
    return [(weight, narrow), (-weight, wide)]


def _inner(a: np.ndarray, b: np.ndarray) -> float:
    """Return the inner product of two centred kernels of odd lengths."""
    half = min(len(a), len(b)) // 2
    return float(a[len(a) // 2 - half : len(a) // 2 + half + 1] @ b[len(b) // 2 - half : len(b) // 2 + half + 1])


def gaussian_kernels(sigma: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a sampled Gaussian and sigma² times its second derivative, both float64.

    The Gaussian sums to 1; the derivative sums to 0 and has the second moment 2·sigma², both exactly, so that a
    constant background leaves no trace and a parabola keeps its curvature however small sigma is.
    """
    shape = max(sigma, _SMALLEST_SIGMA)
    radius = max(1, math.ceil(_TRUNCATE * shape))
    x = np.arange(-radius, radius + 1, dtype=np.float64)
    gauss = np.exp(-0.5 * (x / shape) ** 2)
    gauss /= gauss.sum()
    second = ((x / shape) ** 2 - 1.0) * gauss
    second -= second.sum() * gauss
    second *= 2.0 * sigma**2 / (second @ x**2)
    return gauss, second


def local_maxima(response: np.ndarray, threshold: float, separation: float, scale: np.ndarray) -> np.ndarray:
    """Return the voxels (n, ndim), int64 in raster order, that are peaks above a threshold, well apart.

    A peak is no lower than its neighbours (diagonal ones too) and above `threshold`. Of two peaks nearer than
    `separation` (physical) only the higher stays, of two of equal height the first in raster order, so that a plateau
    no wider than `separation` is one peak.
    """
    volume = response.reshape((-1, *response.shape[-2:]))
    peaks = np.empty(volume.shape, dtype=np.bool_)
    _mark_peaks(volume, float(np.float32(min(threshold, _BRIGHTEST))), peaks)
    voxels = np.stack(np.unravel_index(np.flatnonzero(peaks), response.shape), axis=1)
    heights = response[tuple(voxels.T)]
    return voxels[apart(voxels * scale, heights, separation)]


@njit(cache=True, nogil=True)
def _mark_peaks(response: np.ndarray, threshold: float, peaks: np.ndarray) -> None:
    """Mark the voxels (z, y, x) above a threshold that are no lower than any of their 26 neighbours.

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


@njit(cache=True, nogil=True)
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
    """Return a mask (n,) of the points that stay when each drops every lower one nearer than `separation`."""
    return keep_highest(cKDTree(positions).query_pairs(separation, output_type="ndarray"), heights)


def keep_highest(pairs: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """Return a mask (n,) of the points that stay when, from the highest down, each drops its rivals.

    Parameters
    ----------
    pairs : ndarray, int64 (p, 2)
        Rivals, in any order.
    heights : ndarray (n,)
        Of equal heights the first is the higher.
    """
    rank = np.empty(len(heights), dtype=np.int64)
    rank[np.argsort(-heights, kind="stable")] = np.arange(len(heights))
    first_higher = rank[pairs[:, 0]] < rank[pairs[:, 1]]
    higher = np.where(first_higher, pairs[:, 0], pairs[:, 1])
    lower = np.where(first_higher, pairs[:, 1], pairs[:, 0])
    stays = np.zeros(len(heights), dtype=bool)
    undecided = np.ones(len(heights), dtype=bool)
    while undecided.any():
        # Whoever has no higher rival left would be the next to choose in the descending order too.
        winners = undecided.copy()
        winners[lower] = False
        stays |= winners
        undecided &= ~winners
        undecided[lower[winners[higher]]] = False
        rivals = undecided[higher] & undecided[lower]
        higher, lower = higher[rivals], lower[rivals]
    return stays


def refine(response: np.ndarray, voxels: np.ndarray) -> np.ndarray:
    """Return sub-voxel positions, float64 (n, ndim): a parabola through each peak and its two neighbours, per axis.

    The shift is at most half a voxel; along an axis where the peak lies on the border it is zero
    (`borders.refine_at_borders` looks there again).
    """
    positions = voxels.astype(np.float64)
    centre = response[tuple(voxels.T)].astype(np.float64)
    for axis, size in enumerate(response.shape):
        inside = (voxels[:, axis] > 0) & (voxels[:, axis] < size - 1)
        before, after = voxels[inside].copy(), voxels[inside].copy()
        before[:, axis] -= 1
        after[:, axis] += 1
        low, high = (response[tuple(side.T)].astype(np.float64) for side in (before, after))
        bend = 2.0 * centre[inside] - low - high
        shift = np.divide(0.5 * (high - low), bend, out=np.zeros_like(bend), where=bend > 0)
        positions[inside, axis] += np.clip(shift, -0.5, 0.5)
    return positions


def ball(radius: float, scale: np.ndarray, inner: float = 0.0) -> np.ndarray:
    """Return the voxel offsets (k, ndim), int64, at a physical distance in [inner, radius] from the origin."""
    reach = [range(-int(radius / s), int(radius / s) + 1) for s in scale]
    offsets = np.array(list(product(*reach)), dtype=np.int64)
    distance = np.sqrt(((offsets * scale) ** 2).sum(axis=1))
    return offsets[(distance >= inner) & (distance <= radius)]
