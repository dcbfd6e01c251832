"""Whether tracks and truth number their frames alike."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from auctrack.tracker.points import Points
from auctrack.tracker.scoring.frame_shift import frame_shift, frame_shift_by_name
from auctrack.tracker.timeline import Timeline

from ..linking.movies import walks

TRUTH, WHO = walks(200, 8, missed=0, false=0)


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


@pytest.mark.parametrize(("times", "more"), [(5, 0), (2, 4), (3, 3)])
def test_other_steps_between_frames_are_found_either_way_round(times, more):
    spread = Points(TRUTH.table.assign(frame=times * TRUTH.frames + more))
    for points, truth, wanted in (TRUTH, spread, (Fraction(times), more)), (spread, TRUTH, (Fraction(1, times), None)):
        found = frame_shift(points, truth, 0.3)
        assert found is not None
        assert found.times == wanted[0]
        assert found.after == 1.0
        if wanted[1] is not None:
            assert found.frames == wanted[1]


def named(points: Points, column: str) -> Points:
    return Points(points.table.assign(**{column: WHO}))


@pytest.mark.parametrize(("times", "more"), [(1, 1), (1, -1), (5, 0)])
def test_by_name_other_frame_numbers_are_found_though_most_names_are_in_both_frames(times, more):
    truth = named(Points(TRUTH.table.assign(frame=times * TRUTH.frames + more)), "track_id")
    found = frame_shift_by_name(named(moved(TRUTH, 0, noise=0.01), "true_id"), truth, 1.0)
    assert found is not None
    assert (found.times, found.frames, found.after) == (times, more, 1.0)
    assert frame_shift_by_name(named(moved(TRUTH, 0, noise=0.01), "true_id"), named(TRUTH, "track_id"), 1.0) is None
