"""A viewer with the widget over simulated particles, for measurements."""

from __future__ import annotations

from typing import Any

from napari import Viewer

from ....tracker.simulating.simulate import SimulationSettings, simulate
from ..layers.file_layer import point_size
from ..layers.hand_over import make_layer
from ..layers.layer_tables import points_layer
from .settled import settle


def simulated_viewer(particles: int, frames: int, size: tuple[int, int]) -> tuple[Viewer, Any]:
    """Return a viewer of `size` pixels over particles that are not linked yet, and the widget."""
    points = simulate(SimulationSettings(particles=particles, frames=frames)).detections
    viewer = Viewer(title="auctrack", show=True)
    viewer.window.resize(*size)
    viewer.add_layer(make_layer(points_layer(points, "points", size=point_size(points))))
    _, widget = viewer.window.add_plugin_dock_widget("auctrack", "Track particles")
    settle(widget)
    return viewer, widget
