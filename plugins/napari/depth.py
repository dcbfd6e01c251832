"""Particles above and below the plane that a 2D view shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from napari import Viewer


def show_depth(viewer: Viewer, layer: Any) -> None:
    """Let a 2D view of a volume show each particle in all planes that it reaches into.

    Without it napari shows a particle only in the one plane nearest to its centre. The margin is the viewer's own
    setting of slice thickness; only layers whose projection mode asks for it (those of this plugin) heed it.
    """
    if layer.ndim < 4 or len(layer.data) == 0:
        return
    reach = float(np.max(layer.size)) / 2 * float(layer.scale[-1])
    margins = [0.0] * viewer.dims.ndim
    margins[-3] = reach
    if tuple(viewer.dims.margin_left) != tuple(margins):
        viewer.dims.margin_left = tuple(margins)
        viewer.dims.margin_right = tuple(margins)
