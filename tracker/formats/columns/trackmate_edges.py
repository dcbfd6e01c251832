"""TrackMate's tables of spots and edges, exported as CSV: the edges tell splits and merges, which track ids cannot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from ...errors import InvalidInput
from ...points import Points
from ..graph import tracks_of
from ..loaded import Loaded
from .csv import read_table_file
from .namesakes import namesake

_ENDS = ("SPOT_SOURCE_ID", "SPOT_TARGET_ID")


def with_tracks_of_edges(loaded: Loaded, path: Path) -> Loaded:
    """Return spots with the tracks of the edges beside them; another table, or one without, as it is.

    They stand in the same folder, under the name of the table with "edge" in place of its last "spot":
    `movie_edges.csv` beside `movie_spots.csv`. TrackMate's own column TRACK_ID stays as it is.

    Raises
    ------
    InvalidInput
        If an edge joins spots that are not there, or two of one frame, or spots share an id.
    """
    spot_ids, file = _column(loaded.table, "ID"), namesake(path, "spot", "edge")
    if spot_ids is None or file is None:
        return loaded
    table, _ = read_table_file(file, None)
    ends = [_column(table, name) for name in _ENDS]
    if ends[0] is None or ends[1] is None:
        return loaded
    if spot_ids.duplicated().any():
        raise InvalidInput(f"{path}: two spots have the same ID, so the edges in {file.name} cannot tell them apart.")
    rows = np.column_stack([pd.Index(spot_ids).get_indexer(pd.Index(end)) for end in (ends[0], ends[1])])
    lost = np.flatnonzero((rows < 0).any(axis=1))
    if len(lost):
        raise InvalidInput(
            f"{file}: an edge goes from spot {ends[0].iloc[lost[0]]} to {ends[1].iloc[lost[0]]}, and {path.name} has "
            f"not both ({len(lost)} in all). Export spots and edges together."
        )
    try:
        ids, parents = tracks_of(Points(loaded.table).frames, rows)
    except InvalidInput as error:
        raise error.of(path) from error
    return replace(loaded, table=loaded.table.assign(track_id=ids), parents=parents)


def _column(table: pd.DataFrame, name: str) -> pd.Series | None:
    """Return a column whose name is this one but for the case of letters, None where there is none."""
    return next((table[column] for column in table.columns if str(column).upper() == name), None)
