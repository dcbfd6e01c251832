"""The TIFF files of a folder as one stack: each is a frame, or a plane or channel of one."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...matching.jit.threads import side_by_side
from ..errors import InvalidInput, UnknownAxes
from ..timeline import Timeline
from .axes import naming_axes
from .contiguous import NEW_MEMORY, PixelBuffer
from .folder import check_alike
from .frame_names import timed
from .name_axes import NameAxis, kinds_of, name_axes, stated_letters
from .stack import Region
from .tiff import TiffStack, dimensions_of

_IN_NAMES = "TCZ"
"""What the numbers in names may count."""


class FileStack:
    """Several TIFF files as one `Stack`; each is opened when it is read.

    The one number in which their names differ is the time. Where several differ, the words before them say what they
    count ("img_t000_z012"), or the letters of `axes` in front of those of one file do, from left to right.

    Parameters
    ----------
    files : sequence of Path
        Two or more, in natural order.
    axes : str, optional
        Of one file, as in `TiffStack`; or of the movie, such as "TZYX" where each file is a plane. A leading T stands
        for the files where their names have one number or none that counts.
    series : int or str, optional
        Of each file, as in `TiffStack`.

    Attributes
    ----------
    timeline : Timeline
        Which frames there are, by the numbers in the names; with the file of each, or the first of its files.
    note : str
        What is to be said about them, as `timed` returns it.

    Raises
    ------
    InvalidInput
        As `TiffStack`; or where a plane or channel has no file, or two.
    UnknownAxes
        As `TiffStack`.
    """

    def __init__(self, files: Sequence[Path], axes: str | None, series: int | str | None = None) -> None:
        self._files, self._series_given = tuple(files), series
        self.path, self.n_files = self._files[0], len(self._files)
        in_names = name_axes(files) or []
        if axes is None:
            _refuse_positions(in_names, self.path)
        self._named, self._file_axes = _axes_of_names_and_file(self.path, in_names, axes, series)
        with self._opened(self.path) as first:
            self.series, self.series_names = first.series, first.series_names
            self.axes = self._named + "".join(axis for axis in first.axes if axis not in self._named)
            self.dtype, self.stated, self.channels = first.dtype, first.stated, first.channels
            self.is_mask = first.is_mask
            self._sizes = dict(first.sizes)
        if self._named == "T":
            self.timeline, self.note = timed(self._files)
            said = [self.note] if self.note else []
            if len(in_names) == 2 and self.size("Z") == 1:
                said.append("axes TZYX would take the numbers for time and plane")
            elif len(in_names) == 1 and self.size("Z") == 1 and axes is None and not stated_letters(in_names):
                said.append("the number in the names is taken for the time; axes ZYX would take it for the plane")
            self.note = "; ".join(said)
            self._file_at = {(n, 0, 0): file for n, file in zip(self.timeline.numbers or (), files, strict=True)}
        else:
            self._lay_out(dict(zip(self._named, in_names, strict=True)))
            if (stated := stated_letters(in_names)) not in ("", self._named):
                words = f"the words in the names say {stated}, and the axes given {self._named}"
                self.note = f"{self.note}; {words}" if self.note else words

    def _lay_out(self, named: dict[str, NameAxis]) -> None:
        """Find the frame, channel and plane of each file."""
        counted = [named[axis].numbers if axis in named else [0] * len(self._files) for axis in _IN_NAMES]
        file_of = dict(zip(zip(*counted, strict=True), self._files, strict=True))
        times, channels, planes = (sorted(set(numbers)) for numbers in counted)
        _check_complete(file_of, (times, channels, planes), self._files, named)
        firsts = [file_of[time, channels[0], planes[0]] for time in times]
        self.timeline, self.note = timed(firsts) if len(times) > 1 else (Timeline(1, (0,)), "")
        numbers = self.timeline.numbers or ()
        places = itertools.product(zip(numbers, times, strict=True), enumerate(channels), enumerate(planes))
        self._file_at = {(n, c, z): file_of[time, channel, plane] for (n, time), (c, channel), (z, plane) in places}
        self._sizes |= {"T": len(times), "C": max(len(channels), self.size("C")), "Z": max(len(planes), self.size("Z"))}
        if "C" in named:
            self.channels = tuple(f"{named['C'].word}{channel}" for channel in channels)

    def size(self, axis: str) -> int:
        """Return the length along one axis, 1 where the files have no such axis."""
        return self._sizes.get(axis, 1)

    def check_whole(self, frames: Sequence[int], channel: int) -> None:
        """Raise `InvalidInput` where a file is no whole frame or plane, or files or their names are not alike.

        Reads no pixels.
        """
        del frames
        with self._opened(self.path) as first:
            in_file = 0 if "C" in self._named else channel
            check_alike(self._files, first, self._opened, in_file)
            first.check_whole((0,), in_file)
        _refuse_kinds(self._files)
        if self._named == "T":
            _refuse_names_again(self._files)

    def is_read_at_once(self) -> bool:
        """Return True: each frame opens files of its own."""
        return True

    def volume(self, frame: int, channel: int, region: Region, into: PixelBuffer = NEW_MEMORY) -> np.ndarray:
        """Read one frame, (z, y, x), in memory of its own."""
        del into
        in_file, in_name = (0, channel) if "C" in self._named else (channel, 0)
        if "Z" not in self._named:
            return self._read((frame, in_name, 0), in_file, region)
        planes = range(self.size("Z"))[region[0]]
        plane = slice(0, 1), *region[1:]
        return np.concatenate(side_by_side(lambda z: self._read((frame, in_name, z), in_file, plane), planes))

    def _read(self, place: tuple[int, int, int], channel: int, region: Region) -> np.ndarray:
        with self._opened(self._file_at[place]) as stack:
            return stack.volume(0, channel, region)

    def _opened(self, file: Path) -> TiffStack:
        return TiffStack(file, self._file_axes, self._series_given)

    def close(self) -> None:
        """Do nothing: no file stays open."""


def _refuse_kinds(files: Sequence[Path]) -> None:
    """Refuse files of which some differ in their numbers alone, and others in words: masks beside their images."""
    kinds = kinds_of(files)
    if len(kinds) in (1, len(files)):
        return
    first, second, *_ = (of_one[0] for of_one in kinds)
    folder = Path(os.path.commonpath([first.parent, second.parent]))
    longest = max((of_one[0] for of_one in kinds if len(of_one) > 1), key=lambda file: len(str(file)))
    pattern = longest.with_name(re.sub(r"\d+", "*", longest.name))
    raise InvalidInput(
        f"{folder}: its files are of {len(kinds)} kinds by their names, such as {first.relative_to(folder)} and "
        f"{second.relative_to(folder)}, and a movie has one. Give the files of one kind by a pattern, such as "
        f"'{pattern}'; or, if all are frames of one movie, rename them so that only a number differs."
    )


def _refuse_names_again(files: Sequence[Path]) -> None:
    """Refuse files of which several in one folder have the names of those in another: a movie in each."""
    names = {file.name for file in files}
    if not 1 < len(names) < len(files):
        return
    first, second = (next(file for file in ordered if file.name == files[0].name) for ordered in (files, files[::-1]))
    folder = Path(os.path.commonpath([first.parent, second.parent]))
    raise InvalidInput(
        f"{folder}: its folders have files of the same names, such as {first.relative_to(folder)} and "
        f"{second.relative_to(folder)}, and seem to be a movie each. Give the folders, for instance by "
        f"'{first.parent.with_name('*')}'; or, if all are frames of one movie, number them on from folder to folder."
    )


def _refuse_positions(in_names: Sequence[NameAxis], path: Path) -> None:
    """Refuse files whose names count positions of the stage: these are movies of their own, no frames of one."""
    axis = next((axis for axis in in_names if axis.counts_positions), None)
    if axis is None:
        return
    first = re.search(rf"{re.escape(axis.word)}[-_= ]*0*{axis.numbers[0]}(?!\d).", path.name)
    pattern = path.parent / f"*{first[0] if first else axis.word}*"
    raise InvalidInput(
        f"{path.parent}: its files are of several positions, by {axis.word} {axis.numbers[0]} and {max(axis.numbers)} "
        f"in their names, and each is a movie of its own. Give those of one by a pattern, such as '{pattern}'; or if "
        "they are frames of one movie, rename them with a t before the number."
    )


def _axes_of_names_and_file(
    path: Path, in_names: Sequence[NameAxis], axes: str | None, series: int | str | None
) -> tuple[str, str | None]:
    """Return what the numbers in names count, a letter each ("T" where the order does), and the axes of one file."""
    stated = stated_letters(in_names)
    if axes is None:
        with TiffStack(path, series=series) as first:
            return (stated if stated and all(first.size(axis) == 1 for axis in stated) else "T"), None
    axes = axes.upper()
    in_front = len(axes) - dimensions_of(path)
    letters, own = axes[: max(in_front, 0)], axes[max(in_front, 0) :]
    if in_front == len(in_names) and letters and set(letters) <= set(_IN_NAMES) - set(own):
        return letters, own
    if in_front == 0 and stated and not set(stated) & set(axes):
        return stated, axes
    if in_front > 1 and letters.isalpha():
        raise UnknownAxes(
            f"{path.parent}: the axes {axes} have {in_front} letters in front of those of one file ({own}), for as "
            f"many numbers in the names; the names of its files differ in {_differing(in_names)}.",
            **naming_axes(dimensions_of(path)),
        )
    return "T", axes.removeprefix("T")


def _differing(in_names: Sequence[NameAxis]) -> str:
    """Return in how many numbers the names of files differ."""
    if not in_names:
        return "words"
    return "1 number" if len(in_names) == 1 else f"{len(in_names)} numbers"


def _check_complete(
    file_of: dict[tuple[int, ...], Path],
    counted: tuple[list[int], ...],
    files: Sequence[Path],
    named: dict[str, NameAxis],
) -> None:
    """Refuse files of which two are the same plane, or not every frame has all channels and planes."""
    if len(file_of) < len(files):
        second = next(iter(set(files) - set(file_of.values())))
        raise InvalidInput(f"{second}: has the same numbers in its name as another file. Move one of them elsewhere.")
    missing = next((place for place in itertools.product(*counted) if place not in file_of), None)
    if missing is not None:
        place = dict(zip(_IN_NAMES, missing, strict=True))
        numbers = ", ".join(f"{axis.word}{place[letter]}" for letter, axis in named.items())
        raise InvalidInput(
            f"{files[0].parent}: no file has {numbers} in its name. Every frame needs all its planes and channels; "
            "give a pattern that leaves out those that are not whole, such as 'folder/*t0*.tif'."
        )
