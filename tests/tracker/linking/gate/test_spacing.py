"""The automatic search range: 1.3 times the mean distance of nearest neighbours in a frame."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.linking.gate.spacing import automatic_range, mean_of_near, mean_spacing
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
