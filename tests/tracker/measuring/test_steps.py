"""Steps of tracks and counts of frames."""

from __future__ import annotations

import pandas as pd
import pytest

from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.errors import InvalidInput
from auctrack.tracker.measuring.steps import count_by_frame, measure_steps
from auctrack.tracker.points import Points, Tracks
from auctrack.tracker.timeline import Timeline

ROWS = [(0, 3, 0, 7.0), (0, 0, 0, 7.0), (0, 1, 0, 10.0), (1, 1, 5, 0.0), (-1, 1, 9, 9.0)]
TABLE = pd.DataFrame(ROWS, columns=["track_id", "frame", "y", "x"]).astype({"y": float})


def test_a_step_has_its_length_in_units_and_the_frames_it_passes_over():
    steps = measure_steps(Tracks(TABLE, Calibration((1.0, 2.0, 2.0), "µm")))
    assert steps.to_dict("list") == {
        "track_id": [0, 0],
        "frame": [1, 3],
        "missed_frames": [0, 1],
        "displacement": [6.0, 6.0],
        "row": [2, 0],
    }


def test_a_frame_counts_its_detections_and_the_tracks_that_begin_and_end():
    counts = count_by_frame(Tracks(TABLE, timeline=Timeline(1, (0, 1, 2, 3))))
    assert counts.to_dict("list") == {
        "frame": [0, 1, 2, 3],
        "detections": [1, 3, 0, 1],
        "begin": [1, 1, 0, 0],
        "end": [0, 1, 0, 1],
    }


def test_nothing_has_no_steps():
    nothing = Tracks(TABLE.iloc[:0])
    assert (len(measure_steps(nothing)), len(count_by_frame(nothing))) == (0, 0)


def test_a_track_twice_in_one_frame_is_refused():
    twice = pd.concat([TABLE, TABLE.iloc[:1]], ignore_index=True)
    unchecked = Points(twice).with_track_ids(twice["track_id"].to_numpy())
    with pytest.raises(InvalidInput, match=r"track 0 .*frame 3"):
        measure_steps(unchecked)
