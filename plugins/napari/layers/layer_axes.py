"""Which axis of a layer is what, where neither the layer nor its file says so, or says it wrongly."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ....tracker.calibrating.calibration import PIXEL
from ....tracker.calibrating.units import is_pixel, micrometres_of, seconds_of
from ....tracker.errors import InvalidInput
from .layer_tables import OURS, LayerData

if TYPE_CHECKING:
    from napari.layers import Layer

UNDECIDED = "undecided"
NO_TIME = "no time"
ROW = "TZ?YX"
"""Planes of all time points in one row, to be divided by the number of planes of each."""

_WORDS = {"T": "time", "Z": "z", "C": "channel", "Y": "y", "X": "x"}
_AS_THEY_ARE = ("TYX", "TZYX")


@dataclass(frozen=True)
class AxesChoice:
    """What the user says that a layer's axes are.

    Attributes
    ----------
    letters : str
        One letter an axis (T, Z, C, Y, X) in the order of the layer, `ROW`, `NO_TIME` or `UNDECIDED`.
    planes : int or None
        Planes of a time point, for `ROW`; None where that is not said yet.
    """

    letters: str
    planes: int | None = None

    @property
    def of_file(self) -> str:
        """The axes as `auctrack track --axes` takes them."""
        return self.letters.replace("?", str(self.planes))

    @property
    def keeps_the_data(self) -> bool:
        """Whether the axes already stand in the order in which they are tracked, or are not known well enough yet."""
        return self.letters in (*_AS_THEY_ARE, NO_TIME) or (self.letters == ROW and self.planes is None)


def axes_choices(ndim: int) -> dict[str, str]:
    """Return what the axes of a layer can be, in letters and in words, the usual one first; nothing for one image."""
    if ndim == 3:
        letters = ["TYX", ROW]
    elif ndim in (4, 5):
        inner = ["TZ", "TC"] if ndim == 4 else ["TCZ"]
        orders = dict.fromkeys("".join(order) for axes in inner for order in itertools.permutations(axes))
        letters = [f"{order}YX" for order in orders]
    else:
        return {}
    named = {order: ", ".join(_WORDS[letter] for letter in order if letter in _WORDS) for order in letters}
    if ROW in named:
        named[ROW] = "time and z in one row, y, x"
    return named | {NO_TIME: "no time axis"}


def chosen_axes(layer: Layer) -> str | None:
    """Return what was chosen for a layer; None where nothing was, and its order is taken to be time, z, y, x."""
    return layer.metadata.get(OURS, {}).get("axes_choice")


def has_a_choice(layer: Layer) -> bool:
    """Whether the axes of a layer can be chosen: of one that such a choice has put in order, they are settled."""
    kept = layer.metadata.get(OURS, {})
    is_settled = kept.get("axes") is not None and kept["axes"] != kept.get("axes_choice")
    return type(layer).__name__ in ("Image", "Labels") and not getattr(layer, "rgb", False) and not is_settled


def is_depth_first(layer: Layer) -> bool:
    """Whether the first axis of a layer is labelled as depth or measured in a length."""
    unit = str(layer.units[0])
    is_time = is_pixel(unit) or seconds_of(unit) is not None
    return str(layer.axis_labels[0]).lower() in ("z", "depth", "plane", "slice") or not is_time


def call_time_first(layer: Layer) -> None:
    """Have a layer say that its first axis is time, whose interval is not known, where it says that this is depth."""
    if is_depth_first(layer):
        layer.axis_labels = ("t", "z", "y", "x") if layer.ndim == 4 else ("t", "y", "x")
        layer.units = (PIXEL, *layer.units[1:])
        layer.scale = np.array([1.0, *layer.scale[1:]])


def rearranged(data: Any, choice: AxesChoice) -> list[Any]:
    """Return the data as (t, z, y, x) or (t, y, x), one array a channel.

    Raises
    ------
    InvalidInput
        If the planes do not divide the row.
    """
    if choice.letters == ROW:
        assert choice.planes is not None  # else the data are kept
        n, planes = int(data.shape[0]), choice.planes
        if n % planes:
            raise InvalidInput(
                f"{planes} planes a time point do not divide the {n} images of the layer; enter a number that does."
            )
        return [data.reshape((n // planes, planes, *data.shape[1:]))]
    kept = [axis for axis in "CTZYX" if axis in choice.letters]
    ordered = data.transpose([choice.letters.index(axis) for axis in kept])
    if "Z" in kept and ordered.shape[kept.index("Z")] == 1:
        ordered = ordered.squeeze(kept.index("Z"))  # frames that a file called planes were read as one volume
    return [ordered[channel] for channel in range(ordered.shape[0])] if kept[0] == "C" else [ordered]


def rearranged_layers(layer: Layer, choice: AxesChoice, path: str | None) -> list[LayerData]:
    """Return layers whose axes are time, z, y, x, made of one whose axes are as chosen; one a channel."""
    data = layer.data[0] if getattr(layer, "multiscale", False) else layer.data
    arrays = rearranged(data, choice)
    scale, units = _measures(layer, choice)
    kind = type(layer).__name__.lower()
    made: list[LayerData] = []
    for channel, array in enumerate(arrays):
        several = len(arrays) > 1
        kept: Mapping[str, Any] = {
            "path": path,
            "channel": channel if several else None,
            "axes": choice.of_file,
            "axes_choice": "TZYX" if array.ndim == 4 else "TYX",
        }
        given = {
            "name": f"{layer.name} {channel}" if several else f"{layer.name} (in order)",
            "metadata": {OURS: kept},
            "scale": [scale[0], *scale[1 - array.ndim :]],
            "units": [units[0], *units[1 - array.ndim :]],
            "axis_labels": ("t", "z", "y", "x") if array.ndim == 4 else ("t", "y", "x"),
        }
        made.append((array, given, kind))
    return made


def _measures(layer: Layer, choice: AxesChoice) -> tuple[list[float], list[str]]:
    """Return scale and units in the order time, z, y, x: an interval stays one of time, and a length one of z."""
    scale = _reordered(np.asarray(layer.scale).tolist(), choice, 1.0)
    units = _reordered([str(unit) for unit in layer.units], choice, PIXEL)
    if len(units) == 4 and (micrometres_of(units[0]) is not None or seconds_of(units[1]) is not None):
        scale[:2], units[:2] = scale[1::-1], [units[1], units[2]]
    if micrometres_of(units[0]) is not None:
        scale[0], units[0] = 1.0, PIXEL
    return scale, units


def _reordered(values: list[Any], choice: AxesChoice, unknown: Any) -> list[Any]:
    """Return the values of the axes in the order time, z, y, x; `unknown` for both that come out of one row."""
    if choice.letters == ROW:
        return [unknown, unknown, *values[1:]]
    return [values[choice.letters.index(axis)] for axis in "TZYX" if axis in choice.letters]
