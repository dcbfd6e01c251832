"""Tracks and particles as napari layers, made outside the main thread: only adding them has to happen there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from ...tracker.points import Points, Tracks
from .colours import COLOUR, Colouring, colormap_for, colouring
from .filters import MeasuredTracks
from .layer_tables import OURS, points_layer, tracks_layer
from .readers import point_size
from .window import Window, window_around

if TYPE_CHECKING:
    from napari.layers import Layer

_POINTS_PER_VERTEX = 10  # a Points layer costs about a tenth of a Tracks layer


@dataclass(frozen=True)
class Drawing:
    """What is to be drawn.

    Attributes
    ----------
    data : MeasuredTracks
        All tracks.
    kept : DataFrame
        Measures of those that pass the filters.
    feature, percentiles
        What they are coloured by.
    placed : mapping
        Where the layer that they lie on stands (`geometry.placed_like`).
    name : str
        Of that layer.
    frame : int
        The frame that is shown.
    most : int
        Vertices drawn at most.
    size : float or None
        Diameter of a particle, in steps of x; None: read from how far particles are apart.
    tail : int
        Length of the tails, in frames.
    """

    data: MeasuredTracks
    kept: pd.DataFrame
    feature: str
    percentiles: tuple[float, float]
    placed: Mapping[str, Any]
    name: str
    frame: int
    most: int
    size: float | None
    tail: int


@dataclass(frozen=True)
class Drawn:
    """Layers ready to be added.

    Attributes
    ----------
    tracks_layer, particles_layer : Layer
    tracks : Tracks
        All that pass the filters, drawn or not.
    row_of_particle : int (points drawn,)
        Row of `tracks` of each particle drawn.
    colouring : Colouring
    window : Window
    drawing : Drawing
        What was drawn.
    """

    tracks_layer: Layer
    particles_layer: Layer
    tracks: Tracks
    row_of_particle: np.ndarray
    colouring: Colouring
    window: Window
    drawing: Drawing


def draw(drawing: Drawing) -> Drawn:
    """Return the layers of a drawing: a window of time and a subset where there are too many vertices."""
    from napari.layers import Points as PointsLayer
    from napari.layers import Tracks as TracksLayer

    tracks = cast("Tracks", _in_axes_of(drawing.data.only(drawing.kept), drawing.placed))
    colours = colouring(tracks, drawing.kept, drawing.feature, drawing.percentiles)
    window = window_around(tracks, drawing.frame, drawing.most)
    data, given = _tracks(tracks, drawing, colours, window)
    tracks_shown = TracksLayer(data, **given)
    rows = _particle_rows(tracks, drawing.most, window)
    data, given = _particles(Points(tracks.table.iloc[rows], tracks.calibration), drawing)
    return Drawn(tracks_shown, PointsLayer(data, **given), tracks, rows, colours, window, drawing)


def draw_particles(points: Points, placed: Mapping[str, Any], name: str, size: float | None, most: int) -> Layer:
    """Return a layer of particles that are not linked yet; of too many, an even part."""
    from napari.layers import Points as PointsLayer

    every = -(-len(points) // max(most * _POINTS_PER_VERTEX, 1)) or 1
    shown = _in_axes_of(Points(points.table.iloc[::every], points.calibration), placed)
    data, given, _ = points_layer(
        shown, name, **_look(size or point_size(shown)), **placed, metadata={OURS: {"overlay": True}}
    )
    return PointsLayer(data, **given)


def draw_one(tracks: Tracks, track_id: int, placed: Mapping[str, Any], tail: int) -> Layer:
    """Return a layer that shows one track, whole and bright."""
    from napari.layers import Tracks as TracksLayer

    one = Tracks(tracks.table[tracks.table["track_id"] == track_id], tracks.calibration)
    data, given, _ = tracks_layer(one, "chosen track", **placed)
    given |= {"features": None, "metadata": {OURS: {"overlay": True}}, "colormap": "gray", "color_by": "track_id"}
    layer = TracksLayer(data, tail_length=tail, head_length=tail, tail_width=5, blending="translucent", **given)
    layer.track_colors = np.ones((len(data), 4), dtype=np.float32)
    return layer


def _tracks(tracks: Tracks, drawing: Drawing, colours: Colouring, window: Window) -> tuple[np.ndarray, dict[str, Any]]:
    rows = slice(None) if window.rows is None else window.rows
    table = tracks.table.assign(**{COLOUR: colours.scaled})[rows]
    shown = Tracks(table, tracks.calibration, tracks.parents)
    kept = {"overlay": True, "tracks": drawing.data.only(drawing.kept)}
    data, given, _ = tracks_layer(shown, f"tracks of {drawing.name}", **drawing.placed)
    features = given["features"]
    given["features"] = features[[name for name in features if name == COLOUR or _is_drawable(features[name])]]
    given["metadata"][OURS] |= kept
    look = {
        "color_by": COLOUR,
        "colormaps_dict": {COLOUR: colormap_for(drawing.feature)},
        "tail_length": drawing.tail,
        "tail_width": 3,
        "blending": "translucent",
    }
    return data, given | look


def _is_drawable(values: pd.Series[Any]) -> bool:
    """Whether napari can colour by these values: with a NaN among them it would show no track at all."""
    return pd.api.types.is_numeric_dtype(values) and bool(np.isfinite(values.to_numpy(dtype=np.float64)).all())


def _particle_rows(tracks: Tracks, most: int, window: Window) -> np.ndarray:
    """Return the rows drawn as particles: all if they fit, else those of the window."""
    if window.rows is None or len(tracks) <= most * _POINTS_PER_VERTEX:
        return np.arange(len(tracks))
    return np.flatnonzero(window.rows)


def _particles(points: Points, drawing: Drawing) -> tuple[np.ndarray, dict[str, Any]]:
    data, given, _ = points_layer(
        points,
        f"particles of {drawing.name}",
        **_look(drawing.size or point_size(points)),
        **drawing.placed,
        metadata={OURS: {"overlay": True}},
    )
    return data, given


def _look(size: float) -> dict[str, Any]:
    return {
        "size": size,
        "face_color": "transparent",
        "border_color": "white",
        "border_width": 0.05,
        "opacity": 0.5,
        "projection_mode": "all",
    }


def _in_axes_of(points: Points, placed: Mapping[str, Any]) -> Points:
    """Return the points with z = 0 where they are 2D and the layer that they lie on has a z axis of length 1."""
    if points.ndim == 3 or len(placed["scale"]) == 3:
        return points
    return replace(points, table=points.table.assign(z=0.0))
