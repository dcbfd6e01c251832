"""Which part of dense tracks a picture shows: so many frames and so thick a slab that tracks can be told apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ....tracker.errors import InvalidSetting
from ....tracker.measuring.track_order import track_order
from ....tracker.points import Tracks

Z, Y, X = range(3)

_CROSSINGS = 1.5
"""Other tracks that a track may cross, on average, before fewer frames or a slab are shown."""
_TAILS = (100, 50, 20, 10, 5)
"""Frames shown where all are too many: the last ones."""
_SLABS = (1, 2, 4, 8, 16, 32, 64)
"""Parts of the depth of which one is shown."""
_CELLS = 8
"""Cells a side in which tracks are taken to lie at random, as they seldom fill the whole field."""
_PER_SQUARE_INCH = 12
"""Tracks in a square inch of the picture beyond which only a region is shown."""
_NEARLY_ALL = 0.8
"""Part of a side from which on cutting it would gain little."""


@dataclass(frozen=True)
class Look:
    """What a picture is asked to show; what is None is chosen so that tracks can be told apart.

    Parameters
    ----------
    frames : slice, optional
        Frame numbers; `stop` is not one of them.
    roi : sequence of slice, optional
        Region in the steps of the table's coordinates, one slice along z, y, x (or y, x).
    colour : str, optional
        "track", "time", "speed", or the name of a measure of tracks or of a column of numbers. None: by time where only
        the last frames are shown, else a colour a track.
    min_length : int
        Detections of which every track has as many or more, as the title says; shorter ones were left out before.
    """

    frames: slice | None = None
    roi: tuple[slice, ...] | None = None
    colour: str | None = None
    min_length: int = 1


@dataclass(frozen=True)
class View:
    """A view along one axis: the axes that run down and across the picture, and the one that is looked along."""

    name: str
    down: int
    across: int
    depth: int


ABOVE, SIDE = View("from above", Y, X, Z), View("from the side", Z, X, Y)


@dataclass(frozen=True)
class Box:
    """A part of space, physical, from `low` to `high` along z, y, x, float64 (3,); z is 0 to 0 in 2D."""

    low: np.ndarray
    high: np.ndarray

    @property
    def size(self) -> np.ndarray:
        """Its edges along z, y, x."""
        return self.high - self.low

    def cut(self, axis: int, low: float, high: float) -> Box:
        """Return what of it lies between two values along one axis."""
        lower, upper = self.low.copy(), self.high.copy()
        lower[axis], upper[axis] = max(low, lower[axis]), min(high, upper[axis])
        return Box(lower, upper)


@dataclass(frozen=True)
class Steps:
    """Steps of tracks, each from a detection to the next of its track, or from a parent's last to a child's first.

    Attributes
    ----------
    ends : float64 (n, 2, 3)
        Where each begins and ends, physical, along z, y, x; z is 0 in 2D.
    frames : int64 (n, 2)
        When.
    track : int64 (n,)
        Ascending; the child's where one descends from another.
    values : float64 (n,)
        What the rows that they end in are coloured by; NaN for nothing.
    """

    ends: np.ndarray
    frames: np.ndarray
    track: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, tracks: Tracks, values: np.ndarray | None = None) -> Steps:
        """Return the steps of all tracks, by track and time; `values` are one a row."""
        track = tracks.table["track_id"].to_numpy()
        order = track_order(track, tracks.frames)
        first = np.flatnonzero(np.diff(track[order]) == 0)
        pairs = np.stack([order[first], order[first + 1]], axis=1) if len(order) else np.empty((0, 2), np.int64)
        if tracks.parents:
            pairs = np.concatenate([pairs, _joints(track, order, tracks.parents)])
            pairs = pairs[np.lexsort((tracks.frames[pairs[:, 1]], track[pairs[:, 1]]))]
        positions = np.zeros((len(tracks), 3))
        positions[:, 3 - tracks.ndim :] = tracks.positions
        ends = pairs[:, 1]
        of_ends = np.full(len(ends), np.nan) if values is None else values[ends]
        return cls(positions[pairs], tracks.frames[pairs], track[ends], of_ends)

    @property
    def n_tracks(self) -> int:
        """Tracks that have a step."""
        return len(np.unique(self.track))

    def inside(self, box: Box, frames: range) -> Steps:
        """Return the steps that begin and end in a box and a range of frames."""
        near = np.all((self.ends >= box.low) & (self.ends <= box.high), axis=(1, 2))
        return self._kept(near & (self.frames[:, 0] >= frames.start) & (self.frames[:, 1] < frames.stop))

    def extent(self, axis: int) -> float:
        """Return how far the median track reaches along an axis."""
        if not len(self.track):
            return 0.0
        along = pd.DataFrame({"low": self.ends[..., axis].min(axis=1), "high": self.ends[..., axis].max(axis=1)})
        reach = along.groupby(self.track).agg({"low": "min", "high": "max"})
        return float((reach["high"] - reach["low"]).median())

    def _kept(self, keep: np.ndarray) -> Steps:
        return Steps(self.ends[keep], self.frames[keep], self.track[keep], self.values[keep])


def _joints(track: np.ndarray, order: np.ndarray, parents: Mapping[int, Sequence[int]]) -> np.ndarray:
    """Return the rows of each parent's last and its child's first detection; of children that have steps themselves."""
    ids, first = np.unique(track[order], return_index=True)
    last = np.append(first[1:], len(order)) - 1
    place = {number: at for at, number in enumerate(ids.tolist())}
    known = [
        (place[one], place[child]) for child, of in parents.items() if child in place for one in of if one in place
    ]
    pairs = [(order[last[one]], order[first[child]]) for one, child in known if last[child] > first[child]]
    return np.array(pairs, np.int64).reshape(-1, 2)


@dataclass(frozen=True)
class PicturePart:
    """What a view shows: the steps that begin and end in a box and a range of frames."""

    steps: Steps
    box: Box
    frames: range


def crossings(steps: Steps, box: Box, view: View) -> float:
    """Return how many other tracks a track crosses on average, were they laid at random in each cell of the field."""
    if not len(steps.track):
        return 0.0
    axes = [view.down, view.across]
    size = np.maximum(box.size[axes], 1e-9)
    flat = steps.ends[..., axes]
    cell = np.clip((flat.mean(axis=1) - box.low[axes]) / size * _CELLS, 0, _CELLS - 1).astype(int) @ [_CELLS, 1]
    length = pd.DataFrame({"cell": cell, "track": steps.track, "own": np.linalg.norm(flat[:, 1] - flat[:, 0], axis=1)})
    own = length.groupby(["cell", "track"])["own"].sum()
    others = own.groupby("cell").transform("sum") - own
    return float(2 / np.pi * (own * others).sum() / (size.prod() / _CELLS**2) / steps.n_tracks)


def parts_shown(steps: Steps, field: Box, views: tuple[View, ...], look: Look, inches: float) -> list[PicturePart]:
    """Choose what each view shows: as many of the last frames, and as thick a slab in the middle, as can be told apart.

    Parameters
    ----------
    steps : Steps
    field : Box
        All that may be shown: the movie's field, or the region asked for.
    views : tuple of View
        They show the same frames, and the same range of x.
    look : Look
    inches : float
        Width of the picture.

    Raises
    ------
    InvalidSetting
        If none of the tracks' frames is asked for.
    """
    every = _frames(steps, look)
    tails = (len(every), *(tail for tail in _TAILS if tail < len(every))) if look.frames is None else (len(every),)
    candidates = (part for tail in tails for part in _slabs(steps, field, views[0], every[-tail:], look))
    first = _first_clear(candidates, views[0])
    if look.roi is None:
        field = _region(first, field, inches)
        first = _within(steps, field.cut(views[0].depth, *_along(first.box, views[0].depth)), first.frames)
    rest = [_first_clear(_slabs(steps, field, view, first.frames, look), view) for view in views[1:]]
    return [first, *rest]


def _frames(steps: Steps, look: Look) -> range:
    """Return the frames asked for, or all."""
    if not len(steps.frames):
        return range(1)
    asked, every = look.frames or slice(None), range(int(steps.frames.min()), int(steps.frames.max()) + 1)
    first = every.start if asked.start is None else max(asked.start, every.start)
    stop = every.stop if asked.stop is None else min(asked.stop, every.stop)
    if first >= stop:
        raise InvalidSetting(
            f"needs some of the tracks' frames, which are {every.start} to {every.stop - 1}; got "
            f"{asked.start}:{asked.stop}.",
            setting="frames",
        )
    return range(first, stop)


def _slabs(steps: Steps, field: Box, view: View, frames: range, look: Look) -> Iterator[PicturePart]:
    """Yield what slabs show, from the whole depth to the thinnest that still holds half of the tracks whole."""
    whole = _within(steps, field, frames)
    yield whole
    depth = field.size[view.depth]
    if not depth or not len(whole.steps.track) or (view.depth == Z and _has_slab(look)):
        return
    middle, least = float(np.median(whole.steps.ends[..., view.depth])), whole.steps.extent(view.depth)
    for parts in _SLABS[1:]:
        half = depth / parts / 2
        if 2 * half < least:
            return
        low = min(max(middle - half, field.low[view.depth]), field.high[view.depth] - 2 * half)
        yield _within(steps, field.cut(view.depth, low, low + 2 * half), frames)


def _has_slab(look: Look) -> bool:
    """Whether the region asked for says which depth is shown."""
    return look.roi is not None and look.roi[0] != slice(None)


def _first_clear(parts: Iterator[PicturePart], view: View) -> PicturePart:
    """Return the first part in which tracks can be told apart, or the last."""
    part = None
    for part in parts:
        if crossings(part.steps, part.box, view) <= _CROSSINGS:
            break
    assert part is not None
    return part


def _region(part: PicturePart, field: Box, inches: float) -> Box:
    """Return the field, or its middle where in the whole there are too many tracks for the paper."""
    size = field.size
    height = inches * size[Y] / max(size[X], 1e-9)
    room = _PER_SQUARE_INCH * inches * height
    share = np.sqrt(room / max(part.steps.n_tracks, 1))
    if share > _NEARLY_ALL:
        return field
    for axis in (Y, X):
        half = share * size[axis] / 2
        middle = np.clip(np.median(part.steps.ends[..., axis]), field.low[axis] + half, field.high[axis] - half)
        field = field.cut(axis, middle - half, middle + half)
    return field


def _within(steps: Steps, box: Box, frames: range) -> PicturePart:
    return PicturePart(steps.inside(box, frames), box, frames)


def _along(box: Box, axis: int) -> tuple[float, float]:
    return float(box.low[axis]), float(box.high[axis])
