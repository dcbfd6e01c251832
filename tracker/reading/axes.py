"""What the dimensions of a TIFF file or an array are: as it or the user says, or the question to ask the user."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, InvalidSetting, UnknownAxes

LETTERS = "TZCYX"
FILE_READINGS = {
    2: {"YX": "each file is the image of one time point"},
    3: {
        "ZYX": "each file is the z-stack of one time point",
        "TYX": "it is a movie in 2D",
        "TZ12YX": "its pages are 12 planes (put your number) of one time point after the other",
    },
    4: {
        "TZYX": "planes change before time points",
        "ZTYX": "time points change before planes",
        "TCYX": "it is a movie in 2D with channels",
    },
    5: {"TCZYX": "planes change first, then channels", "TZCYX": "channels change first, then planes"},
}
"""What the dimensions of a silent file may be: axes, and the case in which it is them."""
ARRAY_READINGS = {
    2: {"YX": "it is one image"},
    3: {
        "TYX": "it is a movie in 2D",
        "ZYX": "it is one z-stack",
        "TZ12YX": "its first dimension is 12 planes (put your number) of one time point after the other",
    },
    4: {
        "TZYX": "time points come first, then planes",
        "ZTYX": "planes come first, then time points",
        "TCYX": "it is a movie in 2D with channels",
    },
    5: {"TCZYX": "planes come after channels", "TZCYX": "channels come after planes"},
}
"""What those of an array may be."""


def divided(axes: str, shape: tuple[int, ...], path: Path) -> tuple[str, tuple[int, ...]]:
    """Return axes without numbers, and the shape that the numbers in them divide the pages into.

    Raises
    ------
    UnknownAxes
        If the numbers do not divide the pages evenly.
    """
    if not re.fullmatch(r"(\D\d*)*\D\d+\D*YX", axes.upper()):
        return axes, shape
    parts = re.findall(r"(\D)(\d*)", axes)
    letters = "".join(letter for letter, _ in parts)
    lengths = [int(number) if number else -1 for _, number in parts[:-2]]
    known = math.prod(length for length in lengths if length > 0)
    pages = math.prod(shape[:-2])
    rest = pages // known if known else 0
    if 0 in lengths or lengths.count(-1) > 1 or rest * known != pages or (-1 not in lengths and rest != 1):
        raise UnknownAxes(
            f"the axes {axes} do not divide the {pages} pages of {path}; leave the number of one axis open, as in "
            f"TZ{_least_divisor(pages)}YX, and give the others such that they divide it."
        )
    return letters, (*(rest if length == -1 else length for length in lengths), *shape[-2:])


def _least_divisor(pages: int) -> int:
    return next((n for n in range(2, math.isqrt(pages) + 1) if pages % n == 0), pages)


def known_axes(
    found: str,
    shape: tuple[int, ...],
    given: str | None,
    path: Path,
    readings: Mapping[int, Mapping[str, str]] = FILE_READINGS,
) -> str:
    """Return the axes of a file: those given, else those found, which must all have a meaning here.

    `readings` are what an error offers.

    Raises
    ------
    UnknownAxes
        If a letter has no meaning, comes twice, or there is not one a dimension; Y and X come last, in that order.
    InvalidInput
        If there are more dimensions than letters.
    """
    axes = (found if given is None else given).upper()
    sizes = " × ".join(map(str, shape))
    if len(shape) > len(LETTERS):
        raise InvalidInput(
            f"{path} has {len(shape)} dimensions, of {sizes}; up to five can be read, T, Z, C, Y and X. Write those "
            "that are to be tracked into a file of their own."
        )
    remedy = naming_axes(len(shape), readings)
    if given is None and not are_known(axes):
        raise UnknownAxes(
            f"{path}: the file does not say what its {len(shape)} dimensions of {sizes} are (tifffile reads {found}). "
            "The letters are T time, Z depth, C channel, Y, X.",
            **remedy,
        )
    fault = _fault(axes)
    if fault is not None and not fault.startswith(_PLANES_LAST):
        raise UnknownAxes(f"the axes {given} {fault}", **remedy)
    if len(axes) != len(shape):
        planes = " A row of pages is divided by a number, such as TZ12YX for 12 planes a time point."
        raise UnknownAxes(
            f"the axes {given} name {len(axes)} dimensions, and {path} has {len(shape)}, of {sizes}."
            f"{planes if len(axes) > len(shape) > 2 else ''}",
            **remedy,
        )
    if fault is not None:
        raise UnknownAxes(f"the axes {given} {fault}", **remedy)
    return axes


def require_axes(axes: str) -> None:
    """Refuse letters that fit no input; numbers between them divide pages.

    Raises
    ------
    InvalidSetting
    """
    fault = _fault(re.sub(r"\d", "", axes.upper()))
    if fault is not None:
        raise InvalidSetting(f"needs one letter a dimension, such as TZYX; the axes {axes} {fault}", setting="axes")


_PLANES_LAST = "must end in YX"


def _fault(axes: str) -> str | None:
    """Return what is wrong with letters whatever the file, a letter of no meaning first."""
    if axes.endswith(("YXC", "YXS")):
        return f"{_PLANES_LAST}; the colours of a colour image get no letter, one of them is chosen as channel."
    unknown = sorted(set(axes) - set(LETTERS))
    if unknown:
        return f"have {', '.join(unknown)}; the letters are T, Z, C, Y, X."
    if len(set(axes)) < len(axes):
        return "name one twice."
    return None if axes.endswith("YX") else f"{_PLANES_LAST}."


def are_known(axes: str) -> bool:
    """Whether letters say what each dimension is, planes last."""
    return set(axes) <= set(LETTERS) and axes.endswith("YX")


def naming_axes(ndim: int, readings: Mapping[int, Mapping[str, str]] = FILE_READINGS) -> dict[str, Any]:
    """Return how to say what `ndim` dimensions are, for an `InvalidInput`."""
    offered = readings.get(ndim, readings[4])
    python = ", ".join(f'axes="{axes}" if {case}' for axes, case in offered.items())
    return {"in_python": f"Say which is which: {python}.", "setting": "axes", "examples": offered}
