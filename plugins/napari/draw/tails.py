"""How deep tails are drawn where a plane of a volume is shown: napari draws those of all planes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..threads.connections import Connections

if TYPE_CHECKING:
    from napari import Viewer


class Tails:
    """Makes what is far from the plane shown see-through; a volume shown as one has all of its tails."""

    def __init__(self, viewer: Viewer, connections: Connections) -> None:
        self._viewer = viewer
        self._layer: Any = None
        self._colours = np.empty((0, 4))
        self._reach = 0.0
        self._seen: object = None
        for event in (viewer.dims.events.current_step, viewer.dims.events.ndisplay, viewer.dims.events.order):
            connections.add(event, self.look_again)

    def show(self, layer: Any, reach: float) -> None:
        """Show the tails of a layer that was filled again, so far from the plane in steps of x; 0 shows all of them."""
        self._layer, self._reach = layer, reach
        self._colours = np.array(layer.track_colors)
        self._seen = None
        self.look_again()

    def look_again(self, event: object = None) -> None:
        """Show other tails where the plane, or how far apart planes are, has become another one."""
        del event
        layer = self._layer
        if layer is None or not self._reach or layer not in self._viewer.layers:
            return
        if len(layer.data) != len(self._colours):
            return
        seen = self._planes(), layer.scale.tolist()
        if seen == self._seen:
            return
        colours = self._colours.copy()
        colours[~self.are_seen(layer.data[:, 1:]), 3] = 0
        layer.track_colors = colours
        self._seen = seen

    def are_seen(self, positions: np.ndarray) -> np.ndarray:
        """Return which places (n, d), time first, in the layer's steps are near enough to the plane, bool (n,)."""
        near, scale = np.ones(len(positions), dtype=bool), self._layer.scale
        for axis, plane in self._planes().items() if self._reach else ():
            near &= np.abs(positions[:, axis] - plane) * scale[axis] <= self._reach * scale[-1]
        return near

    def _planes(self) -> dict[int, float]:
        """Return the plane that is shown along each axis of space that is not displayed, in the layer's steps."""
        ndim = self._layer.ndim
        point = np.asarray(self._layer.world_to_data(np.asarray(self._viewer.dims.point)[-ndim:]))
        displayed = {axis - self._viewer.dims.ndim for axis in self._viewer.dims.displayed}
        return {axis: float(point[axis]) for axis in range(1, ndim) if axis - ndim not in displayed}
