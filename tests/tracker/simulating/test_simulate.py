"""The simulated walkers have the statistics that they are named for."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy.spatial import KDTree

from auctrack.tracker.errors import InvalidSetting
from auctrack.tracker.simulating.simulate import SimulationSettings, simulate


def paths(simulation) -> np.ndarray:
    """Positions (frames, particles, ndim) of a simulation in which all particles live through every frame."""
    settings = simulation.settings
    return simulation.truth.positions.reshape(settings.frames, settings.particles, settings.ndim)


def walk_in_the_open(**settings) -> np.ndarray:
    """Steps (frames - 1, particles, ndim) in a box so large that hardly anyone meets a wall."""
    box = (1e9,) * settings.get("ndim", 3)
    simulation = simulate(SimulationSettings(box_um=box, step_um=1.0, **settings))
    return np.diff(paths(simulation), axis=0)


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("persistence", [0.0, 0.3, 0.9, 1.0])
def test_steps_are_correlated_by_the_persistence_and_as_long_as_asked(ndim, persistence):
    steps = walk_in_the_open(ndim=ndim, persistence=persistence, particles=20_000, frames=4)
    variance = np.mean(steps**2)
    for lag in (1, 2):
        correlation = np.mean(steps[lag:] * steps[:-lag]) / variance
        assert correlation == pytest.approx(persistence**lag, abs=0.015)
    lengths = np.linalg.norm(steps, axis=2).mean(axis=1)
    np.testing.assert_allclose(lengths, 1.0, atol=0.015)


def test_persistence_1_gives_straight_lines():
    steps = walk_in_the_open(persistence=1.0, particles=100, frames=6)
    np.testing.assert_allclose(steps, np.broadcast_to(steps[0], steps.shape), atol=1e-6)


def test_components_of_a_step_are_normal_and_independent():
    steps = walk_in_the_open(persistence=0.5, particles=20_000, frames=2)[0]
    covariance = np.cov(steps.T)
    np.testing.assert_allclose(covariance, np.eye(3) * np.pi / 8, atol=0.012)
    kurtosis = np.mean(steps**4, axis=0) / np.mean(steps**2, axis=0) ** 2
    np.testing.assert_allclose(kurtosis, 3.0, atol=0.15)


@pytest.mark.parametrize("ndim", [2, 3])
def test_spacing_is_the_mean_nearest_neighbour_distance(ndim):
    simulation = simulate(SimulationSettings(particles=20_000, frames=1, ndim=ndim, spacing_um=4.0))
    positions = simulation.truth.positions
    inner = np.all(np.abs(positions / simulation.settings.box - 0.5) < 0.4, axis=1)
    nearest = KDTree(positions).query(positions[inner], k=2)[0][:, 1]
    assert nearest.mean() == pytest.approx(4.0, rel=0.02)
    assert simulation.settings.mean_spacing_um == pytest.approx(4.0)
    assert simulation.settings.mean_step_um == pytest.approx(0.3 * 4.0)


def test_a_box_replaces_the_spacing_and_a_step_in_um_the_step():
    settings = SimulationSettings(particles=1000, box_um=(10, 20, 40), step_um=0.7)
    assert settings.box.tolist() == [10, 20, 40]
    assert settings.mean_spacing_um == pytest.approx(0.554 * 2.0, rel=1e-3)  # 8000 µm³ for 1000 particles
    assert settings.mean_step_um == 0.7


@pytest.mark.parametrize("step_um", [0.5, 3.0, 50.0])
def test_reflecting_walls_keep_everyone_inside_and_alive(step_um):
    settings = SimulationSettings(particles=500, frames=20, box_um=(5, 10, 20), step_um=step_um, walls="reflect")
    positions = paths(simulate(settings))
    assert (positions >= 0).all()
    assert (positions <= settings.box).all()


def test_a_reflected_particle_goes_back_as_far_as_it_would_have_gone_on():
    settings = SimulationSettings(particles=200, frames=30, box_um=(10, 10, 10), step_um=1.0, persistence=1.0)
    positions = paths(simulate(settings))
    speed = np.abs(np.diff(positions, axis=0))
    # Between two walls a straight line unfolds: a step is either the whole component or cut short by one bounce.
    whole = speed.max(axis=0)
    straight = np.isclose(speed, whole)
    assert straight.mean() > 0.8
    bounce = ~straight
    to_wall = np.minimum(positions[:-1], 10 - positions[:-1]) + np.minimum(positions[1:], 10 - positions[1:])
    np.testing.assert_allclose(to_wall[bounce], np.broadcast_to(whole, speed.shape)[bounce], atol=1e-9)


def test_who_leaves_is_gone():
    settings = SimulationSettings(particles=2000, frames=15, box_um=(10, 10, 10), step_um=1.0, walls="leave")
    truth = simulate(settings).truth
    counts = np.bincount(truth.frames)
    assert counts[-1] < 1000
    assert (np.diff(counts) <= 0).all()
    assert (truth.positions >= 0).all()
    assert (truth.positions <= settings.box).all()
    for _, life in truth.table.groupby("track_id")["frame"]:
        assert life.tolist() == list(range(len(life)))  # there from the start, without a gap, until it left


def test_keep_density_replaces_each_who_left_by_one_who_enters_opposite():
    settings = SimulationSettings(
        particles=2000, frames=10, box_um=(10, 10, 10), step_um=0.5, persistence=1.0, walls="leave", keep_density=True
    )
    truth = simulate(settings).truth
    assert np.bincount(truth.frames).tolist() == [2000] * 10
    table = truth.table
    first = table.groupby("track_id").first()
    entered = first[first["frame"] > 0]
    assert len(entered) > 1000
    edges = entered[["z", "y", "x"]].to_numpy()
    near_wall = np.minimum(edges, 10 - edges).min(axis=1)
    assert (near_wall < 2.0).all()  # no step is longer than 2
    assert table["track_id"].nunique() == 2000 + len(entered)


def test_deaths_and_births_happen_at_their_rates():
    settings = SimulationSettings(particles=10_000, frames=5, death_rate=0.1, birth_rate=0.05)
    table = simulate(settings).truth.table
    life = table.groupby("track_id")["frame"].agg(["min", "max", "size"])
    assert (life["max"] - life["min"] + 1 == life["size"]).all()  # lives have no gaps
    alive = np.bincount(table["frame"])
    died = np.bincount(life["max"], minlength=5)[:-1]
    born = np.bincount(life["min"], minlength=5)[1:]
    np.testing.assert_allclose(died / alive[:-1], 0.1, atol=0.012)
    np.testing.assert_allclose(born / 10_000, 0.05, atol=0.01)


def test_keep_density_replaces_the_dead():
    table = simulate(SimulationSettings(particles=1000, frames=6, death_rate=0.2, keep_density=True)).truth.table
    assert np.bincount(table["frame"]).tolist() == [1000] * 6
    assert table["track_id"].nunique() > 1500


def test_everyone_may_die():
    simulation = simulate(SimulationSettings(particles=10, frames=3, death_rate=1.0))
    assert simulation.truth.frames.tolist() == [0] * 10


def test_missed_and_false_detections_come_at_their_rates():
    simulation = simulate(SimulationSettings(particles=20_000, frames=3, missed=0.05, false=0.1))
    detections = simulation.detections
    for _, rows in detections.table.groupby("frame"):
        assert (rows["true_id"] >= 0).sum() / 20_000 == pytest.approx(0.95, abs=0.006)
        assert (rows["true_id"] < 0).sum() / 20_000 == pytest.approx(0.10, abs=0.009)
    false = detections.positions[detections.table["true_id"] < 0] / simulation.settings.box
    np.testing.assert_allclose(false.mean(axis=0), 0.5, atol=0.02)
    assert ((false >= 0) & (false <= 1)).all()


def test_detections_lie_about_their_particles_by_the_localisation_error():
    error = (2.0, 0.5, 0.1)
    simulation = simulate(SimulationSettings(particles=5000, frames=3, missed=0.1, localisation_error_um=error))
    both = simulation.detections.table.merge(
        simulation.truth.table, left_on=["frame", "true_id"], right_on=["frame", "track_id"], suffixes=("", "_true")
    )
    assert len(both) == len(simulation.detections)
    for axis, deviation in zip("zyx", error, strict=True):
        off = both[axis] - both[f"{axis}_true"]
        assert off.std() == pytest.approx(deviation, rel=0.03)
        assert abs(off.mean()) < 0.05 * deviation


def test_without_error_a_detection_is_where_its_particle_is():
    simulation = simulate(SimulationSettings(particles=50, frames=4))
    seen = simulation.detections.table.sort_values(["frame", "true_id"], ignore_index=True)
    real = simulation.truth.table.rename(columns={"track_id": "true_id"})
    pd.testing.assert_frame_equal(seen, real)


def test_row_order_tells_nothing():
    detections = simulate(SimulationSettings(particles=2000, frames=2)).detections
    ids = detections.table["true_id"].to_numpy().reshape(2, -1)
    assert (ids[0] == ids[1]).mean() < 0.01
    assert abs(np.corrcoef(ids[0], np.arange(2000))[0, 1]) < 0.1


def test_the_same_seed_gives_the_same_movie_and_another_seed_another():
    settings = SimulationSettings(particles=100, frames=4, missed=0.1, false=0.1, localisation_error_um=0.2, seed=3)
    one, two = simulate(settings), simulate(settings)
    pd.testing.assert_frame_equal(one.truth.table, two.truth.table)
    pd.testing.assert_frame_equal(one.detections.table, two.detections.table)
    other = simulate(dataclasses.replace(settings, seed=4))
    assert not np.array_equal(one.truth.positions, other.truth.positions)


def test_what_the_detector_does_never_changes_the_movement():
    settings = SimulationSettings(particles=100, frames=4, death_rate=0.05, birth_rate=0.05, seed=3)
    blind = dataclasses.replace(settings, missed=0.5, false=0.3, localisation_error_um=1.0)
    pd.testing.assert_frame_equal(simulate(settings).truth.table, simulate(blind).truth.table)


def test_tables_are_in_um_and_s_and_sorted_by_frame():
    simulation = simulate(SimulationSettings(particles=10, frames=3, ndim=2, frame_interval_s=0.5))
    for points in (simulation.truth, simulation.detections):
        assert points.axes == ("y", "x")
        assert points.calibration.scale == (1, 1, 1)
        assert points.calibration.unit == "µm"
        assert (points.calibration.frame_interval, points.calibration.time_unit) == (0.5, "s")
        assert (np.diff(points.frames) >= 0).all()


def test_progress_is_told_every_frame():
    seen = []
    simulate(SimulationSettings(particles=5, frames=3), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("particles", 0),
        ("frames", 0),
        ("ndim", 4),
        ("spacing_um", 0.0),
        ("spacing_um", float("inf")),
        ("box_um", (1.0, 1.0)),
        ("box_um", (1.0, -1.0, 1.0)),
        ("persistence", 1.1),
        ("persistence", -0.1),
        ("persistence", float("nan")),
        ("step", -1.0),
        ("step_um", float("nan")),
        ("walls", "bounce"),
        ("death_rate", 1.5),
        ("birth_rate", -0.1),
        ("missed", 2.0),
        ("false", -0.5),
        ("localisation_error_um", -1.0),
        ("localisation_error_um", (1.0, 1.0)),
        ("frame_interval_s", 0.0),
        ("seed", -1),
        ("particles", "3"),
        ("particles", 2.5),
        ("frames", None),
        ("box_um", 3.0),
        ("box_um", ("1", "2", "3")),
        ("persistence", "0.5"),
        ("spacing_um", "10"),
        ("step_um", (1.0,)),
        ("localisation_error_um", "1"),
        ("frame_interval_s", None),
    ],
)
def test_a_setting_out_of_range_is_named(setting, value):
    with pytest.raises(InvalidSetting, match=setting):
        SimulationSettings(**{setting: value})


def test_keep_density_and_a_birth_rate_contradict_each_other():
    with pytest.raises(InvalidSetting, match=r"^birth_rate .*0 .*keep_density"):
        SimulationSettings(keep_density=True, birth_rate=0.1)
