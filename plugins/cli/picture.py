"""A picture of tracks over the maximum projection of their movie: from above, and in 3D from the side too."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from ...tracker.pipeline import open_movie
from ...tracker.points import Tracks
from ...tracker.settings import InputSettings
from ...tracker.threshold import spread_frames
from ...tracker.write import write_whole
from .console import printable

_FRAMES = 50
"""Frames of which the projection is made, spread over the movie."""
_TRACKS = 5_000
"""Tracks drawn, the longest ones: more cannot be told apart in a picture."""
_WIDTH, _HIGHEST, _DPI = 8.0, 10.0, 150
_DIMMED = 1.5
_GOLDEN = 0.618034  # of the colour circle from one track to the next, so that neighbours in number differ

Extent = tuple[float, float, float, float]
"""Left, right, bottom, top, physical; bottom is the greater one, as the first row is drawn at the top."""
Projection = tuple[np.ndarray, Extent]


def write_picture(tracks: Tracks, source: str, given: InputSettings, path: Path, *, overwrite: bool) -> None:
    """Write a PNG of the tracks, whole or not at all.

    Parameters
    ----------
    tracks : Tracks
    source : str
        The movie or point table that they come from; over a table they are drawn on black.
    given : InputSettings
        How the movie is read.
    path : Path
    overwrite : bool

    Raises
    ------
    OutputExists, OutputFailed
        As `tracker.write.write_whole`.
    """
    projections = {} if given.is_table(source) else _projections(source, given)
    image = io.BytesIO()
    figure = _figure(tracks, projections, printable(Path(source).name))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # signs that the font lacks are drawn as boxes
        FigureCanvasAgg(figure).print_png(image)
    write_whole({path: image.getvalue()}, overwrite=overwrite)


def _projections(source: str, given: InputSettings) -> dict[str, Projection]:
    """Return for the views "yx" and "zx" the maximum over depth and time, and its physical extent (imshow's)."""
    with open_movie(source, given) as movie:
        axes = "zyx"[3 - movie.ndim :]
        scale = dict(zip(axes, movie.calibration.scale_for(movie.ndim), strict=True))
        start = dict(zip(axes, movie.origin, strict=True))
        size = dict(zip(axes, movie.shape, strict=True))
        views = ("yx", "zx")[: movie.ndim - 1]
        highest: dict[str, np.ndarray] = {}
        for number in spread_frames(movie.frame_numbers, _FRAMES):
            frame = movie.frame(number).astype(np.float32)
            for view in views:
                along = tuple(axes.index(axis) for axis in axes if axis not in view)
                flat = frame.max(axis=along)
                highest[view] = np.fmax(highest[view], flat) if view in highest else flat

    def extent(view: str) -> Extent:
        down, across = view
        left, top = ((start[axis] - 0.5) * scale[axis] for axis in (across, down))
        return left, left + size[across] * scale[across], top + size[down] * scale[down], top

    return {view: (highest[view], extent(view)) for view in views}


def _figure(tracks: Tracks, projections: Mapping[str, Projection], name: str) -> Figure:
    """Draw the view from above and, in 3D, the one from the side below it, x running alike in both."""
    drawn, count = _drawn(tracks)
    views = ("yx", "zx")[: tracks.ndim - 1]
    extents = {view: projections[view][1] if view in projections else _extent(tracks, view) for view in views}
    width = extents["yx"][1] - extents["yx"][0]
    heights = [bottom - top for _, _, bottom, top in extents.values()]
    inches = min(_WIDTH, _HIGHEST * width / sum(heights))
    figure = Figure(
        (max(inches, 4.0), inches * sum(heights) / width + 0.8 * len(views)), dpi=_DPI, layout="constrained"
    )
    panels = figure.subplots(len(views), 1, squeeze=False, gridspec_kw={"height_ratios": heights})
    for panel, view in zip(panels.ravel().tolist(), views, strict=True):
        _draw(panel, view, drawn, projections.get(view), extents[view])
        panel.set(xlabel=f"x ({tracks.calibration.unit})", ylabel=f"{view[0]} ({tracks.calibration.unit})")
    shown = f"the {len(drawn)} longest of {count} tracks" if len(drawn) < count else f"{count} tracks"
    title = f"{name}: {shown} of two detections or more"
    panels[0, 0].set_title(title, fontsize="medium", parse_math=False)  # a name may hold dollar signs
    return figure


def _draw(panel: Axes, view: str, drawn: list[np.ndarray], projection: Projection | None, extent: Extent) -> None:
    panel.set_facecolor("black")
    if projection is not None:
        low, high = np.nanpercentile(projection[0], [1.0, 99.8])
        brightest = low + _DIMMED * max(high - low, 1e-9)  # the tracks are to stand out
        panel.imshow(projection[0], cmap="gray", extent=extent, vmin=low, vmax=brightest)
    columns = ["zyx".index(view[1]), "zyx".index(view[0])]
    colours = colormaps["hsv"]((np.arange(len(drawn)) * _GOLDEN) % 1.0)
    panel.add_collection(LineCollection([path[:, columns] for path in drawn], colors=colours, linewidths=0.9))
    if drawn:
        ends = np.array([path[-1, columns] for path in drawn])
        panel.scatter(ends[:, 0], ends[:, 1], s=5, c=colours, linewidths=0)
    panel.set(xlim=extent[:2], ylim=extent[2:], aspect="equal")


def _drawn(tracks: Tracks) -> tuple[list[np.ndarray], int]:
    """Return the physical paths (k, 3) of the longest tracks in z, y, x, z being 0 in 2D; and how many tracks move."""
    track_id, order = tracks.table["track_id"].to_numpy(), np.lexsort((tracks.frames, tracks.table["track_id"]))
    positions = np.zeros((len(order), 3))
    positions[:, 3 - tracks.ndim :] = tracks.positions[order]
    starts = np.flatnonzero(np.diff(track_id[order], prepend=-1)) if len(order) else np.empty(0, dtype=np.int64)
    paths = [path for path in np.split(positions, starts[1:]) if len(path) > 1]
    return sorted(paths, key=len, reverse=True)[:_TRACKS], len(paths)


def _extent(tracks: Tracks, view: str) -> Extent:
    """Return what shows every point."""
    if not len(tracks):
        return 0.0, 1.0, 1.0, 0.0
    low, high = (dict(zip(tracks.axes, reach(tracks.positions, axis=0), strict=True)) for reach in (np.min, np.max))
    margin = 0.02 * max(*(high[axis] - low[axis] for axis in tracks.axes), 1e-9)
    down, across = view
    return low[across] - margin, high[across] + margin, high[down] + margin, low[down] - margin
