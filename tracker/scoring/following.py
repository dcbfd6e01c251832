"""Which rows of a table follow each other: along a track, and from a mother to her daughters."""

from __future__ import annotations

import numpy as np

from ...matching.jit.compiled import compiled
from ..points import Points, Tracks


def steps_and_gaps(points: Points, name: np.ndarray, order: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of rows that follow each other under one name: at most `step` frames apart, and farther.

    `order` is that of the rows by name and frame; the pairs are int64 (k, 2).
    """
    return _pairs(order, name, points.frames, step)


@compiled
def _pairs(order, name, frames, reach):  # noqa: ANN001, ANN202
    """Return the neighbours in an order that have one name: those at most `reach` frames apart, and the others."""
    pairs = np.empty((len(order), 2), np.int64)
    n_near, first_far = 0, len(order)
    for k in range(1, len(order)):
        source, target = order[k - 1], order[k]
        if name[source] != name[target]:
            continue
        if frames[target] - frames[source] <= reach:
            at = n_near
            n_near += 1
        else:
            first_far -= 1
            at = first_far
        pairs[at, 0], pairs[at, 1] = source, target
    return pairs[:n_near], pairs[first_far:]


def division_rows(points: Points, name: np.ndarray, order: np.ndarray, reach: int) -> np.ndarray:
    """Return the last row of each parent with the first of its child, at most `reach` frames later, int64 (k, 2)."""
    if not isinstance(points, Tracks):
        return np.empty((0, 2), np.int64)
    names, first = np.unique(name[order], return_index=True)
    start = dict(zip(names.tolist(), order[first].tolist(), strict=True))
    end = dict(zip(names.tolist(), order[np.append(first, len(order))[1:] - 1].tolist(), strict=True))
    pairs = [
        (end[parent], start[child])
        for child, parents in points.parents.items()
        for parent in parents
        if parent in end and child in start
    ]
    born = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    lag = points.frames[born[:, 1]] - points.frames[born[:, 0]]
    return born[(lag > 0) & (lag <= reach)]
