"""The autocorrelation of velocities of particles whose movement is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from auctrack import subtract_drift, velocity_correlation
from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.errors import InvalidInput, InvalidSetting

from .simulated_walks import diffusing, pair_by_pair, tracks_of, with_gaps

TIME = 10.0
"""Of a step."""


def within(table, wanted, errors=4.0):
    """Whether the correlation of each lag is what it should be, within some standard errors."""
    return (abs(table["correlation"] - wanted) < errors * table["standard_error"]).all()


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("step", [1, 5], ids=["every frame", "every fifth"])
@pytest.mark.parametrize("share", [0.0, 0.3], ids=["whole", "with gaps"])
def test_it_is_the_mean_product_over_all_pairs_of_steps_over_one_frame(ndim, step, share):
    tracks = with_gaps(tracks_of(diffusing(7, 20, ndim), step=step), share)
    table, pairs = velocity_correlation(tracks), pair_by_pair(tracks, of_velocity=True)
    products = {lag: (both[:, 0] * both[:, 1]).sum(axis=1) for lag, both in pairs.items()}
    assert table["lag"].tolist() == list(pairs)
    assert table["n"].tolist() == [len(of) for of in products.values()]
    np.testing.assert_allclose(table["correlation"], [of.mean() for of in products.values()], atol=1e-15)
    np.testing.assert_allclose(table["lag_time"], table["lag"] * TIME)
    np.testing.assert_allclose(table["normalised"], table["correlation"] / table["correlation"][0])
    cut = velocity_correlation(tracks, max_lag=4 * step)
    assert cut.equals(table[table["lag"] <= 4 * step])


def test_diffusion_keeps_no_velocity():
    table = velocity_correlation(tracks_of(diffusing(2000, 20)), 8)
    assert within(table, np.where(table["lag"] == 0, 3 / TIME**2, 0.0))
    assert (table["standard_error"] < 0.02 * 3 / TIME**2).all()


def test_an_error_of_positions_turns_the_next_step_back():
    sigma, rng = 0.6, np.random.default_rng(2)
    places = diffusing(2000, 20)
    table = velocity_correlation(tracks_of(places + rng.normal(0, sigma, places.shape)), 4)
    wanted = 3 * np.array([1 + 2 * sigma**2, -(sigma**2), 0, 0, 0]) / TIME**2
    assert within(table, wanted)
    assert table["correlation"][1] < -10 * table["standard_error"][1]


def persistent(n, frames, kept, ndim=2, seed=3):
    """Places of particles whose velocity, of variance 1 along each axis, keeps a share from step to step."""
    rng = np.random.default_rng(seed)
    velocity = rng.normal(size=(n, frames, ndim))
    for frame in range(1, frames):
        velocity[:, frame] = kept * velocity[:, frame - 1] + np.sqrt(1 - kept**2) * velocity[:, frame]
    return velocity.cumsum(axis=1)


def test_what_is_kept_from_step_to_step_is_the_normalised_correlation():
    table = velocity_correlation(tracks_of(persistent(4000, 20, 0.8)), 10)
    assert within(table, 2 * 0.8 ** table["lag"] / TIME**2)
    np.testing.assert_allclose(table["normalised"], 0.8 ** table["lag"], atol=0.03)


def test_errors_are_those_that_movies_scatter_by():
    movies = [velocity_correlation(tracks_of(persistent(50, 12, 0.8, seed=seed)), 6) for seed in range(200)]
    scatter = np.std([movie["correlation"] for movie in movies], axis=0)
    stated = np.mean([movie["standard_error"] for movie in movies], axis=0)
    np.testing.assert_allclose(stated, scatter, rtol=0.15)


def test_what_particles_are_carried_by_stays_until_their_drift_is_taken_off():
    places = diffusing(300, 20) + np.arange(20)[:, None] * np.array([0.0, 3.0, 0.0])
    carried, still = (velocity_correlation(of, 5) for of in (tracks_of(places), subtract_drift(tracks_of(places))))
    assert (carried["correlation"][1:] > 8 / TIME**2).all()
    assert within(still, np.where(still["lag"] == 0, 3 / TIME**2, 0.0))


@pytest.mark.parametrize(("share", "error"), [(0.0, 0.04), (0.1, 0.08)], ids=["whole", "with gaps"])
def test_what_few_tracks_lose_with_their_drift_is_allowed_for(share, error):
    """Of six tracks a sixth and more is lost, and where they are not the same in both frames somewhat more."""
    movies = [
        velocity_correlation(subtract_drift(with_gaps(tracks_of(persistent(6, 24, 0.8, seed=seed)), share, seed)), 3)
        for seed in range(300)
    ]
    correlation = np.mean([movie["correlation"] for movie in movies], axis=0)
    np.testing.assert_allclose(correlation, 2 * 0.8 ** np.arange(4) / TIME**2, rtol=error)


def test_of_one_track_there_is_no_error_and_nothing_but_drift():
    alone = tracks_of(diffusing(1, 9))
    table = velocity_correlation(alone)
    assert table["lag"].tolist() == list(range(8))
    assert table["standard_error"].isna().all()
    assert table["correlation"].notna().all()
    assert velocity_correlation(subtract_drift(alone))["correlation"].isna().all()


def test_without_two_frames_in_a_row_there_is_no_velocity():
    tracks = tracks_of(diffusing(3, 9))
    every_other = tracks.only(tracks.frames % 2 == 0)
    for none in (every_other, tracks.only(tracks.frames == 0), tracks.only(np.zeros(len(tracks), bool))):
        table = velocity_correlation(none)
        assert len(table) == 0
        assert list(table) == list(velocity_correlation(tracks))


def test_particles_that_stand_still_have_no_normalised_correlation():
    table = velocity_correlation(tracks_of(np.zeros((3, 5, 2))))
    assert (table["correlation"] == 0).all()
    assert table["normalised"].isna().all()


def test_without_an_interval_times_are_in_frames():
    tracks = replace(tracks_of(diffusing(3, 9)), calibration=Calibration())
    table = velocity_correlation(tracks)
    assert table["lag_time"].tolist() == table["lag"].tolist()


@pytest.mark.parametrize("rows", [1, 40])
def test_tracks_measured_a_few_at_a_time_measure_the_same(rows, monkeypatch):
    tracks = subtract_drift(with_gaps(tracks_of(diffusing(9, 20))))
    at_once = velocity_correlation(tracks)
    monkeypatch.setattr("auctrack.tracker.measuring.track_order.ROWS_AT_ONCE", rows)
    np.testing.assert_allclose(velocity_correlation(tracks), at_once, rtol=1e-9)


@pytest.mark.parametrize("lag", [0, 4, "5", 2.5])
def test_a_longest_lag_below_the_frame_step_is_refused(lag):
    with pytest.raises(InvalidSetting, match=r"^max_lag .*5"):
        velocity_correlation(tracks_of(diffusing(3, 9), step=5), lag)


def test_a_table_is_no_tracks():
    with pytest.raises(InvalidInput, match="Tracks"):
        velocity_correlation(tracks_of(diffusing(3, 9)).table)
