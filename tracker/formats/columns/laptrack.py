"""laptrack's three tables: the tracks, and beside them which tracks split and which merge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from ...errors import InvalidInput
from ..loaded import Loaded
from .csv import read_table_file
from .namesakes import namesake

_TREE = "tree_id"
_ENDS = ("parent_track_id", "child_track_id")
_EMPTY = (b"", b'""')
"""What pandas writes of a table without rows and columns, as laptrack returns it where nothing splits or merges."""


def with_splits_and_merges(loaded: Loaded, path: Path) -> Loaded:
    """Return laptrack's tracks with the lineage of the tables beside them; another table as it is.

    They stand in the same folder, under the name of the table with "split" and "merge" in place of its last "track":
    `split_df.csv` and `merge_df.csv` beside `track_df.csv`.

    Raises
    ------
    InvalidInput
        If a table of such a name has other columns, or names tracks that are not there.
    """
    if _TREE not in loaded.table or "track_id" not in loaded.table:
        return loaded
    beside = (namesake(path, "track", kind) for kind in ("split", "merge"))
    return with_lineage(loaded, [_read(file) for file in beside if file is not None], str(path.parent))


def with_lineage(loaded: Loaded, tables: Sequence[pd.DataFrame], where: str) -> Loaded:
    """Return tracks with the lineage of tables of splits and merges; raises `InvalidInput` as above."""
    known = set(pd.to_numeric(loaded.table["track_id"], errors="coerce").tolist())
    parents: dict[int, list[int]] = {}
    for parent, child in (pair for table in tables for pair in _pairs(table, where)):
        lost = {parent, child} - known
        if lost:
            raise InvalidInput(
                f"{where}: the tables of splits and merges name track {min(lost):g}, and no row of the tracks has it. "
                "Give the three tables of one run."
            )
        parents.setdefault(int(child), []).append(int(parent))
    return replace(loaded, parents=parents)


def _read(file: Path) -> pd.DataFrame:
    try:
        with file.open("rb") as opened:
            if opened.read(4).strip() in _EMPTY:
                return pd.DataFrame()
    except OSError as error:
        raise InvalidInput(f"{file}: cannot be read ({error.strerror or error}).") from error
    table, _ = read_table_file(file, None)
    if not set(_ENDS) <= set(table.columns):
        raise InvalidInput(
            f"{file}: is named like laptrack's table of splits or merges but lacks the columns "
            f"{' and '.join(_ENDS)}. Move or rename it."
        )
    return table


def _pairs(table: pd.DataFrame, where: str) -> list[tuple[float, float]]:
    """Return parent and child of each row; an empty table may have no columns."""
    if table.empty:
        return []
    ends = table[list(_ENDS)].apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(ends).all(axis=1))
    if len(bad):
        raise InvalidInput(f"{where}: row {bad[0]} of the splits or merges needs two track ids.")
    return [(parent, child) for parent, child in ends.tolist()]
