"""Particles above and below the plane that a 2D view shows, over images as sharp as they were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..threads.connections import Connections

if TYPE_CHECKING:
    from napari import Viewer


_REACH = 0.75
"""Diameters above and below its centre in which a particle is shown: at half of one a blob still has .2 of its peak."""


class Depth:
    """Lets a 2D view of a volume show each particle in all planes that it reaches into.

    Without it napari shows a particle only in the one plane nearest to its centre. The margin is the viewer's own
    slice thickness, over which napari would average images too: while the margin is ours, they are not projected. A
    thickness that the user has set is left alone, and images with it.
    """

    def __init__(self, viewer: Viewer, connections: Connections) -> None:
        self._viewer = viewer
        self._reach = 0.0
        self._projections: list[tuple[Any, str]] = []
        connections.add(viewer.layers.events.inserted, self._inserted)
        for event in (viewer.dims.events.margin_left, viewer.dims.events.margin_right):
            connections.add(event, self._thickness_changed)

    def show(self, layer: Any) -> None:
        """Show the particles of a layer as deep as they reach."""
        if layer.ndim < 4 or len(layer.data) == 0 or not self._is_ours():
            return
        self._reach = _REACH * float(np.max(layer.size)) * float(layer.scale[-1])
        self._sharpen()
        self._set_margin(self._reach)

    def let_go(self) -> None:
        """Leave thickness and images as the user had them."""
        if self._reach and self._is_ours():
            self._reach = 0.0
            self._set_margin(0.0)
        self._restore()

    def _is_ours(self) -> bool:
        """Whether the viewer's thickness is none, or was set here."""
        dims = self._viewer.dims
        left, right = _last_axes(dims.margin_left), _last_axes(dims.margin_right)
        return left == right and left in ((), (self._reach, 0.0, 0.0))

    def _set_margin(self, reach: float) -> None:
        """Set both margins before napari slices, once: nothing is ever sliced with one of them."""
        dims = self._viewer.dims
        margins = [0.0] * dims.ndim
        if len(margins) >= 3:  # fewer once the volume is gone
            margins[-3] = reach
        with dims.events.margin_left.blocker():
            dims.margin_left = tuple(margins)
        dims.margin_right = tuple(margins)

    def _inserted(self, event: object) -> None:
        del event
        if self._reach and self._is_ours():
            self._sharpen()

    def _thickness_changed(self, event: object) -> None:
        del event
        if not self._is_ours():
            self._reach = 0.0
            self._restore()

    def _sharpen(self) -> None:
        """Keep images from being averaged over the margin."""
        for layer in self._viewer.layers:
            if type(layer).__name__ in ("Image", "Labels") and layer.projection_mode != "none":
                self._projections.append((layer, str(layer.projection_mode)))
                layer.projection_mode = "none"

    def _restore(self) -> None:
        """Give images back their projections, but for those that the user has chosen since."""
        while self._projections:
            layer, mode = self._projections.pop()
            if layer.projection_mode == "none":
                layer.projection_mode = mode


def _last_axes(margins: Sequence[float]) -> tuple[float, ...]:
    """Return margins from the first that is not 0: while napari changes the number of axes, one side has more."""
    first = next((axis for axis, margin in enumerate(margins) if margin), len(margins))
    return tuple(margins[first:])
