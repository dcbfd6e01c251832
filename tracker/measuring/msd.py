"""Mean squared displacement: how far particles are from where they were, by the time that went by."""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...matching.jit.compiled import BORROWING, compiled
from ..errors import InvalidSetting
from ..kinds import is_whole
from ..points import Tracks
from .drift import NOTHING, taken_by_chance, widening
from .track_order import by_track, in_pieces

MOST_LAGS = 100_000_000
"""Lags of all tracks, those without a pair counted in, that are summed at a time: 1.6 GB."""


def mean_squared_displacement(
    tracks: Tracks, max_lag: int | None = None, *, per_track: bool = False, per_axis: bool = False
) -> pd.DataFrame:
    """Average the squared displacement over all pairs of positions of one track that are a lag apart.

    Parameters
    ----------
    tracks : Tracks
        Rows with a negative `track_id` belong to no track and are left out.
    max_lag : int, optional
        Longest lag, as a difference of frame numbers. None: as long as the longest track.
    per_track : bool
        One curve a track instead of one over all pairs of all tracks.
    per_axis : bool
        Also that of the displacements along each axis, whose sum `msd` is.

    Returns
    -------
    DataFrame
        One row a lag that some pair has, by `lag`, with `per_track` by `track_id` and `lag`; frames that a track misses
        make no pairs, and bias nothing. Units are those of
        `auctrack.tracker.measuring.measures.measure_units(tracks.calibration)`.

        - `track_id`: with `per_track`;
        - `lag`: a difference of frame numbers; `lag_time`: the same as time;
        - `msd`: mean of the squared displacements; with `per_axis` also `msd_z`, `msd_y`, `msd_x`;
        - `standard_error`: of `msd`, over tracks (see Notes), NaN where one track alone has the lag; not with
          `per_track`;
        - `n`: the number of pairs averaged; `n_tracks`: of how many tracks they are, not with `per_track`.

    Raises
    ------
    InvalidInput
        If a track has two rows in one frame.
    InvalidSetting
        If `max_lag` is below the frame step (no two positions are so near in time), or if it is not given and tracks
        span so many frames that their lags do not fit into memory.

    Notes
    -----
    Displacements of one track overlap and are correlated, so that their number says little of the error: it would come
    out many times too small at long lags. Tracks are taken as independent instead, and `standard_error` is that of a
    ratio of two sums over them, squared displacements over pairs, as resampling whole tracks (the bootstrap) finds
    it. A curve of one track has no such error. Errors at different lags are correlated.

    An error of positions of variance σ² along each axis adds 2σ² for each at every lag, which particles that hardly
    move show as a curve that does not begin at 0; `per_axis` tells an axis that is measured worse from the others.

    What n tracks lose by chance with the drift that is subtracted (`subtract_drift`), 1/n of the squares, is allowed
    for, so that the curve is that of what they do alone. `msd` is NaN where nothing is left, as of a single track.
    """
    order, start = by_track(tracks)
    require_lag(max_lag, tracks.frame_step)
    interval = tracks.calibration.frame_interval or 1.0
    track_id = tracks.table["track_id"].to_numpy()[order[start]]

    def curve(axes: slice) -> pd.DataFrame:
        sums = _summed_in_pieces(tracks, order, start, max_lag, axes)
        return _of_each(sums, track_id, interval) if per_track else averaged(sums, interval)

    table = curve(slice(None))
    for k, axis in enumerate(tracks.axes if per_axis else ()):
        table.insert(list(table).index("n"), f"msd_{axis}", curve(slice(k, k + 1))["msd"])
    return table


def require_lag(max_lag: int | None, step: int) -> None:
    """Refuse a longest lag that is below the frame step, so that no two positions are so near in time."""
    if max_lag is not None and not (is_whole(max_lag) and max_lag >= step):
        raise InvalidSetting(
            f"needs a whole number of at least {step}, the frame step; got {max_lag!r}.", setting="max_lag"
        )


class LagSums(NamedTuple):
    """Sums over the pairs of one track at one lag, by track and lag, for every lag that the track has.

    Attributes
    ----------
    track, lag : int64 (k,)
        Tracks are numbered in the order of `start`.
    total : float64 (k,)
        Sum of the squared displacements.
    n : int64 (k,)
        Number of pairs.
    told : int64 or float64 (k,)
        How many of these the total is worth: fewer where a drift was subtracted with which they lost some by chance.
    """

    track: np.ndarray
    lag: np.ndarray
    total: np.ndarray
    n: np.ndarray
    told: np.ndarray


def _summed_in_pieces(
    tracks: Tracks, order: np.ndarray, start: np.ndarray, max_lag: int | None, axes: slice
) -> LagSums:
    """Return the sums of all tracks along some axes, made of some tracks at a time."""
    frames, taken = tracks.frames[order], taken_by_chance(tracks, order)

    def of_some(rows: slice, starts: np.ndarray) -> LagSums:
        position = tracks.positions_of(order[rows])[:, axes]
        return summed(frames[rows], position, starts, max_lag, None if taken is None else taken[rows])

    return sums_of_all(frames, start, max_lag, of_some)


def sums_of_all(
    frame: np.ndarray, start: np.ndarray, max_lag: int | None, of_some: Callable[[slice, np.ndarray], LagSums]
) -> LagSums:
    """Return the sums of all tracks, made of some tracks at a time; rows by track and time, `start` where each does.

    `of_some` takes some rows, and where in them each of their tracks starts.
    """
    _lags_of_tracks(frame[start], frame[np.append(start, len(frame))[1:] - 1], max_lag)
    pieces = [(*np.empty((2, 0), np.int64), np.empty(0), *np.empty((2, 0), np.int64))]
    for of, rows in in_pieces(start, len(frame)):
        sums = of_some(rows, start[of] - rows.start)
        pieces.append(sums._replace(track=sums.track + of.start))
    return LagSums(*map(np.concatenate, zip(*pieces, strict=True)))


def _lags_of_tracks(first: np.ndarray, last: np.ndarray, max_lag: int | None) -> np.ndarray:
    """Return how many lags each track has by its first and last frame; more than can be held are refused."""
    lags = last - first if max_lag is None else np.minimum(last - first, int(max_lag))
    if lags.sum(dtype=np.float64) > MOST_LAGS:
        raise InvalidSetting(
            f"needs to be shorter: tracks that span up to {lags.max()} frames have more than "
            f"{MOST_LAGS} lags together. Give a lag of interest, such as 50.",
            setting="max_lag",
        )
    return lags


def summed(
    frame: np.ndarray,
    position: np.ndarray,
    start: np.ndarray,
    max_lag: int | None,
    taken: np.ndarray | None = None,
    origin: np.ndarray | None = None,
) -> LagSums:
    """Sum the squared displacements of every track by lag; rows by track and time, `start` where each track does.

    `taken` is what drift took of them by chance, `taken_by_chance`'s; `origin` from where displacements are to the
    positions of later rows, where that is not each row's own position.
    """
    stop = np.append(start, len(frame))[1:]
    lags = _lags_of_tracks(frame[start], frame[stop - 1], max_lag)
    begin = np.append(0, np.cumsum(lags))
    total, n = np.zeros(begin[-1]), np.zeros(begin[-1], np.int64)
    along = np.ascontiguousarray(position.T)
    _add_pairs(frame, along if origin is None else np.ascontiguousarray(origin.T), along, start, stop, begin, total, n)
    track = np.repeat(np.arange(len(start)), lags)
    lag = np.arange(begin[-1]) - begin[track] + 1
    met = n > 0
    sums = LagSums(track[met], lag[met], total[met], n[met], n[met])
    return sums if taken is None else sums._replace(told=_left(frame, taken, start, max_lag, sums))


def _left(frame: np.ndarray, taken: np.ndarray, start: np.ndarray, max_lag: int | None, sums: LagSums) -> np.ndarray:
    """Return how many pairs are left of each lag's, each less by what was taken of the frames between its two rows.

    That is summed as the squares are: (lag + taken)² - (lag - taken)² is four times the product of the two.
    """
    more, less = (summed(frame, each[:, None], start, max_lag).total for each in (frame + taken, frame - taken))
    left = sums.n - (more - less) / (4.0 * sums.lag**2)
    return np.where(left > NOTHING * sums.n, left, 0.0)


@compiled
def _add_pairs(frame, origin, along, start, stop, begin, total, n):
    """Add every pair of one track to its lag; `begin` is where the lags of each track begin, the first being 1.

    `origin` is where the first row of a pair is along each axis, and `along` the second, float64 (axes, rows). Of a
    track that misses no frame those of one row are as many numbers in a row, and are added side by side.
    """
    squares = np.empty(np.diff(begin).max() if len(start) else 0)
    for track in range(len(start)):
        first, end = start[track], stop[track]
        own, met = total[begin[track] : begin[track + 1]], n[begin[track] : begin[track + 1]]
        if frame[end - 1] - frame[first] > end - 1 - first:
            _add_far_pairs(frame[first:end], origin[:, first:end], along[:, first:end], own, met)
            continue
        for a in range(first, end):
            _add_next(origin, along, a, min(len(own), end - 1 - a), squares, own)
        for lag in range(len(met)):
            met[lag] = end - first - 1 - lag


@compiled(forceinline=True, **BORROWING)
def _add_next(origin, along, a, count, squares, own):
    """Add the pairs of row `a` with each of the next ones, so many, to lags 1, 2, …."""
    for axis in range(len(along)):
        here, later = origin[axis, a], along[axis, a + 1 : a + 1 + count]
        if axis == 0:
            for k in range(count):
                squares[k] = (later[k] - here) ** 2
        else:
            for k in range(count):
                squares[k] += (later[k] - here) ** 2
    for k in range(count):
        own[k] += squares[k]


@compiled
def _add_far_pairs(frame, origin, along, own, met):
    """Add every pair of a track that misses frames."""
    for a in range(len(frame)):
        for b in range(a + 1, len(frame)):
            lag = frame[b] - frame[a]
            if lag > len(own):
                break
            squared = 0.0
            for axis in range(len(along)):
                squared += (along[axis, b] - origin[axis, a]) ** 2
            own[lag - 1] += squared
            met[lag - 1] += 1


def _of_each(sums: LagSums, track_id: np.ndarray, interval: float) -> pd.DataFrame:
    """Return the curve of each track."""
    return pd.DataFrame(
        {
            "track_id": track_id[sums.track],
            "lag": sums.lag,
            "lag_time": sums.lag * interval,
            "msd": _ratio(sums.total, sums.told),
            "n": sums.n,
        }
    )


def averaged(sums: LagSums, interval: float) -> pd.DataFrame:
    """Return the curve of all tracks, and its error over tracks."""
    lags = np.flatnonzero(np.bincount(sums.lag))
    at = np.searchsorted(lags, sums.lag)
    n, n_tracks = np.bincount(at, sums.n), np.bincount(at)
    total, told = np.bincount(at, sums.total), np.bincount(at, sums.told)
    msd = _ratio(total, told)
    scatter = np.bincount(at, (sums.total - msd[at] * sums.told) ** 2)
    several = np.where(n_tracks > 1, n_tracks, np.nan)
    return pd.DataFrame(
        {
            "lag": lags,
            "lag_time": lags * interval,
            "msd": msd,
            "standard_error": _ratio(np.sqrt(scatter * several / (several - 1)), told) * widening(told, n),
            "n": n.astype(np.int64),
            "n_tracks": n_tracks,
        }
    )


def _ratio(total: np.ndarray, told: np.ndarray) -> np.ndarray:
    """Return what each is on average, NaN where nothing tells it."""
    return np.divide(total, told, out=np.full(len(total), np.nan), where=told > 0)
