"""Drift: what all particles move by together, as a stage or a liquid carries them, and tracks without it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from ..errors import InvalidInput
from ..points import Tracks, require
from .track_order import by_track

NOTHING = 1e-9
"""Share of its pairs of which no more is left than rounding makes: a drift of one track is all that it does."""

_ENOUGH = 10
"""Tracks whose differences tell the error of what they share."""
_SURE, _MUCH = 5.0, 0.05
"""Errors from which on it is sure that tracks share a movement; its share of their squared ways that is much."""


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

    What n tracks share by chance goes with it, so that squares of their displacements come out 1/n too small.
    `mean_squared_displacement`, `measure_ensemble`, `measure_displacements` and `velocity_correlation` allow for that
    in what is returned here, as `Tracks.drift` tells them, which `write_tracks` keeps in the settings beside the table.

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
        As `measure_drift`; also if the drift has no columns of frames and positions.

    Examples
    --------
    >>> from auctrack import mean_squared_displacement, read_tracks, subtract_drift
    >>> still = subtract_drift(read_tracks("sample_data/movie.truth.csv"))
    >>> curve = mean_squared_displacement(still)
    """
    require(Tracks, tracks)
    own = measure_drift(tracks)
    drift = own if drift is None else _checked(drift, tracks.axes)
    if not len(drift):
        return tracks
    at = _row_of(drift, tracks.frames)
    scale = tracks.calibration.scale_for(tracks.ndim)
    moved = {
        axis: tracks.table[axis].to_numpy() - drift[axis].to_numpy()[at] / step
        for axis, step in zip(tracks.axes, scale, strict=True)
    }
    return replace(tracks, table=tracks.table.assign(**moved), drift=own if drift.equals(own) else None)


def are_carried(tracks: Tracks) -> bool:
    """Return whether a drift surely makes a good part of how far tracks come, so that it should be subtracted.

    It is sure where what they move by on average is many times its error over tracks, which holds for particles that
    keep their direction, too. Rows with a negative `track_id` are left out.
    """
    order, start = by_track(tracks)
    stop = np.append(start[1:], len(order))
    frame, position = tracks.frames[order], tracks.positions[order]
    way, time = position[stop - 1] - position[start], (frame[stop - 1] - frame[start])[:, None]
    if len(start) < _ENOUGH or not time.any():
        return False
    velocity = way.sum(axis=0) / time.sum()
    error = np.sqrt(((way - velocity * time) ** 2).sum(axis=0)) / time.sum()
    is_much = ((velocity * time) ** 2).sum() > _MUCH * (way**2).sum()
    return bool(is_much and (abs(velocity) > _SURE * error).any())


def taken_by_chance(tracks: Tracks, order: np.ndarray) -> np.ndarray | None:
    """Return how much of each row's way the drift that was subtracted took by chance, as a number of frames.

    Of n tracks whose mean step is subtracted each loses a share of 1/n of what it did alone in that time, and a track
    that is not among them, as over missed frames, gets as much on top. Between two rows of a track, `order` being that
    of `by_track`, the difference of their numbers is what was lost of the frames between them. None: no drift, or
    that of other particles.
    """
    if tracks.drift is None:
        return None
    frame, n = tracks.frames[order], tracks.drift["n"].to_numpy()
    step = np.diff(tracks.drift["frame"].to_numpy()[:2], prepend=0)[-1]
    so_far = np.cumsum(np.where(n > 0, step / np.maximum(n, 1), 0.0))
    lost = np.diff(so_far[_row_of(tracks.drift, frame)], prepend=0.0)
    is_among_them = np.diff(frame, prepend=0) == tracks.frame_step
    return np.cumsum(np.where(is_among_them, lost, -lost))


def told_of_steps(taken: np.ndarray, step: int) -> np.ndarray:
    """Return which share the drift left of each step over one frame, from a row to the next; `taken_by_chance`'s."""
    left = 1.0 - np.diff(taken) / step
    return np.where(left > NOTHING, left, 0.0)


def widening(told: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return how many times too small errors over tracks come out where a drift took some of n pairs by chance.

    What each lost is a part of what all others did, which holds them together: of n tracks whose mean step is
    subtracted the variance of a mean over them is (n - 1) / (n - 2) times what they differ by. NaN where they are two,
    which mirror each other, and tell nothing of it.
    """
    left = np.asarray(2.0 * told - n)
    return np.sqrt(np.divide(told, left, out=np.full(left.shape, np.nan), where=left > NOTHING * n))


def _checked(drift: pd.DataFrame, axes: tuple[str, ...]) -> pd.DataFrame:
    """Refuse a drift without its columns, such as trackpy's, whose frames are its index."""
    missing = [name for name in ("frame", *axes) if name not in drift]
    if missing:
        raise InvalidInput(
            f"drift needs the columns frame, {', '.join(axes)}, as measure_drift returns it (trackpy's has its frames "
            f"as index: drift.reset_index()); it lacks {', '.join(missing)}."
        )
    return drift


def _row_of(drift: pd.DataFrame, frames: np.ndarray) -> np.ndarray:
    """Return the row of a drift that holds in each frame."""
    return np.clip(np.searchsorted(drift["frame"].to_numpy(), frames, side="right") - 1, 0, None)
