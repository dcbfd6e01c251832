"""Which rows of a table follow each other: along a track, and from a mother to her daughters."""

from __future__ import annotations

import numpy as np

from ...matching.jit.compiled import compiled
from ..points import Points, Tracks

ANY_REACH = np.iinfo(np.int64).max


def following_rows(points: Points, name: np.ndarray, order: np.ndarray, reach: int, *, divisions: bool) -> np.ndarray:
    """Return the pairs of rows, int64 (k, 2), that follow each other under one name at most `reach` frames apart.

    `order` is that of the rows by name and frame.
    """
    pairs = _pairs(order, name, points.frames, reach)
    if divisions and isinstance(points, Tracks):
        born = _division_rows(points, name, order)
        lag = points.frames[born[:, 1]] - points.frames[born[:, 0]]
        pairs = np.concatenate([pairs, born[(lag > 0) & (lag <= reach)]])
    return pairs


@compiled
def _pairs(order, name, frames, reach):  # noqa: ANN001, ANN202
    """Return the neighbours in an order that have one name and are at most `reach` frames apart."""
    pairs = np.empty((len(order), 2), np.int64)
    n_pairs = 0
    for k in range(1, len(order)):
        source, target = order[k - 1], order[k]
        if name[source] == name[target] and frames[target] - frames[source] <= reach:
            pairs[n_pairs, 0], pairs[n_pairs, 1] = source, target
            n_pairs += 1
    return pairs[:n_pairs]


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
