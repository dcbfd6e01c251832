"""Which rows of a table follow each other: along a track, and from a mother to her daughters."""

from __future__ import annotations

import numpy as np

from ..measuring.track_order import track_order
from ..points import Points, Tracks


def following_rows(points: Points, name: np.ndarray, kind: str, reach: int, *, divisions: bool) -> np.ndarray:
    """Return the pairs of rows, int64 (k, 2), that follow each other under one name at most `reach` frames apart."""
    order = track_order(name, points.frames, kind)
    same = name[order[1:]] == name[order[:-1]]
    pairs = np.column_stack([order[:-1][same], order[1:][same]])
    if divisions and isinstance(points, Tracks):
        pairs = np.concatenate([pairs, _division_rows(points, name, order)])
    lag = points.frames[pairs[:, 1]] - points.frames[pairs[:, 0]]
    return pairs[(lag > 0) & (lag <= reach)]


def _division_rows(tracks: Tracks, name: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return (last row of the parent, first row of the child) for every parent of every child."""
    names, first = np.unique(name[order], return_index=True)
    start = dict(zip(names.tolist(), order[first].tolist(), strict=True))
    end = dict(zip(names.tolist(), order[np.append(first, len(order))[1:] - 1].tolist(), strict=True))
    pairs = [
        (end[parent], start[child])
        for child, parents in tracks.parents.items()
        for parent in parents
        if parent in end and child in start
    ]
    return np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
