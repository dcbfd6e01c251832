"""Large tables of numbers alone, read part by part into columns as long as the table.

Read whole, they are in memory twice, as the reader's parts and as what pandas makes of these; and to touch memory for
the first time takes as long as to read the numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pyarrow import parquet

WORTH_PARTS = 1 << 26
"""Bytes of a file from which on it is read part by part."""
_ROWS_AT_ONCE = 1 << 17
_BUFFER = 1 << 20
"""Bytes of a Parquet file's column that are read at a time; else those of a million rows are, of each column."""
_SPARE = 1.02
"""Rows that a text file is given room for, for each that it has if all are as long as the first ones."""


@dataclass
class _Columns:
    """Columns that are filled part by part; `room` is how many rows there is place for."""

    room: int
    rows: int = 0
    columns: dict[Any, np.ndarray] = field(default_factory=dict[Any, np.ndarray])

    def add(self, part: Mapping[Any, np.ndarray]) -> bool:
        """Add rows; return False where a column holds other numbers than before."""
        self.columns = self.columns or {name: np.empty(self.room, values.dtype) for name, values in part.items()}
        if any(self.columns[name].dtype != values.dtype for name, values in part.items()):
            return False
        end = self.rows + len(next(iter(part.values())))
        if end > self.room:
            self._grow(end + end // 4)
        for name, values in part.items():
            self.columns[name][self.rows : end] = values
        self.rows = end
        return True

    def _grow(self, room: int) -> None:
        for name, values in self.columns.items():
            self.columns[name] = np.empty(room, values.dtype)
            self.columns[name][: self.rows] = values[: self.rows]
        self.room = room

    def table(self, names: pd.Index) -> pd.DataFrame:
        """Return the rows as a table whose columns are called so."""
        table = pd.DataFrame({k: values[: self.rows] for k, values in enumerate(self.columns.values())}, copy=False)
        return table.set_axis(names, axis=1)


def large_csv(path: Path, **options: Any) -> pd.DataFrame | None:
    """Return a large text file of numbers alone as `pandas.read_csv` does, None where it is no such file."""
    size = path.stat().st_size
    if size < WORTH_PARTS or path.suffix.lower() == ".gz":
        return None
    filled, names = None, pd.Index([])
    with path.open("rb") as file, pd.read_csv(file, chunksize=_ROWS_AT_ONCE, low_memory=False, **options) as parts:
        for part in parts:
            if filled is None:
                filled = _Columns(int(_SPARE * len(part) * size / file.tell()) + _ROWS_AT_ONCE)
                names = part.columns
            if not _are_numbers(part.dtypes) or not filled.add(_by_place(part)):
                return None
    return None if filled is None else filled.table(names)


def large_parquet(path: Path) -> pd.DataFrame | None:
    """Return a large Parquet file of numbers alone as `pandas.read_parquet` does, None where it is no such file."""
    if path.stat().st_size < WORTH_PARTS:
        return None
    with parquet.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER, page_checksum_verification=True) as file:
        index = (file.schema_arrow.pandas_metadata or {}).get("index_columns", [])
        is_counted = all(isinstance(one, dict) and {**one, "name": None, "start": 0, "step": 1} == one for one in index)
        none = file.schema_arrow.empty_table().to_pandas()
        if not is_counted or not _are_numbers(none.dtypes):
            return None
        filled = _Columns(file.metadata.num_rows)
        for part in file.iter_batches(_ROWS_AT_ONCE):
            if not filled.add({k: column.to_numpy(zero_copy_only=False) for k, column in enumerate(part.columns)}):
                return None
    return filled.table(none.columns) if filled.rows else None


def _are_numbers(kinds: pd.Series) -> bool:
    """Whether there are columns, and all are of NumPy's numbers."""
    return len(kinds) > 0 and all(isinstance(kind, np.dtype) and kind.kind in "iuf" for kind in kinds)


def _by_place(table: pd.DataFrame) -> dict[int, np.ndarray]:
    return {k: table.iloc[:, k].to_numpy() for k in range(table.shape[1])}
