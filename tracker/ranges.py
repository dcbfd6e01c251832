"""Ranges as users write them, in options and settings files: "0:20" for frames, "0:10,100:300,:" for a region."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .errors import InvalidSetting
from .kinds import is_number, is_whole


def parse_frames(text: str) -> slice:
    """Read "from:to" or "from:to:step" as a slice of frame numbers; either end may be left out.

    Raises
    ------
    InvalidSetting
        If it is neither.
    """
    ends = _ends(text, (2, 3))
    if ends is None or ends.step == 0 or _is_empty(ends):
        raise InvalidSetting(
            f"needs FROM:TO or FROM:TO:STEP, such as 0:20 or ::5, with TO above FROM; got {text!r}.", setting="frames"
        )
    return ends


def parse_roi(text: str) -> tuple[slice, ...]:
    """Read one "from:to" an axis, separated by commas, as slices along z, y, x (or y, x).

    Raises
    ------
    InvalidSetting
        If a part is not such a range.
    """
    parts = [_ends(part, (2,)) for part in text.split(",")]
    ranges = tuple(part for part in parts if part is not None and not _is_empty(part))
    if len(ranges) < len(parts):
        raise InvalidSetting(
            f"needs one from:to per axis, such as 0:10,100:300,: (z,y,x), with to above from; got {text!r}.",
            setting="roi",
        )
    return ranges


def frames_of(given: slice | str) -> slice:
    """Return a range of frame numbers that is given as a slice, or as a text.

    Raises
    ------
    InvalidSetting
        If it is neither, or its numbers are not whole.
    """
    if isinstance(given, str):
        return parse_frames(given)
    ends: list[Any] = [given.start, given.stop, given.step] if isinstance(given, (slice, range)) else [None, None, 0]  # pyright: ignore[reportUnnecessaryIsInstance]
    if ends[2] == 0 or not all(end is None or is_whole(end) for end in ends):
        raise InvalidSetting(
            f'needs a range of whole numbers, such as slice(0, 20) or "0:20"; got {given!r}.', setting="frames"
        )
    return slice(*(None if end is None else int(end) for end in ends))


def roi_of(given: Sequence[slice] | str) -> tuple[slice, ...]:
    """Return a region that is given as slices, or as a text.

    Raises
    ------
    InvalidSetting
        If it is neither.
    """
    if isinstance(given, str):
        return parse_roi(given)
    parts = tuple(given) if isinstance(given, Sequence) else ()  # pyright: ignore[reportUnnecessaryIsInstance]
    if not parts or not all(map(_is_range, parts)):
        raise InvalidSetting(
            "needs one range an axis, such as (slice(0, 10), slice(100, 300), slice(None)) or "
            f'"0:10,100:300,:"; got {given!r}.',
            setting="roi",
        )
    return parts


def _is_range(part: Any) -> bool:
    """Whether this is a slice between numbers, or open at an end."""
    return isinstance(part, slice) and all(end is None or is_number(end) for end in (part.start, part.stop))


def _is_empty(ends: slice) -> bool:
    """Whether a range holds nothing, whatever it is taken of."""
    return ends.stop is not None and ends.stop <= (ends.start or 0)


def _ends(text: str, counts: tuple[int, ...]) -> slice | None:
    """Return whole numbers between colons as a slice, None if there are not as many, or they are not whole numbers."""
    numbers = [part.strip() for part in text.split(":")]
    if len(numbers) not in counts or not all(number == "" or number.isdecimal() for number in numbers):
        return None
    return slice(*(int(number) if number else None for number in numbers))
