"""A picture of what tracks measure: the mean squared displacement with its errors, speeds, displacements, durations.

With it, if they are measured, how displacements are distributed, the autocorrelation of the velocity, and how many
particles are around each other.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import Formatter, MaxNLocator

from ...tracker.calibrating.digits import in_digits, in_unit, plural
from ...tracker.formats.write import write_whole
from ...tracker.measuring.measures import measure_units
from ...tracker.points import Points, Tracks

_WIDTH, _ROW, _DPI = 9.0, 3.5, 150
_MOST_BINS = 60
_BLUE, _GREY = "#2a6fbb", "0.45"
_COLOURS = (_BLUE, "#b9472b", "#3a8f4d", "#8a5fb0")
_STYLES = (("z", "^", ":"), ("y", "s", "--"), ("x", "o", "-"))
"""Of each axis, its marker and line."""
_WITH_ERRORS: dict[str, Any] = {
    "markersize": 3,
    "linewidth": 1,
    "capsize": 2,
    "color": _BLUE,
    "label": "mean ± standard error over tracks",
}
_HISTOGRAMS = ("mean_speed", "net_displacement", "duration")


class _InDigits(Formatter):
    """Labels of a logarithmic axis, without powers of ten and so few that they never touch."""

    def __call__(self, x: float, pos: int | None = None) -> str:  # noqa: ARG002 - matplotlib's signature
        """Return the label of a tick, "" for none."""
        low, high = sorted(self.axis.get_view_interval()) if self.axis is not None else (1.0, 10.0)
        shown = "1" if high > 100 * low else "125" if high > 2.6 * low else "123456789"
        return in_digits(x) if f"{x:e}"[0] in shown else ""


def write_picture(drawn: Figure, path: Path, *, overwrite: bool) -> None:
    """Write a figure as PNG, whole or not at all; errors as of `tracker.formats.write.write_whole`."""
    image = io.BytesIO()
    FigureCanvasAgg(drawn).print_png(image)
    write_whole({path: image.getvalue()}, overwrite=overwrite)


def draw(
    measures: pd.DataFrame,
    curve: pd.DataFrame,
    tracks: Tracks,
    name: str,
    min_length: int,
    others: Mapping[str, pd.DataFrame] | None = None,
) -> Figure:
    """Draw the mean squared displacement on logarithmic axes, three histograms over tracks, and other tables.

    Parameters
    ----------
    measures, curve : DataFrame
        As `measure_tracks` and `mean_squared_displacement` return them.
    tracks : Tracks
        What was measured.
    name : str
        What the title calls them.
    min_length : int
        Detections of which every track has as many or more, as the title says; those of one are not counted.
    others : mapping of str to DataFrame
        Tables to be drawn too, "displacements", "velocity_correlation" and "pair_correlation".
    """
    others, units = others or {}, measure_units(tracks.calibration)
    rows = 2 + -(-len(others) // 2)
    figure = Figure((_WIDTH, rows * _ROW), dpi=_DPI, layout="constrained")
    panels = figure.subplots(rows, 2).ravel().tolist()
    draw_curve(panels[0], curve, units)
    moving = measures[measures["length"] > 1]
    for panel, (what, table) in zip(panels[4:], others.items(), strict=False):
        _DRAWN[what](panel, table, units)
    for panel in panels[4 + len(others) :]:
        panel.remove()
    for panel, measure in zip(panels[1:4], _HISTOGRAMS, strict=True):
        draw_histogram(panel, moving[measure].dropna(), measure.replace("_", " "), units[measure])
    title = f"{name}: {len(moving):,} tracks of {max(min_length, 2)} detections or more"
    figure.suptitle(title, fontsize="medium", x=0.02, ha="left")
    return figure


def draw_points(table: pd.DataFrame, points: Points, name: str) -> Figure:
    """Draw the pair correlation of points of which nothing else is measured."""
    figure = Figure((_WIDTH / 2, _ROW), dpi=_DPI, layout="constrained")
    draw_pairs(figure.subplots(), table, measure_units(points.calibration))
    figure.suptitle(f"{name}: {len(points):,} points", fontsize="medium", x=0.02, ha="left")
    return figure


def draw_curve(panel: Axes, curve: pd.DataFrame, units: dict[str, str]) -> None:
    """Draw the curve with one standard error up and down, and what diffusion and straight motion would rise like."""
    panel.set(xlabel=f"time lag ({units['lag_time']})", ylabel=f"mean squared displacement ({units['msd']})")
    risen = curve[curve["msd"] > 0]
    if not len(risen):
        panel.text(0.5, 0.5, "nothing moves", transform=panel.transAxes, ha="center")
        return
    lag, msd = risen["lag_time"].to_numpy(), risen["msd"].to_numpy()
    error = risen["standard_error"].fillna(0.0).to_numpy()
    for power, style, what in ((1, ":", "slope 1: diffusion"), (2, "--", "slope 2: straight motion")):
        panel.plot(lag, msd[0] * (lag / lag[0]) ** power, style, color=_GREY, linewidth=1, label=what)
    down = np.minimum(error, 0.999 * msd)  # to zero there is no way on a logarithmic axis
    panel.errorbar(lag, msd, [down, error], fmt="o", **_WITH_ERRORS)
    panel.set(xscale="log", yscale="log", ylim=(msd.min() / 2, (msd + error).max() * 2))
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_formatter(_InDigits())
        axis.set_minor_formatter(_InDigits())
    panel.legend(fontsize="small", frameon=False)


def draw_displacements(panel: Axes, table: pd.DataFrame, units: dict[str, str]) -> None:
    """Draw densities of displacements on a logarithmic axis, with the Gaussian of the same mean square as a line."""
    length = units["displacement"]
    panel.set(xlabel=f"displacement ({plural(length)})", ylabel=f"density ({units['density']})")
    if not len(table):
        panel.text(0.5, 0.5, "no two positions that far apart", transform=panel.transAxes, ha="center")
        return
    for colour, (lag, bins_of_lag) in zip(cycle(_COLOURS), table.groupby("lag_time"), strict=False):
        for axis, marker, line in _STYLES:
            bins = bins_of_lag[bins_of_lag["axis"] == axis]
            if not len(bins):
                continue
            label = f"{axis}, {in_unit(units['lag_time'], lag)}: {bins['non_gaussian'].iloc[0]:.2f}"
            x, density, gaussian = bins[["displacement", "density", "gaussian"]].to_numpy().T
            panel.plot(x, density, marker, label=label, color=colour, fillstyle="none", markersize=3)
            panel.plot(x, gaussian, line, color=colour, linewidth=1)
    least = float(table["density"].min())
    panel.set(yscale="log", ylim=(least / 2, float(table[["density", "gaussian"]].max().max()) * 2))
    panel.yaxis.set_major_formatter(_InDigits())
    panel.yaxis.set_minor_formatter(_InDigits())
    panel.set_title("lines: Gaussian of the same mean square", fontsize="small", loc="right", pad=3)
    panel.legend(title="non-Gaussian", title_fontsize="x-small", fontsize="x-small", frameon=False, loc="upper left")


def draw_correlation(panel: Axes, table: pd.DataFrame, units: dict[str, str]) -> None:
    """Draw the autocorrelation of the velocity with one standard error up and down."""
    panel.set(xlabel=f"time lag ({units['lag_time']})", ylabel=f"velocity correlation ({units['correlation']})")
    if not len(table):
        panel.text(0.5, 0.5, "no step over one frame", transform=panel.transAxes, ha="center")
        return
    panel.axhline(0.0, color=_GREY, linewidth=1)
    error = table["standard_error"].fillna(0.0)
    panel.errorbar(table["lag_time"], table["correlation"], error, fmt="o-", **_WITH_ERRORS)
    panel.legend(fontsize="small", frameon=False)


def draw_pairs(panel: Axes, table: pd.DataFrame, units: dict[str, str]) -> None:
    """Draw the pair correlation, with a line at what chance gives."""
    panel.set(xlabel=f"distance ({plural(units['distance'])})", ylabel="pair correlation")
    if not len(table):
        panel.text(0.5, 0.5, "no two particles in a frame", transform=panel.transAxes, ha="center")
        return
    panel.axhline(1.0, color=_GREY, linewidth=1)
    panel.plot(table["distance"], table["pair_correlation"], color=_BLUE, linewidth=1)
    panel.set(xlim=(0, None), ylim=(0, None))


_DRAWN = {
    "displacements": draw_displacements,
    "velocity_correlation": draw_correlation,
    "pair_correlation": draw_pairs,
}


def draw_histogram(panel: Axes, values: pd.Series, label: str, unit: str) -> None:
    """Draw how many tracks have which value, with the median."""
    panel.set(xlabel=f"{label} ({plural(unit)})", ylabel="tracks")
    panel.yaxis.set_major_locator(MaxNLocator(integer=True))
    if not len(values):
        panel.text(0.5, 0.5, "no track of two detections", transform=panel.transAxes, ha="center")
        return
    panel.hist(values, _edges(values.to_numpy(np.float64)).tolist(), color=_BLUE, edgecolor="white", linewidth=0.4)
    panel.set_xlim(left=0)
    panel.xaxis.set_major_locator(MaxNLocator(integer=values.dtype.kind in "iu"))
    panel.axvline(float(values.median()), color=_GREY, linewidth=1)
    panel.set_title(f"median {in_unit(unit, values.median())}", fontsize="small", loc="right", pad=3)


def _edges(values: np.ndarray) -> np.ndarray:
    """Return the edges of bins, but the last of as many levels each where values stand on some, such as whole frames.

    Bins of 1.8 frames would hold one length and two by turns, and rise and fall where lengths do not. One value alone
    is a narrow bar where it stands: NumPy's single bin would reach to it from zero.
    """
    reach = float(values.max()) or 1.0
    if np.ptp(values) <= 1e-9 * reach:
        return values[0] + reach / _MOST_BINS * np.array([-0.5, 0.5])
    edges = np.histogram_bin_edges(values, "auto", (0.0, reach))
    if len(edges) > _MOST_BINS + 1:
        edges = np.histogram_bin_edges(values, _MOST_BINS, (0.0, reach))
    levels = np.unique(np.round(values / reach, 9)) * reach
    pitch = float(np.diff(levels).min(initial=reach))
    apart = (levels - levels[0]) / pitch
    if len(levels) < 3 or len(levels) * pitch < reach / _MOST_BINS or np.abs(apart - np.rint(apart)).max() > 1e-3:
        return edges
    width = pitch * np.ceil((edges[1] - edges[0]) / pitch - 1e-6)
    return np.arange(levels[0] - pitch / 2, reach + width, width)
