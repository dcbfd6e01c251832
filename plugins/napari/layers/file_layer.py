"""The layer of a table that was read from a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ....tracker.linking.gate.spacing import mean_spacing
from ....tracker.points import Points, Tracks
from .layer_tables import OURS, LayerData, fingerprint, points_layer, tracks_layer


def layer_of(table: Points, path: str, columns: Mapping[str, str] | None = None) -> LayerData:
    """Return the layer of a table that was read from a file, by the names of columns that the user gave, if any."""
    name = Path(path).name
    if isinstance(table, Tracks):
        return tracks_layer(table, name)
    data, given, kind = points_layer(table, name, size=point_size(table), opacity=0.7)
    kept = {"path": str(Path(path).resolve()), "fingerprint": fingerprint(data), "columns": columns}
    given["metadata"][OURS] |= kept
    return data, given, kind


def point_size(points: Points) -> float:
    """Return the size at which points of a cloud can be told apart: half the mean spacing, in steps of x."""
    spacing = mean_spacing(points)
    return max(0.5 * spacing / points.calibration.scale[2], 0.1) if spacing else 5.0
