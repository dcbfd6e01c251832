"""Which of the images of one file an image is, and which is seen: its series lie over each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .layer_tables import OURS

if TYPE_CHECKING:
    from napari import Viewer
    from napari.layers import Layer


def show_series(viewer: Viewer, chosen: Layer) -> None:
    """Show a hidden series of a file, and hide the others; what is shown is left as it is."""
    series = series_of(chosen)
    if not series or chosen.visible:
        return
    for layer in viewer.layers:
        if series_of(layer) and _kept(layer)["path"] == _kept(chosen)["path"]:
            layer.visible = series_of(layer) == series


def series_of(layer: Layer | None) -> tuple[int | str, ...]:
    """Return number and name of the series that an image is of its file; nothing where the file has one alone."""
    kept = {} if layer is None else _kept(layer)
    return () if kept.get("series") is None else (kept["series"], kept["series_name"])


def _kept(layer: Layer) -> dict[str, Any]:
    return layer.metadata.get(OURS, {})
