"""Which of the images of one file is seen: its series lie over each other, so the one to be tracked alone is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .layer_tables import OURS
from .own_layers import drawn_over

if TYPE_CHECKING:
    from napari import Viewer
    from napari.layers import Layer

_WITH_SERIES = "hidden_with_series"
"""Key of what was hidden with its series."""


def show_series(viewer: Viewer, chosen: Layer) -> None:
    """Show a hidden series of a file, and hide its others with what is drawn over them; what is shown is left as it is.

    What was hidden with a series is shown with it again.
    """
    path, series = _series_of(chosen)
    if series is None or chosen.visible:
        return
    for layer in viewer.layers:
        below = drawn_over(layer)
        other_path, other = _series_of(layer if below is None else below)
        if other_path != path or other is None:
            continue
        if below is None:
            layer.visible = other == series
        elif other != series and layer.visible:
            layer.visible, layer.metadata[OURS][_WITH_SERIES] = False, True
        elif other == series and layer.metadata[OURS].pop(_WITH_SERIES, False):
            layer.visible = True


def _series_of(layer: Layer) -> tuple[str | None, int | None]:
    """Return the file of an image, and its series there; None where the file has one alone."""
    kept: dict[str, Any] = layer.metadata.get(OURS, {})
    return kept.get("path"), kept.get("series")
