"""Pixels in the memory of the host or of a GPU, and what is asked of both alike.

Detection is written once, for arrays of NumPy and of CuPy. What is done to every voxel has a form for each
(`separable`, `peaks`, `around`); particles, thousands of times fewer, are looked at on the host.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...matching.device import cuda
from ...matching.device.arrays import all_true, median
from ..reading.contiguous import PixelBuffer
from ..reading.frames import BRIGHTEST
from .padding import content

_WHOLE = 4  # bytes of whole numbers none of which is too large


@dataclass(frozen=True)
class Pixels:
    """An image within its padding.

    Attributes
    ----------
    pixels : ndarray, or of CuPy
        In the memory of the host, or of a GPU.
    inside : tuple of slice
        Where they lie in the image.
    """

    pixels: np.ndarray
    inside: tuple[slice, ...]

    @classmethod
    def of(cls, image: np.ndarray) -> Pixels:
        """Return a view of an image on the host, without its padding."""
        inside = content(image)
        return cls(image[inside], inside)

    def brought_to(self, device: str) -> Pixels:
        """Return the frame in the memory of a GPU, itself where it is there."""
        if cuda.is_device_array(self.pixels):
            return self
        with cuda.using(device), cuda.copy_stream():
            return Pixels(_there(self.pixels), self.inside)


@contextmanager
def working_on(device: str) -> Generator[None]:
    """Make a device the current one: "cpu", "cuda" or "cuda:N".

    Threads that work on one GPU do not wait for each other.

    Raises
    ------
    DeviceUnavailable, DeviceMemoryExceeded
        As `cuda.using`.
    """
    if device == "cpu":
        yield
        return
    with cuda.using(device), cuda.own_stream():
        yield


@contextmanager
def queue_of(device: str) -> Generator[Callable[[], None]]:
    """Make a device the current one, and yield what waits for what is queued there meanwhile: see `cuda.queue`."""
    if device == "cpu":
        yield lambda: None
        return
    with cuda.using(device), cuda.queue() as wait:
        yield wait


@contextmanager
def held_by(device: str, image: np.ndarray) -> Generator[np.ndarray]:
    """Yield the image in the memory of a device, `working_on` it; one that is there already stays the caller's."""
    with working_on(device):
        yield image if device == "cpu" or cuda.is_device_array(image) else _there(image)


def _there(image: np.ndarray) -> Any:
    """Return the image on the current device; from pinned memory the copy goes on beside what else is done."""
    cp = cuda.cupy()
    if not image.flags.c_contiguous:
        return cp.asarray(image)
    there = cp.empty(image.shape, image.dtype)
    there.set(image, stream=cp.cuda.get_current_stream())
    return there


def pinned_memory(device: str, threads: int | None = None) -> PixelBuffer:
    """Return memory that a GPU copies from without a detour, pinned and used again; see `PixelBuffer`."""

    def pinned(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
        count = math.prod(shape)
        with cuda.using(device) as cp:
            memory = cp.cuda.alloc_pinned_memory(max(count * dtype.itemsize, 1))
        return np.frombuffer(memory, dtype, count).reshape(shape)

    return PixelBuffer(pinned, threads)


def grey_levels(
    image: np.ndarray, background: Callable[[], float] | None = None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the image in float32 and, where some voxels have no value in it, a mask of those that have.

    Voxels without a value (NaN, infinite, or too large: some programs mark them by the largest float) get the median of
    the others, the background's grey level; `background` says it where the image is a part of another.
    """
    with np.errstate(over="ignore"):  # beyond float32 is infinite
        grey = image.astype(np.float32, order="C", copy=False)
    if image.dtype.kind in "biu" and image.dtype.itemsize <= _WHOLE:
        return grey, None
    known = _has_value(grey)
    if all_true(known):
        return grey, None
    return np.where(known, grey, np.float32(background_of(grey) if background is None else background())), known


def background_of(image: np.ndarray) -> float:
    """Return the median of the voxels that have a value, 0 where none has."""
    with np.errstate(over="ignore"):
        grey = image.astype(np.float32, copy=False)
    known = grey[_has_value(grey)]
    return median(known) if known.size else 0.0


def _has_value(grey: np.ndarray) -> np.ndarray:
    return (grey < BRIGHTEST) & (grey > -BRIGHTEST)


def largest(pixels: np.ndarray) -> float:
    """Return the largest absolute value, 0 of no pixels."""
    return max(float(pixels.max()), -float(pixels.min())) if pixels.size else 0.0
