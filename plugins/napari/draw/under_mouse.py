"""Where in space the mouse points: on the plane that is shown, or in 3D along the line of sight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from napari import Viewer


def under_mouse(viewer: Viewer, layer: Any, image: Any, near: np.ndarray | None) -> np.ndarray | None:
    """Return the place under the mouse in the steps of a layer, time first, float64 (d,); None where there is none.

    Parameters
    ----------
    viewer : Viewer
    layer : Layer
        Of particles or tracks.
    image : Layer or None
        In 3D the brightest voxel of it under the mouse is meant, in 2D its plane that is shown.
    near : float64 (d,) or None
        A place in the steps of `layer`: in 3D the point under the mouse that is nearest to it is meant instead.
    """
    world = np.asarray(viewer.cursor.position, dtype=np.float64)
    if viewer.dims.ndisplay == 3:
        sight: Any = viewer.scene.camera.calculate_nd_view_direction(len(world), viewer.dims.displayed)
        if near is not None:
            target = np.concatenate([world[: -layer.ndim], np.asarray(layer.data_to_world(near))])
            world = world + sight * ((target - world) @ sight)
        else:
            brightest = None if image is None else _brightest(image, world, sight, [*viewer.dims.displayed])
            if brightest is None:
                return None
            world = brightest
    elif image is not None:
        world = _on_its_plane(image, world, [*viewer.dims.displayed])
    return np.asarray(layer.world_to_data(world[-layer.ndim :]), dtype=np.float64)


def _on_its_plane(image: Any, world: np.ndarray, displayed: list[int]) -> np.ndarray:
    """Return a place in the world moved onto the plane of an image that napari shows there: the nearest one."""
    place = np.asarray(image.world_to_data(world[-image.ndim :]), dtype=np.float64)
    across = [axis for axis in range(image.ndim) if axis - image.ndim + len(world) not in displayed]
    place[across] = np.rint(place[across])
    return np.concatenate([world[: -image.ndim], np.asarray(image.data_to_world(place), dtype=np.float64)])


def _brightest(image: Any, world: np.ndarray, sight: np.ndarray, displayed: list[int]) -> np.ndarray | None:
    """Return where along a line of sight an image is brightest, in the world; None where the line passes beside it."""
    start, end = image.get_ray_intersections(world, sight, displayed, world=True)
    if start is None or end is None:
        return None
    line = np.linspace(start, end, 2 * int(np.ceil(np.linalg.norm(end - start))) + 2)  # two points a voxel
    shown = [axis - len(world) for axis in displayed]
    here = np.rint(image.world_to_data(world[-image.ndim :])).astype(int)
    index = np.tile(here, (len(line), 1))
    index[:, shown] = np.clip(np.rint(line[:, shown]), 0, np.array(image.data.shape)[shown] - 1)
    volume = np.asarray(image.data[tuple(here[: image.ndim - 3])])
    place = index[int(np.argmax(volume[tuple(index[:, -3:].T)]))]
    found = world.copy()
    found[-image.ndim :] = np.asarray(image.data_to_world(place), dtype=np.float64)
    return found
