"""Drift: what all particles move by together, as a stage or a liquid carries them, and tracks without it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from ..points import Tracks, require
from .track_order import by_track


def measure_drift(tracks: Tracks) -> pd.DataFrame:
    """Return the way that particles have gone together since the first frame (trackpy: compute_drift).

    From frame to frame it is the mean step of the tracks that are seen in both.

    Parameters
    ----------
    tracks : Tracks
        Rows with a negative `track_id` belong to no track and are left out.

    Returns
    -------
    DataFrame
        One row a frame, from the first to the last: `frame`; `z`, `y`, `x` (`y`, `x` in 2D), in the unit of the
        calibration, 0 in the first frame; `n`, the steps into it that the mean is of. Where there is none, nothing is
        known of the drift, and it stays what it was.

    Raises
    ------
    InvalidInput
        If a track has two rows in one frame, or a table is given for `Tracks`.
    """
    order, start = by_track(tracks)
    frame, position, step = tracks.frames[order], tracks.positions[order], tracks.frame_step
    if not len(order):
        return pd.DataFrame({name: pd.Series(dtype=float) for name in ("frame", *tracks.axes, "n")})
    first = int(frame.min())
    into = (frame[1:] - first) // step
    is_step = np.diff(frame) == step
    is_step[start[1:] - 1] = False
    frames = np.arange(first, int(frame.max()) + 1, step)
    n = np.bincount(into[is_step], minlength=len(frames))
    steps = np.diff(position, axis=0)[is_step]
    total = np.stack([np.bincount(into[is_step], along, len(frames)) for along in steps.T], axis=1)
    way = np.cumsum(total / np.maximum(n, 1)[:, None], axis=0)
    return pd.DataFrame({"frame": frames, **dict(zip(tracks.axes, way.T, strict=True)), "n": n})


def subtract_drift(tracks: Tracks, drift: pd.DataFrame | None = None) -> Tracks:
    """Return the same tracks, each position without the drift up to its frame (trackpy: subtract_drift).

    What n tracks share by chance goes with it, so that a mean squared displacement comes out 1/n too small.

    Parameters
    ----------
    tracks : Tracks
        Rows of no track are moved likewise; those before the first frame of the drift and after its last have that of
        the first and the last.
    drift : DataFrame, optional
        As `measure_drift` returns it, perhaps of other particles that lie still. Left out: that of the tracks.

    Raises
    ------
    InvalidInput
        As `measure_drift`.

    Examples
    --------
    >>> from auctrack import mean_squared_displacement, read_tracks, subtract_drift
    >>> still = subtract_drift(read_tracks("sample_data/movie.truth.csv"))
    >>> curve = mean_squared_displacement(still)
    """
    require(Tracks, tracks)
    drift = measure_drift(tracks) if drift is None else drift
    if not len(drift):
        return tracks
    at = np.clip(np.searchsorted(drift["frame"].to_numpy(), tracks.frames, side="right") - 1, 0, None)
    scale = tracks.calibration.scale_for(tracks.ndim)
    moved = {
        axis: tracks.table[axis].to_numpy() - drift[axis].to_numpy()[at] / step
        for axis, step in zip(tracks.axes, scale, strict=True)
    }
    return replace(tracks, table=tracks.table.assign(**moved))
