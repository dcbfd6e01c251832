"""Velocity autocorrelation: how long particles keep their velocity."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..points import Tracks
from .drift import taken_by_chance, told_of_steps
from .msd import LagSums, averaged, require_lag, summed, sums_of_all
from .track_order import by_track


def velocity_correlation(tracks: Tracks, max_lag: int | None = None) -> pd.DataFrame:
    """Average the product of two velocities of one track that are a lag apart: their autocorrelation.

    A velocity is a step from one frame to the next over the time between them. Steps over missed frames are none.

    Parameters
    ----------
    tracks : Tracks
        Rows with a negative `track_id` belong to no track and are left out.
    max_lag : int, optional
        Longest lag, as a difference of frame numbers. None: as long as the longest track.

    Returns
    -------
    DataFrame
        One row a lag that some pair of steps has, from 0 on:

        - `lag`: a difference of frame numbers; `lag_time`: the same as time;
        - `correlation`: mean of the products of the velocities, summed over the axes, in squares of the unit of speed;
        - `normalised`: the same, in parts of that at lag 0;
        - `standard_error`: of `correlation`, over tracks, as of `mean_squared_displacement`;
        - `n`: the number of pairs averaged; `n_tracks`: of how many tracks they are.

    Raises
    ------
    InvalidInput
        If a track has two rows in one frame.
    InvalidSetting
        As of `mean_squared_displacement`.

    Notes
    -----
    An error of positions of variance σ² along each axis adds 2σ²/Δt² for each axis at lag 0, Δt being the time of a
    step, and takes σ²/Δt² off at a lag of one step, for two steps in a row share a position that one ends and the other
    begins with. Particles that diffuse have 0 at all other lags. Such that go straight on for a while fall slowly from
    a lag of two steps on; `normalised` falls short of what they keep by what the error adds at lag 0.

    What n tracks lose by chance with the drift that is subtracted (`subtract_drift`) is allowed for, as of
    `mean_squared_displacement`, as if those that are seen at the first step were seen at the second.

    Examples
    --------
    >>> from auctrack import read_tracks, velocity_correlation
    >>> velocity_correlation(read_tracks("sample_data/movie.truth.csv"), 3)["lag"].tolist()
    [0, 1, 2, 3]
    """
    order, start = by_track(tracks)
    require_lag(max_lag, tracks.frame_step)
    frames, taken = tracks.frames[order], taken_by_chance(tracks, order)
    unit_time = tracks.calibration.frame_interval or 1.0
    step = tracks.frame_step

    def of_some(rows: slice, starts: np.ndarray) -> LagSums:
        frame, moved = frames[rows], np.diff(tracks.positions_of(order[rows]), axis=0)
        track = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(frame))))
        is_step = (np.diff(track) == 0) & (np.diff(frame) == step)
        told = None if taken is None else told_of_steps(taken[rows], step)[is_step]
        return _correlated(frame[1:][is_step], moved[is_step] / (step * unit_time), track[1:][is_step], max_lag, told)

    table = averaged(sums_of_all(frames, start, max_lag, of_some), unit_time).rename(columns={"msd": "correlation"})
    first = table["correlation"].where(table["lag"] == 0).max()
    table.insert(3, "normalised", table["correlation"] / (first if first > 0 else np.nan))
    return table


def _correlated(
    frame: np.ndarray, velocity: np.ndarray, track: np.ndarray, max_lag: int | None, told: np.ndarray | None
) -> LagSums:
    """Sum the products of the velocities of each track by lag; steps by track and time.

    `told` is how much of each step the drift left.
    """
    numbers, start = np.unique(track, return_index=True)
    products = _products(frame, velocity, start, max_lag)
    if told is not None:
        products = products._replace(told=_products(frame, np.sqrt(told)[:, None], start, max_lag).total)
    return products._replace(track=numbers[products.track])


def _products(frame: np.ndarray, values: np.ndarray, start: np.ndarray, max_lag: int | None) -> LagSums:
    """Sum the products of the rows of each track by lag, from 0 on.

    They are summed as squares are: (a + b)² - (b - a)² is four times the product of the two.
    """
    more, less = (summed(frame, values, start, max_lag, origin=origin) for origin in (-values, values))
    count = np.diff(np.append(start, len(frame)))
    own = np.add.reduceat((values**2).sum(axis=1), start) if len(start) else np.empty(0)
    at_once = LagSums(np.arange(len(start)), np.zeros(len(start), np.int64), own, count, count)
    later = less._replace(total=(more.total - less.total) / 4.0)
    return LagSums(*map(np.concatenate, zip(at_once, later, strict=True)))
