"""A table of measures as a file, its units beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from ..calibrating.calibration import Calibration
from ..formats.write import plain_table, sidecar_beside, write_whole
from ..points import Points
from .measures import measure_units


def write_measures(
    table: pd.DataFrame, points: Points, path: Path, kind: str, made_with: Mapping[str, Any], *, overwrite: bool
) -> None:
    """Write a table of measures of points or tracks as "csv" or "parquet", whole or not at all.

    Errors are those of `write_tracks`. Units stand beside it by column, unless each row has its own.
    """
    made_with = {**made_with, "units": _units(table, points.calibration)}
    sidecar = sidecar_beside(path, table, points.calibration, made_with, timeline=points.timeline)
    write_whole({path: plain_table(table, kind), **sidecar}, overwrite=overwrite)


def write_measures_of_files(
    table: pd.DataFrame,
    calibrations: Mapping[str, Calibration],
    path: Path,
    kind: str,
    made_with: Mapping[str, Any],
    *,
    overwrite: bool,
) -> None:
    """Write the measures of several files, which have one unit, as `write_measures` does those of one.

    What calibrates each file stands beside the table by the file's name.
    """
    first = next(iter(calibrations.values()))
    of_all = first if all(each == first for each in calibrations.values()) else Calibration(unit=first.unit)
    files = {name: asdict(each) for name, each in calibrations.items()}
    sidecar = sidecar_beside(path, table, of_all, {**made_with, "files": files, "units": _units(table, first)})
    write_whole({path: plain_table(table, kind), **sidecar}, overwrite=overwrite)


def _units(table: pd.DataFrame, calibration: Calibration) -> dict[str, str]:
    by_column = {} if "unit" in table.columns else measure_units(calibration)
    if "correlation" in table.columns:
        by_column["standard_error"] = by_column["correlation"]
    return {name: unit for name, unit in by_column.items() if name in table.columns}
