"""An array as a `Stack` of planes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..calibrating.stated import ARRAY, Stated
from ..errors import InvalidInput, UnknownAxes
from ..timeline import Timeline
from .axes import ARRAY_READINGS, LETTERS, are_known, divided, known_axes, naming_axes
from .chosen import ONLY_SERIES
from .contiguous import NEW_MEMORY, PixelBuffer
from .pixel_types import read_as
from .stack import SPACE, Region

_LETTER_OF = {"TIME": "T", "CHANNEL": "C"}
"""What arrays call dimensions that have a letter here."""


@runtime_checkable
class Array(Protocol):
    """What is asked of an array: those of NumPy, dask, zarr, h5py and xarray have it."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Length along each axis."""
        ...

    @property
    def dtype(self) -> Any:
        """Type of the pixels."""
        ...

    def __getitem__(self, index: Any, /) -> Any:
        """Return a part."""
        ...


class ArrayStack:
    """A movie that is an array; a frame is computed or copied when it is read.

    Parameters
    ----------
    array : Array
    axes : str, optional
        As in `TiffStack`; needed, unless the array names its dimensions, as those of xarray do.
    path : Path, optional
        What messages call it.
    readings : mapping, optional
        What its dimensions may be, for who does not know.

    Raises
    ------
    InvalidInput
        If it has no pixels, or other ones than whole or real numbers.
    UnknownAxes
        If `axes` does not say what each dimension is.
    """

    note = ""
    n_files = 1
    series_names: tuple[str, ...] = ONLY_SERIES
    series = 0

    def __init__(
        self,
        array: Array,
        axes: str | None,
        *,
        path: Path = Path("array"),
        readings: Mapping[int, Mapping[str, str]] = ARRAY_READINGS,
    ) -> None:
        self.path = path
        shape = tuple(map(int, array.shape))
        sizes = " × ".join(map(str, shape))
        if not 2 <= len(shape) <= len(LETTERS):
            raise InvalidInput(
                f"{path}: needs 2 to {len(LETTERS)} dimensions, of {', '.join(LETTERS)} (time, depth, channel, y, x); "
                f"it has {len(shape)}{f', of {sizes}' if shape else ''}."
            )
        if axes is None and (axes := _named_axes(array, len(shape))) is None:
            raise UnknownAxes(
                f"{path}: needs axes, a letter for each of its {len(shape)} dimensions of {sizes}; an array does not "
                "say what they are.",
                **naming_axes(len(shape), ARRAY_READINGS),
            )
        if readings is ARRAY_READINGS:  # an array can be given in another order
            _refuse_other_order(axes.upper(), len(shape))
        axes, parts = divided(axes, shape, path)
        self.axes = known_axes(axes, parts, axes, path, readings)
        if 0 in shape:
            raise InvalidInput(f"{path}: holds no pixels; its shape is {sizes}.")
        if (read := read_as(array.dtype)) is None:
            raise InvalidInput(f"{path}: has pixels of type {array.dtype}; it needs whole or real numbers.")
        self.dtype, self.is_mask = read
        if isinstance(array, np.ma.MaskedArray):
            raise InvalidInput(
                "array: is masked, and masks are not supported. Fill it: array.astype(float).filled(nan)."
            )
        self._array: Any = array if parts == shape else _divided(array, parts)
        self.sizes = dict(zip(self.axes, parts, strict=True))
        self.stated = Stated(source=ARRAY)

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the channels."""
        return tuple(f"channel {number}" for number in range(self.size("C")))

    def size(self, axis: str) -> int:
        """Return the length along one axis, 1 where the array has no such axis."""
        return self.sizes.get(axis, 1)

    @property
    def timeline(self) -> Timeline:
        """The frames that there are, from 0 on."""
        return Timeline(1, tuple(range(self.size("T"))))

    def check_whole(self, frames: Sequence[int], channel: int) -> None:
        """Do nothing: an array is whole."""

    def is_read_at_once(self) -> bool:
        """Return False: dask and h5py may not be asked by several threads."""
        return False

    def volume(self, frame: int, channel: int, region: Region, into: PixelBuffer = NEW_MEMORY) -> np.ndarray:
        """Return one frame, (z, y, x), in memory of its own."""
        del into
        where = {"T": frame, "C": channel, **dict(zip(SPACE, region, strict=True))}
        part = np.array(self._array[tuple(where[axis] for axis in self.axes)], dtype=self.dtype)
        return part.reshape((-1, *part.shape[-2:]))

    def close(self) -> None:
        """Do nothing: the array is the caller's."""


def _refuse_other_order(axes: str, ndim: int) -> None:
    """Refuse axes of which Y and X are not the last, such as those of colour images, with what puts them there."""
    if len(axes) != ndim or len(set(axes)) < ndim or not {"Y", "X"} <= set(axes) <= set(LETTERS) or axes[-2:] == "YX":
        return
    others = "".join(letter for letter in axes if letter not in "YX")
    raise UnknownAxes(
        f"array: the axes {axes} must end in YX.",
        in_python=f"Give numpy.moveaxis(array, ({axes.index('Y')}, {axes.index('X')}), (-2, -1)), whose axes are "
        f'"{others}YX".',
        setting="axes",
    )


def _named_axes(array: Any, ndim: int) -> str | None:
    """Return the axes by which an array of xarray calls its dimensions; None where these are not said, or not known."""
    names = (str(name).upper() for name in getattr(array, "dims", ()))
    letters = [_LETTER_OF.get(name, name) for name in names]
    axes = "".join(letters)
    is_said = len({*letters} & {*LETTERS}) == len(letters) == ndim and are_known(axes)
    return axes if is_said else None


def _divided(array: Any, parts: tuple[int, ...]) -> Any:
    """Return the array in the shape that its axes say, if it can be reshaped (zarr and h5py cannot)."""
    if not hasattr(array, "reshape"):
        raise InvalidInput(
            f"array: is a {type(array).__name__} that cannot be reshaped from {' × '.join(map(str, array.shape))} to "
            f"{' × '.join(map(str, parts))}. Give it in that shape, with one letter in axes for each dimension."
        )
    return array.reshape(parts)
