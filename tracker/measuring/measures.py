"""What a track measures: lengths, durations, speeds; all physical, through the calibration."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ..calibrating.calibration import FRAME, Calibration
from ..kinds import require_whole
from ..points import AXES, Tracks, require
from .track_order import by_track, in_pieces, numbered

# A feature column is averaged over the track when its name says that it measures one of these.
_AVERAGED = ("intensity", "quality", "snr")


def measure_tracks(tracks: Tracks) -> pd.DataFrame:
    """Measure every track.

    Parameters
    ----------
    tracks : Tracks
        Rows with a negative `track_id` belong to no track and are left out.

    Returns
    -------
    DataFrame
        One row a track, by `track_id`:

        - `length`: number of detections;
        - `first_frame`, `last_frame`;
        - `missed_frames`: frames between those that were looked at (`Tracks.timeline`), without a detection;
        - `duration`: time from first to last frame;
        - `net_displacement`: straight distance from first to last position;
        - `max_distance`: largest distance from the first position to another (TrackMate: max distance traveled);
        - `path_length`: sum of the distances between successive positions;
        - `mean_speed`: path length / duration, NaN for a single detection;
        - `straightness`: net displacement / path length, 0 to 1, NaN where nothing moved;
        - `mean_turning_angle`: mean angle between one step and the next, 0 where it goes straight on, 180 where it goes
          back, 90 on average in free diffusion in 2D and 3D; NaN where no two steps in a row moved;
        - `mean_<column>`: mean of every numeric column with "intensity", "quality" or "snr" in its name, over the
          detections that have a value; NaN where none has.

        Units are those of `auctrack.tracker.measuring.measures.measure_units(tracks.calibration)`.

    Raises
    ------
    InvalidInput
        If a track has two rows in one frame, or a table is given for `Tracks`.
    """
    order, start = by_track(tracks)
    if not len(start):
        return pd.DataFrame({name: pd.Series(dtype=dtype) for name, dtype in _columns(tracks).items()})
    averaged = {
        name: tracks.table[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in _averaged_columns(tracks)
    }
    pieces = [
        _measured(tracks, order[rows], start[of] - rows.start, averaged) for of, rows in in_pieces(start, len(order))
    ]
    return pd.DataFrame({name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]})


def _measured(
    tracks: Tracks, rows: np.ndarray, start: np.ndarray, averaged: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return the measures of some tracks, whose rows come by track and frame; `start` is where each of them does."""
    length = np.diff(np.append(start, len(rows)))
    end = start + length - 1
    frame, position = tracks.frames[rows], tracks.positions_of(rows)
    frames_spanned = frame[end] - frame[start]
    duration = frames_spanned * (tracks.calibration.frame_interval or 1.0)
    moved = np.diff(position, axis=0, prepend=position[:1])
    moved[start] = 0.0
    step = np.linalg.norm(moved, axis=1)
    path = np.add.reduceat(step, start)
    net = np.linalg.norm(position[end] - position[start], axis=1)
    columns: dict[str, np.ndarray] = {
        "track_id": tracks.table["track_id"].to_numpy()[rows[start]],
        "length": length,
        "first_frame": frame[start],
        "last_frame": frame[end],
        "missed_frames": tracks.timeline.count(frame[start], frame[end]) - length,
        "duration": duration,
        "net_displacement": net,
        "max_distance": np.maximum.reduceat(
            np.linalg.norm(position - np.repeat(position[start], length, 0), axis=1), start
        ),
        "path_length": path,
        "mean_speed": _ratio(path, duration),
        "straightness": np.minimum(_ratio(net, path), 1.0),
        "mean_turning_angle": _mean_of_known(_turning_angles(moved, step), start),
    }
    return columns | {f"mean_{name}": _mean_of_known(values[rows], start) for name, values in averaged.items()}


def measure_units(calibration: Calibration) -> dict[str, str]:
    """Return the unit of every measure that has one, by column; times are in frames where no interval is known."""
    length, time = calibration.unit, time_unit(calibration)
    return {
        "duration": time,
        "net_displacement": length,
        "max_distance": length,
        "path_length": length,
        "mean_speed": f"{length}/{time}",
        "mean_turning_angle": "°",
        "lag_time": time,
        "msd": f"{length}²",
        **{f"msd_{axis}": f"{length}²" for axis in AXES},
        "standard_error": f"{length}²",
        "msd_low": f"{length}²",
        "msd_high": f"{length}²",
        "displacement": length,
        "distance": length,
        "density": f"1/{length}",
        "gaussian": f"1/{length}",
        **dict.fromkeys(("correlation", "correlation_low", "correlation_high"), f"{length}²/{time}²"),
    }


def filter_by_length(tracks: Tracks, min_length: int) -> Tracks:
    """Keep the tracks that have at least `min_length` detections (trackpy: filter_stubs).

    Parameters
    ----------
    tracks : Tracks
    min_length : int
        At least 1. Rows with a negative `track_id` belong to no track and go.

    Returns
    -------
    Tracks
        The rows kept, in their order and with their index; parents and children that went are out of `parents` too.

    Raises
    ------
    InvalidInput
        If a table is given for `Tracks`.
    InvalidSetting
        If `min_length` is not a whole number of at least 1.

    Examples
    --------
    >>> from auctrack import filter_by_length, read_tracks
    >>> len(filter_by_length(read_tracks("sample_data/movie.truth.csv"), 20))
    600
    """
    require(Tracks, tracks)
    min_length = require_whole(min_length, 1, "min_length")
    track_id = tracks.table["track_id"].to_numpy()
    kept = track_id >= 0
    if min_length > 1:
        _, which, length = numbered(track_id[kept])
        kept[kept] = length[which] >= min_length
    if kept.all() and not tracks.parents:
        return tracks
    return tracks.only(kept)


def _averaged_columns(tracks: Tracks) -> list[str]:
    numeric = tracks.table.select_dtypes("number").columns
    return [str(name) for name in numeric if any(word in str(name).lower() for word in _AVERAGED)]


def _columns(tracks: Tracks) -> dict[str, type]:
    """Return names and types of `measure_tracks`, for a table without tracks."""
    whole = ("track_id", "length", "first_frame", "last_frame", "missed_frames")
    real = ("duration", "net_displacement", "max_distance", "path_length", "mean_speed", "straightness")
    means = (f"mean_{name}" for name in ("turning_angle", *_averaged_columns(tracks)))
    return dict.fromkeys(whole, int) | dict.fromkeys((*real, *means), float)


def _turning_angles(moved: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Return by how many degrees each step turns from the one before it, NaN where one of them does not move.

    `moved` (n, axes) is how far each detection is from the one before it, 0 where its track begins; `step` its length.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        direction = moved / step[:, None]  # of 0 NaN, and so is what is made of it
        cosine = np.einsum("ij,ij->i", direction[1:], direction[:-1])
    return np.append(np.nan, np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))[: len(moved)]


def _mean_of_known(values: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return the mean of each track over the values that are not missing."""
    known = ~np.isnan(values)
    return _ratio(np.add.reduceat(np.where(known, values, 0.0), start), np.add.reduceat(known.astype(np.int64), start))


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)


def time_unit(calibration: Calibration) -> str:
    """Return the unit of times: frames where no interval is known."""
    return FRAME if calibration.frame_interval is None else calibration.time_unit
