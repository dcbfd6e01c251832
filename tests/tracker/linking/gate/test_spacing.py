"""The automatic search range: 1.3 times the mean distance of nearest neighbours in a frame."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.linking.gate.spacing import automatic_range, mean_of_near, mean_spacing, spacing_of
from auctrack.tracker.points import Points


def test_it_is_1_3_times_the_distance_of_neighbours_on_a_lattice():
    z, y, x = (axis.ravel() * 5.0 for axis in np.mgrid[:4, :4, :4])
    lattice = Points(pd.DataFrame({"frame": 0, "z": z, "y": y, "x": x}))
    assert mean_spacing(lattice) == pytest.approx(5.0)
    assert automatic_range(lattice) == pytest.approx(6.5)


def test_particles_in_one_place_have_the_extent_of_the_data():
    points = Points(pd.DataFrame({"frame": [0, 0, 1], "y": [0.0, 0, 3], "x": [0.0, 0, 4]}))
    assert automatic_range(points) == pytest.approx(5.0)


def test_one_that_is_alone_counts_as_ten_medians():
    assert mean_of_near(np.array([1.0, 2.0, 2.0, 3.0, 1e9])) == pytest.approx((8 + 20) / 5)


def test_those_in_one_place_do_not_make_the_others_alone():
    assert mean_of_near(np.array([0.0, 0.0, 0.0, 4.0])) == pytest.approx(1.0)
    assert mean_of_near(np.zeros(3)) == 0.0


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("apart", [0.0, 0.001, 0.05])
def test_pairs_have_the_spacing_of_particles_found_once(ndim, apart):
    rng = np.random.default_rng(ndim)
    once = rng.uniform(0, 1000 ** (1 / ndim), (1000, ndim))
    twice = np.vstack([once, once + apart])
    one, two = (Points(pd.DataFrame(own, columns=list("zyx")[-ndim:]).assign(frame=0)) for own in (once, twice))
    assert mean_spacing(two) == pytest.approx(mean_spacing(one), rel=0.4)
    assert mean_spacing(two) < mean_spacing(one)


def test_two_that_are_alone_in_their_frame_are_no_pair():
    assert spacing_of(np.array([[1.0, np.inf], [1.0, np.inf], [1.0, 9.0]]), 2) == pytest.approx(1.0)


def test_few_pairs_change_nothing():
    assert spacing_of(np.array([[1.0, 9.0], [2.0, 3.0], [2.0, 3.0]]), 2) == pytest.approx(5 / 3)
