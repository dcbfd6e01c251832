"""The series of a TIFF file: its images, as of several positions of the stage, some of which may be in other files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidInput
from .chosen import series_number
from .metadata import ome_image_names

if TYPE_CHECKING:
    from tifffile import TiffFile

POSITIONS = "R"
"""The axis of a Micro-Manager stack that tifffile calls so; all other formats have a series a position."""
MICRO_MANAGER = "mmstack"
"""What tifffile calls such stacks."""


@dataclass(frozen=True)
class TiffSeries:
    """One series of a file.

    Attributes
    ----------
    pages : tifffile.TiffPageSeries
        Of a Micro-Manager stack those of all positions.
    number : int
    names : tuple of str
        Those of all series.
    """

    pages: Any
    number: int
    names: tuple[str, ...]


def series_of(tif: TiffFile, given: int | str | None, path: Path) -> TiffSeries:
    """Return the series asked for; where none is, the only one, or the only one of which this very file has planes.

    Raises
    ------
    UnknownSeries
        If the file has planes of several, and none is given.
    InvalidInput
        If no file is there of the one that is meant, or none of its first frames.
    InvalidSetting
        If it is not among them.
    """
    found: Sequence[Any] = tif.series
    if len(found) == 1 and found[0].kind == MICRO_MANAGER:
        _refuse_late_start(tif, found[0], path)
        names, found, own = _positions(tif, found[0])
    else:
        names, found = _named(tif, found)
        own = [number for number, each in enumerate(found) if each is not None and each.keyframe.parent is tif]
    if given is None and len(own) == 1:
        return TiffSeries(found[own[0]], own[0], names)
    sizes = ["" if each is None else " × ".join(map(str, each.shape)) for each in found]
    number = series_number(given, names, path, sizes)
    if found[number] is None:
        raise InvalidInput(f"{path}: the file of its series {number} ({names[number]}) is missing.")
    return TiffSeries(found[number], number, names)


def files_of_each(tif: TiffFile) -> tuple[tuple[Path, ...], ...]:
    """Return the files that hold the planes of each series, as far as they are there, in the order of their names."""
    stack = tif.series[0]
    if stack.kind == MICRO_MANAGER and POSITIONS in stack.axes:
        found = _pages_by_position(stack)
    else:
        _, found = _named(tif, tif.series)
    places = [{page.parent.filehandle.path for page in (each or ()) if page is not None} for each in found]
    return tuple(tuple(map(Path, sorted(of_one))) for of_one in places)


def _refuse_late_start(tif: TiffFile, stack: Any, path: Path) -> None:
    """Refuse the later file of a Micro-Manager stack by itself, of which tifffile would count frames from 0."""
    first = 0 if stack.is_multifile else int(_index_map(tif)[:, 2].min())
    if first > 0:
        raise InvalidInput(
            f"{path}: begins with frame {first} of its movie; the file before it is missing. Put it beside this one."
        )


def _index_map(tif: TiffFile) -> np.ndarray:
    """Return channel, plane, frame, position and place of each page of a Micro-Manager file."""
    said: Any = tif.micromanager_metadata
    return said["IndexMap"]


def _pages_by_position(stack: Any) -> Sequence[Sequence[Any]]:
    """Return the pages of each position of a Micro-Manager stack; None where one is missing."""
    shape = stack.shape[: -stack.keyframe.ndim]
    numbers = np.moveaxis(np.arange(len(stack)).reshape(shape), stack.axes.index(POSITIONS), 0)
    return [[stack[number] for number in of_one.ravel().tolist()] for of_one in numbers]


def _positions(tif: TiffFile, stack: Any) -> tuple[tuple[str, ...], Sequence[Any], list[int]]:
    """Return the names of the positions of a Micro-Manager stack, what holds each, and those that are in this file."""
    said: Any = tif.micromanager_metadata
    summary, own = said["Summary"], np.unique(_index_map(tif)[:, 3]).tolist()
    count = max(int(summary.get("Positions", 1)), max(own) + 1)
    labels = [place.get("Label") for place in summary.get("StagePositions") or summary.get("InitialPositionList") or ()]
    if len(labels) != count or not all(labels):
        labels = [f"position {number}" for number in range(count)]
    has_all = POSITIONS in stack.axes  # else tifffile found no files of the others
    return tuple(map(str, labels)), [stack if has_all or number in own else None for number in range(count)], own


def _named(tif: TiffFile, found: Sequence[Any]) -> tuple[tuple[str, ...], Sequence[Any]]:
    """Return names and series; None for those of an OME dataset without their files, which tifffile leaves out."""
    images = ome_image_names(tif.ome_metadata or "")
    own = [each.name for each in found]
    if len(images) > len(own) and [name for name in images if name in own] == own:
        by_name = dict(zip(own, found, strict=True))
        found = [by_name.get(name) for name in images]
        own = images
    return tuple(name or f"series {number}" for number, name in enumerate(own)), found
