"""The shift that all particles of a frame pair share."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.linking.motion.detections.ordered import ordered
from auctrack.tracker.linking.motion.shared_shift.drift import common_shifts, drift_of
from auctrack.tracker.points import Points

from ...movies import stirred, walks

SHIFTS = {"still": (0, 0, 0), "along one axis": (0, 0, 3.0), "far and between bins": (2.5, -6.4, 7.7)}


def shift_of(earlier, later):
    return common_shifts([earlier, later], np.ptp(np.vstack([earlier, later]), axis=0))[0][0]


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("shift", SHIFTS.values(), ids=SHIFTS)
def test_a_shift_of_all_is_found_among_particles_that_move_too(shift, ndim):
    rng = np.random.default_rng(0)
    earlier = rng.uniform(0, 8 if ndim == 3 else 20, (400, ndim))
    later = earlier + np.array(shift)[-ndim:] + rng.normal(0, 0.1, earlier.shape)
    found = shift_of(earlier, rng.permutation(later))
    assert found == pytest.approx(np.array(shift)[-ndim:], abs=0.1)


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("power", [1, 3], ids=["even", "dense in a corner"])
def test_where_nothing_is_shared_there_is_no_shift(ndim, power):
    for seed in range(20):
        size = 63.0 if ndim == 2 else 18.0
        earlier, later = size * np.random.default_rng(seed).uniform(0, 1, (2, 1000, ndim)) ** power
        assert not shift_of(earlier, later).any()


def test_votes_around_a_shift_that_none_is_near_make_no_shift():
    """Groups that move apart along the axes: their votes share a bin in the middle, and their median is there too."""
    away = 1.4 * np.vstack([np.eye(3), -np.eye(3)]).repeat(8, axis=0)
    earlier = 40.0 * np.array(list(np.ndindex(4, 4, 3)))
    assert not shift_of(earlier, earlier + away).any()


def test_a_flow_that_leads_everywhere_is_no_shift_of_all():
    """One in which a hundred voters once saw a shift of two spacings."""
    points, _ = stirred(4000, seed=3)
    assert np.linalg.norm(drift_of(ordered(points)).of_frames[1]) < 1


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("n", [10, 30, 100, 1000])
def test_particles_that_move_far_each_on_its_own_have_no_shift(ndim, n):
    for seed in range(5):
        points, _ = walks(n, 3, step=0.9, ndim=ndim, seed=seed)
        assert np.linalg.norm(drift_of(ordered(points)).of_frames, axis=1).max() < 1


@pytest.mark.parametrize("n", [12, 20, 30])
def test_few_particles_at_the_ends_of_a_small_field_elect_no_shift(n):
    """Twenty that hardly moved once had a shift of three spacings, by the votes of two at one end of the field."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        place = rng.uniform(0, 50, (n, 3))
        frames = [place := place + rng.normal(0, 0.5, place.shape) for _ in range(8)]
        table = pd.DataFrame(np.concatenate(frames), columns=["z", "y", "x"]).assign(frame=np.repeat(np.arange(8), n))
        assert not drift_of(ordered(Points(table))).of_frames.any()


@pytest.mark.parametrize("ndim", [2, 3])
def test_a_shift_is_found_where_each_particle_moves_a_spacing_and_a_half_of_its_own(ndim):
    points, _ = walks(1000, 2, step=0.9, ndim=ndim, seed=ndim)
    moved = points.table.assign(x=points.table["x"] + 3.0 * points.frames)
    shift = drift_of(ordered(replace(points, table=moved))).of_frames[1]
    assert shift * ordered(points).spacing == pytest.approx([0.0, 0.0, 3.0][-ndim:], abs=0.3)


def test_nothing_is_held_after_a_frame_pair():
    earlier, later = np.random.default_rng(2).uniform(0, 5, (2, 150, 3))
    shift_of(earlier, later)
    tracemalloc.start()
    for _ in range(10):
        shift_of(earlier, later)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert held < 10 * earlier.nbytes
