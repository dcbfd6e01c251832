"""The charts of a report, as SVG inside the page."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .html import picture
from .measure_picture import draw_curve, draw_histogram

_SIZE = (5.2, 3.4)
_BLUE, _GREEN, _RED = "#2a6fbb", "#3a8f4d", "#b9472b"


def counts_chart(counts: pd.DataFrame, step: int | None) -> str:
    """Return detections a frame, with tracks that begin and end in it; none where a table skips more than a `step`."""
    counts = counts if step is None else _down_to_none(counts, step)
    figure = Figure(_SIZE, layout="constrained")
    panel = figure.subplots()
    for name, label, colour in (
        ("detections", "detections", _BLUE),
        ("begin", "tracks that begin", _GREEN),
        ("end", "tracks that end", _RED),
    ):
        panel.plot(counts["frame"], counts[name], color=colour, label=label, linewidth=1.2)
    panel.set(xlabel="frame", ylabel="count", ylim=(0, None))
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.legend(fontsize="small", frameon=False)
    return _shown(figure, "What every frame holds")


def _down_to_none(counts: pd.DataFrame, step: int) -> pd.DataFrame:
    """Return counts with the first and the last frame of each run of frames that hold nothing."""
    frames = counts["frame"].to_numpy()
    after = np.flatnonzero(np.diff(frames) > step)
    empty = np.unique(np.concatenate([frames[after] + step, frames[after + 1] - step]))
    return counts.set_index("frame").reindex(np.union1d(frames, empty), fill_value=0).rename_axis("frame").reset_index()


def histogram_chart(values: pd.Series, label: str, unit: str, of: str, says: str) -> str:
    """Return a histogram with its median."""
    figure = Figure(_SIZE, layout="constrained")
    panel = figure.subplots()
    draw_histogram(panel, values, label, unit)
    panel.set_ylabel(of)
    return _shown(figure, says)


def gaps_chart(missed: pd.Series) -> str:
    """Return how many frames steps pass over, a bar each."""
    figure = Figure(_SIZE, layout="constrained")
    panel = figure.subplots()
    counts = missed.value_counts().sort_index()
    panel.bar(counts.index.astype(str), counts.to_numpy(), color=_BLUE)
    panel.set(xlabel="missed frames", ylabel="gaps")
    return _shown(figure, "Gaps inside tracks, by the frames that are missed")


def msd_chart(curve: pd.DataFrame, units: dict[str, str]) -> str:
    """Return the mean squared displacement with its errors."""
    figure = Figure(_SIZE, layout="constrained")
    draw_curve(figure.subplots(), curve, units)
    return _shown(figure, "Mean squared displacement against the time lag, ± one standard error over tracks")


def _shown(figure: Figure, says: str) -> str:
    image = io.BytesIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "auctrack"}):
        figure.savefig(image, format="svg", metadata={"Date": None})
    return picture(image.getvalue(), "svg+xml", says)
