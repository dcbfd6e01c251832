"""Scale and units of a layer as a calibration, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ....tracker.calibrating.calibration import FRAME, PIXEL, Calibration
from ....tracker.calibrating.stated import AXES
from ....tracker.calibrating.units import (
    MICROMETRE,
    SECOND,
    is_pixel,
    length_factor,
    micrometres_of,
    seconds_of,
    unit_name,
)

if TYPE_CHECKING:
    from napari.components import Dims
    from napari.layers import Layer

LENGTHS = (MICROMETRE, "mm", "m")
"""Units of length that can be chosen; a layer in another one is taken in µm."""
_KEPT = {micrometres_of(name): name for name in LENGTHS}
_NO_SHEAR = 1e-3
"""By how much lengths differ at most in a layer that rounding alone shears or stretches."""
PLACED_BY = ("scale", "translate", "rotate", "shear", "affine", "units", "axis_labels")
"""What places a layer in the world; an overlay takes all of it from the layer it lies on."""


def calibration_of(layer: Layer) -> Calibration:
    """Return the calibration of a layer whose first axis is time, in µm (or mm, m) and s where its units are known."""
    return calibration_from(layer.scale, [str(unit) for unit in layer.units])


def calibration_from(scale: Any, units: Any) -> Calibration:
    """Return the calibration that scale and units (time first, then z, y, x or y, x) state.

    A unit of length that is not one of physics counts as pixels, and a time axis in pixels of size 1 as not known.
    """
    steps, names = [float(step) for step in scale], [str(unit) for unit in units]
    length = names[-1]
    micrometres = micrometres_of(length)
    known = _KEPT.get(micrometres or 1.0, MICROMETRE)
    factor = 1.0 if micrometres is None else length_factor(length, known)
    sizes = tuple(abs(step) * factor for step in steps[1:])
    seconds = seconds_of(names[0])
    if seconds is not None:
        interval, time_unit = steps[0] * seconds, SECOND
    else:
        interval, time_unit = None, FRAME
    unit = known if micrometres is not None else (PIXEL if is_pixel(length) else unit_name(length))
    return Calibration((1.0,) * (3 - len(sizes)) + sizes, unit, interval, time_unit)  # pyright: ignore[reportArgumentType]


def keeps_lengths(layer: Layer) -> bool:
    """Whether lengths in the world are those by the layer's scale: turned it keeps them, sheared or stretched not."""
    steps = np.array([layer.data_to_world(step) for step in np.eye(layer.ndim)])
    along = (steps - np.asarray(layer.data_to_world(np.zeros(layer.ndim)))) / np.asarray(layer.scale)[:, None]
    return np.allclose(along @ along.T, np.eye(layer.ndim), atol=_NO_SHEAR)


def layer_geometry(calibration: Calibration, ndim: int) -> dict[str, Any]:
    """Return scale, units and axis labels of a layer over time and `ndim` axes of space."""
    interval = calibration.frame_interval
    seconds = seconds_of(calibration.time_unit)
    time_unit = "pixel" if interval is None or seconds is None else calibration.time_unit
    length = calibration.unit if micrometres_of(calibration.unit) is not None else "pixel"
    return {
        "scale": (1.0 if time_unit == "pixel" else interval, *calibration.scale_for(ndim).tolist()),
        "units": (time_unit, *[length] * ndim),
        "axis_labels": ("t", *AXES[-ndim:]),
    }


def placed_like(layer: Layer) -> dict[str, Any]:
    """Return the arguments that place a new layer exactly over `layer`."""
    values: Mapping[str, Any] = {name: getattr(layer, name) for name in PLACED_BY}
    return dict(values)


def lay_over(layer: Layer, below: Layer) -> None:
    """Place a layer exactly over another one with as many axes."""
    for name, value in placed_like(below).items():
        if not _is_same(getattr(layer, name), value):
            setattr(layer, name, value)


def _is_same(one: Any, other: Any) -> bool:
    """Whether two placements are equal; each assignment costs napari a refresh of the whole layer."""
    if hasattr(one, "affine_matrix"):
        return np.array_equal(one.affine_matrix, other.affine_matrix)
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    return [str(part) for part in one] == [str(part) for part in other]


def apply_calibration(layer: Layer, calibration: Calibration) -> None:
    """Write a calibration into scale and units of a layer whose first axis is time."""
    geometry = layer_geometry(calibration, layer.ndim - 1)
    layer.scale = geometry["scale"]
    layer.units = geometry["units"]


def slide_into(dims: Dims, layer: Layer) -> None:
    """Move the sliders to the nearest place in a layer: they may stand where only another one, hidden, reaches."""
    low, high = layer.extent.world
    axes = range(dims.ndim - layer.ndim, dims.ndim)
    dims.set_point(axes, np.clip(np.asarray(dims.point)[axes], low, high).tolist())
