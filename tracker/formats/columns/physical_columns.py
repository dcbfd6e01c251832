"""Physical times and positions (`t_s, z_um, y_um, x_um`) beside frames and voxels: a table says its own units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ...calibrating.stated import Stated
from ...calibrating.units import LENGTHS, MICROMETRE, SECOND, TIMES, micrometres_of, seconds_of
from ...points import AXES, Points

_ROUNDED = 1e-4
"""Physical positions may have been rounded by this share of the largest."""
_ROUNDING = 1e-12
"""What the last digits of a float make of a sum, as a share of it."""
_ON_A_LINE = 3
"""Different positions that lie on a line by more than chance."""


def with_physical_columns(points: Points) -> pd.DataFrame:
    """Return the table with its frames in the unit of time and its positions in the unit of length beside them.

    Each only where its unit is known. A column that has such a name and holds something else steps aside as
    "file_<name>".
    """
    table, of = points.table, points.calibration
    if of.frame_interval is not None:
        table = _with_behind(table, "frame", {time_name(of.time_unit): points.frames * of.frame_interval})
    if not of.is_physical:
        return table
    sizes = dict(zip(points.axes, of.scale_for(points.ndim).tolist(), strict=True))
    names = length_names(points.axes, of.unit)
    lengths = {name: points.table[axis].to_numpy() * sizes[axis] for axis, name in names.items()}
    return _with_behind(table, max(points.axes, key=list(table.columns).index), lengths)


def _with_behind(table: pd.DataFrame, column: str, values: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Return a table with columns behind one of its own; others of their names step aside."""
    others = [name for name in values if name in table and not _agree(table[name], values[name])]
    table = table.rename(columns={name: f"file_{name}" for name in others}).drop(columns=list(values), errors="ignore")
    place = list(table.columns).index(column) + 1
    return pd.concat([table.iloc[:, :place], pd.DataFrame(dict(values), table.index), table.iloc[:, place:]], axis=1)


def without_physical_columns(table: pd.DataFrame, stated: Stated) -> pd.DataFrame:
    """Return a table without what it says twice: positions in the unit, and times that are its frames.

    Positions from another origin, such as that of a stage, say more than those in voxels, and stay.
    """
    interval = stated.frame_interval
    time = time_name(stated.time_unit)
    is_time = interval is not None and time in table and _agree(table[time], _numbers(table["frame"]) * interval)
    lengths = {} if stated.unit is None else length_names(_axes(table), stated.unit)
    twice = [name for axis, name in lengths.items() if name in table and not _is_shifted(table[axis], table[name])]
    return table.drop(columns=[*twice, *([time] if is_time else [])])


def stated_by_columns(table: pd.DataFrame, unit: str | None = None) -> Stated:
    """Return what physical columns state: the voxel size, if all positions are those in voxels times one size an axis.

    Three positions or more along an axis may be away from those by one distance, as from the origin of a stage. The
    size of an axis along which every position is 0 cannot be known, and is 1. Without such columns every size is 1, in
    `unit`, where the names of the positions say it.
    """
    axes, interval, time_unit = _axes(table), *_interval(table)
    for known in () if unit else LENGTHS:
        names = length_names(axes, known)
        if all(name in table for name in names.values()):
            found = {axis: _size(table[axis], table[name]) for axis, name in names.items()}
            sizes = {axis: size for axis, size in found.items() if size is not None}
            if len(sizes) == len(axes):
                return Stated(sizes, known, interval, time_unit, f"columns {', '.join(names.values())}")
    return Stated(dict.fromkeys(AXES, 1.0), unit, interval, time_unit, "the table")


def _interval(table: pd.DataFrame) -> tuple[float | None, str]:
    """Return the frame interval that a column of times (`t_s`, `t_min`, …) states, and its unit; None without one."""
    for unit in TIMES:
        name = time_name(unit)
        if (
            name in table
            and _numbers(table["frame"]).any()
            and (interval := _size(table["frame"], table[name])) is not None
        ):
            return interval, unit
    return None, SECOND


def length_names(axes: Sequence[str], unit: str) -> dict[str, str]:
    """Return the physical column of each axis; µm is written um, which every program reads."""
    size = micrometres_of(unit)
    short = next((known for known in LENGTHS if micrometres_of(known) == size), unit)
    return {axis: f"{axis}_{'um' if short == MICROMETRE else short}" for axis in axes}


def time_name(unit: str) -> str:
    """Return the column of times in a unit: `t_s`; µs is written us, which every program reads."""
    size = seconds_of(unit)
    short = next((known for known in TIMES if seconds_of(known) == size), unit)
    return f"t_{short.replace('µ', 'u')}"


def _axes(table: pd.DataFrame) -> tuple[str, ...]:
    return tuple(axis for axis in AXES if axis in table)


def _size(steps: pd.Series, lengths: pd.Series) -> float | None:
    """Return how long one step is, None if no one size, or size and origin, takes steps to lengths."""
    of, to = _numbers(steps), _numbers(lengths)
    if len(of) == 0 or not (np.isfinite(of).all() and np.isfinite(to).all()):
        return None
    size = _size_through_zero(of, to)
    return _size_of_shifted(of, to) if size is None else size


def _is_shifted(steps: pd.Series, lengths: pd.Series) -> bool:
    """Whether lengths are steps from another origin than 0."""
    of, to = _numbers(steps), _numbers(lengths)
    if not (np.isfinite(of).all() and np.isfinite(to).all()) or _size_through_zero(of, to) is not None:
        return False
    return _size_of_shifted(of, to) is not None


def _numbers(column: pd.Series | pd.DataFrame) -> np.ndarray:
    """Return a column as numbers, NaN where it has none: nowhere in dates, or where two columns have one name.

    What is wrong with those is said when they are taken for frames or positions, and not before.
    """
    if isinstance(column, pd.DataFrame) or column.dtype.kind in "mMc" or isinstance(column.dtype, pd.PeriodDtype):
        return np.full(len(column), np.nan)
    return pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)


def _size_of_shifted(of: np.ndarray, to: np.ndarray) -> float | None:
    """Return the slope of the line that takes steps to lengths, None where none does or any two points would."""
    span = float(np.ptp(to)) if len(to) else 0.0
    if len(np.unique(of)) < _ON_A_LINE or span == 0:
        return None
    slope = float(np.polyfit(of - of.mean(), to - to.mean(), 1)[0])
    away = to - of * slope
    short = float(f"{slope:.6g}")
    size = short if np.ptp(to - of * short) <= np.ptp(away) + _ROUNDING * np.abs(to).max() else slope
    return size if size > 0 and np.ptp(to - of * size) <= _ROUNDED * span else None


def _size_through_zero(of: np.ndarray, to: np.ndarray) -> float | None:
    """Return the factor that takes steps to lengths, None where no one does."""
    if len(of) == 0:
        return None
    farthest = int(np.abs(of).argmax())
    if of[farthest] == 0:
        return 1.0 if not to.any() else None
    size = float(to[farthest] / of[farthest])
    short = float(f"{size:.12g}")
    size = short if np.allclose(of * short, to, rtol=1e-12, atol=0) else size
    return size if size > 0 and np.abs(of * size - to).max() <= _ROUNDED * np.abs(to).max() else None


def _agree(column: pd.Series, lengths: np.ndarray) -> bool:
    """Whether a column holds the physical positions already."""
    return np.allclose(_numbers(column), lengths, rtol=_ROUNDED)
