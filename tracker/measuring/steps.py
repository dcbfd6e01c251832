"""The steps of tracks from one detection to the next, and what every frame holds."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..points import Tracks
from .track_order import by_track


def measure_steps(tracks: Tracks) -> pd.DataFrame:
    """Measure every step of every track.

    Parameters
    ----------
    tracks : Tracks
        Rows with a negative `track_id` belong to no track and have no steps.

    Returns
    -------
    DataFrame
        One row a step, by track and frame: `track_id`; `frame`, where it leads to; `missed_frames`, those looked at
        between without a detection; `displacement`, its length in the unit of the calibration; `row`, where it leads
        to in the table.

    Raises
    ------
    InvalidInput
        If a track has two rows in one frame.
    """
    order, start = by_track(tracks)
    goes_on = np.ones(len(order), dtype=bool)
    goes_on[start] = False
    after = np.flatnonzero(goes_on)
    source, target = order[after - 1], order[after]
    position, frame = tracks.positions, tracks.frames
    return pd.DataFrame(
        {
            "track_id": tracks.table["track_id"].to_numpy()[target],
            "frame": frame[target],
            "missed_frames": tracks.timeline.count(frame[source], frame[target]) - 2,
            "displacement": np.linalg.norm(position[target] - position[source], axis=1),
            "row": target,
        }
    )


def count_by_frame(tracks: Tracks) -> pd.DataFrame:
    """Count what every frame holds.

    Parameters
    ----------
    tracks : Tracks

    Returns
    -------
    DataFrame
        One row a frame that was looked at, or has a detection: `frame`; `detections`; `begin` and `end`, tracks whose
        first, or last, detection is in it.

    Raises
    ------
    InvalidInput
        If a track has two rows in one frame.
    """
    order, start = by_track(tracks)
    frames = np.union1d(tracks.frame_numbers, np.asarray(tracks.timeline.numbers or (), dtype=np.int64))
    end = np.append(start, len(order))[1:] - 1
    parts = {"detections": tracks.frames, "begin": tracks.frames[order[start]], "end": tracks.frames[order[end]]}
    counts = {name: np.bincount(np.searchsorted(frames, of), minlength=len(frames)) for name, of in parts.items()}
    return pd.DataFrame({"frame": frames, **counts})
