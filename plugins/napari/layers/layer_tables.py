"""Points and tracks as layers and back, without loss: features, lineage, scale and units."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ....tracker.errors import InvalidInput
from ....tracker.points import AXES, Points, Tracks
from ....tracker.timeline import Timeline
from .geometry import calibration_from, layer_geometry

LayerData = tuple[Any, dict[str, Any], str]

OURS = "auctrack"
"""Key of what this plugin keeps in a layer's metadata."""
TIMELINE = "timeline"
"""Key under it of the frames that were looked at, which the points themselves do not tell."""
WHOLE = "whole"
"""Key under it of the whole table, where the layer draws only a part."""
NEAR = "margins near corrections"
"""Key under it of whether only those margins that are near corrections were measured after them."""
_SPARSE_IDS = 10
"""napari's memory grows with the largest id: ids above this many times the number of rows are renumbered for it."""


def fingerprint(data: Any) -> int:
    """Return a number that tells whether positions are still those that were read from a file."""
    return zlib.crc32(np.ascontiguousarray(data, dtype=np.float64).data)


def points_layer(points: Points, name: str, **arguments: Any) -> LayerData:
    """Return the layer of a points table: frame first, features beside it."""
    data = points.table[["frame", *points.axes]].to_numpy(dtype=np.float64)
    features = points.table.drop(columns=["frame", *points.axes]).reset_index(drop=True)
    given = {
        "name": name,
        "features": features,
        "metadata": {OURS: {TIMELINE: points.timeline}},
        **layer_geometry(points.calibration, points.ndim),
        **arguments,
    }
    return data, given, "points"


def tracks_layer(tracks: Tracks, name: str, **arguments: Any) -> LayerData:
    """Return the layer of a tracks table, in the order that napari keeps: by track, then by time.

    Ids that would cost napari gigabytes are renumbered; the metadata keeps what they were.
    """
    table = tracks.table.sort_values(["track_id", "frame"], kind="stable", ignore_index=True)
    ids = table["track_id"].to_numpy()
    drawn = ids
    metadata: dict[str, Any] = {TIMELINE: tracks.timeline}
    if len(ids) and (ids.min() < 0 or ids.max() > _SPARSE_IDS * len(ids) + 1000):
        known, drawn = np.unique(ids, return_inverse=True)
        metadata["track_ids"] = known
    data = np.column_stack([drawn, table[["frame", *tracks.axes]].to_numpy(dtype=np.float64)]).astype(np.float64)
    number = dict(zip(ids.tolist(), drawn.tolist(), strict=True))
    graph = {
        number[child]: [number[parent] for parent in parents if parent in number]
        for child, parents in tracks.parents.items()
        if child in number
    }
    given = {
        "name": name,
        "features": table.drop(columns=["frame", *tracks.axes, "track_id"]),
        "graph": {child: parents for child, parents in graph.items() if parents},
        "metadata": {OURS: metadata},
        **layer_geometry(tracks.calibration, tracks.ndim),
        **arguments,
    }
    return data, given, "tracks"


def points_from_layer(data: Any, attributes: Mapping[str, Any]) -> Points:
    """Return the table of a Points layer whose first axis is time; also the part of it that is not drawn.

    Raises
    ------
    InvalidInput
        If it has no time axis, or its times are not whole frame numbers.
    """
    kept = attributes.get("metadata", {}).get(OURS, {})
    whole: Points | None = kept.get(WHOLE)
    if whole is not None:
        return replace(whole, calibration=calibration_from(attributes["scale"], attributes["units"]))
    rows = np.asarray(data, dtype=np.float64)
    _require_time(rows.shape[1] if rows.ndim == 2 else 0, "Points")
    features = pd.DataFrame(attributes.get("features")).reset_index(drop=True)
    calibration = calibration_from(attributes["scale"], attributes["units"])
    return Points(_table(rows, features), calibration, timeline=kept.get(TIMELINE, Timeline()))


def tracks_from_layer(data: Any, attributes: Mapping[str, Any]) -> Tracks:
    """Return the table of a Tracks layer with its lineage; also the part of it that is not drawn.

    Raises
    ------
    InvalidInput
        If its times are not whole frame numbers.
    """
    kept = attributes.get("metadata", {}).get(OURS, {})
    whole: Tracks | None = kept.get(WHOLE)
    if whole is not None:
        return replace(whole, calibration=calibration_from(attributes["scale"], attributes["units"]))
    rows = np.asarray(data, dtype=np.float64)
    ids = rows[:, 0].astype(np.int64)
    original: np.ndarray | None = kept.get("track_ids")
    features = pd.DataFrame(attributes.get("features")).reset_index(drop=True)
    features = features.drop(columns="track_id", errors="ignore")
    table = _table(rows[:, 1:], features).assign(track_id=ids if original is None else original[ids])
    graph: Mapping[int, Sequence[int]] = attributes.get("graph") or {}
    name = int if original is None else (lambda track: int(original[track]))
    parents = {name(child): [name(parent) for parent in of] for child, of in graph.items()}
    calibration = calibration_from(attributes["scale"], attributes["units"])
    return Tracks(table, calibration, parents, timeline=kept.get(TIMELINE, Timeline()))


def _table(rows: np.ndarray, features: pd.DataFrame) -> pd.DataFrame:
    """Return frame, z, y, x and the features as one table."""
    axes = AXES[4 - rows.shape[1] :]
    coordinates = pd.DataFrame(dict(zip(("frame", *axes), rows.T, strict=True)))
    taken = [str(name) for name in features.columns if name in coordinates.columns]
    if taken:
        raise InvalidInput(f"the feature {', '.join(taken)} has the name of a coordinate; rename it.")
    return pd.concat([coordinates, features], axis=1)


def _require_time(columns: int, kind: str) -> None:
    if columns not in (3, 4):
        raise InvalidInput(
            f"{kind} need time in the first column, then z, y, x or y, x (3 or 4 columns); this layer has {columns}."
        )
