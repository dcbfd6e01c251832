"""What all tracks of a movie measure together: their mean speed, and how fast they spread, with errors over tracks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..points import Tracks
from .measures import time_unit
from .msd import summed
from .track_order import by_track


def measure_ensemble(tracks: Tracks) -> pd.DataFrame:
    """Measure the motion of all particles of a movie.

    Parameters
    ----------
    tracks : Tracks
        Rows with a negative `track_id` belong to no track and are left out.

    Returns
    -------
    DataFrame
        One row a `measure`, with its `value`, the `standard_error` over tracks (NaN where fewer than two tell) and the
        `unit`:

        - `mean_speed`: mean length of the steps over one frame, per time; longer ones would cut corners;
        - `diffusion`: the mean squared displacement's growth from one frame to two, over twice the axes and the time
          between them, which is free of the error of positions. Of particles that go straight on for some frames it is
          more than what they diffuse by in the long run.

    Raises
    ------
    InvalidInput
        If a track has two rows in one frame.
    """
    order, start = by_track(tracks)
    frame, position, step = tracks.frames[order], tracks.positions[order], tracks.frame_step
    sums = summed(frame, position, start, 2 * step)
    interval = step * (tracks.calibration.frame_interval or 1.0)
    once, twice = (_mean(sums.track, sums.total, sums.n, sums.lag == lag * step, len(start)) for lag in (1, 2))
    growth = 2 * tracks.ndim * interval
    speed, pull = _mean_step(frame, position, start, step)
    unit, time = tracks.calibration.unit, time_unit(tracks.calibration)
    return pd.DataFrame(
        {
            "measure": ["mean_speed", "diffusion"],
            "value": [speed / interval, (twice[0] - once[0]) / growth],
            "standard_error": [_error(pull / interval), _error((twice[1] - once[1]) / growth)],
            "unit": [f"{unit}/{time}", f"{unit}²/{time}"],
        }
    )


def _mean_step(frame: np.ndarray, position: np.ndarray, start: np.ndarray, step: int) -> tuple[float, np.ndarray]:
    """Return the mean length of the steps over one frame, and what each track pulls it by."""
    track = np.cumsum(np.bincount(start, minlength=len(frame))) - 1
    length = np.linalg.norm(np.diff(position, axis=0), axis=1)
    is_step = (np.diff(track) == 0) & (np.diff(frame) == step)
    return _mean(track[1:], length, np.ones(len(length)), is_step, len(start))


def _mean(
    track: np.ndarray, total: np.ndarray, n: np.ndarray, chosen: np.ndarray, tracks: int
) -> tuple[float, np.ndarray]:
    """Return the ratio of the chosen sums, and what each track pulls it by; NaN where nothing is chosen."""
    total, n = (np.bincount(track[chosen], of[chosen], minlength=tracks) for of in (total, n))
    if not n.any():
        return np.nan, np.full(tracks, np.nan)
    mean = total.sum() / n.sum()
    return float(mean), (total - mean * n) / n.sum()


def _error(pull: np.ndarray) -> float:
    """Return the standard error of a ratio of sums over tracks, as the bootstrap finds it."""
    told = np.count_nonzero(pull)
    return float(np.sqrt((pull**2).sum() * told / (told - 1))) if told > 1 else np.nan
