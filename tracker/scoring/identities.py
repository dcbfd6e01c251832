"""Rows of tracks to rows of the truth: by the names they carry, or by position."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..errors import InvalidInput
from ..measuring.track_order import require_once_a_frame
from ..points import Points, Tracks
from ..track_frames import FEW_NUMBERS, in_one
from .names import real_names, whole_numbers
from .point_matching import match_points


def match_rows(tracks: Tracks, truth: Points, tolerance: float | None) -> np.ndarray:
    """Return the row of `truth` of every row of `tracks`, int64 (n,), -1 for none; without tolerance by `true_id`."""
    if tolerance is None:
        return _match_identities(tracks, truth)
    return match_points(tracks, truth, tolerance)


def _match_identities(tracks: Tracks, truth: Points) -> np.ndarray:
    """Return the row of the truth that has the frame and the `true_id` of every row of `tracks`, -1 for none.

    Tracks that are compared with other tracks of the same detections have `true_id` beside them too.
    """
    if "true_id" not in tracks.table.columns:
        raise InvalidInput(
            "tracks need a column 'true_id' to be scored by identity; give a tolerance to score them by position."
        )
    claimed = whole_numbers(tracks, "true_id")
    identity = real_names(truth)
    require_once_a_frame(claimed, tracks.frames, "true_id")
    require_once_a_frame(identity, truth.frames, "particle")
    if np.array_equal(claimed, identity) and np.array_equal(tracks.frames, truth.frames):
        match = np.arange(len(claimed))  # row by row, as linking leaves them
        match[claimed < 0] = -1
        return match
    match = np.full(len(claimed), -1, dtype=np.int64)
    real, known = np.flatnonzero(claimed >= 0), np.flatnonzero(identity >= 0)
    key = in_one(
        np.concatenate([claimed[real], identity[known]]), np.concatenate([tracks.frames[real], truth.frames[known]])
    )
    places = _places(key[: len(real)], key[len(real) :])
    match[real] = np.where(places < 0, -1, np.append(known, -1)[places])
    return match


def _places(wanted: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Return where each number is among others that all differ, −1 where it is not."""
    most = max(wanted.max(initial=-1), among.max(initial=-1)) + 1
    if most > FEW_NUMBERS * (len(wanted) + len(among)):
        return pd.Index(among).get_indexer(pd.Index(wanted))
    place = np.full(most, -1, dtype=np.int64)
    place[among] = np.arange(len(among))
    return place[wanted]
