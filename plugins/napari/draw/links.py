"""Single links drawn over the tracks: the one looked at and its rivals, those that came and went by a correction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ....tracker.editing.change import Link
from ....tracker.points import Tracks
from ..layers.layer_tables import OURS, LayerData
from .colours import COLOUR
from .drawing import in_axes_of

_DASHES = 5  # of a rival
_ALWAYS = 10_000  # frames before and after: the link stays in sight while one plays the movie around it
_YELLOW, _CYAN = (1.0, 0.9, 0.1, 1.0), (0.1, 1.0, 1.0, 1.0)


def draw_links(
    tracks: Tracks, whole: Sequence[Link], dashed: Sequence[Link], name: str, placed: Mapping[str, Any]
) -> LayerData:
    """Draw links between two rows of a table each as one line, and others dashed, in all planes and frames."""
    table = in_axes_of(tracks, placed).table
    columns = ["frame", *(axis for axis in "zyx" if axis in table)]
    ends = table[columns].to_numpy(dtype=np.float64)[[*whole, *dashed]]
    ends[..., 0] = ends[0, 1, 0]
    pieces = np.concatenate([ends[: len(whole)], *map(_dashed, ends[len(whole) :])])
    data = np.column_stack([np.repeat(np.arange(len(pieces)), 2), pieces.reshape(-1, len(columns))])
    given = {
        "name": name,
        "features": pd.DataFrame({COLOUR: np.repeat(np.arange(len(pieces)) >= len(whole), 2).astype(np.float64)}),
        "graph": {},
        "metadata": {OURS: {"overlay": True}},
        "color_by": COLOUR,
        "colormaps_dict": {COLOUR: _colours()},
        "tail_length": _ALWAYS * 100,
        "head_length": _ALWAYS,
        "tail_width": 6,
        "blending": "translucent_no_depth",
        **placed,
    }
    return data, given, "tracks"


def _dashed(line: np.ndarray) -> np.ndarray:
    """Return the pieces of a line (2, d) that are drawn, float64 (dashes, 2, d)."""
    cuts = np.linspace(0, 1, 2 * _DASHES)[:, None]
    return (line[0] + cuts * (line[1] - line[0])).reshape(_DASHES, 2, -1)


def _colours() -> Any:
    from napari.utils.colormaps import Colormap

    return Colormap(np.array([_YELLOW, _CYAN]), name="auctrack link")
