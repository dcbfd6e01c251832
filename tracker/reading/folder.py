"""The files of a movie: which they are, and whether they are whole and alike."""

from __future__ import annotations

import glob
import re
from collections.abc import Callable
from pathlib import Path

from ..errors import InvalidInput, SeveralMovies
from ..suffixes import TIFF
from .tiff import AS_TIFF, TiffStack, files_of_series


def files_of(path: str | Path) -> tuple[Path, ...]:
    """Return the file, or the TIFF files of a folder or glob in natural order."""
    place = Path(path)
    try:
        if place.is_dir():
            found = [file for file in place.iterdir() if _is_tiff_name(file)]
        elif glob.has_magic(str(path)) and not place.exists():
            found = [file for name in glob.glob(str(path)) if _is_tiff_name(file := Path(name))]  # noqa: PTH207
        else:
            return (place,)
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read ({error.strerror or error}).") from error
    if not found:
        raise InvalidInput(f"{path}: no TIFF files (.tif, .tiff) are there. {AS_TIFF}")
    return tuple(sorted(found, key=_natural))


def are_of_one_dataset(files: tuple[Path, ...]) -> bool:
    """Whether files are those that one OME-TIFF movie is split over: any of them is read as the whole."""
    movies = files_of_series(files[0])
    return len(movies) == 1 and {file.resolve() for file in files} <= {file.resolve() for file in movies[0]}


def holds_tiff_files(folder: str | Path) -> bool:
    """Whether there are TIFF files in a folder itself."""
    return any(_is_tiff_name(file) for file in Path(folder).iterdir())


def _is_tiff_name(file: Path) -> bool:
    return file.suffix.lower() in TIFF and not file.name.startswith(".")


def _natural(file: Path) -> tuple[tuple[int, str], ...]:
    """Return a key that sorts t2 before t10."""
    parts = re.findall(r"\d+|\D+", str(file))
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in parts)


def check_alike(files: tuple[Path, ...], first: TiffStack, opened: Callable[[Path], TiffStack], channel: int) -> None:
    """Refuse a folder whose files, each as it is `opened`, are not all one whole frame of one shape and type."""
    if first.size("T") > 1:
        are_stated = first.stated.axes is not None
        raise SeveralMovies(
            f"{first.path}: holds {first.size('T')} time points ({first.axes}), but in a folder each file is one "
            f"frame{'' if are_stated else '; if it is one, say what the axes of one file are'}.",
            in_python="Give the movies one by one.",
        )
    for file in files[1:]:
        with opened(file) as other:
            if (other.axes, other.sizes, other.dtype) != (first.axes, first.sizes, first.dtype):
                raise InvalidInput(
                    f"{file}: is {_form(other)}, but {first.path.name} is {_form(first)}; all files of a folder must "
                    "be alike. Move the others elsewhere, or give a pattern such as 'folder/frame*.tif'."
                )
            other.check_whole((0,), channel)


def _form(stack: TiffStack) -> str:
    return f"{stack.axes} {' × '.join(map(str, stack.sizes.values()))} {stack.dtype}"
