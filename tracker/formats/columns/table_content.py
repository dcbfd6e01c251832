"""Points and tracks as CSV, Parquet and napari's CSV."""

from __future__ import annotations

import csv as csv_text
import io
from collections.abc import Iterable, Mapping
from typing import BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv
from pyarrow import parquet as arrow_parquet

from ...errors import InvalidInput, InvalidSetting
from ...parent_columns import parent_columns, without_parents
from ...points import Points, Tracks
from ..content import Written
from .csv_rows import WORTH_COMPILING, are_plain, csv_rows
from .physical_columns import with_physical_columns

_ROWS_AT_ONCE = 1 << 14
"""Of a CSV file; by 1,024, Arrow's own number, writing takes a tenth longer."""


def csv(points: Points, settings: Mapping[str, object]) -> Written:
    """Return points as CSV, with physical columns and those of parents."""
    del settings  # they stand beside it
    return as_csv(_whole_table(points))


def parquet(points: Points, settings: Mapping[str, object]) -> Written:
    """Return points as Parquet, with physical columns and those of parents."""
    del settings  # they stand beside it
    table = _whole_table(points)
    arrow = _arrow(table)
    # Floats hardly repeat: a dictionary of them is given up once it is full, and takes as long as all else until then.
    often = [column.name for column in arrow.schema if not pa.types.is_floating(column.type)]
    return Written(
        lambda file: arrow_parquet.write_table(
            arrow,
            file,  # pyright: ignore[reportArgumentType]
            use_dictionary=often,  # pyright: ignore[reportArgumentType]
            write_page_checksum=True,
        ),
        table,
    )


def _whole_table(points: Points) -> pd.DataFrame:
    """Return the table with its physical columns; of tracks of which some descend from others also their parents."""
    table = with_physical_columns(points)
    if not isinstance(points, Tracks):
        return table
    table = without_parents(table)
    if not points.parents:
        return table
    place = list(table.columns).index("track_id") + 1
    added = pd.DataFrame(parent_columns(table["track_id"].to_numpy(), points.parents)).set_axis(table.index)
    return pd.concat([table.iloc[:, :place], added, table.iloc[:, place:]], axis=1)


def napari(points: Points, settings: Mapping[str, object]) -> Written:
    """Return the CSV of a napari Tracks layer for tracks, of a Points layer for points."""
    del settings  # they stand beside it
    return as_csv(_napari_tracks(points) if isinstance(points, Tracks) else _napari_points(points))


def as_csv(table: pd.DataFrame) -> Written:
    """Return a table as CSV, as it is; every float in the fewest digits that give it back."""
    if len(table) >= WORTH_COMPILING and are_plain(table):
        return Written(lambda file: _numbers_to_csv(table, file), table)
    arrow = _arrow(table)
    return Written(lambda file: _to_csv(arrow, file), table)


def _napari_tracks(tracks: Tracks) -> pd.DataFrame:
    names = {"track_id": "track_id", "frame": "t", **{axis: axis for axis in tracks.axes}}
    return led_by(tracks.table, names, "napari")


def _napari_points(points: Points) -> pd.DataFrame:
    names = {axis: f"axis-{number}" for number, axis in enumerate(("frame", *points.axes))}
    table = led_by(points.table, names, "napari")
    table.insert(0, "index", np.arange(len(table)))
    return table


def led_by(table: pd.DataFrame, names: Mapping[str, str], program: str) -> pd.DataFrame:
    """Return the table with the named columns first, renamed as a program needs them."""
    features = [name for name in table.columns if name not in names]
    taken = sorted(set(features) & {"index", *names.values()})
    if taken:
        raise InvalidSetting(f"the feature {', '.join(taken)} has a name that {program}'s format needs; rename it.")
    return table[[*names, *features]].rename(columns=dict(names))


def _arrow(table: pd.DataFrame) -> pa.Table:
    try:
        return pa.Table.from_pandas(table, preserve_index=False)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:  # which, depends on the column
        raise InvalidInput(f"the table has a column that no file can hold ({error}); give it one type.") from error


def _to_csv(table: pa.Table, file: BinaryIO) -> None:
    """Write CSV through Arrow, 7 times as fast as pandas."""
    file.write(_header(table.column_names))
    try:
        arrow_csv.write_csv(table, file, arrow_csv.WriteOptions(include_header=False, batch_size=_ROWS_AT_ONCE))
    except pa.ArrowInvalid as error:
        raise InvalidInput(f"the table has a column that CSV cannot hold ({error}); write .parquet.") from error


def _numbers_to_csv(table: pd.DataFrame, file: BinaryIO) -> None:
    """Write a table of numbers as Arrow would, in two thirds of its time."""
    file.write(_header(table.columns))
    file.writelines(csv_rows(table))


def _header(names: Iterable[object]) -> bytes:
    header = io.StringIO()
    csv_text.writer(header, lineterminator="\n").writerow(names)
    return header.getvalue().encode()
