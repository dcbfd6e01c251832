"""What a table says of its units, whoever wrote it: beside it, in its columns, or in the header of its program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from ...calibrating.stated import Stated
from ...calibrating.units import in_its_unit, is_pixel, unit_name
from ...errors import InvalidInput
from ...points import AXES
from ..loaded import Loaded, steps_of_one
from ..sidecar import Sidecar, read_sidecar
from .csv import read_table_file
from .dialects import BTRACK, ILASTIK, IMARIS, TRACKMATE, Dialect, names_in, our_names, renamed
from .laptrack import with_splits_and_merges
from .physical_columns import stated_by_columns, without_physical_columns
from .trackmate_edges import with_tracks_of_edges


def load_table(path: Path, columns: Mapping[str, str] | None) -> Loaded:
    """Return the table of a file under our column names, with what is stated about its units."""
    sidecar = read_sidecar(path)
    table, units = read_table_file(path, sidecar)
    if table.empty and sidecar is None:
        raise InvalidInput(f"{path}: has a header but no rows.")
    named, dialect = our_names(table, columns, str(path))
    names = names_in(table, named)
    if sidecar is not None:
        stated = stated_beside(sidecar)
        if dialect is not None and dialect.unit is not None:  # positions in voxels were taken out since
            stated = replace(stated, sizes=_sizes(dialect), unit=dialect.unit)
        plain, unit = without_physical_columns(named, stated), _named_unit(dialect)
        return Loaded(plain, stated, str(path), sidecar.parents, sidecar.timeline, names, unit, sidecar.drift)
    if dialect == TRACKMATE:
        loaded = _in_its_unit(_flat_if_2d(named), _stated_by_trackmate(table, units), path)
    elif dialect == IMARIS:
        loaded = _in_its_unit(named, steps_of_one(_unit_of_imaris(table)), path)
    else:
        loaded = self_stated(named, dialect, str(path))
    return with_splits_and_merges(with_tracks_of_edges(replace(loaded, names=names), path), path)


def self_stated(named: pd.DataFrame, dialect: Dialect | None, where: str) -> Loaded:
    """Return a table with what its own columns state of its units."""
    if dialect == BTRACK:
        return Loaded(_flat_if_2d(_of_btrack(named)), steps_of_one(), where)
    if dialect == ILASTIK:
        named = renamed(named, {"parentTrackId": "parent_id"})
    stated = stated_by_columns(named, None if dialect is None else dialect.unit)
    if dialect is not None and dialect.sizes:
        stated = replace(stated, sizes=dialect.sizes)
    return Loaded(without_physical_columns(named, stated), stated, where, named_unit=_named_unit(dialect))


def _sizes(dialect: Dialect) -> Mapping[str, float]:
    return dialect.sizes or dict.fromkeys(AXES, 1.0)


def _named_unit(dialect: Dialect | None) -> str | None:
    """Return the unit of all positions, None where names of columns say none, or several."""
    return None if dialect is None or dialect.sizes else dialect.unit


def stated_beside(sidecar: Sidecar) -> Stated:
    """Return what stands beside a table of ours."""
    known = sidecar.calibration
    sizes: dict[str, float] = dict(zip(AXES, known.scale, strict=True))
    return Stated(sizes, known.unit, known.frame_interval, known.time_unit, "settings beside the table")


def _in_its_unit(named: pd.DataFrame, stated: Stated, path: Path) -> Loaded:
    """Return a table whose program says the unit of its positions; where that is a length, no voxel is one of them."""
    is_length = stated.unit is not None and not is_pixel(stated.unit)
    return Loaded(named, stated, str(path), named_unit=stated.unit if is_length else None)


def _stated_by_trackmate(table: pd.DataFrame, units: Mapping[str, str]) -> Stated:
    """Read the units in TrackMate's fourth header row, and the frame interval from its times."""
    length, time = (units.get(name, "").strip("() ") for name in ("POSITION_X", "POSITION_T"))
    return steps_of_one(unit_name(length) if length else None, *in_its_unit(_interval_of(table), time))


def _unit_of_imaris(table: pd.DataFrame) -> str | None:
    """Return the one unit in the column that Imaris writes beside its positions, None if there is none."""
    units = table["Unit"].unique() if "Unit" in table.columns else ()
    return unit_name(str(units[0])) if len(units) == 1 else None


def _interval_of(table: pd.DataFrame) -> float | None:
    """Return the one number that takes FRAME to POSITION_T, None if there is none."""
    if "POSITION_T" not in table.columns:
        return None
    frame, time = (pd.to_numeric(table[name], errors="coerce").to_numpy() for name in ("FRAME", "POSITION_T"))
    later = frame > 0
    if not later.any():
        return None
    interval = float(time[later][-1] / frame[later][-1])
    return interval if interval > 0 and np.allclose(time, frame * interval, rtol=1e-6) else None


def _of_btrack(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of btrack with its parents under our name; a track without one names itself there."""
    parents = pd.to_numeric(table["parent"], errors="coerce")
    return table.drop(columns="parent").assign(parent_id=parents.where(parents != table["track_id"], -1))


def _flat_if_2d(table: pd.DataFrame) -> pd.DataFrame:
    """Drop the z of TrackMate and btrack where it is 0 throughout, which is how they write a 2D movie."""
    return table.drop(columns="z") if "z" in table.columns and (table["z"] == 0).all() else table
