"""What particles have ahead of them in the next frames."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.linking.gate.ahead import ahead_of

from ...densities import swarm
from ..movies import table


def test_those_within_the_radius_are_counted_up_to_the_most():
    z, y, x = (axis.ravel() * 5.0 for axis in np.mgrid[:12, :12, :12])
    lattice = np.column_stack([z, y, x])
    points = table(np.repeat([0, 1], len(lattice)), np.vstack([lattice, lattice + 0.5]))
    among = ahead_of(points, 1.2, 32)
    assert among is not None
    assert among.nearest == pytest.approx(0.5 * np.sqrt(3) / 5)
    assert 6 < among.near < 7  # itself and six neighbours, but at the border
    assert among.near**2 < among.squared < 49
    few = ahead_of(points, 1.2, 3)
    assert few is not None
    assert few.near == 3
    assert few.squared == 9


def test_a_dense_place_counts_by_the_particles_that_it_holds():
    even, uneven = (ahead_of(swarm(kind, 3000, 2, 3, step=0.1), 1.5, 32) for kind in ("even", "log-normal"))
    assert even is not None
    assert uneven is not None
    assert 2.5 < even.near < 4
    assert uneven.near > 4 * even.near
    assert uneven.squared > 1.4 * uneven.near**2


@pytest.mark.parametrize(("persistence", "least", "most"), [(0.0, -0.08, 0.08), (0.8, 0.6, 0.9), (1.0, 0.95, 1.0)])
@pytest.mark.parametrize("kind", ["even", "log-normal"])
def test_whether_steps_go_on_is_told_by_those_to_the_nearest(kind, persistence, least, most):
    found = ahead_of(swarm(kind, 3000, 4, 3, step=0.05, persistence=persistence), 1.5, 32)
    assert found is not None
    assert least < found.goes_on <= most


def test_nothing_is_said_without_a_frame_that_follows():
    points = swarm("even", 100, 3, 2, step=0.1)
    assert ahead_of(points.cut(slice(0, 1)), 1.5, 32) is None
    gaps = table(np.repeat([0, 2, 5], 50), np.random.default_rng(0).uniform(0, 9, (150, 3)))
    assert ahead_of(gaps, 1.5, 32) is None
    two = ahead_of(points.cut(slice(0, 2)), 1.5, 32)
    assert two is not None
    assert np.isnan(two.goes_on)


def test_particles_that_stand_still_do_not_go_on():
    places = np.random.default_rng(0).uniform(0, 5, (60, 3))
    still = ahead_of(table(np.repeat([0, 1, 2], 60), np.tile(places, (3, 1))), 1.5, 32)
    assert still is not None
    assert still.nearest == 0
    assert np.isnan(still.goes_on)


def test_most_rows_given_twice_say_nothing_of_how_far_the_next_frame_is():
    places = np.random.default_rng(0).uniform(0, 5, (60, 3))
    twice = np.vstack([places, places[:50]])
    found = ahead_of(table(np.repeat([0, 1], 110), np.vstack([twice, twice + 0.1])), 1.5, 32)
    assert found is not None
    assert found.nearest == 0


def test_all_in_one_place_have_nothing_to_measure_by():
    at = pd.DataFrame({"frame": [0, 0, 1, 1]})
    assert ahead_of(table(at["frame"].to_numpy(), np.zeros((4, 2))), 1.5, 32) is None
