"""Tables in which every detection names the one it comes from (`id, parent_id`): napari-track-edit, motile-tracker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from ...errors import Column, InvalidTable, Row
from ...points import Points
from ..content import Written
from ..graph import edges_of, tracks_of
from ..loaded import Loaded
from .dialects import naming
from .table_content import as_csv, led_by

_ID, _PARENT = "id", "parent_id"
_TRACKS = ("track_id", "tracklet_id")
_DISPLAYED = {"ID": _ID, "Parent ID": _PARENT, "Tracklet ID": "tracklet_id"}
"""Names that motile-tracker shows, and exports too."""


# --- writing -----------------------------------------------------------------------------------------------------


def write(points: Points, settings: Mapping[str, object]) -> Written:
    """Return the CSV that motile-tracker imports: positions in the unit of length, `id` and `parent_id`."""
    del settings  # they stand beside it
    axes = list(points.axes)
    ids = _ids(points.table)
    others = [name for name in (_ID, _PARENT) if name in points.table and (name == _PARENT or ids is None)]
    table = points.table.rename(columns={name: f"file_{name}" for name in others})
    ids = np.arange(1, len(points) + 1) if ids is None else ids
    positions = dict(zip(axes, points.positions.T, strict=True))
    table = table.assign(**positions, **{_ID: ids, _PARENT: _parents(points, ids)})
    names = {name: name for name in (*axes, _ID, _PARENT, "track_id") if name in table}
    in_the_unit = replace(points.calibration, scale=(1.0, 1.0, 1.0))
    return replace(as_csv(led_by(table, {"frame": "t", **names}, "motile-tracker")), calibration=in_the_unit)


def _ids(table: pd.DataFrame) -> np.ndarray | None:
    """Return the column `id` where it tells the detections apart."""
    tells_apart = _ID in table and table[_ID].dtype.kind in "iu" and table[_ID].is_unique
    return table[_ID].to_numpy() if tells_apart else None


def _parents(points: Points, ids: np.ndarray) -> pd.Series:
    """Return the id of the detection before each; of several the first, missing where there is none."""
    edges = edges_of(points)
    target, first = np.unique(edges[:, 1], return_index=True)
    values, is_missing = np.zeros(len(points), dtype=np.int64), np.ones(len(points), dtype=bool)
    values[target], is_missing[target] = ids[edges[first, 0]], False
    return pd.Series(pd.arrays.IntegerArray(values, is_missing), points.table.index)


# --- reading -----------------------------------------------------------------------------------------------------


def with_tracks_of_parents(loaded: Loaded) -> Loaded:
    """Return a table with the tracks that its columns `id` and `parent_id` make; one without them as it is.

    The numbers of tracks stay where the file has some that agree with the parents. Parents that are missing, or below
    0, are none.

    Raises
    ------
    InvalidInput
        If an id is missing or comes twice, or a parent is not a detection before its child.
    """
    table = loaded.table
    if {"ID", "Parent ID"} <= set(table.columns):
        table = table.rename(columns=_DISPLAYED)
    named = next((name for name in _TRACKS if name in table and table[name].dtype == np.int64), None)
    if not {_ID, _PARENT} <= set(table.columns) or (named is not None and _are_of_tracks(table, named)):
        return loaded
    frames, edges = Points(table).frames, _edges(table)
    late = np.flatnonzero(frames[edges[:, 0]] >= frames[edges[:, 1]])
    if len(late):
        before, after = edges[late[0]].tolist()
        raise InvalidTable(
            *(Column(_PARENT), " needs detections of earlier frames; that of ", Row(after)),
            f" is in frame {frames[before]}, not before {frames[after]} ({len(late)} in all).",
        )
    plain = table.drop(columns=_PARENT)
    if np.array_equal(table[_ID], np.arange(1, len(table) + 1)):
        plain = plain.drop(columns=_ID)
    if not len(edges) and named is None:
        return replace(loaded, table=plain)
    ids, parents = tracks_of(frames, edges, None if named is None else table[named].to_numpy())
    if named is not None and np.array_equal(ids, table[named]):
        plain = plain.drop(columns=named)
    return replace(loaded, table=plain.assign(track_id=ids), parents=parents)


def _are_of_tracks(table: pd.DataFrame, named: str) -> bool:
    """Whether parents are those of tracks: every detection of a track has the same."""
    pairs = table[[named, _PARENT]].drop_duplicates()
    return bool(table[named].duplicated().any() and pairs[named].is_unique)


def _edges(table: pd.DataFrame) -> np.ndarray:
    """Return the rows of parents and children."""
    ids, parents = pd.Index(table[_ID]), table[_PARENT]
    odd = np.flatnonzero(ids.isna() | ids.duplicated())
    if len(odd):
        raise InvalidTable(
            *(Column(_ID), f" needs a number of its own for each detection, as '{_PARENT}' stands beside it; "),
            *(Row(int(odd[0])), f" has {ids[odd[0]]!r}, which "),
            f"{'is empty' if pd.isna(ids[odd[0]]) else 'comes twice'}.",
            **naming({"track_id": _ID}, "auctrack.read_tracks"),
        )
    below_0 = (pd.to_numeric(parents, errors="coerce") < 0).to_numpy(dtype=bool, na_value=False)
    child = np.flatnonzero(parents.notna() & ~below_0)
    parent = ids.get_indexer(pd.Index(parents.iloc[child]))
    lost = np.flatnonzero(parent < 0)
    if len(lost):
        row = int(child[lost[0]])
        raise InvalidTable(
            *(Column(_PARENT), " needs ids of the table, or nothing; ", Row(row)),
            f" has {parents.iloc[row]!r} ({len(lost)} in all).",
        )
    return np.column_stack([parent, child])
