"""The links a search range allows: the largest matching of the pairs in reach, summed over consecutive frames."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.spatial import cKDTree

from auctrack.matching.cardinality import maximum_matching
from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.errors import InvalidInput, InvalidSetting
from auctrack.tracker.linking.advice.reach import reach
from auctrack.tracker.linking.advice.wide_reach import wide_cardinality
from auctrack.tracker.linking.gate import candidates as gate
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points
from auctrack.tracker.simulating.simulate import SimulationSettings, simulate


def on_a_line(*frames):
    """Points of one frame each at these places along x."""
    number = np.repeat(np.arange(len(frames)), [len(places) for places in frames])
    return Points(pd.DataFrame({"frame": number, "y": 0.0, "x": np.concatenate(frames)}))


def test_each_particle_is_in_one_link_only():
    """Two particles that see only one between them have one link; a longer range reaches the far one."""
    allowed = reach(on_a_line([0.0, 2.0], [1.0, 9.0]), [0.5, 1.0, 6.9, 7.0])
    assert allowed.links.tolist() == [0, 1, 1, 2]
    assert allowed.most == 2
    assert allowed.shares.tolist() == [0.0, 0.5, 0.5, 1.0]


def test_ranges_come_in_any_order_and_are_physical():
    points = on_a_line([0.0, 2.0], [1.0, 9.0])
    scaled = Points(points.table, Calibration(scale=(10.0, 10.0, 10.0)))
    assert reach(scaled, [70.0, 5.0, 10.0]).links.tolist() == [2, 0, 1]


def test_frame_pairs_add_up():
    swarm = simulate(SimulationSettings(particles=150, frames=6, missed=0.1, false=0.1, seed=3)).detections
    ranges = [2.0, 5.0, 9.0]
    expected = np.zeros(3, int)
    frames = [swarm.positions[swarm.frames == number] for number in swarm.frame_numbers]
    for before, after in itertools.pairwise(frames):
        distance = cKDTree(before).sparse_distance_matrix(cKDTree(after), 9.0).toarray()
        expected += [maximum_matching((distance > 0) & (distance <= at), device="cpu").size for at in ranges]
    allowed = reach(swarm, ranges)
    assert allowed.links.tolist() == expected.tolist()
    assert allowed.most == sum(min(len(a), len(b)) for a, b in itertools.pairwise(frames))


def test_no_linking_has_more_links_than_its_range_allows():
    swarm = simulate(SimulationSettings(particles=200, frames=4, seed=4)).detections
    linking = link_points(swarm, LinkSettings(search_range=8.0, unmatched_cost=8.0, motion="none"))
    assert 0 < len(linking.links) <= reach(swarm, [8.0]).links[0]


@pytest.mark.parametrize("frames", [([1.0, 2.0],), ([], [1.0])])
def test_without_a_pair_of_frames_nothing_is_out_of_reach(frames):
    allowed = reach(on_a_line(*frames), [1.0])
    assert (allowed.links.tolist(), allowed.most, allowed.shares.tolist()) == ([0], 0, [1.0])


@pytest.mark.parametrize("ranges", [[], [0.0], [np.nan], [1.0, -2.0], [np.inf], ["wide"], 3.0])
def test_ranges_that_are_no_lengths_are_refused(ranges):
    with pytest.raises(InvalidSetting, match=r"^ranges "):
        reach(on_a_line([0.0], [1.0]), ranges)


def test_a_table_that_is_not_read_as_points_is_refused_with_the_remedy():
    with pytest.raises(InvalidInput, match=r"^points .*Points.*DataFrame.*read_points"):
        reach(on_a_line([0.0], [1.0]).table, [1.0])


class TestWideRanges:
    """Where the pairs in reach are too many to write out, the answer is the same."""

    @pytest.mark.parametrize(("n", "m"), [(60, 60), (70, 50), (40, 90), (5, 1)])
    def test_cardinality_without_writing_pairs_out(self, n, m):
        ranges = np.array([30.0, 0.5, 6.0, 12.0, 60.0, 200.0])
        for seed in range(5):
            rng = np.random.default_rng(seed)
            x, y = rng.normal(0, 20, (n, 3)), rng.normal(10, 5, (m, 3))
            distance = np.linalg.norm(x[:, None] - y, axis=2)
            expected = [maximum_matching(distance <= at, device="cpu").size for at in ranges]
            assert wide_cardinality(x, y, ranges).tolist() == expected

    def test_it_is_taken_beyond_the_budget_and_changes_nothing(self, monkeypatch):
        points = simulate(SimulationSettings(particles=150, frames=4, missed=0.1, seed=3)).detections
        ranges = [3.0, 8.0, 120.0]
        written = reach(points, ranges)
        monkeypatch.setattr(gate, "ALWAYS_WRITTEN", 100)
        assert all(isinstance(pair, gate.WideGate) for pair in gate.gated_pairs(points, 120.0))
        assert reach(points, ranges).links.tolist() == written.links.tolist()
        assert reach(points, ranges).most == written.most
