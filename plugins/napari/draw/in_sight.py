"""Whether a place in the world is what the viewer shows: in its frame and plane, and on the canvas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..layers.main_window import canvas_of

if TYPE_CHECKING:
    from napari import Viewer


def is_in_slice(viewer: Viewer, world: np.ndarray) -> bool:
    """Whether a place, time first, is in the frame and plane shown, as thick as planes are shown."""
    dims = viewer.dims
    axes = [axis for axis in dims.not_displayed if axis >= dims.ndim - len(world)]
    away = np.abs(np.asarray(dims.point)[axes] - world[np.subtract(axes, dims.ndim)])
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
