"""Figures: lines, bars, profiles and tracks in 3D, drawn without a screen.

Each function returns the file that it wrote, as a list, which is empty where there was nothing to draw.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .profiles import Curve
from .tables import duration, round_time

Line = Sequence[tuple[float, float]]

TIME = "time"
"""What the axis of seconds is called, which are written out with their units."""

LETTERS_ACROSS = 88
"""Letters of a name that would fill an axis from end to end."""
NAME_POINTS = 11.0
"""Height of a name, in points."""


@contextmanager
def drawing(path: Path, *, title: str, size: tuple[float, float] = (7.0, 4.5)) -> Generator[Any]:
    """Yield a matplotlib figure and save it as `path`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title, fontsize=11)
    yield figure
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def draw_lines(
    path: Path, title: str, lines: Mapping[str, Line], *, x: str, y: str, log: tuple[bool, bool] = (True, True)
) -> list[Path]:
    """Draw one line a name; lines without a point are left out."""
    drawn = {name: line for name, line in lines.items() if line}
    if not drawn:
        return []
    with drawing(path, title=title) as figure:
        axes = figure.subplots()
        for i, (name, line) in enumerate(drawn.items()):
            axes.plot(*zip(*line, strict=True), marker="osD^vPX*"[i % 8], label=name)
        axes.set(xlabel=x, ylabel=y, xscale="log" if log[0] else "linear", yscale="log" if log[1] else "linear")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    return [path]


def draw_times(path: Path, title: str, lines: Mapping[str, Line], *, x: str, bold: Collection[str] = ()) -> list[Path]:
    """Draw seconds against sizes, one line a name, which stands at the line's end; `bold` names thick ones.

    Both axes are logarithmic, with the measured sizes and times written out.
    """
    drawn = {name: line for name, line in lines.items() if line}
    if not drawn:
        return []
    with drawing(path, title=title, size=(8.0, 4.8)) as figure:
        axes = figure.subplots()
        for i, (name, line) in enumerate(drawn.items()):
            width = 3.0 if name in bold else 1.2
            axes.plot(*zip(*line, strict=True), marker="osD^vPX*"[i % 8], markersize=5, linewidth=width)
        axes.set(xlabel=x, ylabel=TIME, xscale="log", yscale="log")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.3)
        sizes = _spread_out(sorted({size for line in drawn.values() for size, _ in line}))
        axes.set_xticks(sizes, [f"{size:,.0f}" for size in sizes])
        names = [f"{name}, {duration(line[-1][1])}" for name, line in drawn.items()]
        share = max(map(len, names)) / LETTERS_ACROSS
        axes.set_xlim(right=sizes[-1] * max(sizes[-1] / sizes[0], 1.2) ** (share / (1 - share)))
        axes.xaxis.minorticks_off()
        _write_heights(axes, [seconds for line in drawn.values() for _, seconds in line], round_time)
        _name_ends(figure, axes, names)
    return [path]


def _write_heights(axes: Any, heights: Sequence[float], text: Callable[[float], str]) -> None:
    """Write round heights beside a logarithmic axis: powers of ten, and 2 and 5 times these where it is short."""
    from matplotlib.ticker import LogLocator

    axes.yaxis.set_major_locator(LogLocator(subs=(1,) if max(heights) > 100 * min(heights) else (1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda height, _: text(height))
    axes.yaxis.minorticks_off()


def _spread_out(sizes: list[float]) -> list[float]:
    """Leave out sizes too close to a larger one to be written beside it on a logarithmic axis."""
    kept = sizes[-1:]
    for size in reversed(sizes[:-1]):
        if kept[-1] / size >= (sizes[-1] / sizes[0]) ** 0.09:
            kept.append(size)
    return kept[::-1]


def _name_ends(figure: Any, axes: Any, names: Sequence[str]) -> None:
    """Write each line's name beside its last point, moved up where another name is in its way."""
    from matplotlib.patheffects import withStroke

    figure.draw_without_rendering()
    per_point = figure.dpi / 72
    ends = [axes.transData.transform([line.get_xdata()[-1], line.get_ydata()[-1]]) for line in axes.lines]
    placed: list[tuple[float, float]] = []
    for k in sorted(range(len(names)), key=lambda k: ends[k][1]):
        here, height = ends[k][0], ends[k][1]
        for there, taken in placed:
            if abs(here - there) < 90 * per_point and height < taken + NAME_POINTS * per_point:
                height = taken + NAME_POINTS * per_point
        placed.append((here, height))
        axes.annotate(
            names[k],
            (axes.lines[k].get_xdata()[-1], axes.lines[k].get_ydata()[-1]),
            xytext=(8, (height - ends[k][1]) / per_point),
            textcoords="offset points",
            color=axes.lines[k].get_color(),
            va="center",
            fontsize=9,
            path_effects=[withStroke(linewidth=3, foreground="white")],
        ).set_in_layout(False)


def draw_profiles(
    path: Path, title: str, curves: Mapping[str, Curve], *, x: str, bold: Collection[str] = ()
) -> list[Path]:
    """Draw profiles as the steps that they are; `bold` names thick ones."""
    drawn = {name: curve for name, curve in curves.items() if len(curve[0])}
    if not drawn:
        return []
    with drawing(path, title=title) as figure:
        axes = figure.subplots()
        for name, (places, shares) in drawn.items():
            axes.step(places, shares, where="post", marker=".", label=name, linewidth=3.0 if name in bold else 1.2)
        axes.set(xlabel=x, ylabel="share of the graphs", xscale="log", ylim=(0, 1.02))
        axes.xaxis.set_major_formatter(lambda times, _: f"{times:g}")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    return [path]


def draw_bars(path: Path, title: str, bars: Mapping[str, Mapping[str, float]], *, y: str) -> list[Path]:
    """Draw groups of bars: {group: {name: height}}; groups without a bar are left out.

    The axis is logarithmic. Heights are seconds where `y` is `TIME`, and else multiples, whose bars begin at 1.
    """
    bars = {group: heights for group, heights in bars.items() if heights}
    names = list(dict.fromkeys(name for group in bars.values() for name in group))
    if not names:
        return []
    width, base = 0.8 / len(names), 0.0 if y == TIME else 1.0
    with drawing(path, title=title, size=(max(7.0, 0.9 * len(bars)), 4.5)) as figure:
        axes = figure.subplots()
        for k, name in enumerate(names):
            heights = np.array([group.get(name, np.nan) for group in bars.values()])
            places = np.arange(len(bars)) + (k - (len(names) - 1) / 2) * width
            axes.bar(places, heights - base, width, bottom=base, label=name)
        axes.set_xticks(range(len(bars)), list(bars), rotation=30, ha="right", fontsize=8)
        axes.set(ylabel=y, yscale="log")
        heights = [height for group in bars.values() for height in group.values()]
        _write_heights(axes, heights, round_time if y == TIME else "{:g} ×".format)
        axes.grid(alpha=0.3, axis="y")
        axes.legend(fontsize=8)
    return [path]


def draw_stacks(path: Path, title: str, stacks: Mapping[str, Mapping[str, float]], *, y: str) -> list[Path]:
    """Draw one stacked bar a group: {group: {part: seconds}}."""
    if not stacks:
        return []
    with drawing(path, title=title) as figure:
        axes = figure.subplots()
        parts = list(dict.fromkeys(part for stack in stacks.values() for part in stack))
        bottom = np.zeros(len(stacks))
        for part in parts:
            heights = np.array([stack.get(part, 0.0) for stack in stacks.values()])
            axes.bar(list(stacks), heights, bottom=bottom, label=part)
            bottom += heights
        axes.set(ylabel=y)
        axes.yaxis.set_major_formatter(lambda seconds, _: round_time(seconds))
        axes.legend(fontsize=8)
    return [path]


def draw_tracks(path: Path, title: str, tracks: Mapping[str, pd.DataFrame]) -> list[Path]:
    """Draw tracks in 3D, one panel a name; tables with `track_id, z, y, x`."""
    from matplotlib import colormaps
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    with drawing(path, title=title, size=(4.2 * len(tracks), 4.2)) as figure:
        for place, (name, table) in enumerate(tracks.items(), start=1):
            axes = figure.add_subplot(1, len(tracks), place, projection="3d")
            ordered = table.sort_values(["track_id", "frame"])
            lines = [part[["x", "y", "z"]].to_numpy() for _, part in ordered.groupby("track_id") if len(part) > 1]
            colours = colormaps["turbo"](np.random.default_rng(0).random(len(lines)))
            axes.add_collection(Line3DCollection(lines, colors=colours, linewidths=0.7))
            for axis in "xyz":
                axes.__getattribute__(f"set_{axis}lim")(table[axis].min(), table[axis].max())
            for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
                axis.set_label_text(f"{axis.axis_name} (µm)", fontsize=8)
                axis.labelpad = -2
            axes.set_title(name, fontsize=9, y=0.94)
            axes.set_box_aspect(None, zoom=0.85)
            axes.tick_params(labelsize=6)
    return [path]
