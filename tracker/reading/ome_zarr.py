"""An OME-Zarr image, or a Zarr array, as a `Stack`: of full resolution, read in chunks (extra `formats`).

OME-NGFF 0.1 to 0.5: https://ngff.openmicroscopy.org.
"""

from __future__ import annotations

import importlib
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..calibrating.calibration import FRAME
from ..calibrating.stated import ARRAY, AXES, Stated, usable
from ..calibrating.units import MICROMETRE, SECOND, in_seconds, micrometres_of
from ..errors import TIFF_DAMAGE, InvalidInput, InvalidSetting
from ..zarr_attributes import attributes_of, images_of, shape_of
from .arrays import ArrayStack
from .axes import FILE_READINGS, are_known
from .chosen import ONLY_SERIES, series_number
from .contiguous import NEW_MEMORY, PixelBuffer
from .stack import Region

_OLD_AXES = "TCZYX"
"""Those of versions 0.1 and 0.2, which state none."""
_LETTER_OF_TYPE = {"time": "T", "channel": "C"}
_DAMAGE = (OSError, *TIFF_DAMAGE)
"""What zarr and its codecs raise, depending on where a folder is damaged."""


class OmeZarrStack(ArrayStack):
    """An image of an OME-Zarr folder, at full resolution, or a Zarr array. A chunk that is not there is filled.

    Parameters
    ----------
    path : Path
        The folder of an image, of several as in a plate, or of an array.
    axes : str, optional
        As in `TiffStack`.
    series : int or str, optional
        Which of several images, by its number or the name of its folder, such as "B/3/0" of a plate.

    Raises
    ------
    InvalidInput
        If it holds no image, or is damaged.
    UnknownSeries
        If it holds several, and `series` does not say which is meant.
    InvalidSetting
        If the package zarr is not installed.
    UnknownAxes
        If neither the metadata nor `axes` say what each dimension is.
    """

    def __init__(self, path: Path, axes: str | None = None, series: int | str | None = None) -> None:
        with _damage_explained(path):
            images = _images(path)
        names = tuple(image.relative_to(path).as_posix() for image in images) if len(images) > 1 else ONLY_SERIES
        number = series_number(series, names, path)
        package = _zarr()
        with _damage_explained(path):
            opened = (_opened_array if shape_of(images[number]) else _opened_image)(package, images[number])
        super().__init__(opened.array, axes or opened.stated.axes, path=path, readings=FILE_READINGS)
        self.series, self.series_names, self._names = number, names, opened.channels
        letters = opened.stated.axes
        self.stated = replace(opened.stated, axes=letters if are_known(letters or "") else None)

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the channels."""
        return self._names if len(self._names) == self.size("C") else super().channels

    def is_read_at_once(self) -> bool:
        """Return True: zarr may be asked by several threads."""
        return True

    def volume(self, frame: int, channel: int, region: Region, into: PixelBuffer = NEW_MEMORY) -> np.ndarray:
        """Return one frame, (z, y, x), in memory of its own."""
        with _damage_explained(self.path):
            return super().volume(frame, channel, region, into)


class _Opened(NamedTuple):
    array: Any
    stated: Stated
    """Its axes may have letters that are not known here."""
    channels: tuple[str, ...]


def _opened_array(package: Any, folder: Path) -> _Opened:
    return _Opened(package.open_array(str(folder), mode="r"), Stated(source=ARRAY), ())


def _opened_image(package: Any, group: Path) -> _Opened:
    """Return the array of full resolution of an image, and what the image states of it."""
    said = attributes_of(group)
    image = said["multiscales"][0]
    dataset = image["datasets"][0]
    array = package.open_array(str(group / dataset["path"]), mode="r")
    letters, units = _axes(image, len(array.shape))
    stated = _stated(letters, _scale((dataset, image), len(letters)), units)
    return _Opened(array, replace(stated, axes=letters), _channel_names(said))


def _images(path: Path) -> Sequence[Path]:
    if images := images_of(path):
        return images
    raise InvalidInput(f"{path}: says that it holds OME-Zarr images, and none is there.")


def _zarr() -> Any:
    try:
        return importlib.import_module("zarr")
    except ImportError as error:
        raise InvalidSetting(
            f"OME-Zarr needs the package zarr ({error}). Install it: pip install 'auctrack[formats]'."
        ) from error


def _axes(image: Mapping[str, Any], ndim: int) -> tuple[str, tuple[str | None, ...]]:
    """Return a letter and a unit of each dimension; what has no letter here keeps the first of its name."""
    axes: Sequence[Any] = image.get("axes") or list(_OLD_AXES[-ndim:])
    stated: list[Mapping[str, str]] = [{"name": axis} if isinstance(axis, str) else axis for axis in axes]
    letters = "".join(_LETTER_OF_TYPE.get(axis.get("type", ""), axis["name"][0].upper()) for axis in stated)
    return letters, tuple(axis.get("unit") for axis in stated)


def _scale(levels: Sequence[Mapping[str, Any]], ndim: int) -> np.ndarray | None:
    """Return the size of a step along each dimension; None where it is not stated."""
    scales = [
        np.broadcast_to(np.asarray(change["scale"], float), ndim)
        for level in levels
        for change in level.get("coordinateTransformations") or ()
        if change.get("type") == "scale"
    ]
    return prod(scales, start=np.ones(ndim)) if scales else None


def _stated(letters: str, scale: np.ndarray | None, units: Sequence[str | None]) -> Stated:
    """Return voxel size and frame interval; a step in time without a unit states nothing, as most are left at 1."""
    if scale is None:
        return Stated(source="OME-Zarr")
    step = {letter: float(size) for letter, size in zip(letters, scale, strict=True) if usable(float(size))}
    unit = dict(zip(letters, units, strict=True))
    space = {axis: axis.upper() for axis in AXES if axis.upper() in step}
    has_units = any(unit[letter] for letter in space.values())
    factors = {axis: micrometres_of(unit[letter] or "") if has_units else 1.0 for axis, letter in space.items()}
    interval, odd = in_seconds(step.get("T"), unit.get("T") or FRAME)
    return Stated(
        sizes={axis: step[space[axis]] * factor for axis, factor in factors.items() if factor is not None},
        unit=MICROMETRE if has_units else None,
        frame_interval=interval,
        time_unit=SECOND,
        source="OME-Zarr",
        odd_interval=odd,
    )


def _channel_names(said: Mapping[str, Any]) -> tuple[str, ...]:
    listed = (said.get("omero") or {}).get("channels") or ()
    return tuple(str(channel.get("label") or f"channel {number}") for number, channel in enumerate(listed))


@contextmanager
def _damage_explained(path: Path) -> Generator[None]:
    try:
        yield
    except InvalidInput:
        raise
    except _DAMAGE as error:
        raise InvalidInput(f"{path}: is a damaged OME-Zarr ({type(error).__name__}: {error}).") from error
