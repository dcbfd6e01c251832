"""What is drawn, as layer data made outside the main thread: only handing it to napari has to happen there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pandas as pd

from ....tracker.points import Points, Tracks
from ..layers.file_layer import point_size
from ..layers.layer_tables import NEAR, OURS, WHOLE, LayerData, points_layer, tracks_layer
from ..layers.window import DrawnWindow, window_around
from ..session.filters import MeasuredTracks
from .colours import COLOUR, Colouring, colormap_for, colouring

BRIGHT = 500
"""Tracks drawn bright at most: napari takes up more of them too slowly."""
_RING, _RING_COLOUR = 0.07, "#1e90ff"  # of a particle's diameter; seen on black, on white and on saturated spots


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
    n_axes : int
        Of the layer that they lie on, time among them.
    name : str
        Of that layer.
    frame : int
        The frame that is shown.
    most : int
        Vertices drawn at most.
    size : float or None
        Diameter of a particle, in steps of x; None: read from how far all particles are apart.
    tail : int
        Length of the tails, in frames.
    tail_depth : float
        How far above and below the plane shown they are drawn, in diameters of a particle; 0: all of them.
    """

    data: MeasuredTracks
    kept: pd.DataFrame
    feature: str
    percentiles: tuple[float, float]
    n_axes: int
    name: str
    frame: int
    most: int
    size: float | None
    tail: int
    tail_depth: float


@dataclass(frozen=True)
class Drawn:
    """A drawing ready to be handed to napari.

    Attributes
    ----------
    layers : mapping of str to LayerData
        By role: "particles", "tracks".
    tracks : Tracks
        All that pass the filters, drawn or not.
    colouring : Colouring
    of_tracks : Series
        Mean of `colouring.scaled` over each track, by `track_id`.
    window : DrawnWindow
    drawing : Drawing
        What was to be drawn.
    """

    layers: Mapping[str, LayerData]
    tracks: Tracks
    colouring: Colouring
    of_tracks: pd.Series[float]
    window: DrawnWindow
    drawing: Drawing


def draw(drawing: Drawing, before: Drawn | None = None) -> Drawn:
    """Draw tracks and their particles: a window of time and a subset where there are too many vertices.

    Of what was drawn `before` the colours are taken where nothing but the frame has changed: of millions of points they
    take half of the time.
    """
    if before is not None and _has_colours_of(drawing, before.drawing):
        tracks, colours, of_tracks = before.tracks, before.colouring, before.of_tracks
    else:
        tracks = drawing.data.only(drawing.kept)
        colours = colouring(tracks, drawing.kept, drawing.feature, drawing.percentiles)
        of_tracks = pd.Series(colours.scaled).groupby(tracks.table["track_id"].to_numpy()).mean()
    window = window_around(tracks, drawing.frame, drawing.most)
    rows = np.arange(len(tracks)) if window.rows is None else np.flatnonzero(window.rows)
    shown = replace(tracks, table=tracks.table.assign(**{COLOUR: colours.scaled}).iloc[rows])
    shown = cast("Tracks", with_axes(shown, drawing.n_axes))
    size = drawing.size or point_size(drawing.data.tracks)
    layers = {
        "particles": _particles(shown, drawing.name, size),
        "tracks": _tracks(shown, tracks, drawing),
    }
    for _, given, _ in layers.values():
        given["metadata"][OURS] |= {NEAR: drawing.data.margins_are_near}
    return Drawn(layers, tracks, colours, of_tracks, window, drawing)


def _has_colours_of(one: Drawing, other: Drawing) -> bool:
    is_of_same = one.data is other.data and one.kept is other.kept
    return is_of_same and (one.feature, one.percentiles) == (other.feature, other.percentiles)


def draw_particles(points: Points, n_axes: int, name: str, size: float | None, most: int) -> LayerData:
    """Draw particles that are not linked yet; of too many, an even part, which the layer's name says."""
    every = max(1, -(-len(points) // most))
    shown = replace(points, table=points.table.iloc[::every])
    part = f" (one of {every})" if every > 1 else ""
    return _particles(with_axes(shown, n_axes), name + part, size or point_size(points))


def draw_some(tracks: Tracks, track_ids: Sequence[int], n_axes: int, tail: int, ink: str) -> LayerData:
    """Draw some tracks, whole and in one ink (see `INKS`)."""
    some = replace(tracks, table=tracks.table[tracks.table["track_id"].isin(track_ids)], parents={})
    data, given, kind = tracks_layer(cast("Tracks", with_axes(some, n_axes)), "chosen track")
    given["features"] = pd.DataFrame({COLOUR: np.ones(len(data))})
    given["metadata"][OURS] |= {"overlay": True}
    look = {"color_by": COLOUR, "colormaps_dict": {COLOUR: colormap_for(ink)}, "tail_length": tail, "head_length": tail}
    return data, given | look | {"tail_width": 5, "blending": "translucent"}, kind


def _tracks(shown: Tracks, whole: Tracks, drawing: Drawing) -> LayerData:
    data, given, kind = tracks_layer(shown, f"tracks of {drawing.name}")
    features = given["features"]
    given["features"] = features[[name for name in features if name == COLOUR or _is_drawable(features[name])]]
    given["metadata"][OURS] |= {"overlay": True, WHOLE: whole}
    look = {
        "color_by": COLOUR,
        "colormaps_dict": {COLOUR: colormap_for(drawing.feature)},
        "tail_length": drawing.tail,
        "tail_width": 3,
        "blending": "translucent",
    }
    return data, given | look, kind


def _is_drawable(values: pd.Series[Any]) -> bool:
    """Whether napari can colour by these values: with a NaN among them it would show no track at all."""
    return pd.api.types.is_numeric_dtype(values) and bool(np.isfinite(values.to_numpy(dtype=np.float64)).all())


def _particles(points: Points, name: str, size: float) -> LayerData:
    table = points.table.drop(columns=COLOUR, errors="ignore")
    data, given, kind = points_layer(Points(table, points.calibration), f"particles of {name}")
    look = {
        "size": size,
        "face_color": "transparent",
        "border_color": _RING_COLOUR,
        "border_width": _RING,
        "opacity": 0.8,
        "projection_mode": "all",
        "metadata": {OURS: {"overlay": True}},
    }
    return data, given | look, kind


def with_axes(points: Points, n_axes: int) -> Points:
    """Return the points with z = 0 where they are 2D and the layer that they lie on has a z axis of length 1."""
    if points.ndim == 3 or n_axes == 3:
        return points
    return replace(points, table=points.table.assign(z=0.0))
