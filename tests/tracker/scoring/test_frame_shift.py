"""Whether tracks and truth number their frames alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from auctrack.tracker.points import Points
from auctrack.tracker.scoring.frame_shift import frame_shift
from auctrack.tracker.timeline import Timeline

from ..linking.movies import walks

TRUTH = walks(200, 8, missed=0, false=0)[0]


def moved(points: Points, shift: int, *, noise: float = 0.0) -> Points:
    """Return points with other numbers of frames, and errors of their positions."""
    table = points.table.assign(frame=points.frames + shift)
    table[["z", "y", "x"]] += np.random.default_rng(1).normal(0, noise, (len(table), 3)) if noise else 0.0
    return Points(table)


@pytest.mark.parametrize("shift", [1, -1, 100])
def test_a_shift_is_found_by_where_particles_are(shift):
    found = frame_shift(moved(TRUTH, shift, noise=0.03), TRUTH, 0.3)
    assert found is not None
    assert found.frames == -shift
    assert found.after > 0.95 > found.before


@pytest.mark.parametrize("noise", [0.0, 0.1, 1.0])
def test_there_is_none_where_numbers_are_the_same(noise):
    assert frame_shift(moved(TRUTH, 0, noise=noise), TRUTH, 0.5) is None


def test_there_is_none_where_the_tables_are_of_different_movies():
    assert frame_shift(walks(200, 8, seed=9)[0], TRUTH, 0.3) is None


def test_of_particles_that_stay_where_they_are_it_is_told_by_the_frame_that_one_table_lacks():
    still = Points(TRUTH.table.assign(z=TRUTH.table.groupby("frame").cumcount() * 1.0, y=0.0, x=0.0))
    found = frame_shift(moved(still, 1), still, 0.3)
    assert found is not None
    assert (found.frames, found.before, found.after) == (-1, 7 / 8, 1.0)
    assert frame_shift(still.cut(slice(3, 6)), still, 0.3) is None


def test_the_shift_of_every_fifth_frame_is_such_a_step():
    fifth = Points(TRUTH.table.assign(frame=5 * TRUTH.frames), timeline=Timeline(5))
    later = Points(fifth.table.assign(frame=fifth.frames + 5), timeline=Timeline(5))
    found = frame_shift(later, fifth, 0.3)
    assert found is not None
    assert found.frames == -5


def test_nothing_is_no_shift():
    assert frame_shift(replace(TRUTH, table=TRUTH.table[:0]), TRUTH, 0.3) is None
    assert frame_shift(TRUTH, replace(TRUTH, table=TRUTH.table[:0]), 0.3) is None
