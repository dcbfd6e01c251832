"""Blob filters and their local maxima: scale-normalised LoG and DoG with one sigma per axis, sub-voxel peaks.

A bright ball of diameter D answers a Laplacian of Gaussian most strongly at sigma = D / (2·sqrt(ndim)) (Lindeberg,
"Feature detection with automatic scale selection", IJCV 30, 1998). Sigma is isotropic in physical space, hence
anisotropic in voxels where the voxels are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Literal

import numpy as np

from ...matching.device import cuda
from . import gpu_separable, separable
from .separable import UNTOUCHED, AxisTaps

Method = Literal["log", "dog"]

DOG_RATIO = 1.6  # Marr & Hildreth's ratio of the two Gaussians
_TRUNCATE = 4.0
_SMALLEST_SIGMA = 0.3  # below this a sampled Gaussian is one voxel and its second derivative underflows


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
        Finite values. On a GPU several side by side, (…, z, y, x) or (…, y, x), have their responses side by side.
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


def reach_of(diameter: float, scale: np.ndarray, method: Method = "log") -> list[int]:
    """Return how many voxels from it along each axis the response at a voxel depends on."""
    taps = _laplacian_taps if method == "log" else _dog_taps
    return [len(taps(float(sigma)).own) for sigma in sigma_of(diameter, scale)]


def laplacian_of_gaussian(image: np.ndarray, sigma: np.ndarray, threads: int = 1) -> np.ndarray:
    """Return minus the sum of sigma²·∂² of the smoothed image, float32; an axis of sigma 0 is left alone."""
    axes = [_laplacian_taps(float(s)) if s > 0 else UNTOUCHED for s in sigma]
    return _filtered(image, axes, 0.0, (0.0, -1.0), threads)


@lru_cache(maxsize=64)
def _laplacian_taps(sigma: float) -> AxisTaps:
    """Return what carries (smoothed, Laplacian) along an axis."""
    gauss, second = (_one_side(kernel) for kernel in gaussian_kernels(sigma))
    return AxisTaps(gauss, second, gauss)


def _dog(image: np.ndarray, sigma: np.ndarray, threads: int) -> np.ndarray:
    """Return the narrow Gaussian minus the wide one, over ln(ratio)."""
    weight = 1.0 / math.log(DOG_RATIO)
    return _filtered(image, [_dog_taps(float(s)) for s in sigma], 1.0, (weight, -weight), threads)


@lru_cache(maxsize=64)
def _dog_taps(sigma: float) -> AxisTaps:
    """Return what carries (narrow, wide) along an axis."""
    widen = math.sqrt(DOG_RATIO)
    narrow, wide = (_one_side(gaussian_kernels(s)[0]) for s in (sigma / widen, sigma * widen))
    return AxisTaps(np.pad(narrow, (0, len(wide) - len(narrow))), np.zeros(len(wide)), wide)


def _filtered(
    image: np.ndarray, axes: Sequence[AxisTaps], second: float, weights: tuple[float, float], threads: int
) -> np.ndarray:
    """Filter where the image is."""
    if cuda.is_device_array(image):
        return gpu_separable.filtered(image, axes, second, weights)
    return separable.filtered(image, axes, second, weights, threads)


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


def ball(radius: float, scale: np.ndarray, inner: float = 0.0) -> np.ndarray:
    """Return the voxel offsets (k, ndim), int64, at a physical distance in [inner, radius] from the origin."""
    reach = [range(-int(radius / s), int(radius / s) + 1) for s in scale]
    offsets = np.array(list(product(*reach)), dtype=np.int64)
    distance = np.sqrt(((offsets * scale) ** 2).sum(axis=1))
    return offsets[(distance >= inner) & (distance <= radius)]
