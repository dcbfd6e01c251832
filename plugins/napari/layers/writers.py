"""What napari's File > Save writes: a Tracks or Points layer as a table, with units and lineage beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ....tracker.formats.write import write_points, write_tracks
from .layer_tables import NEAR, OURS, points_from_layer, tracks_from_layer

_NEAR = (
    "After corrections, link_margin and link_probability are measured again near these alone; those of links farther "
    "away are as they were before. Export… of the widget (3 Results) measures all of them."
)


def write_tracks_layer(path: str, data: Any, attributes: dict[str, Any]) -> list[str]:
    """Write a Tracks layer; of one that this plugin drew, also what is not drawn.

    The ending chooses the format (.csv, .napari.csv, .parquet, .xml for TrackMate, .geff). A file that stands there is
    replaced: napari has asked.
    """
    write_tracks(tracks_from_layer(data, attributes), path, settings=_settings(attributes), overwrite=True)
    return [str(Path(path))]


def write_points_layer(path: str, data: Any, attributes: dict[str, Any]) -> list[str]:
    """Write a Points layer, as `write_tracks_layer`."""
    points = points_from_layer(data, attributes)
    write_points(points, path, settings=_settings(attributes), overwrite=True)
    return [str(Path(path))]


def _settings(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return what is recorded beside the table: the settings that made the layer, where this plugin made it."""
    kept = attributes.get("metadata", {}).get(OURS, {})
    note = {}
    if kept.get(NEAR):
        from napari.utils.notifications import show_warning

        show_warning(_NEAR)
        note["note"] = _NEAR
    return {"layer": attributes.get("name"), **kept.get("settings", {}), **note}
