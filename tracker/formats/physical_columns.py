"""Columns of physical positions (`z_um, y_um, x_um`) beside those in voxels: a table says its own voxel size."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..calibrating.stated import Stated
from ..calibrating.units import LENGTHS, MICROMETRE, SECOND, micrometres_of
from ..points import AXES, Points

_ROUNDED = 1e-4
"""Physical positions may have been rounded by this share of the largest."""


def with_physical_columns(points: Points) -> pd.DataFrame:
    """Return the table with its positions in the unit of length beside those in voxels; as it is without a unit.

    A column that has such a name and holds something else steps aside as "file_<name>".
    """
    if not points.calibration.is_physical:
        return points.table
    names = _names(points.axes, points.calibration.unit)
    scale = dict(zip(points.axes, points.calibration.scale_for(points.ndim).tolist(), strict=True))
    lengths = {name: points.table[axis].to_numpy() * scale[axis] for axis, name in names.items()}
    others = [name for name in lengths if name in points.table and not _agree(points.table[name], lengths[name])]
    table = points.table.rename(columns={name: f"file_{name}" for name in others}).drop(
        columns=list(lengths), errors="ignore"
    )
    after = max(list(table.columns).index(axis) for axis in points.axes) + 1
    return pd.concat([table.iloc[:, :after], pd.DataFrame(lengths, table.index), table.iloc[:, after:]], axis=1)


def without_physical_columns(table: pd.DataFrame, unit: str) -> pd.DataFrame:
    """Return a table of ours without its positions in `unit`: those in voxels are the positions."""
    return table.drop(columns=list(_names(_axes(table), unit).values()), errors="ignore")


def stated_by_columns(table: pd.DataFrame) -> Stated | None:
    """Return the voxel size that physical columns state: what all of them are of the positions in voxels.

    None without such columns, or if they are not the positions times one size each axis. The size of an axis along
    which every position is 0 cannot be known, and is 1.
    """
    axes = _axes(table)
    for unit in LENGTHS:
        names = _names(axes, unit)
        if all(name in table for name in names.values()):
            sizes = {axis: _size(table[axis], table[name]) for axis, name in names.items()}
            known = {axis: size for axis, size in sizes.items() if size is not None}
            if len(known) == len(axes):
                columns = ", ".join(names.values())
                return Stated(known, unit, None, SECOND, f"columns {columns}")
    return None


def _axes(table: pd.DataFrame) -> tuple[str, ...]:
    return tuple(axis for axis in AXES if axis in table)


def _names(axes: tuple[str, ...], unit: str) -> dict[str, str]:
    """Return the physical column of each axis; µm is written um, which every program reads."""
    size = micrometres_of(unit)
    short = next((known for known in LENGTHS if micrometres_of(known) == size), unit)
    return {axis: f"{axis}_{'um' if short == MICROMETRE else short}" for axis in axes}


def _size(steps: pd.Series, lengths: pd.Series) -> float | None:
    """Return how long one step is, None if no one size takes steps to lengths."""
    of, to = (pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64) for column in (steps, lengths))
    if len(of) == 0 or not (np.isfinite(of).all() and np.isfinite(to).all()):
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
    return np.allclose(pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64), lengths, rtol=_ROUNDED)
