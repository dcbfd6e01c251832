"""What can be tracked in a layer, or one sentence on why it cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from ....tracker.calibrating.calibration import Calibration
from ....tracker.calibrating.digits import counted
from ....tracker.calibrating.units import seconds_of
from ....tracker.errors import InvalidInput
from ....tracker.points import Points, Tracks
from .geometry import calibration_of, keeps_lengths
from .layer_axes import NO_TIME, ROW, UNDECIDED, chosen_axes, is_depth_first
from .layer_movie import LayerMovie, Restriction
from .layer_tables import OURS, WHOLE, fingerprint, points_from_layer, tracks_from_layer

if TYPE_CHECKING:
    from napari.layers import Layer

Kind = Literal["movie", "labels", "points"]
KINDS: dict[str, Kind] = {"Image": "movie", "Labels": "labels", "Points": "points", "Tracks": "points"}


@dataclass(frozen=True)
class LayerInput:
    """A layer that can be tracked.

    Attributes
    ----------
    kind : {"movie", "labels", "points"}
    source : LayerMovie or Points
        `Tracks` where the particles have track ids.
    summary : str
        What the layer is taken to be, for the user to check.
    path : str or None
        File that the layer was read from.
    channel : int or None
        Channel of that file.
    axes : str or None
        Axes of that file, where it does not say them, or was opened by a reader that may have guessed them.
    part : Restriction
        What `source` is cut to.
    intensity : LayerInput or None
        Labels: the movie whose intensity is measured under each label.
    columns : mapping of str to str, or None
        Names of columns of that file that the user gave.
    series : int or None
        Series of that file.
    """

    kind: Kind
    source: LayerMovie | Points
    summary: str
    path: str | None
    channel: int | None
    axes: str | None = None
    part: Restriction = field(default_factory=Restriction)
    intensity: LayerInput | None = None
    columns: Mapping[str, str] | None = None
    series: int | None = None

    @property
    def calibration(self) -> Calibration:
        """Voxel size and frame interval."""
        return self.source.calibration

    @property
    def ndim(self) -> int:
        """Number of spatial axes, 2 or 3."""
        return self.source.ndim

    @property
    def has_links(self) -> bool:
        """Whether the particles are linked already: a Tracks layer, or points with a `track_id`."""
        return isinstance(self.source, Tracks)

    @property
    def frame_numbers(self) -> tuple[int, ...]:
        """Frames in the order of time."""
        if isinstance(self.source, LayerMovie):
            return self.source.frame_numbers
        return tuple(int(number) for number in self.source.frame_numbers)


def read_layer(layer: Layer) -> LayerInput:
    """Return what is tracked in a layer; nothing is computed.

    Raises
    ------
    InvalidInput
        In one sentence: what is wrong with the choice and what to do.
    """
    kind = KINDS.get(type(layer).__name__)
    if kind is None:
        raise InvalidInput(
            f"{layer.name} is a {type(layer).__name__} layer; choose an Image, Labels, Points or Tracks "
            "layer, or drop a table."
        )
    if kind == "points":
        return _points(layer)
    return _movie(layer, kind)


def _on_shear(layer: Layer) -> str:
    """Return what is to be said of a layer whose lengths are others in the world than by its scale."""
    if keeps_lengths(layer):
        return ""
    return "; sheared or stretched in the viewer (shear, affine), but tracked as it is by its scale: lengths are others"


def measures_of(layer: Layer) -> dict[str, tuple[Any, ...]]:
    """Return what says how large the voxels of a layer are, and how long its frames, as it can be set again."""
    return {
        "scale": tuple(map(float, layer.scale)),
        "units": tuple(map(str, layer.units)),
        "axis_labels": tuple(layer.axis_labels),
    }


def state_of(layer: Layer) -> tuple[object, ...]:
    """Return what tells whether a layer is still as it was read: placement, data and what the columns beside it are."""
    whole = layer.metadata.get(OURS, {}).get(WHOLE)
    can_move = type(layer).__name__ == "Points" and whole is None
    data = fingerprint(layer.data) if can_move else id(layer.data if whole is None else whole)
    features = getattr(layer, "features", None) if whole is None else None
    columns = None if features is None else (id(features), tuple(map(str, features.columns)))
    return *measures_of(layer).values(), chosen_axes(layer), data, columns


def _points(layer: Layer) -> LayerInput:
    _require_time_first(layer)
    names = ("features", "scale", "units", "metadata", "graph")
    read = tracks_from_layer if type(layer).__name__ == "Tracks" else points_from_layer
    points = _with_tracks(read(layer.data, {name: getattr(layer, name, None) for name in names}))
    if len(points) == 0:
        raise InvalidInput(f"{layer.name} has no points yet.")
    frames = points.frame_numbers
    if len(frames) < 2:
        raise InvalidInput(
            f"all points of {layer.name} are in frame {frames[0]}; the first column must be time, with several frames."
        )
    summary = f"{counted(len(points), 'point', ',')} in {counted(len(frames), 'frame')}, {points.ndim}D"
    if isinstance(points, Tracks):
        summary += f", in {counted(points.table['track_id'].nunique(), 'track', ',')}"
    summary += _on_shear(layer)
    path, channel = _origin_of(layer)
    columns = layer.metadata.get(OURS, {}).get("columns")
    return LayerInput("points", points, summary, path, channel, columns=columns)


def _with_tracks(points: Points) -> Points:
    """Return points as tracks where every one of them has a number of its track."""
    ids = points.table.get("track_id")
    if isinstance(points, Tracks) or ids is None or not pd.api.types.is_numeric_dtype(ids):
        return points
    numbers = ids.to_numpy(dtype=np.float64)
    are_ids = np.isfinite(numbers).all() and not (numbers % 1).any() and numbers.min(initial=0) >= 0
    return points.with_track_ids(numbers.astype(np.int64)) if are_ids else points


def _movie(layer: Layer, kind: Kind) -> LayerInput:
    if getattr(layer, "rgb", False):
        raise InvalidInput(
            f"{layer.name} is a colour (RGB) image; split it (right click > Split RGB) and choose the channel that "
            "shows the particles."
        )
    data = layer.data[0] if getattr(layer, "multiscale", False) else layer.data
    shape = list[int](data.shape)
    if len(shape) == 2:
        raise InvalidInput(
            f"{layer.name} is a single 2D image ({_sizes(shape)}); tracking needs a time axis before it."
        )
    _require_axes(layer, shape)
    if shape[0] < 2:
        raise InvalidInput(
            f"{layer.name} has only one frame ({_sizes(shape)}, the first axis is time); tracking needs several. If "
            "another axis is time, choose the axes."
        )
    path, channel = _origin_of(layer)
    kept = layer.metadata.get(OURS)
    frames = (kept or {}).get("looked_at", tuple(range(shape[0])))
    source = LayerMovie(data, calibration_of(layer), Path(path or layer.name), frames)
    doubt = "" if _time_is_named(layer) else " (if that is not so, choose the axes)"
    order = "z × y × x" if source.ndim == 3 else "y × x"
    axes = ("TZYX" if len(shape) == 4 else "TYX") if kept is None else kept.get("axes")
    note = f"; {kept['note']}" if kept and "note" in kept else ""
    summary = f"{len(frames)} frames of {order} = {_sizes(source.shape)}{doubt}{note}{_on_shear(layer)}"
    return LayerInput(kind, source, summary, path, channel, axes, series=(kept or {}).get("series"))


def _require_axes(layer: Layer, shape: Sequence[int]) -> None:
    """Refuse axes that are not known, or not those of a movie."""
    chosen = chosen_axes(layer)
    if chosen == UNDECIDED:
        raise InvalidInput(
            f"The file of {layer.name} does not say what its axes of {_sizes(shape)} are: choose them under Axes."
        )
    if chosen == ROW:
        raise InvalidInput(f"{layer.name} has all its planes in one row: enter under Axes how many a time point has.")
    if chosen == NO_TIME:
        raise InvalidInput(f"{layer.name} has no time axis; tracking needs several frames, one after the other.")
    if len(shape) > 4:
        raise InvalidInput(
            f"{layer.name} has {len(shape)} axes ({_sizes(shape)}); tracking takes time, z, y, x or time, y, x: say "
            "under Axes which is which."
        )
    _require_time_first(layer)


def _require_time_first(layer: Layer) -> None:
    """Refuse a first axis that is labelled as depth or measured in a length."""
    if is_depth_first(layer):
        raise InvalidInput(
            f"the first axis of {layer.name} is depth (axis {layer.axis_labels[0]!r}, in {layer.units[0]}), where "
            "tracking needs time. If that is wrong, say under Axes which is which; else choose another layer."
        )


def _time_is_named(layer: Layer) -> bool:
    return str(layer.axis_labels[0]).lower() in ("t", "time", "frame") or seconds_of(str(layer.units[0])) is not None


def _origin_of(layer: Layer) -> tuple[str | None, int | None]:
    """Return file and channel of a layer; no file where the layer may differ from it.

    Points that were moved or added since are no longer the file's. An image that another reader opened is taken to be
    its file, if it was not cut out of another layer.
    """
    kept = layer.metadata.get(OURS, {})
    if "path" in kept:
        could_change = WHOLE not in kept and "fingerprint" in kept
        changed = could_change and kept["fingerprint"] != fingerprint(layer.data)
        return (None if changed else kept["path"]), kept.get("channel")
    return (None if type(layer).__name__ == "Points" else file_of(layer)), None


def file_of(layer: Layer) -> str | None:
    """Return the file that another reader opened as this layer, if the layer was not cut out of another one."""
    is_whole = layer.source.path is not None and layer.source.parent is None
    return str(Path(str(layer.source.path)).resolve()) if is_whole else None


def _sizes(shape: Sequence[int]) -> str:
    return " × ".join(map(str, shape))
