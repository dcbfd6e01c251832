"""Mean squared displacement: how far particles are from where they were, by the time that went by."""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from ...matching.jit.compiled import compiled
from ..errors import InvalidSetting
from ..kinds import is_whole
from ..points import Tracks
from .track_order import by_track

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
    """
    order, start = by_track(tracks)
    if max_lag is not None and not (is_whole(max_lag) and max_lag >= tracks.frame_step):
        raise InvalidSetting(
            f"needs a whole number of at least {tracks.frame_step}, the frame step; got {max_lag!r}.",
            setting="max_lag",
        )
    frame, position = tracks.frames[order], tracks.positions[order]
    interval = tracks.calibration.frame_interval or 1.0
    track_id = tracks.table["track_id"].to_numpy()[order[start]]

    def curve(place: np.ndarray) -> pd.DataFrame:
        sums = summed(frame, place, start, max_lag)
        return _of_each(sums, track_id, interval) if per_track else _averaged(sums, interval)

    table = curve(position)
    along = {f"msd_{axis}": place for axis, place in zip(tracks.axes, position.T, strict=True)} if per_axis else {}
    for name, place in along.items():
        table.insert(list(table).index("n"), name, curve(np.ascontiguousarray(place[:, None]))["msd"])
    return table


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
    """

    track: np.ndarray
    lag: np.ndarray
    total: np.ndarray
    n: np.ndarray


def summed(frame: np.ndarray, position: np.ndarray, start: np.ndarray, max_lag: int | None) -> LagSums:
    """Sum the squared displacements of every track by lag; rows by track and time, `start` where each track does."""
    stop = np.append(start, len(frame))[1:]
    lags = frame[stop - 1] - frame[start]
    lags = lags if max_lag is None else np.minimum(lags, int(max_lag))
    if lags.sum(dtype=np.float64) > MOST_LAGS:
        raise InvalidSetting(
            f"needs to be shorter: tracks that span up to {lags.max()} frames have more than "
            f"{MOST_LAGS} lags together. Give a lag of interest, such as 50.",
            setting="max_lag",
        )
    begin = np.append(0, np.cumsum(lags))
    total, n = np.zeros(begin[-1]), np.zeros(begin[-1], np.int64)
    _add_pairs(frame, position, start, stop, begin, total, n)
    track = np.repeat(np.arange(len(start)), lags)
    lag = np.arange(begin[-1]) - begin[track] + 1
    met = n > 0
    return LagSums(track[met], lag[met], total[met], n[met])


@compiled
def _add_pairs(frame, position, start, stop, begin, total, n):
    """Add every pair of one track to its lag; `begin` is where the lags of each track begin, the first being 1."""
    for track in range(len(start)):
        longest = begin[track + 1] - begin[track]
        for a in range(start[track], stop[track]):
            for b in range(a + 1, stop[track]):
                lag = frame[b] - frame[a]
                if lag > longest:
                    break
                squared = 0.0
                for axis in range(position.shape[1]):
                    squared += (position[b, axis] - position[a, axis]) ** 2
                total[begin[track] + lag - 1] += squared
                n[begin[track] + lag - 1] += 1


def _of_each(sums: LagSums, track_id: np.ndarray, interval: float) -> pd.DataFrame:
    """Return the curve of each track."""
    return pd.DataFrame(
        {
            "track_id": track_id[sums.track],
            "lag": sums.lag,
            "lag_time": sums.lag * interval,
            "msd": sums.total / sums.n,
            "n": sums.n,
        }
    )


def _averaged(sums: LagSums, interval: float) -> pd.DataFrame:
    """Return the curve of all tracks, and its error over tracks."""
    lags = np.flatnonzero(np.bincount(sums.lag))
    at = np.searchsorted(lags, sums.lag)
    total, n, n_tracks = np.bincount(at, sums.total), np.bincount(at, sums.n), np.bincount(at)
    msd = total / n
    scatter = np.bincount(at, (sums.total - msd[at] * sums.n) ** 2)
    several = np.where(n_tracks > 1, n_tracks, np.nan)
    return pd.DataFrame(
        {
            "lag": lags,
            "lag_time": lags * interval,
            "msd": msd,
            "standard_error": np.sqrt(scatter * several / (several - 1)) / n,
            "n": n.astype(np.int64),
            "n_tracks": n_tracks,
        }
    )
