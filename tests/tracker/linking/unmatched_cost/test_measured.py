"""The measured unmatched cost: it follows the steps, not the gate, and scales as a length."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, multivariate_t

from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.errors import InvalidInput
from auctrack.tracker.linking.gate.candidates import frame_pairs
from auctrack.tracker.linking.gate.limits import GateLimits
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.linking.unmatched_cost import measured as measuring
from auctrack.tracker.linking.unmatched_cost.measured import (
    SampledSteps,
    UnmatchedCost,
    density_spacing,
    extent_of,
    measured_steps,
    mutual_nearest,
)
from auctrack.tracker.linking.unmatched_cost.student_t import GAUSSIAN, StudentT
from auctrack.tracker.points import Points
from auctrack.tracker.scoring.score import score_links
from auctrack.tracker.simulating.simulate import SimulationSettings, simulate
from tests.tracker.linking.movies import walks
from tests.tracker.traced import with_peak


def walkers(**options) -> Points:
    settings = {"particles": 2000, "frames": 3, "missed": 0.05, "false": 0.05, "seed": 5, "persistence": 0.0} | options
    return simulate(SimulationSettings(**settings)).detections


def unmatched_cost(points: Points, search_range: float = 15.0) -> float:
    return link_points(points, LinkSettings(search_range=search_range, motion="none")).unmatched_cost.distance


def test_it_does_not_follow_the_gate():
    unmatched_costs = [unmatched_cost(walkers(), gate) for gate in (10.5, 13.5, 18.0, 40.0)]
    assert max(unmatched_costs) / min(unmatched_costs) < 1.03


def test_measuring_it_keeps_to_the_memory_budget_and_says_the_same():
    """Half of the particles are in a dense cluster: links that may be worth making are most of all pairs."""
    rng, n = np.random.default_rng(0), 1100
    at = [np.concatenate([rng.normal(0, 1e-3, (n, 3)), rng.random((n, 3)) * 1e4]) for _ in range(2)]
    points = Points(pd.DataFrame(np.concatenate(at), columns=list("zyx")).assign(frame=np.repeat([0, 1], 2 * n)))
    large = LinkSettings(motion="none", device="cpu")
    small = replace(large, memory_budget_gb=0.01)
    link_points(points, small)  # code is loaded once
    linking, peak = with_peak(lambda: link_points(points, small))
    assert peak < small.memory_budget
    measured = link_points(points, large).unmatched_cost.distance
    assert linking.unmatched_cost.distance == pytest.approx(measured, rel=1e-9)


def test_a_range_holds_while_it_is_measured_however_small_the_budget():
    """No step that is longer than the range is taken for one, though the unmatched cost pays for it."""
    pairs, limits = frame_pairs(walkers(step=0.6), 0.0), GateLimits(10, 10, 10)
    assert measured_steps(pairs, 5.0, 3, limits).lengths.max() <= 5.0


def test_it_follows_the_steps():
    slow, fast = (unmatched_cost(walkers(step=step)) for step in (0.1, 0.3))
    assert 2 < fast / slow < 3  # the steps are 3 times as long, the odds a little worse


def test_it_is_near_the_best_there_is():
    """On such movies 0.4 × the spacing of 10 µm is the one of highest F1 (searched by hand over 0.35 to 0.8)."""
    assert unmatched_cost(walkers()) == pytest.approx(4.0, rel=0.15)


@pytest.mark.parametrize("factor", [2.0, 1e-120, 1e90])
def test_it_scales_as_a_length(factor):
    points = walkers()
    scaled = Points(points.table, Calibration(scale=(factor, factor, factor)))
    assert unmatched_cost(scaled, 15.0 * factor) == pytest.approx(factor * unmatched_cost(points, 15.0), rel=1e-9)


@pytest.mark.parametrize("ndim", [2, 3])
def test_nearly_all_true_steps_are_worth_a_link(ndim):
    swarm = simulate(SimulationSettings(particles=1000, frames=2, ndim=ndim, step=0.2, seed=6))
    before, after = (swarm.truth.positions[swarm.truth.frames == f] for f in (0, 1))
    steps = np.linalg.norm(after - before, axis=1)
    assert np.mean(steps <= 2 * unmatched_cost(swarm.detections)) > 0.99


def test_a_sheet_of_points_in_3d_has_an_unmatched_cost_too():
    points = walkers(ndim=2)
    sheet = Points(points.table.assign(z=7.0))
    assert unmatched_cost(sheet) == pytest.approx(unmatched_cost(points), rel=0.25)


@pytest.mark.parametrize("factor", [1e-160, 1e-300])
def test_positions_whose_distances_have_no_squares_are_refused(factor):
    points = walkers(particles=60)
    tiny = points.table[["frame", "z", "y", "x"]] * [1, *[factor] * 3]
    with pytest.raises(InvalidInput, match=r"too close together.*smaller unit"):
        link_points(Points(tiny), LinkSettings(motion="none"))


def test_nothing_to_measure_says_so():
    far_apart = Points(pd.DataFrame({"frame": [0, 1], "y": [0.0, 100], "x": 0.0}))
    measured = link_points(far_apart, LinkSettings(search_range=5.0, motion="none")).unmatched_cost
    assert measured.distance == 2.5
    assert "no two particles" in measured.reason


@pytest.mark.parametrize(("cost", "of_two"), [("distance", 6.0), ("squared", 36.0)])
def test_two_unlinked_particles_cost_as_much_as_one_link_of_twice_the_distance(cost, of_two):
    assert 2 * UnmatchedCost(3.0, "").in_costs(cost) == pytest.approx(of_two, rel=1e-11)


def test_mutual_nearest_by_brute_force():
    points = walkers(particles=300)
    x, y = (points.positions[points.frames == frame] for frame in (0, 1))
    d = np.linalg.norm(x[:, None] - y[None], axis=2)
    mutual = (d == d.min(axis=0)) & (d == d.min(axis=1, keepdims=True)) & (d <= 4.0)
    rows, lengths = mutual_nearest(x, y, 4.0)
    assert 0 < len(rows) < len(x)
    np.testing.assert_array_equal(rows, np.flatnonzero(mutual.any(axis=1)))
    np.testing.assert_allclose(lengths, d[rows].min(axis=1))


def steps_with(**changes) -> SampledSteps:
    values = {"distribution": StudentT(3, 8.0, 0.01), "lost": 0.05, "new": 0.1, "spacing": 1.0, "lengths": np.ones(1)}
    return SampledSteps(**(values | changes))


@pytest.mark.parametrize("degrees", [3.0, 10.0, GAUSSIAN])
def test_at_the_longest_link_one_link_is_as_likely_as_one_lost_and_one_new(degrees):
    steps = steps_with(distribution=StudentT(3, degrees, 0.01))
    density = multivariate_t(shape=0.01 * np.eye(3), df=degrees).pdf([steps.longest, 0, 0])
    assert density == pytest.approx(0.05 * 0.1 / steps.spacing**3, rel=1e-6)


@pytest.mark.parametrize("ndim", [2, 3])
def test_in_a_dense_cluster_links_up_to_the_floor_are_worth_making(ndim):
    """Where the spacing is so small that the odds say nothing, D is σ·√(2d)."""
    assert steps_with(distribution=StudentT(ndim, 8.0, 0.01), spacing=1e-3).longest == pytest.approx(
        0.1 * np.sqrt(2 * ndim)
    )


def test_clean_data_do_not_make_long_links_free():
    """Without any loss, shares of 1 % are assumed: a share of 0 would link whatever is in range."""
    steps = measured_steps(frame_pairs(walkers(missed=0.0, false=0.0, walls="reflect"), 0.0), 15.0, 3)
    assert steps is not None
    assert (steps.lost, steps.new) == (0.01, 0.01)


def test_lost_and_new_are_shares_of_their_own_frames():
    """Each second frame has half as many false detections again: of them a third have no particle before them."""
    points = walkers(missed=0.0, false=0.0, frames=2, step=0.05)
    rng, size = np.random.default_rng(1), np.ptp(points.positions, axis=0)
    false = pd.DataFrame(rng.random((1000, 3)) * size, columns=["z", "y", "x"]).assign(frame=1)
    both = Points(pd.concat([points.table[["frame", "z", "y", "x"]], false], ignore_index=True))
    steps = measured_steps(frame_pairs(both, 0.0), 15.0, 3)
    assert steps is not None
    assert steps.lost == pytest.approx(0.01, abs=0.005)
    assert steps.new == pytest.approx(1 / 3, abs=0.02)


def test_particles_that_stand_still_have_an_unmatched_cost():
    """Their steps are taken as a hundredth of the spacing, density^(-1/d)."""
    frame = np.random.default_rng(2).random((500, 3))
    points = Points(
        pd.DataFrame(np.tile(frame, (3, 1)), columns=["z", "y", "x"]).assign(frame=np.repeat(range(3), 500))
    )
    steps = measured_steps(frame_pairs(points, 0.0), 1.0, 3)
    assert steps is not None
    assert np.sqrt(steps.distribution.variance) == pytest.approx(0.01 * steps.spacing)


@pytest.mark.parametrize(
    "lengths", [np.linspace(0.9, 1.0, 101), np.linspace(0.0, 1.0, 101) ** 3], ids=["nearly alike", "some run"]
)
def test_the_first_reading_is_the_larger_of_that_at_half_and_at_four_fifths_of_the_steps(lengths, monkeypatch):
    monkeypatch.setattr(measuring, "ROUNDS", 0)
    place = np.stack(np.divmod(np.arange(101.0), 10), axis=1) * 10
    moved = place + np.stack([np.zeros(101), lengths], axis=1)
    table = pd.DataFrame(np.vstack([place, moved]), columns=["y", "x"]).assign(frame=np.repeat([0, 1], 101))
    steps = measured_steps(frame_pairs(Points(table), 0.0), 15.0, 2)
    assert steps is not None
    readings = [np.quantile(lengths, q) ** 2 / chi2.ppf(q, 2) for q in (0.5, 0.8)]
    assert steps.distribution.variance == pytest.approx(max(readings), rel=1e-9)


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_the_spacing_is_the_edge_of_the_box_of_one_particle(ndim):
    box = np.random.default_rng(3).random((20_000, ndim)) * 7
    spacing = density_spacing(extent_of([box, box]), 20_000)
    assert spacing == pytest.approx(7 * 20_000 ** (-1 / ndim), rel=0.01 if ndim > 1 else 0.02)


@pytest.mark.parametrize("depth", [0.0, 1e-9, 0.1], ids="{:g} spacings deep".format)
def test_of_a_layer_that_is_thinner_than_steps_the_depth_says_nothing(depth):
    plane, _ = walks(400, 6, ndim=2, step=0.6, persistence=0.0)
    layer = Points(plane.table.assign(z=depth * np.random.default_rng(0).random(len(plane))))
    assert unmatched_cost(layer) == pytest.approx(unmatched_cost(plane), rel=0.03)


def test_of_a_line_the_other_axes_say_nothing():
    line = Points(walks(400, 6, ndim=2, step=0.3)[0].table.assign(x=0.0))
    steps = measured_steps(frame_pairs(line, 0.0), 15.0, 2)
    assert steps is not None
    assert steps.distribution.ndim == 1


class TestHardMovies:
    """Where mutual nearest neighbours mislead: steps near half the spacing, and particles that rest and run."""

    @pytest.mark.parametrize("noise", [0.0, 0.05])
    def test_fast_steps_are_linked_at_the_unmatched_cost_of_highest_f1(self, noise):
        points = walkers(step=0.6, missed=noise, false=noise, persistence=0.9)
        automatic = link_points(points, LinkSettings(motion="none"))
        measured = automatic.unmatched_cost.distance
        best = max(
            f1(link_points(points, LinkSettings(unmatched_cost=measured * k, motion="none")), points)
            for k in (0.6, 0.8, 1.3)
        )
        assert f1(automatic, points) > best - 0.003

    def test_a_movie_without_any_loss_is_not_said_to_lose_many(self):
        steps = measured_steps(frame_pairs(walkers(step=0.6, missed=0.0, false=0.0), 0.0), 15.0, 3)
        assert steps is not None
        assert max(steps.lost, steps.new) < 0.02

    def test_runners_among_resters_keep_their_steps(self):
        """Two of three rest, the third steps ten times as far: what is paid for covers nearly all of its steps too."""
        rng = np.random.default_rng(5)
        before = rng.random((1000, 3)) * 100
        run = rng.normal(0, np.where(rng.random(1000) < 0.33, 2.0, 0.2)[:, None], (1000, 3))
        frames = np.repeat([0, 1], 1000)
        points = Points(pd.DataFrame(np.vstack([before, before + run]), columns=["z", "y", "x"]).assign(frame=frames))
        lengths = np.linalg.norm(run, axis=1)
        assert np.mean(lengths[lengths > 1] <= 2 * unmatched_cost(points, 30.0)) > 0.95


def f1(linking, points: Points) -> float:
    return score_links(linking.tracks, points).links.f1
