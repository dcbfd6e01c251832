"""Which of the images of one file is seen: its series lie over each other, so the one to be tracked alone is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .layer_tables import OURS

if TYPE_CHECKING:
    from napari import Viewer
    from napari.layers import Layer


def show_series(viewer: Viewer, chosen: Layer) -> None:
    """Show a hidden series of a file, and hide the others; what is shown is left as it is."""
    path, series = _series_of(chosen)
    if series is None or chosen.visible:
        return
    for layer in viewer.layers:
        other_path, other = _series_of(layer)
        if other_path == path and other is not None:
            layer.visible = other == series


def _series_of(layer: Layer) -> tuple[str | None, int | None]:
    """Return the file of an image, and its series there; None where the file has one alone."""
    kept: dict[str, Any] = layer.metadata.get(OURS, {})
    return kept.get("path"), kept.get("series")
