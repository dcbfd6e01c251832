"""The frames of an Image or Labels layer, as detection reads those of a file."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ....tracker.calibrating.calibration import Calibration
from ....tracker.reading.contiguous import NEW_MEMORY, PixelBuffer
from ....tracker.timeline import Timeline


@dataclass(frozen=True)
class Restriction:
    """The part of a layer that is tracked.

    Attributes
    ----------
    frames : tuple of int or None
        First and last frame; None = all.
    region : tuple of slice or None
        Voxels, one slice with both ends along z, y, x (or y, x); None = all.
    """

    frames: tuple[int, int] | None = None
    region: tuple[slice, ...] | None = None


@dataclass(frozen=True)
class LayerMovie:
    """The frames of a layer: a `tracker.reading.frames.FrameSource`.

    Attributes
    ----------
    data : array (t, z, y, x) or (t, y, x)
        NumPy or dask; a frame is computed when it is read.
    calibration : Calibration
    path : Path
        The layer's file, or its name.
    frame_numbers : tuple of int
        Frames to read, counted along the first axis.
    region : tuple of slice or None
        Voxels to read, one slice with both ends along z, y, x (or y, x); None = all.
    """

    data: Any
    calibration: Calibration
    path: Path
    frame_numbers: tuple[int, ...]
    region: tuple[slice, ...] | None = None
    _lock: threading.Lock = field(repr=False, default_factory=threading.Lock)

    def __len__(self) -> int:
        return len(self.frame_numbers)

    @property
    def timeline(self) -> Timeline:
        """The frames to read; a layer has every frame, or a blank one in its place."""
        return Timeline(1, self.frame_numbers)

    @property
    def whole_shape(self) -> tuple[int, ...]:
        """(z, y, x) or (y, x) of a whole frame; a z axis of length 1 counts as 2D, as in files."""
        shape = tuple(int(size) for size in self.data.shape[1:])
        return shape[1:] if len(shape) == 3 and shape[0] == 1 else shape

    @property
    def shape(self) -> tuple[int, ...]:
        """(z, y, x) or (y, x) of what is read of a frame."""
        if self.region is None:
            return self.whole_shape
        return tuple(part.stop - part.start for part in self.region)

    @property
    def ndim(self) -> int:
        """Number of spatial axes."""
        return len(self.whole_shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the pixels."""
        return np.dtype(self.data.dtype)

    @property
    def origin(self) -> tuple[int, ...]:
        """Offset of the region; detections add it, so that positions are those of the whole frame."""
        return (0,) * self.ndim if self.region is None else tuple(part.start for part in self.region)

    def frame(self, number: int, into: PixelBuffer = NEW_MEMORY) -> np.ndarray:
        """Return one frame, computed now, in memory that its layer says, not `into` any."""
        del into
        with self._lock:
            whole = _computed(self.data[number]).reshape(self.whole_shape)
        return whole if self.region is None else whole[self.region]


def _computed(image: Any) -> np.ndarray:
    """Return an image in memory, computed without callbacks where it is of dask.

    While napari slices, the cache that it calls back is registered for all of dask, but bears one thread alone: another
    one that computes then makes either fail with a KeyError, or leaves the cache registered for good.
    """
    from dask.base import compute, is_dask_collection

    if is_dask_collection(image):
        (image,) = compute(image, callbacks=())
    return np.asarray(image)
