"""Whether a truth is in the unit that it is taken to be in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.scoring.truth_scale import truth_scale

from ..linking.movies import walks

TRUTH = walks(200, 8, missed=0, false=0)[0]
VOXELS, LENGTHS = Calibration((2.0, 0.5, 0.5), "µm"), Calibration((1.0, 1.0, 1.0), "µm")
IN_VOXELS = replace(TRUTH, calibration=VOXELS)
IN_LENGTHS = replace(
    TRUTH, table=TRUTH.table.assign(z=TRUTH.table["z"] * 2, y=TRUTH.table["y"] / 2, x=TRUTH.table["x"] / 2)
)
IN_LENGTHS = replace(IN_LENGTHS, calibration=LENGTHS)


@pytest.mark.parametrize(
    ("truth", "wanted"),
    [
        (replace(IN_LENGTHS, calibration=VOXELS), (1.0, 1.0, 1.0)),
        (replace(IN_VOXELS, calibration=LENGTHS), (2.0, 0.5, 0.5)),
    ],
    ids=["lengths taken for voxels", "voxels taken for lengths"],
)
def test_positions_taken_for_another_unit_are_found(truth, wanted):
    found = truth_scale(IN_VOXELS, truth, 0.2)
    assert found is not None
    assert (found.scale, found.after) == (wanted, 1.0)
    assert found.before < 0.3


@pytest.mark.parametrize(
    "truth", [IN_VOXELS, IN_LENGTHS, walks(200, 8, seed=9)[0]], ids=["voxels", "lengths", "others"]
)
def test_nothing_is_found_where_the_unit_is_right_or_the_movie_is_another(truth):
    assert truth_scale(IN_VOXELS, truth, 0.2) is None
    assert truth_scale(IN_VOXELS, replace(truth, table=truth.table[:0]), 0.2) is None


def test_in_2d_too():
    flat = walks(200, 8, missed=0, false=0, ndim=2)[0]
    tracks = replace(flat, calibration=VOXELS)
    assert truth_scale(tracks, tracks, 0.2) is None
    found = truth_scale(tracks, replace(flat, calibration=LENGTHS), 0.2)
    assert found is not None
    assert (found.scale, found.after) == ((0.5, 0.5), 1.0)
