"""A picture of what tracks measure: the mean squared displacement with its errors, speeds, displacements, durations."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import Formatter, MaxNLocator

from ...tracker.calibrating.digits import in_digits, in_unit, plural
from ...tracker.formats.write import write_whole
from ...tracker.measuring.measures import measure_units
from ...tracker.points import Tracks

_SIZE, _DPI = (9.0, 7.0), 150
_MOST_BINS = 60
_BLUE, _GREY = "#2a6fbb", "0.45"
_HISTOGRAMS = ("mean_speed", "net_displacement", "duration")


class _InDigits(Formatter):
    """Labels of a logarithmic axis, without powers of ten and so few that they never touch."""

    def __call__(self, x: float, pos: int | None = None) -> str:  # noqa: ARG002 - matplotlib's signature
        """Return the label of a tick, "" for none."""
        low, high = sorted(self.axis.get_view_interval()) if self.axis is not None else (1.0, 10.0)
        shown = "1" if high > 100 * low else "125" if high > 2.6 * low else "123456789"
        return in_digits(x) if f"{x:e}"[0] in shown else ""


def write_picture(
    measures: pd.DataFrame,
    curve: pd.DataFrame,
    tracks: Tracks,
    path: Path,
    name: str,
    min_length: int,
    *,
    overwrite: bool,
) -> None:
    """Write a PNG of the measures, whole or not at all.

    Parameters
    ----------
    measures, curve : DataFrame
        As `measure_tracks` and `mean_squared_displacement` return them.
    tracks : Tracks
        What was measured.
    path : Path
    name : str
        What the title calls them.
    min_length : int
        Detections of which every track has as many or more, as the title says; those of one are not counted.
    overwrite : bool

    Raises
    ------
    OutputExists, OutputFailed
        As `tracker.formats.write.write_whole`.
    """
    image = io.BytesIO()
    FigureCanvasAgg(draw(measures, curve, tracks, name, min_length)).print_png(image)
    write_whole({path: image.getvalue()}, overwrite=overwrite)


def draw(measures: pd.DataFrame, curve: pd.DataFrame, tracks: Tracks, name: str, min_length: int) -> Figure:
    """Draw the mean squared displacement on logarithmic axes, and three histograms over tracks."""
    figure, units = Figure(_SIZE, dpi=_DPI, layout="constrained"), measure_units(tracks.calibration)
    panels = figure.subplots(2, 2).ravel().tolist()
    draw_curve(panels[0], curve, units)
    moving = measures[measures["length"] > 1]
    for panel, measure in zip(panels[1:], _HISTOGRAMS, strict=True):
        draw_histogram(panel, moving[measure].dropna(), measure.replace("_", " "), units[measure])
    title = f"{name}: {len(moving):,} tracks of {max(min_length, 2)} detections or more"
    figure.suptitle(title, fontsize="medium", x=0.02, ha="left")
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
    panel.errorbar(
        lag,
        msd,
        [down, error],
        fmt="o",
        markersize=3,
        linewidth=1,
        capsize=2,
        color=_BLUE,
        label="mean ± standard error over tracks",
    )
    panel.set(xscale="log", yscale="log", ylim=(msd.min() / 2, (msd + error).max() * 2))
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_formatter(_InDigits())
        axis.set_minor_formatter(_InDigits())
    panel.legend(fontsize="small", frameon=False)


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

    Bins of 1.8 frames would hold one length and two by turns, and rise and fall where lengths do not.
    """
    reach = float(values.max()) or 1.0
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
