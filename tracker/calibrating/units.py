"""Units of length and time under the many names that files give them, brought to µm and s."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..errors import InvalidSetting
from .calibration import FRAME, PIXEL

MICROMETRE = "µm"
SECOND = "s"

_PIXEL_NAMES = frozenset({"pixel", "pixels", "px", "voxel", "voxels"})

_MICROMETRES = {
    1e-4: ("Å", "angstrom"),
    1e-3: ("nm", "nanometer", "nanometre", "nanometers", "nanometres"),
    1.0: ("µm", "μm", "um", "micron", "microns", "micrometer", "micrometre", "micrometers", "micrometres"),
    1e3: ("mm", "millimeter", "millimetre", "millimeters", "millimetres"),
    1e4: ("cm", "centimeter", "centimetre", "centimeters", "centimetres"),
    1e6: ("m", "meter", "metre", "meters", "metres"),
}
_SECONDS = {
    1e-9: ("ns", "nanosecond", "nanoseconds"),
    1e-6: ("µs", "μs", "us", "microsecond", "microseconds"),
    1e-3: ("ms", "msec", "millisecond", "milliseconds"),
    1.0: ("s", "sec", "secs", "second", "seconds"),
    60.0: ("min", "mins", "minute", "minutes"),
    3600.0: ("h", "hr", "hour", "hours"),
    86400.0: ("d", "day", "days"),
}
_MICROMETRES_OF = {name: factor for factor, names in _MICROMETRES.items() for name in names}
_SECONDS_OF = {name: factor for factor, names in _SECONDS.items() for name in names}

LENGTHS, TIMES = (tuple(names[0] for names in table.values()) for table in (_MICROMETRES, _SECONDS))
"""The units of length and time that are known, each under one of its names."""


def micrometres_of(unit: str) -> float | None:
    """Return how many µm one `unit` is; None when the name is not a known length (pixels are none)."""
    return _factor(unit, _MICROMETRES_OF)


def seconds_of(unit: str) -> float | None:
    """Return how many seconds one `unit` is; None when the name is not a known time."""
    return _factor(unit, _SECONDS_OF)


def in_seconds(interval: float | None, unit: str) -> tuple[float | None, str]:
    """Return an interval between frames in s, None where that is not known, and what it is in a unit that is not."""
    seconds = seconds_of(unit)
    if interval is None or seconds is not None or _is_frame(unit):
        return None if interval is None or seconds is None else interval * seconds, ""
    return None, f"{interval:g} {unit}"


def in_its_unit(interval: float | None, unit: str) -> tuple[float | None, str]:
    """Return an interval between frames and its unit, whatever that is; none without one, or counted in frames."""
    name = unit.strip()
    if interval is None or not name or _is_frame(name):
        return None, FRAME
    return interval, SECOND if seconds_of(name) == 1.0 else name


def _is_frame(unit: str) -> bool:
    return unit.strip().lower() in (FRAME, f"{FRAME}s")


def is_pixel(unit: str) -> bool:
    """Whether `unit` is one of the names for a pixel."""
    return unit.strip().lower() in _PIXEL_NAMES


def unit_name(unit: str) -> str:
    """Return the project's own spelling: "pixel" for pixels, "µm" for a micron; other names as they came."""
    if is_pixel(unit):
        return PIXEL
    return MICROMETRE if micrometres_of(unit) == 1.0 else unit.strip()


def in_one_unit(sizes: Mapping[str, float], units: Mapping[str, str]) -> tuple[dict[str, float], str | None]:
    """Return sizes along axes in the unit of all of them, in µm where there are several; None where none is a length.

    Where only some are, no size is known along the other axes.
    """
    factors = {axis: factor for axis in sizes if (factor := micrometres_of(units[axis])) is not None}
    names = {unit_name(units[axis]) for axis in factors}
    if not names or (len(names) == 1 and len(factors) == len(sizes)):
        return dict(sizes), names.pop() if names else None
    return {axis: sizes[axis] * factor for axis, factor in factors.items()}, MICROMETRE


def length_factor(of: str, to: str) -> float:
    """Return how many `to` one `of` is.

    Raises
    ------
    InvalidSetting
        If one of them is not a length that is known here.
    """
    if of == PIXEL != to:
        raise InvalidSetting(
            f"needs to say how large a pixel is in {to}: lengths are in pixels. Give 1 along every axis where "
            f"positions are in {to} already.",
            setting="scale",
        )
    return _ratio(of, to, micrometres_of, "length", LENGTHS)


def time_factor(of: str, to: str) -> float:
    """Return how many `to` one `of` is; raises `InvalidSetting` as `length_factor` does."""
    return _ratio(of, to, seconds_of, "time", TIMES)


def _factor(unit: str, table: dict[str, float]) -> float | None:
    name = unit.strip()
    return table.get(name, table.get(name.lower()))


def _ratio(of: str, to: str, factor_of: Callable[[str], float | None], kind: str, known: tuple[str, ...]) -> float:
    if of == to:
        return 1.0
    numerator, denominator = factor_of(of), factor_of(to)
    if numerator is None or denominator is None:
        raise InvalidSetting(f"cannot convert the {kind} unit {of!r} to {to!r}; known are {', '.join(known)}.")
    return numerator / denominator
