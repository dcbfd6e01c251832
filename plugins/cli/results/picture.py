"""A picture of tracks over the maximum projection of their movie: from above, and in 3D from the side too."""

from __future__ import annotations

import io
import math
import textwrap
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ....tracker.calibrating.digits import counted, plural
from ....tracker.formats.write import write_whole
from ....tracker.pipeline import open_movie
from ....tracker.points import AXES, Tracks
from ....tracker.reading.movie import Movie
from ....tracker.settings import InputSettings
from ..terminal.console import printable
from .picture_colours import SCALE, Paint, values_of
from .picture_field import Projection, projections, region_asked, whole_field
from .picture_part import ABOVE, SIDE, Box, Look, PicturePart, Steps, View, X, Y, Z, parts_shown

_WIDTH, _NARROWEST, _HIGHEST, _DPI = 7.2, 3.5, 10.0, 150
"""Inches of the panels alone; a title needs some width."""
_LEFT, _RIGHT, _BELOW, _GAP, _LINE, _BAR = 0.65, 0.15, 0.55, 0.08, 0.18, 0.85
"""Inches around the panels: for the y axis, the x axis, above a title, a line of it, the bar of colours."""
_LOWEST = 0.06
"""Depth over width below which a view from the side would be a line."""
_LETTERS = 13.0  # in an inch of a title
_DIGIT, _EDGE = 0.09, 0.04  # inches of a digit of a tick's label, and that no label is nearer to the edge
_DIMMED = 1.5


def write_picture(
    tracks: Tracks,
    source: str | None,
    given: InputSettings,
    path: Path,
    *,
    name: str,
    look: Look | None = None,
    overwrite: bool,
) -> None:
    """Write what `picture_of` returns, whole or not at all; raises as `tracker.formats.write.write_whole`."""
    write_whole({path: picture_of(tracks, source, given, name, look)}, overwrite=overwrite)


def picture_of(tracks: Tracks, source: str | None, given: InputSettings, name: str, look: Look | None = None) -> bytes:
    """Return a PNG of the tracks.

    Parameters
    ----------
    tracks : Tracks
    source : str or None
        The movie or point table that they come from; over a table, or None, they are drawn on black.
    given : InputSettings
        How the movie is read.
    name : str
        What the title calls them where there is no source.
    look : Look, optional
        What is shown. Left out, all is chosen.
    """
    name = printable(name if source is None else Path(source).name)
    look = look or Look()
    if source is None or given.is_table(source):
        return png(tracks, None, name, look)
    with open_movie(source, given) as movie:
        return png(tracks, movie, name, look)


def png(tracks: Tracks, movie: Movie | None, name: str, look: Look) -> bytes:
    """Return a PNG of the tracks; arguments as in `draw`."""
    image = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # signs that the font lacks are drawn as boxes
        FigureCanvasAgg(draw(tracks, movie, name, look)).print_png(image)
    return image.getvalue()


def draw(tracks: Tracks, movie: Movie | None, name: str, look: Look) -> Figure:
    """Draw the view from above and, in 3D, the one from the side below it, x running alike in both."""
    steps, unit = Steps.of(tracks, values_of(tracks, look.colour)), tracks.calibration.unit
    whole = whole_field(tracks, movie)
    field = region_asked(whole, look, tracks, movie)
    views = (ABOVE, SIDE) if field.size[Z] > _LOWEST * field.size[X] else (ABOVE,)
    parts = parts_shown(steps, field, views, look, _inches([_sides(field, view) for view in views]))
    behind = [None] * len(views) if movie is None else projections(movie, views, parts)
    paint = Paint.of(look.colour, steps, parts, tracks.calibration)
    titles = [_title(part, view, steps.n_tracks, whole, unit) for part, view in zip(parts, views, strict=True)]
    titles[0] = f"{_heading(name, look, steps, parts[0], whole, unit)}\n{titles[0]}"
    figure, panels = _laid_out(titles, [_sides(part.box, view) for part, view in zip(parts, views, strict=True)], paint)
    for panel, view, part, image in zip(panels, views, parts, behind, strict=True):
        _draw(panel, view, part, image, paint)
        panel.set(xlabel=f"x ({unit})", ylabel=f"{AXES[view.down]} ({unit})")
    for panel, view, part, other in zip(panels, views, parts, reversed(parts), strict=True):
        _mark(panel, view.down, part.box, other.box)
    _make_room(figure)
    return figure


def _heading(name: str, look: Look, steps: Steps, part: PicturePart, whole: Box, unit: str) -> str:
    """Say of how many tracks how much is shown."""
    said = f"{name}: {counted(steps.n_tracks, 'track', ',')} of {max(look.min_length, 2)} detections or more"
    cuts = [_span(part.box, axis, unit) for axis in (Y, X) if part.box.size[axis] < whole.size[axis]]
    if len(steps.track) and (part.frames.start > steps.frames.min() or part.frames.stop <= steps.frames.max()):
        cuts.insert(0, f"frames {part.frames.start} to {part.frames.stop - 1}")
    return f"{said}; shown: {', '.join(cuts)}" if cuts else said


def _title(part: PicturePart, view: View, every: int, whole: Box, unit: str) -> str:
    """Say how many tracks a view shows, if not every one, and of which slab."""
    if part.steps.n_tracks == every:
        return view.name
    slab = f", {_span(part.box, view.depth, unit)}" if part.box.size[view.depth] < whole.size[view.depth] else ""
    return f"{view.name}: {counted(part.steps.n_tracks, 'track', ',')}{slab}"


def _span(box: Box, axis: int, unit: str) -> str:
    """Return from where to where a box reaches along an axis, to a tenth of its size or finer."""
    digits = max(0, 1 - math.floor(math.log10(box.size[axis])))
    return f"{AXES[axis]} {box.low[axis]:.{digits}f} to {box.high[axis]:.{digits}f}\N{NO-BREAK SPACE}{plural(unit)}"


def _sides(box: Box, view: View) -> tuple[float, float]:
    """Return width and height of a view, physical, neither of them zero."""
    width, height = box.size[view.across], box.size[view.down]
    least = max(width, height, 1e-9) / 50  # a line is drawn as a strip
    return max(width, least), max(height, least)


def _inches(sides: Sequence[tuple[float, float]]) -> float:
    """Return how wide panels of these sides are drawn, one below the other."""
    return min(_WIDTH, _HIGHEST / sum(height / width for width, height in sides))


def _laid_out(titles: Sequence[str], sides: Sequence[tuple[float, float]], paint: Paint) -> tuple[Figure, list[Axes]]:
    """Return a figure just as large as panels of these sides, their titles and the bar of colours need."""
    ratios, width = [height / width for width, height in sides], _inches(sides)
    bar = _BAR if paint.label else 0.0
    across = _LEFT + max(width, _NARROWEST) + _RIGHT + bar
    wrapped = [
        "\n".join(line for text in title.split("\n") for line in textwrap.wrap(text, int(_LETTERS * (across - _LEFT))))
        for title in titles
    ]
    above = [_GAP + _LINE * (title.count("\n") + 1) for title in wrapped]
    down = sum(above) + width * sum(ratios) + _BELOW * len(titles)
    figure = Figure((across, down), dpi=_DPI)
    panels: list[Axes] = []
    edge = down
    for title, room, ratio in zip(wrapped, above, ratios, strict=True):
        edge -= room + width * ratio
        panels.append(figure.add_axes((_LEFT / across, edge / down, width / across, width * ratio / down)))
        panels[-1].set_title(title, loc="left", fontsize="medium", linespacing=1.15, pad=4)
        edge -= _BELOW
    if bar:
        _add_bar(figure, (_LEFT + width + _RIGHT) / across, panels[0].get_position(), paint)
    return figure, panels


def _make_room(figure: Figure) -> None:
    """Widen a figure where labels of long numbers would be cut; its panels keep their size."""
    renderer, across = FigureCanvasAgg(figure).get_renderer(), figure.get_figwidth()
    ends = [end for panel in figure.axes if (end := panel.get_tightbbox(renderer)) is not None]
    left = max(_EDGE - min(end.x0 for end in ends) / figure.dpi, 0.0)
    right = max(_EDGE + max(end.x1 for end in ends) / figure.dpi - across, 0.0)
    wider = across + left + right
    for panel in figure.axes:
        at = panel.get_position()
        panel.set_position(((at.x0 * across + left) / wider, at.y0, at.width * across / wider, at.height))
    figure.set_figwidth(wider)


def _add_bar(figure: Figure, left: float, beside: Any, paint: Paint) -> None:
    bar = figure.add_axes((left, beside.y0, 0.12 / figure.get_figwidth(), beside.height))
    figure.colorbar(ScalarMappable(paint.scale, SCALE), cax=bar, label=paint.label)


def _draw(panel: Axes, view: View, part: PicturePart, projection: Projection | None, paint: Paint) -> None:
    panel.set_facecolor("black")
    if projection is not None:
        image, extent = projection
        low, high = np.nanpercentile(image, [1.0, 99.8])
        brightest = low + _DIMMED * max(high - low, 1e-9)  # the tracks are to stand out
        panel.imshow(image, cmap="gray", extent=extent, vmin=low, vmax=brightest)
    elif not len(part.steps.track):  # nothing but black would look like a picture that failed
        panel.text(0.5, 0.5, "no track to draw", color="white", transform=panel.transAxes, ha="center")
    steps, axes = part.steps, [view.across, view.down]
    colours = paint.colours(steps)
    panel.add_collection(LineCollection(list(steps.ends[..., axes]), colors=colours, linewidths=0.9, capstyle="round"))
    last = np.flatnonzero(np.diff(steps.track, append=-1))
    panel.scatter(*steps.ends[last, 1][:, axes].T, s=5, c=colours[last], linewidths=0)
    low, high = part.box.low, part.box.high
    widest = max(len(f"{end:.0f}") for end in (low[view.across], high[view.across]))
    fit = int(panel.get_window_extent().width / _DPI / (_DIGIT * (widest + 2)))
    panel.xaxis.set_major_locator(MaxNLocator(min(max(fit, 1), 9), steps=[1, 2, 2.5, 5, 10], min_n_ticks=1))
    panel.set(xlim=(low[view.across], high[view.across]), ylim=(high[view.down], low[view.down]), aspect="auto")


def _mark(panel: Axes, axis: int, shown: Box, other: Box) -> None:
    """Draw where the slab lies that the other view shows."""
    if other.size[axis] < shown.size[axis]:
        for edge in (other.low[axis], other.high[axis]):
            panel.axhline(edge, color="white", linewidth=0.7, linestyle=(0, (6, 4)))
