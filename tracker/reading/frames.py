"""What detection asks of a movie, wherever its frames come from."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..calibrating.calibration import Calibration
from ..timeline import Timeline
from .contiguous import NEW_MEMORY, PixelBuffer

BRIGHTEST = 1e18
"""A grey level from which on it is none: the squares of grey levels must be numbers of float32."""


class FrameSource(Protocol):
    """Frames that are read one at a time: those of a `Movie`, or of a layer in a viewer."""

    def __len__(self) -> int:
        """Number of frames to read."""
        ...

    def frame(self, number: int, into: PixelBuffer = NEW_MEMORY) -> np.ndarray:
        """Return one frame, of `shape` and `dtype`, if it can `into` the memory given; from any thread."""
        ...

    @property
    def path(self) -> Path:
        """What errors call it."""
        ...

    @property
    def frame_numbers(self) -> tuple[int, ...]:
        """The frames to read, ascending."""
        ...

    @property
    def timeline(self) -> Timeline:
        """The same, and the step between them."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """(z, y, x) or (y, x) of a frame."""
        ...

    @property
    def ndim(self) -> int:
        """Number of spatial axes, 2 or 3."""
        ...

    @property
    def origin(self) -> tuple[int, ...]:
        """Where frames begin in those of the file, in voxels, one number an axis; positions are counted from there."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the pixels."""
        ...

    @property
    def calibration(self) -> Calibration:
        """Voxel size and frame interval."""
        ...
