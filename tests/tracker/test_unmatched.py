"""The measured price of leaving a particle alone: it follows the steps, not the gate, and scales as a length."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.calibration import Calibration
from auctrack.tracker.gate import CandidateLinks, gated_pairs
from auctrack.tracker.link import LinkSettings, link_points
from auctrack.tracker.points import Points
from auctrack.tracker.simulate import SimulationSettings, simulate
from auctrack.tracker.unmatched import UnmatchedCost, mutual_nearest


def walkers(**options) -> Points:
    settings = {"particles": 2000, "frames": 3, "missed": 0.05, "false": 0.05, "seed": 5, "persistence": 0.0} | options
    return simulate(SimulationSettings(**settings)).detections


def price(points: Points, search_range: float = 15.0) -> float:
    return link_points(points, LinkSettings(search_range=search_range)).unmatched_cost.distance


def test_it_does_not_follow_the_gate():
    prices = [price(walkers(), gate) for gate in (10.5, 13.5, 18.0, 40.0)]
    assert max(prices) / min(prices) < 1.03


def test_it_follows_the_steps():
    slow, fast = (price(walkers(step=step)) for step in (0.1, 0.3))
    assert 2 < fast / slow < 3  # the steps are 3 times as long, the odds a little worse


def test_it_is_near_the_best_there_is():
    """On such movies 0.4 × the spacing of 10 µm is the price of highest F1 (searched by hand over 0.35 to 0.8)."""
    assert price(walkers()) == pytest.approx(4.0, rel=0.15)


@pytest.mark.parametrize("factor", [2.0, 1e-120, 1e90])
def test_it_scales_as_a_length(factor):
    points = walkers()
    scaled = Points(points.table, Calibration(scale=(factor, factor, factor)))
    assert price(scaled, 15.0 * factor) == pytest.approx(factor * price(points, 15.0), rel=1e-9)


@pytest.mark.parametrize("ndim", [2, 3])
def test_nearly_all_true_steps_are_worth_a_link(ndim):
    swarm = simulate(SimulationSettings(particles=1000, frames=2, ndim=ndim, step=0.2, seed=6))
    before, after = (swarm.truth.positions[swarm.truth.frames == f] for f in (0, 1))
    steps = np.linalg.norm(after - before, axis=1)
    assert np.mean(steps <= 2 * price(swarm.detections)) > 0.99


def test_a_sheet_of_points_in_3d_has_a_price_too():
    points = walkers(ndim=2)
    sheet = Points(points.table.assign(z=7.0))
    assert price(sheet) == pytest.approx(price(points), rel=0.25)


def test_nothing_to_measure_says_so():
    far_apart = Points(pd.DataFrame({"frame": [0, 1], "y": [0.0, 100], "x": 0.0}))
    measured = link_points(far_apart, LinkSettings(search_range=5.0)).unmatched_cost
    assert measured.distance == 2.5
    assert "no two particles" in measured.reason


@pytest.mark.parametrize(("cost", "of_two"), [("distance", 6.0), ("squared", 36.0)])
def test_two_lone_particles_cost_as_much_as_one_link_of_twice_the_distance(cost, of_two):
    assert 2 * UnmatchedCost(3.0, "").price(cost) == of_two


def test_mutual_nearest_by_brute_force():
    points = walkers(particles=300)
    (links, *_) = gated_pairs(points, 12.0)
    assert isinstance(links, CandidateLinks)
    a, b = points.positions[links.row_points], points.positions[links.col_points]
    d = np.linalg.norm(a[:, None] - b[None], axis=2)
    mutual = (d == d.min(axis=0)) & (d == d.min(axis=1, keepdims=True)) & (d <= 12.0)
    np.testing.assert_allclose(np.sort(mutual_nearest(links)), np.sort(d[mutual]))
