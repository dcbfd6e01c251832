"""Marks over the tracks: a link and its rivals, links that came and went by a correction, clicked particles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..layers.layer_tables import OURS, LayerData
from .colours import COLOUR

_DASHES = 5  # of a rival
_ARM = (1.15, 1.75)  # radii of a particle: where the lines around a clicked one begin and end, outside its ring
_ALWAYS = 10_000  # frames before and after: a mark stays in sight while one plays the movie around it
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
    pieces = np.concatenate([whole, *map(_dashed, dashed)])
    pieces[..., 0] = np.concatenate([whole, dashed])[:1, 1:, 0]
    return _marks(pieces, len(whole), name, n_axes, ink)


def draw_clicked(places: np.ndarray, radius: np.ndarray, n_axes: int, ink: str) -> LayerData:
    """Draw lines that point at particles from both sides along y and x, in all planes and frames.

    Lines along z would give planes beyond the movie to the slider.

    Parameters
    ----------
    places : float64 (k, 1 + d)
        Frame and place, in steps.
    radius : float64 (2,)
        Of a particle, in steps along y and x.
    n_axes, ink
        As of `draw_links`.
    """
    arms = np.zeros((4, places.shape[1]))
    arms[:2, -2:], arms[2:, -2:] = np.diag(radius), -np.diag(radius)
    pieces = places[:, None, None] + arms[:, None] * np.array(_ARM)[:, None]
    pieces[..., 0] = places[-1:, 0, None, None]
    pieces = pieces.reshape(-1, 2, places.shape[1])
    return _marks(pieces, len(pieces), "clicked particles", n_axes, ink)


def _marks(pieces: np.ndarray, n_whole: int, name: str, n_axes: int, ink: str) -> LayerData:
    """Draw lines (k, 2, 1 + d), the first of them in the colour of whole links."""
    if pieces.shape[-1] < n_axes:
        pieces = np.insert(pieces, 1, 0.0, axis=-1)  # z, of a layer of one plane
    data = np.column_stack([np.repeat(np.arange(len(pieces)), 2), pieces.reshape(-1, pieces.shape[-1])])
    given = {
        "name": name,
        "features": pd.DataFrame({COLOUR: np.repeat(np.arange(len(pieces)) >= n_whole, 2).astype(np.float64)}),
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
