"""The shift that all particles of a frame pair share."""

import tracemalloc

import numpy as np
import pytest

from auctrack.tracker.linking.motion.drift import common_shift

SHIFTS = {"still": (0, 0, 0), "along one axis": (0, 0, 3.0), "far and between bins": (2.5, -6.4, 7.7)}


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("shift", SHIFTS.values(), ids=SHIFTS)
def test_a_shift_of_all_is_found_among_particles_that_move_too(shift, ndim):
    rng = np.random.default_rng(0)
    earlier = rng.uniform(0, 8 if ndim == 3 else 20, (400, ndim))
    later = earlier + np.array(shift)[-ndim:] + rng.normal(0, 0.1, earlier.shape)
    found = common_shift(earlier, rng.permutation(later))
    assert found == pytest.approx(np.array(shift)[-ndim:], abs=0.1)


def test_where_nothing_is_shared_there_is_no_shift():
    earlier, later = np.random.default_rng(1).uniform(0, 8, (2, 400, 3))
    assert not common_shift(earlier, later).any()


def test_nothing_is_held_after_a_frame_pair():
    earlier, later = np.random.default_rng(2).uniform(0, 5, (2, 150, 3))
    common_shift(earlier, later)
    tracemalloc.start()
    for _ in range(10):
        common_shift(earlier, later)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert held < 10 * earlier.nbytes
