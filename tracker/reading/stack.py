"""What a `Movie` asks of what holds its pixels: a TIFF file, the files of a folder, an OME-Zarr, or an array."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..calibrating.stated import Stated
from ..timeline import Timeline
from .contiguous import NEW_MEMORY, PixelBuffer

SPACE = "ZYX"
"""The letters of the spatial axes."""

Region = tuple[slice, slice, slice]
"""A region of interest along z, y, x."""


class Stack(Protocol):
    """Planes that are read when they are asked for.

    Attributes
    ----------
    path : Path
        What messages call it.
    axes : str
        Its dimensions, such as "TZCYX".
    dtype : numpy.dtype
        Type of the pixels, native byte order.
    is_mask : bool
        Whether they are truth values, which are read as 0 and 1.
    stated : Stated
        What it says of voxel size and time.
    timeline : Timeline
        The frames that there are.
    note : str
        What is to be said about them; else empty.
    n_files : int
    series_names : tuple of str
        The series that the file holds, such as the positions of a stage.
    series : int
        The one that is read.
    """

    path: Path
    axes: str
    dtype: np.dtype[Any]
    is_mask: bool
    stated: Stated
    note: str
    n_files: int
    series_names: tuple[str, ...]
    series: int

    @property
    def timeline(self) -> Timeline:
        """See above."""
        ...

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the channels."""
        ...

    def size(self, axis: str) -> int:
        """Return the length along one axis, 1 where there is no such axis."""
        ...

    def check_whole(self, frames: Sequence[int], channel: int) -> None:
        """Raise `InvalidInput` where some of the frames are not whole; reads no pixels."""
        ...

    def is_read_at_once(self) -> bool:
        """Whether several threads may read frames side by side."""
        ...

    def volume(self, frame: int, channel: int, region: Region, into: PixelBuffer = NEW_MEMORY) -> np.ndarray:
        """Return one frame, (z, y, x), if it can `into` the memory given.

        Raises
        ------
        InvalidInput
            If planes are missing or damaged.
        """
        ...

    def close(self) -> None:
        """Close what was opened."""
        ...
