"""Colours of tracks: any feature between its percentiles, grey where it is missing.

napari scales a colour feature between its extremes, so that one outlier flattens all others, and one NaN makes every
track invisible. A feature made here already lies in 0 to 1, and its own colormap paints NaN grey.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ....tracker.points import Tracks

if TYPE_CHECKING:
    from napari.utils.colormaps import Colormap

BY_TRACK = "track"
INKS = {"white": 1.0, "black": 0.0}
"""What the chosen track and links are drawn in: what is seen on the canvas."""
COLOUR = "colour"
"""Name of the feature that a Tracks layer of ours is coloured by."""
PERCENTILES = (2.0, 98.0)
COLOUR_OF_MISSING = (0.5, 0.5, 0.5, 1.0)
_GOLDEN = 0.6180339887498949  # steps of the golden ratio never repeat a hue nearby


@dataclass(frozen=True)
class Colouring:
    """Values to draw, and what they stand for.

    Attributes
    ----------
    scaled : float64 (rows,)
        0 to 1; NaN = missing.
    limits : tuple of float, or None
        The feature at 0 and at 1; None for colours that tell tracks apart.
    n_missing : int
    is_beyond : (bool, bool)
        Whether there are values below and above the limits.
    """

    scaled: np.ndarray
    limits: tuple[float, float] | None
    n_missing: int
    is_beyond: tuple[bool, bool] = (False, False)


def colour_features(tracks: Tracks, measures: pd.DataFrame) -> tuple[str, ...]:
    """Return what tracks can be coloured by: the track itself, every measure of tracks, every numeric feature."""
    of_points = tracks.table.select_dtypes("number").columns
    names = [str(name) for name in (*measures.columns, *of_points)]
    return (BY_TRACK, *dict.fromkeys(name for name in names if name != "track_id"))


def colouring(
    tracks: Tracks, measures: pd.DataFrame, feature: str, percentiles: tuple[float, float] = PERCENTILES
) -> Colouring:
    """Return the colour value of every row of `tracks`."""
    ids = tracks.table["track_id"].to_numpy()
    if feature == BY_TRACK:
        return Colouring((ids * _GOLDEN) % 1.0, None, 0)
    if feature in measures.columns:
        of_track = measures.set_index("track_id")[feature]
        values = of_track.reindex(ids).to_numpy(dtype=np.float64)
    elif feature in tracks.axes:
        values = tracks.positions[:, tracks.axes.index(feature)]
    else:
        values = tracks.table[feature].to_numpy(dtype=np.float64)
    known = np.isfinite(values)
    if not known.any():
        return Colouring(np.full(len(values), np.nan), None, len(values))
    low, high = (float(limit) for limit in np.percentile(values[known], percentiles))
    span = high - low if high > low else 1.0
    scaled = np.clip((values - low) / span, 0.0, 1.0)
    scaled[~known] = np.nan
    beyond = bool(values[known].min() < low), bool(values[known].max() > high)
    return Colouring(scaled, (low, high), int(np.count_nonzero(~known)), beyond)


def colormap_for(feature: str) -> Colormap:
    """Return the colormap of a feature: hues to tell tracks apart, plasma for values, an ink; grey where missing."""
    from napari.utils.colormaps import Colormap, ensure_colormap

    if feature in INKS:
        return Colormap(np.array([[*[INKS[feature]] * 3, 1.0]] * 2), name=f"auctrack {feature}")
    if feature == BY_TRACK:
        return Colormap(_hues(), name="auctrack tracks", nan_color=COLOUR_OF_MISSING)
    colours: Any = ensure_colormap("plasma").map(np.linspace(0.15, 1.0, 64))
    return Colormap(colours, name=f"auctrack {feature}", nan_color=COLOUR_OF_MISSING)


def _hues() -> np.ndarray:
    """Return bright hues of even lightness around the circle, float64 (33, 4)."""
    import colorsys

    return np.array([[*colorsys.hls_to_rgb(hue, 0.62, 0.9), 1.0] for hue in np.linspace(0, 1, 33)])
