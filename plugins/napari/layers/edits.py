"""What the user moved, deleted and added in the layer of particles: drawn, and kept until the next link takes it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ....tracker.points import Points
from .layer_tables import LayerData

Places = Counter[tuple[float, ...]]
"""How many particles are at (frame, z, y, x) or (frame, y, x), in the layer's steps."""


@dataclass(frozen=True)
class HandEdits:
    """What the user did at one go, by the places of the particles, (frame, z, y, x) or (frame, y, x).

    Attributes
    ----------
    gone, placed : float64 (n, d)
        Deleted ones, and those that were added.
    moved : float64 (n, 2, d)
        From where to where.
    """

    gone: np.ndarray
    moved: np.ndarray
    placed: np.ndarray

    def __bool__(self) -> bool:
        return any(map(len, (self.gone, self.moved, self.placed)))


@dataclass(frozen=True)
class Edits:
    """Particles that are no longer where they were, and places where there are particles now.

    A particle that was moved is in both.
    """

    gone: Places = field(default_factory=Counter)
    placed: Places = field(default_factory=Counter)

    def __bool__(self) -> bool:
        return bool(self.gone) or bool(self.placed)

    def __str__(self) -> str:
        counts = ((self.placed.total(), "placed by hand"), (self.gone.total(), "gone from where they were"))
        return ", ".join(f"{count:,} {what}" for count, what in counts if count)

    def then(self, later: Edits) -> Edits:
        """Return these edits and later ones as one; what was taken back is no edit."""
        gone, placed = self.gone + later.gone, self.placed + later.placed
        return Edits(gone - placed, placed - gone)

    def of_points(self, points: Points) -> Points:
        """Return edited points; what is not known of a particle placed by hand is missing."""
        columns = ["frame", *points.axes]
        in_axes = [0, *range(-points.ndim, 0)]
        kept = _kept(points.table[columns].to_numpy(dtype=np.float64), _projected(self.gone, in_axes))
        placed = _rows(self.placed, len(in_axes), in_axes)
        placed[:, 0] = np.rint(placed[:, 0])
        table = points.table.drop(columns="track_id", errors="ignore")[kept]
        new = pd.DataFrame(placed, columns=columns).astype({"frame": np.int64})
        table = pd.concat([table, new], ignore_index=True) if len(new) else table
        return Points(table, points.calibration, timeline=points.timeline)

    def of_layer(self, layer_data: LayerData) -> LayerData:
        """Return the edited data of a Points layer."""
        data, given, kind = layer_data
        if not self:
            return layer_data
        width = data.shape[1]
        kept, placed = _kept(data, self.gone), _rows(self.placed, width, range(width))
        features = given["features"][kept].reset_index(drop=True)
        features = features.reindex(range(len(features) + len(placed)))
        return np.concatenate([data[kept], placed]), given | {"features": features}, kind


def edits_between(before: np.ndarray, now: np.ndarray) -> Edits:
    """Return what was edited in the data of a Points layer."""
    if np.array_equal(before, now):
        return Edits()
    there, here = (Counter(map(tuple, rows.tolist())) for rows in (before, now))
    return Edits(there - here, here - there)


def done_between(before: np.ndarray, now: np.ndarray) -> HandEdits:
    """Return what was done in the data of a Points layer."""
    none = before[:0]
    if len(before) == len(now):
        rows = np.flatnonzero((before != now).any(axis=1))
        return HandEdits(none, np.stack([before[rows], now[rows]], axis=1), none)
    width = before.shape[1]
    edits = edits_between(before, now)
    gone, placed = (_rows(places, width, range(width)) for places in (edits.gone, edits.placed))
    return HandEdits(gone, np.empty((0, 2, width)), placed)


def _kept(rows: np.ndarray, gone: Places) -> np.ndarray:
    """Return which rows are still there, bool (n,)."""
    left = Counter(gone)
    keep = np.ones(len(rows), dtype=bool)
    for row in np.flatnonzero(np.isin(rows[:, 0], [place[0] for place in gone])).tolist():
        place = tuple(rows[row].tolist())
        if left[place] > 0:
            left[place] -= 1
            keep[row] = False
    return keep


def _projected(places: Places, columns: list[int]) -> Places:
    """Return places in some of their columns: those of 2D particles over an image with a z axis have no z."""
    return Counter(tuple(place[k] for k in columns) for place in places.elements())


def _rows(places: Places, width: int, columns: list[int] | range) -> np.ndarray:
    rows = [[place[k] for k in columns] for place in places.elements()]
    return np.array(rows, dtype=np.float64).reshape(-1, width)
