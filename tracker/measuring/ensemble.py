"""What all tracks of a movie measure together: their mean speed, and how fast they spread, with errors over tracks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..points import Tracks
from .divisions import divisions_of, families, joints_of
from .drift import taken_by_chance, told_of_steps, widening
from .measures import time_unit
from .msd import summed
from .track_order import by_track

_Mean = tuple[float, np.ndarray]
"""A mean, and what each track pulls it by."""


def measure_ensemble(tracks: Tracks, *, divisions: bool | None = None) -> pd.DataFrame:
    """Measure the motion of all particles of a movie.

    Parameters
    ----------
    tracks : Tracks
        Rows with a negative `track_id` belong to no track and are left out.
    divisions : bool, optional
        Whether what divisions tell is measured. Left out: where any track has a parent.

    Returns
    -------
    DataFrame
        One row a `measure`, with its `value`, the `standard_error` over tracks, or over families where particles divide
        or merge, for daughters move as their mothers did (NaN where fewer than two tell), `n_tracks`, how many of these
        tell it (of `generation_time` generations; NaN of `division_rate`, whose error is that of a count), and the
        `unit`:

        - `mean_speed`: mean length of the steps over one frame, per time; longer ones would cut corners;
        - `diffusion`: the mean squared displacement's growth from one frame to two, over twice the axes and the time
          between them, which is free of the error of positions. Of particles that go straight on for some frames it is
          more than what they diffuse by in the long run;
        - `msd_exponent`: the power of the lag that the mean squared displacement grows by, from its growth from one
          frame to two and from two to four, also free of the error of positions: 1 where particles diffuse, 2 where
          they go straight on, less than 1 where they are held back. `diffusion` is a diffusion coefficient where it is
          1. NaN where nothing grows;
        - `division_rate`: cells that end in two or more others, per particle and time; the error of none is that of
          one. A cell is a track, or several that missed frames have cut, as in folders of the Cell Tracking Challenge;
        - `generation_time`, likewise: mean time from a division to the next, of cells that begin and end in one. In a
          movie not much longer than a generation the longer ones are cut off, so that it comes out short.

    Raises
    ------
    InvalidInput
        If a track has two rows in one frame.
    """
    order, start = by_track(tracks)
    frame, position, step = tracks.frames[order], tracks.positions[order], tracks.frame_step
    taken = taken_by_chance(tracks, order)
    sums = summed(frame, position, start, 4 * step, taken)
    interval = step * (tracks.calibration.frame_interval or 1.0)
    once, twice, four_times = (
        _mean(sums.track, sums.total, sums.told, sums.lag == lag * step, len(start)) for lag in (1, 2, 4)
    )
    first, second = _difference(twice, once), _difference(four_times, twice)
    growth = 2 * tracks.ndim * interval
    speed, pull = _mean_step(frame, position, start, step, taken)
    unit, time = tracks.calibration.unit, time_unit(tracks.calibration)
    joints = joints_of(tracks.table["track_id"].to_numpy()[order][start], tracks)
    family = families(joints, len(start))
    exponent, exponent_pull = _exponent(first, second)
    wider = widening(sums.told.sum(), sums.n.sum())
    rows: list[tuple[str, float, float, float, str]] = [
        (name, value, *error_over_tracks(np.bincount(family, of) * wider), per)
        for name, value, of, per in (
            ("mean_speed", speed / interval, pull / interval, f"{unit}/{time}"),
            ("diffusion", first[0] / growth, first[1] / growth, f"{unit}²/{time}"),
            ("msd_exponent", exponent, exponent_pull, ""),
        )
    ]
    if bool(tracks.parents) if divisions is None else divisions:
        last = np.append(start[1:], len(frame)) - 1
        divided = divisions_of(frame[start], frame[last], joints, step)
        rows.append(("division_rate", *_rate(divided.dividing, divided.lived * interval), np.nan, f"1/{time}"))
        rows.append(("generation_time", *_mean_and_error(divided.generations * interval), time))
    return pd.DataFrame(rows, columns=["measure", "value", "standard_error", "n_tracks", "unit"])


def _mean_step(
    frame: np.ndarray, position: np.ndarray, start: np.ndarray, step: int, taken: np.ndarray | None
) -> _Mean:
    """Return the mean length of the steps over one frame, and what each track pulls it by."""
    track = np.cumsum(np.bincount(start, minlength=len(frame))) - 1
    length = np.linalg.norm(np.diff(position, axis=0), axis=1)
    is_step = (np.diff(track) == 0) & (np.diff(frame) == step)
    told = np.ones(len(length)) if taken is None else told_of_steps(taken, step)
    return _mean(track[1:], length, np.sqrt(told), is_step, len(start))


def _difference(late: _Mean, early: _Mean) -> _Mean:
    return late[0] - early[0], late[1] - early[1]


def _exponent(first: _Mean, second: _Mean) -> _Mean:
    """Return the power that grows by `first` from 1 to 2 and by `second` from 2 to 4; NaN where it does not grow."""
    if not (first[0] > 0 and second[0] > 0):
        return np.nan, np.full(len(first[1]), np.nan)
    return float(np.log2(second[0] / first[0])), (second[1] / second[0] - first[1] / first[0]) / np.log(2)


def _mean(track: np.ndarray, total: np.ndarray, n: np.ndarray, chosen: np.ndarray, tracks: int) -> _Mean:
    """Return the ratio of the chosen sums; NaN where nothing is chosen."""
    total, n = (np.bincount(track[chosen], of[chosen], minlength=tracks) for of in (total, n))
    if not n.any():
        return np.nan, np.full(tracks, np.nan)
    mean = total.sum() / n.sum()
    return float(mean), (total - mean * n) / n.sum()


def _rate(count: int, time: float) -> tuple[float, float]:
    """Return how often something happens, and its standard error; NaN where nothing was looked at."""
    return (count / time, max(count, 1) ** 0.5 / time) if time else (np.nan, np.nan)


def _mean_and_error(values: np.ndarray) -> tuple[float, float, int]:
    """Return the mean, its standard error, NaN where too few tell, and how many do."""
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan
    return float(values.mean()) if len(values) else np.nan, error, len(values)


def error_over_tracks(pull: np.ndarray) -> tuple[float, int]:
    """Return the standard error of a ratio of sums over tracks, or families, as the bootstrap does; how many tell."""
    counted = int(np.count_nonzero(pull))
    return float(np.sqrt((pull**2).sum() * counted / (counted - 1))) if counted > 1 else np.nan, counted
