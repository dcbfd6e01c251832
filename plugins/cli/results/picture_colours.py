"""Colours of the steps of tracks in a picture: one a track, or by time, speed, a measure of the track, a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import ListedColormap, Normalize

from ....tracker.calibrating.calibration import FRAME, Calibration
from ....tracker.errors import InvalidSetting
from ....tracker.measuring.measures import measure_tracks, measure_units
from ....tracker.points import Tracks
from .picture_part import PicturePart, Steps

BY_TRACK, BY_TIME, BY_SPEED = "track", "time", "speed"
SCALE = ListedColormap(colormaps["plasma"](np.linspace(0.25, 1.0, 256))).with_extremes(bad="0.6")
"""The colours between its ends, without those that are hardly seen on black; grey where there is no value."""

_GOLDEN = 0.618034  # of the colour circle from one track to the next, so that neighbours in number differ
_PERCENTILES = 2, 98
"""Of the values shown, those between which colours differ: a few far ones leave the others theirs."""


def values_of(tracks: Tracks, colour: str | None) -> np.ndarray | None:
    """Return the measure of its track, or the column, by which each row is coloured, float64; None where by neither.

    Raises
    ------
    InvalidSetting
        If there are no such numbers.
    """
    if colour in (None, BY_TRACK, BY_TIME, BY_SPEED):
        return None
    measures, columns = measure_tracks(tracks).set_index("track_id"), tracks.table.select_dtypes("number")
    if colour in measures:
        return measures[colour].reindex(tracks.table["track_id"]).to_numpy(np.float64)
    if colour not in columns:
        known = dict.fromkeys((BY_TRACK, BY_TIME, BY_SPEED, *measures, *columns))
        raise InvalidSetting(f"needs one of {', '.join(map(str, known))}; got {colour!r}.", setting="colour")
    return columns[colour].to_numpy(np.float64, na_value=np.nan)


@dataclass(frozen=True)
class Paint:
    """Colours of steps, and the bar that says what they mean.

    Attributes
    ----------
    by : str
        `BY_TRACK`, `BY_TIME`, `BY_SPEED`, or what `Steps.values` are.
    label : str
        Of the bar; without one there is none.
    scale : Normalize
        What its ends stand for.
    interval : float
        Time between two frames.
    """

    by: str
    label: str
    scale: Normalize
    interval: float

    @classmethod
    def of(cls, asked: str | None, steps: Steps, parts: Sequence[PicturePart], calibration: Calibration) -> Paint:
        """Return the colours asked for; unasked, time where only the last frames of a movie are shown."""
        frames, interval = parts[0].frames, calibration.frame_interval or 1.0
        are_some = len(steps.track) > 0 and frames.start > steps.frames.min()
        by = asked or (BY_TIME if are_some else BY_TRACK)
        if by == BY_TRACK:
            return cls(by, "", Normalize(), interval)
        if by == BY_TIME:
            label = FRAME if calibration.frame_interval is None else f"time ({calibration.time_unit})"
            first, last = frames.start, max(frames.stop - 1, frames.start + 1)
            return cls(by, label, Normalize(first * interval, last * interval), interval)
        unit = measure_units(calibration).get("mean_speed" if by == BY_SPEED else by)
        label = by.replace("_", " ") + (f" ({unit})" if unit else "")
        shown = np.concatenate([_values(part.steps, by, interval) for part in parts])
        known = shown[np.isfinite(shown)]
        low, high = np.percentile(known, _PERCENTILES).tolist() if len(known) else (0.0, 1.0)
        return cls(by, label, Normalize(low, high if high > low else low + 1.0), interval)

    def colours(self, steps: Steps) -> np.ndarray:
        """Return red, green, blue and opacity of each step; grey where it has no value."""
        if self.by == BY_TRACK:
            return colormaps["hsv"]((steps.track * _GOLDEN) % 1.0)
        return SCALE(self.scale(_values(steps, self.by, self.interval)))


def _values(steps: Steps, by: str, interval: float) -> np.ndarray:
    """Return the number by which each step is coloured."""
    if by == BY_TIME:
        return steps.frames[:, 1] * interval
    if by == BY_SPEED:
        return np.linalg.norm(np.diff(steps.ends, axis=1)[:, 0], axis=1) / (np.diff(steps.frames)[:, 0] * interval)
    return steps.values
