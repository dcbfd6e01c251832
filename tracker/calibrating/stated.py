"""What a file states about its voxel size and frame interval, and what the user says instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..errors import InvalidSetting, UnknownScale
from .calibration import FRAME, PIXEL, Calibration
from .lengths import is_above_zero
from .units import (
    LENGTHS,
    MICROMETRE,
    SECOND,
    TIMES,
    is_pixel,
    length_factor,
    micrometres_of,
    seconds_of,
    time_factor,
    unit_name,
)

AXES = ("z", "y", "x")
ARRAY = "an array"
"""The source of what is stated of an array, which is nothing."""

_ATOM, _METRE = 1e-5, 1e6
"""Sizes in µm, below and above which no movie of particles has voxels as far as anybody knows."""


@dataclass(frozen=True)
class Stated:
    """The calibration as far as a file states it; nothing here is a guess.

    Parameters
    ----------
    sizes : mapping of str to float
        Size of one step along "z", "y", "x"; an axis that the file is silent about is absent.
    unit : str or None
        Unit of those sizes; None when the file gives none, and then the sizes mean nothing by themselves.
    frame_interval : float or None
        Time between two frames, in `time_unit`.
    time_unit : str
    source : str
        Where it stood, for the reader of a report: "OME-XML", "ImageJ header", …
    axes : str or None
        Its dimensions, such as "TZYX", where it is an image that says them.
    odd_interval : str
        The time between two frames where it stands there in a unit that is not known, such as "2 fortnight".
    """

    sizes: Mapping[str, float] = field(default_factory=dict)
    unit: str | None = None
    frame_interval: float | None = None
    time_unit: str = SECOND
    source: str = "no metadata"
    axes: str | None = None
    odd_interval: str = ""


NOTHING_STATED = Stated()


def calibrate(
    stated: Stated,
    ndim: int,
    *,
    scale: Sequence[float] | None = None,
    unit: str | None = None,
    frame_interval: float | None = None,
    time_unit: str | None = None,
) -> Calibration:
    """Unite what the file states with what the user asks for; the user wins.

    Parameters
    ----------
    stated : Stated
    ndim : int
        Spatial axes, 2 or 3. A 2D movie needs no z; its scale along z is 1.
    scale : sequence of float, optional
        Size of one step along z, y, x (or y, x when 2D), in `unit`, which is µm unless given.
    unit : str, optional
        Without `scale`: the unit wanted. Sizes that the file states are converted to it, and sizes to which the
        file gives no unit are taken to be in it. "pixel" means distances in pixels, whatever the file states.
    frame_interval : float, optional
        Time between two frames, in `time_unit`, which is s unless given.
    time_unit : str, optional

    Raises
    ------
    UnknownScale
        If a size is neither stated nor given.
    InvalidSetting
        If `scale` has the wrong length, a value is not above zero, or in µm by default and absurd, a unit is not known,
        or there is a unit of time and no time.
    """
    require_units(unit, time_unit, stated)
    interval, interval_unit = _interval(stated, frame_interval, time_unit)
    if scale is not None:
        sizes, name = three_sizes(scale, ndim), unit_name(unit or MICROMETRE)
        require_micrometres(sizes, unit)
    elif unit is not None and is_pixel(unit):
        sizes, name = (1.0, 1.0, 1.0), PIXEL
    else:
        sizes, name = _stated_sizes(stated, ndim, unit)
    return Calibration(scale=sizes, unit=name, frame_interval=interval, time_unit=interval_unit)


def require_units(unit: str | None, time_unit: str | None, stated: Stated = NOTHING_STATED) -> None:
    """Refuse units of the user's that mean nothing here; a file's own may be repeated, whatever it is."""
    if unit is not None and unit != stated.unit and not _is_length(unit):
        raise InvalidSetting(f"needs one of {', '.join(LENGTHS)}, or {PIXEL}; got {unit!r}.", setting="unit")
    is_known = time_unit in (None, FRAME, stated.time_unit)
    if not is_known and not _is_time(time_unit):
        raise InvalidSetting(f"needs one of {', '.join(TIMES)}; got {time_unit!r}.", setting="time_unit")


def require_micrometres(scale: Sequence[float], unit: str | None) -> None:
    """Refuse sizes that are in µm for want of a unit and can hardly be: who means them can say so."""
    odd = [size for size in scale if unit is None and is_above_zero(size) and not _ATOM <= size <= _METRE]
    if odd:
        seen = "smaller than an atom" if odd[0] < _ATOM else "larger than a metre"
        raise InvalidSetting(
            f"is in µm where no unit is given, and {odd[0]:g} µm is {seen}: give its unit too, also if µm is meant.",
            setting="scale",
        )


def _is_length(unit: object) -> bool:
    return isinstance(unit, str) and (is_pixel(unit) or micrometres_of(unit) is not None)


def _is_time(unit: object) -> bool:
    return isinstance(unit, str) and seconds_of(unit) is not None


def three_sizes(scale: Sequence[float], ndim: int) -> tuple[float, float, float]:
    """Return `scale` as (z, y, x); a 2D scale may come as (y, x), and its z becomes 1."""
    wanted = "three numbers (z, y, x)" if ndim == 3 else "two numbers (y, x), or three with z first"
    try:
        values = tuple(float(size) for size in scale)
    except (TypeError, ValueError):
        raise InvalidSetting(f"needs {wanted}; got {scale!r}.", setting="scale") from None
    if len(values) == 2 and ndim == 2:
        values = (1.0, *values)
    if len(values) != 3:
        raise InvalidSetting(f"needs {wanted} where positions are {ndim}D; got {values!r}.", setting="scale")
    return (values[0], values[1], values[2])


def usable(size: float | None) -> bool:
    """Whether a size or an interval found in a file is one that a calibration takes."""
    return is_above_zero(size)


def _stated_sizes(stated: Stated, ndim: int, unit: str | None) -> tuple[tuple[float, float, float], str]:
    axes = AXES[3 - ndim :]
    missing = [axis for axis in axes if axis not in stated.sizes]
    if missing or (stated.unit is None and unit is None):
        raise _unknown_scale(stated, axes, missing)
    of = stated.unit or unit or PIXEL
    to = unit_name(unit or of)
    factor = length_factor(of, to)
    z, y, x = (stated.sizes[axis] * factor if axis in stated.sizes else 1.0 for axis in AXES)
    return (z, y, x), to


def _unknown_scale(stated: Stated, axes: Sequence[str], missing: Sequence[str]) -> UnknownScale:
    known = ", ".join(f"{axis} = {stated.sizes[axis]:g}" for axis in axes if axis in stated.sizes)
    if not missing:
        problem = f"it gives {known}, but no unit"
    elif known:
        problem = f"it gives {known} {stated.unit or '(no unit)'}, but nothing for {', '.join(missing)}"
    else:
        problem = "it states none"
    example, of = ((2, 0.5, 0.5), "planes are 2 µm apart and pixels") if len(axes) == 3 else ((0.5, 0.5), "pixels")
    silent = (
        "needs scale, the voxel size, which an array does not say."
        if stated.source == ARRAY
        else f"the voxel size is needed, and the file does not say it ({stated.source}: {problem})."
    )
    return UnknownScale(
        silent,
        in_python=f"Give scale=({', '.join(axes)}) in µm, for instance scale={example} if {of} are 0.5 µm wide, or "
        'unit="pixel" to measure distances in pixels.',
        setting="scale",
        examples={example: f"{of} are 0.5 µm wide"},
    )


def _interval(stated: Stated, frame_interval: float | None, time_unit: str | None) -> tuple[float | None, str]:
    if frame_interval is not None:
        if not is_above_zero(frame_interval):
            raise InvalidSetting(
                f"needs a finite time above zero, a number without its unit; got {frame_interval!r}.",
                setting="frame_interval",
            )
        return float(frame_interval), time_unit or SECOND
    if stated.frame_interval is None:
        if time_unit not in (None, FRAME):
            raise InvalidSetting(
                f"{time_unit} has no effect, because the time between two frames is not known; give the frame "
                "interval too, or leave this out.",
                setting="time_unit",
            )
        return None, FRAME
    wanted = time_unit or stated.time_unit
    return stated.frame_interval * time_factor(stated.time_unit, wanted), wanted
