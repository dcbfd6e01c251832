"""A table of measures as a file, its units beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ..formats.write import plain_table, sidecar_beside, write_whole
from ..points import Tracks
from .measures import measure_units


def write_measures(
    table: pd.DataFrame, tracks: Tracks, path: Path, kind: str, made_with: Mapping[str, Any], *, overwrite: bool
) -> None:
    """Write a table of measures of tracks as "csv" or "parquet", whole or not at all; errors as of `write_tracks`.

    Units stand beside it by column, unless each row has its own.
    """
    by_column = {} if "unit" in table.columns else measure_units(tracks.calibration)
    units = {name: unit for name, unit in by_column.items() if name in table.columns}
    sidecar = sidecar_beside(path, table, tracks.calibration, {**made_with, "units": units}, timeline=tracks.timeline)
    write_whole({path: plain_table(table, kind), **sidecar}, overwrite=overwrite)
