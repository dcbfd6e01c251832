"""Whether a place in the world is what the viewer shows: in its frame and plane, on the canvas, and near enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..layers.main_window import canvas_of

if TYPE_CHECKING:
    from napari import Viewer

_JUDGED_PIXELS = 16
"""Particles that are smaller on the canvas cannot be told apart by eye."""


def is_in_slice(viewer: Viewer, world: np.ndarray) -> bool:
    """Whether a place, time first, is in the frame and plane shown, as thick as planes are shown.

    Everything is where no axis has a slider: of a 2D movie 3D shows all frames, one behind the other.
    """
    dims = viewer.dims
    axes: list[int] = [axis for axis in dims.not_displayed if axis >= dims.ndim - len(world)]
    away = np.abs(np.asarray(dims.point)[axes] - world[[axis - dims.ndim for axis in axes]])
    half_steps = np.array([dims.range[axis].step / 2 for axis in axes])
    return bool((away <= np.maximum(np.asarray(dims.margin_left)[axes], half_steps)).all())


def is_on_canvas(viewer: Viewer, world: tuple[float, float, float]) -> bool:
    """Whether a place (z, y, x) is on the canvas, in whatever frame or plane."""
    camera: Any = viewer.scene.camera
    up = (0.0, 1.0, 0.0) if viewer.dims.ndisplay == 2 else camera.up_direction
    sight = (1.0, 0.0, 0.0) if viewer.dims.ndisplay == 2 else camera.view_direction
    away = np.subtract(world, [*[0.0] * (3 - len(camera.center)), *camera.center])
    canvas = canvas_of(viewer)
    aside, above = abs(away @ np.cross(sight, up)), abs(away @ np.asarray(up))
    return bool(aside * camera.zoom <= canvas.width() / 2 and above * camera.zoom <= canvas.height() / 2)


def come_near(viewer: Viewer, size: float, length: float) -> None:
    """Zoom in until a particle of a size can be judged, but not so far that a link of a length leaves the canvas."""
    canvas, camera = canvas_of(viewer), viewer.scene.camera
    zoom = _JUDGED_PIXELS / size
    if length:
        zoom = min(zoom, min(canvas.width(), canvas.height()) / 4 / length)
    camera.zoom = max(float(camera.zoom), zoom)
