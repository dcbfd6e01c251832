"""Single links drawn over the tracks: the one looked at and its rivals, those that came and went by a correction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..layers.layer_tables import OURS, LayerData
from .colours import COLOUR

_DASHES = 5  # of a rival
_ALWAYS = 10_000  # frames before and after: the link stays in sight while one plays the movie around it
_COLOURS = {
    "white": ((1.0, 0.9, 0.1, 1.0), (0.1, 1.0, 1.0, 1.0)),
    "black": ((0.6, 0.42, 0.0, 1.0), (0.0, 0.45, 0.55, 1.0)),
}
"""By the ink that is seen on the canvas, yellow and cyan: bright on a dark one, dark on a bright one."""


def draw_links(whole: np.ndarray, dashed: np.ndarray, name: str, n_axes: int, ink: str) -> LayerData:
    """Draw links as one line each, and others dashed, in all planes and frames.

    Parameters
    ----------
    whole, dashed : float64 (k, 2, 1 + d)
        Frame and place of both ends, in steps.
    name : str
    n_axes : int
        See `Drawing`.
    ink : {"white", "black"}
        What is seen on the canvas.
    """
    ends = np.concatenate([whole, dashed])
    if ends.shape[-1] < n_axes:
        ends = np.insert(ends, 1, 0.0, axis=-1)  # z, of a layer of one plane
    ends[..., 0] = ends[:1, 1:, 0]
    pieces = np.concatenate([ends[: len(whole)], *map(_dashed, ends[len(whole) :])])
    data = np.column_stack([np.repeat(np.arange(len(pieces)), 2), pieces.reshape(-1, ends.shape[-1])])
    given = {
        "name": name,
        "features": pd.DataFrame({COLOUR: np.repeat(np.arange(len(pieces)) >= len(whole), 2).astype(np.float64)}),
        "graph": {},
        "metadata": {OURS: {"overlay": True}},
        "color_by": COLOUR,
        "colormaps_dict": {COLOUR: _colours(ink)},
        "tail_length": _ALWAYS * 100,
        "head_length": _ALWAYS,
        "tail_width": 6,
        "blending": "translucent_no_depth",
    }
    return data, given, "tracks"


def _dashed(line: np.ndarray) -> np.ndarray:
    """Return the pieces of a line (2, d) that are drawn, float64 (dashes, 2, d)."""
    cuts = np.linspace(0, 1, 2 * _DASHES)[:, None]
    return (line[0] + cuts * (line[1] - line[0])).reshape(_DASHES, 2, -1)


def _colours(ink: str) -> Any:
    from napari.utils.colormaps import Colormap

    return Colormap(np.array(_COLOURS[ink]), name=f"auctrack link, {ink} ink")
