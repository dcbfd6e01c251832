"""What all tracks measure together, and intervals that hold the errors of tracking too."""

import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.errors import InvalidSetting
from auctrack.tracker.formats.tables import read_tracks
from auctrack.tracker.formats.write import write_tracks
from auctrack.tracker.measuring.displacements import measure_displacements
from auctrack.tracker.measuring.drift import subtract_drift
from auctrack.tracker.measuring.ensemble import measure_ensemble
from auctrack.tracker.measuring.intervals import (
    ensemble_intervals,
    msd_intervals,
    non_gaussian_intervals,
    velocity_correlation_intervals,
)
from auctrack.tracker.measuring.msd import mean_squared_displacement
from auctrack.tracker.measuring.velocity import velocity_correlation
from auctrack.tracker.points import Tracks


def tracks_of(positions: np.ndarray, *, noise: float = 0.0, calibration: Calibration | None = None) -> Tracks:
    """Tracks from (frames, particles, d) positions, measured with an error."""
    frames, particles, ndim = positions.shape
    seen = positions + np.random.default_rng(9).normal(0, noise, positions.shape) if noise else positions
    table = pd.DataFrame(seen.reshape(-1, ndim), columns=list("zyx")[-ndim:])
    table["frame"] = np.repeat(np.arange(frames), particles)
    table["track_id"] = np.tile(np.arange(particles), frames)
    return Tracks(table) if calibration is None else Tracks(table, calibration)


def brownian(particles: int = 400, frames: int = 30, ndim: int = 3, step: float = 1.0, seed: int = 0) -> np.ndarray:
    return np.cumsum(np.random.default_rng(seed).normal(0, step, (frames, particles, ndim)), axis=0)


def persistent(persistence: float, particles: int, frames: int = 12) -> np.ndarray:
    """Steps of variance 1 along each axis that keep a part of the one before."""
    rng = np.random.default_rng(3)
    steps = [rng.normal(size=(particles, 3))]
    for _ in range(frames - 1):
        steps.append(persistence * steps[-1] + np.sqrt(1 - persistence**2) * rng.normal(size=(particles, 3)))
    return np.cumsum(steps, axis=0)


def spanning(spans: Sequence[tuple[int, int]]) -> Tracks:
    """Tracks that stand still from one frame to another, of 4 s."""
    rows = [(frame, 0.0, 9.0 * track, track) for track, (a, b) in enumerate(spans) for frame in range(a, b + 1)]
    table = pd.DataFrame(rows, columns=["frame", "y", "x", "track_id"])
    return Tracks(table, Calibration((1.0, 1.0, 1.0), "µm", 4.0, "s"))


def of(table: pd.DataFrame, measure: str, column: str = "value") -> float:
    return float(table.set_index("measure").loc[measure, column])


class TestEnsemble:
    def test_speed_is_in_length_per_time(self):
        straight = np.arange(5)[:, None, None] * np.array([0.0, 3.0, 4.0]) + np.zeros((5, 2, 3))
        calibration = Calibration((1.0, 2.0, 2.0), "µm", 4.0, "s")
        made = measure_ensemble(tracks_of(straight, calibration=calibration))
        assert of(made, "mean_speed") == pytest.approx(10 / 4)
        units = {"mean_speed": "µm/s", "diffusion": "µm²/s", "msd_exponent": ""}
        assert made.set_index("measure")["unit"].to_dict() == units

    @pytest.mark.parametrize(("ndim", "noise"), [(2, 0.0), (3, 0.0), (3, 1.0)])
    def test_diffusion_is_half_the_variance_of_a_step_whatever_the_error_of_positions(self, ndim, noise):
        made = measure_ensemble(tracks_of(brownian(ndim=ndim), noise=noise))
        error = of(made, "diffusion", "standard_error")
        assert error < 0.02
        assert of(made, "diffusion") == pytest.approx(0.5, abs=3 * error)

    @pytest.mark.parametrize("noise", [0.0, 1.0])
    @pytest.mark.parametrize(("persistence", "exponent"), [(0.0, 1.0), (0.5, np.log2(5.25 / 2)), (1.0, 2.0)])
    def test_the_exponent_is_that_of_the_growth_whatever_the_error_of_positions(self, persistence, exponent, noise):
        """Where half of a step is kept, the curve at 1, 2 and 4 frames is 1, 3 and 8.25 times that of a step."""
        made = measure_ensemble(tracks_of(persistent(persistence, 4000), noise=noise))
        error = of(made, "msd_exponent", "standard_error")
        assert error < 0.05
        assert of(made, "msd_exponent") == pytest.approx(exponent, abs=3 * error + 1e-9)

    def test_what_is_held_in_place_has_no_exponent(self):
        still = np.zeros((9, 50, 2)) + np.arange(9)[:, None, None] % 2
        assert np.isnan(of(measure_ensemble(tracks_of(still)), "msd_exponent"))

    def test_errors_are_how_much_movies_differ(self):
        made = [measure_ensemble(tracks_of(brownian(60, 10, seed=seed))) for seed in range(200)]
        for measure in ("mean_speed", "diffusion", "msd_exponent"):
            scatter = np.std([of(each, measure) for each in made])
            said = np.mean([of(each, measure, "standard_error") for each in made])
            assert said == pytest.approx(scatter, rel=0.15)

    def test_steps_across_a_gap_are_left_out(self):
        tracks = tracks_of(np.arange(6.0)[:, None, None] * np.ones(3) + np.zeros((6, 4, 3)))
        odd = tracks.table[(tracks.table["frame"] != 2) | (tracks.table["track_id"] > 1)]
        assert of(measure_ensemble(Tracks(odd)), "mean_speed") == pytest.approx(np.sqrt(3))

    @pytest.mark.parametrize("frames", [0, 1, 2])
    def test_what_too_few_frames_do_not_tell_is_nan(self, frames):
        made = measure_ensemble(tracks_of(brownian(5, frames)))
        assert np.isnan(of(made, "mean_speed")) == (frames < 2)
        assert np.isnan(of(made, "diffusion"))


class TestFamilies:
    def test_daughters_that_move_as_their_mothers_did_make_errors_as_large_as_fewer_tracks(self):
        """Each track three times, as mother, daughter and granddaughter: one of each would tell as much."""
        steps = np.tile(brownian(50, 10), (1, 3, 1))
        alone = measure_ensemble(tracks_of(steps[:, :50]))
        families = {k + 50: [k] for k in range(100)}
        together = measure_ensemble(replace(tracks_of(steps), parents=families))
        for measure in ("mean_speed", "diffusion"):
            assert of(together, measure, "standard_error") == pytest.approx(of(alone, measure, "standard_error"))

    def test_the_division_rate_is_that_of_mothers_of_two_per_particle_and_time(self):
        """Nine frames of three tracks, of which two follow one: 24 steps and 2 links, a frame 4 s."""
        tracks = tracks_of(brownian(3, 9), calibration=Calibration((1.0, 1.0, 1.0), "µm", 4.0, "s"))
        made = measure_ensemble(replace(tracks, parents={1: [0], 2: [0]}))
        assert of(made, "division_rate") == pytest.approx(1 / (26 * 4))
        assert of(made, "division_rate", "standard_error") == pytest.approx(1 / (26 * 4))
        assert made.set_index("measure").loc["division_rate", "unit"] == "1/s"

    def test_a_child_of_two_divides_nobody(self):
        made = measure_ensemble(replace(tracks_of(brownian(3, 9)), parents={2: [0, 1]}))
        assert of(made, "division_rate") == 0
        assert np.isnan(of(made, "generation_time"))

    def test_a_generation_is_the_time_from_a_division_to_the_next(self):
        """Frames of 4 s: mother 0 to 2, daughters 3 to 5 and 3 to 6, who both divide, and theirs, who do not."""
        spans = [(0, 2), (3, 5), (3, 6), *[(7, 9)] * 4]
        parents = {1: [0], 2: [0], 3: [1], 4: [1], 5: [2], 6: [2]}
        made = measure_ensemble(replace(spanning(spans), parents=parents))
        assert of(made, "generation_time") == pytest.approx(4 * 3.5)
        assert of(made, "generation_time", "standard_error") == pytest.approx(4 * 0.5)
        assert made.set_index("measure").loc["generation_time", "unit"] == "s"

    def test_a_cell_that_missed_frames_cut_is_one(self, tmp_path):
        """The daughter that misses frames 5 and 6 is two tracks in the challenge's folders, and lived all the while."""
        spans = [(0, 2), (3, 8), (3, 7), *[(9, 11)] * 4]
        whole = replace(spanning(spans), parents={1: [0], 2: [0], 3: [1], 4: [1], 5: [2], 6: [2]})
        missed = whole.only(~((whole.table["track_id"] == 1) & whole.table["frame"].isin([5, 6])))
        write_tracks(missed, tmp_path / "01_RES")
        cut = read_tracks(tmp_path / "01_RES", frame_interval=4, time_unit="s")
        assert len(cut.parents) == len(whole.parents) + 1
        for measure in ("division_rate", "generation_time"):
            assert of(measure_ensemble(cut), measure) == of(measure_ensemble(missed), measure)
            assert of(measure_ensemble(cut), measure) == of(measure_ensemble(whole), measure)

    def test_an_only_daughter_seen_at_once_is_no_cell_that_goes_on(self):
        """Of a division one daughter may be found alone; nobody knows when her mother began."""
        tracks = replace(spanning([(0, 2), (3, 5), (6, 8), (6, 8)]), parents={1: [0], 2: [1], 3: [1]})
        assert np.isnan(of(measure_ensemble(tracks), "generation_time"))
        assert of(measure_ensemble(tracks), "division_rate") == pytest.approx(1 / (11 * 4))

    def test_daughters_that_are_missed_at_first_are_cells_of_their_own(self):
        tracks = replace(spanning([(0, 2), (4, 6), (4, 6), (8, 9), (8, 9)]), parents={1: [0], 2: [0], 3: [1], 4: [1]})
        assert of(measure_ensemble(tracks), "generation_time") == 3 * 4

    def test_a_child_of_two_that_is_missed_at_first_is_a_cell_of_its_own(self):
        """Ten steps in tracks, and one to each of the three that follow others."""
        spans = [(0, 2), (0, 2), (4, 6), (7, 9), (7, 9)]
        tracks = replace(spanning(spans), parents={2: [0, 1], 3: [2], 4: [2]})
        assert of(measure_ensemble(tracks), "division_rate") == pytest.approx(1 / (13 * 4))

    def test_what_divisions_tell_takes_no_room_for_track_numbers_that_are_not_there(self):
        """As many bytes as the largest track number would be terabytes."""
        tracks = tracks_of(brownian(3, 9))
        numbers = np.array([0, 10**12, 2 * 10**12])
        far = replace(tracks, table=tracks.table.assign(track_id=numbers[tracks.table["track_id"]]))
        near = measure_ensemble(replace(tracks, parents={1: [0], 2: [0]}))
        made = measure_ensemble(replace(far, parents={10**12: [0], 2 * 10**12: [0]}))
        pd.testing.assert_frame_equal(made, near)


class TestIntervals:
    def test_trackings_that_agree_give_the_interval_of_one(self):
        tracks = tracks_of(brownian())
        alone, pooled = measure_ensemble(tracks), ensemble_intervals([tracks] * 5)
        np.testing.assert_allclose(pooled["value"], alone["value"])
        np.testing.assert_allclose(pooled["standard_error"], alone["standard_error"])
        student = 1.96593  # of 399 degrees of freedom, R: qt(0.975, 399)
        np.testing.assert_allclose(pooled["high"] - pooled["low"], 2 * student * alone["standard_error"], rtol=1e-4)

    @pytest.mark.filterwarnings("ignore:the mean squared displacement is not a straight line")
    @pytest.mark.parametrize("seen_as", [copy, subtract_drift], ids=["as they are", "without their drift"])
    def test_those_of_few_tracks_hold_the_true_value_as_often_as_they_say(self, seen_as):
        """By a normal distribution they would in 85 of 100 movies; without a drift whose share is lost, D in 43."""
        held = []
        for seed in range(150):
            made = ensemble_intervals([seen_as(tracks_of(brownian(4, 30, seed=seed)))] * 2).set_index("measure")
            low, high = made.loc[["diffusion", "msd_exponent"], ["low", "high"]].to_numpy().T
            held.append((low < [0.5, 1.0]) & (high > [0.5, 1.0]))
        np.testing.assert_allclose(np.mean(held, axis=0), 0.95, atol=0.04)

    def test_a_curve_that_bends_is_said_to_be_no_line_and_its_slope_no_coefficient(self):
        with pytest.warns(UserWarning, match="not a straight line.*msd_exponent.*not a diffusion coefficient"):
            ensemble_intervals([tracks_of(persistent(0.9, 400))] * 3)

    def test_it_is_said_in_the_same_words_of_every_movie(self):
        """So that a filter of warnings takes all of them for one."""
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            for persistence in (0.9, 0.95):
                ensemble_intervals([tracks_of(persistent(persistence, 400))] * 3)
        assert len(said) == 2
        assert len({str(one.message) for one in said}) == 1

    def test_nothing_is_said_of_one_that_may_be_straight(self):
        for seed in range(50):
            ensemble_intervals([tracks_of(brownian(20, 9, seed=seed))] * 2)  # warnings are errors here

    def test_trackings_that_differ_widen_it_by_rubins_rule(self):
        several = [tracks_of(brownian(step=step)) for step in (0.95, 1.0, 1.05)]
        curves = [mean_squared_displacement(tracks, 3) for tracks in several]
        pooled = msd_intervals(several, 3)
        between = np.var([curve["msd"] for curve in curves], axis=0, ddof=1)
        within = np.mean([curve["standard_error"] ** 2 for curve in curves], axis=0)
        np.testing.assert_allclose(pooled["msd"], np.mean([curve["msd"] for curve in curves], axis=0))
        np.testing.assert_allclose(pooled["standard_error"] ** 2, within + 4 / 3 * between)
        assert (pooled["high"] - pooled["low"] > 2 * 1.96 * pooled["standard_error"]).all()

    @pytest.mark.parametrize(
        ("measured", "pooled", "asked", "value", "error"),
        [
            (mean_squared_displacement, msd_intervals, 3, "msd", "standard_error"),
            (velocity_correlation, velocity_correlation_intervals, 3, "correlation", "standard_error"),
            (measure_displacements, non_gaussian_intervals, [1, 3], "non_gaussian", "non_gaussian_error"),
        ],
    )
    def test_those_of_curves_are_of_each_lag_and_axis(self, measured, pooled, asked, value, error):
        tracks = tracks_of(brownian())
        alone = measured(tracks, asked)
        rows = [name for name in ("lag", "lag_time", "axis") if name in alone]
        alone = alone.drop_duplicates(rows)
        bounds = pooled([tracks] * 5, asked)
        assert bounds[rows].to_numpy().tolist() == alone[rows].to_numpy().tolist()
        np.testing.assert_allclose(bounds[value], alone[value], atol=1e-12)
        np.testing.assert_allclose(bounds["high"] - bounds["low"], 2 * 1.96593 * alone[error], rtol=1e-4)
        assert len(pooled([tracks_of(brownian(3, 1))] * 2, asked)) == 0

    @pytest.mark.parametrize(("count", "low", "high"), [(0, 0.0, 3.689), (1, 0.0253, 5.572), (2, 0.242, 7.225)])
    def test_the_interval_of_a_division_rate_is_that_of_a_count(self, count, low, high):
        """Exact limits of a Poisson count (F. Garwood, Biometrika 28, 1936)."""
        tracks = tracks_of(brownian(9, 9))
        parents = {child: [mother] for mother in range(count) for child in (3 + 2 * mother, 4 + 2 * mother)}
        divided = replace(tracks, parents=parents or {8: [7]})  # one daughter divides nobody
        lived = 9 * 8 + len(divided.parents)
        pooled = ensemble_intervals([divided] * 5).set_index("measure").loc["division_rate"]
        assert pooled["value"] * lived == pytest.approx(count)
        np.testing.assert_allclose(pooled[["low", "high"]].astype(float) * lived, [low, high], atol=1e-3)

    def test_a_tracking_without_divisions_has_none_and_is_not_left_out(self):
        tracks = tracks_of(brownian(3, 9))
        divided = replace(tracks, parents={1: [0], 2: [0]})
        rate = of(ensemble_intervals([divided, tracks]), "division_rate")
        assert rate == pytest.approx((1 / 26 + 0) / 2)

    def test_what_not_every_tracking_tells_is_not_known(self):
        short, long = (
            replace(tracks_of(brownian(5, 9)), parents=parents)
            for parents in ({1: [0], 2: [0]}, {1: [0], 2: [0], 3: [1], 4: [1]})
        )
        assert np.isnan(of(ensemble_intervals([short, long]), "generation_time"))
        assert np.isfinite(of(ensemble_intervals([long, long]), "generation_time"))

    def test_lags_that_not_all_have_are_left_out(self):
        long, short = tracks_of(brownian(frames=6)), tracks_of(brownian(frames=4))
        bounds = msd_intervals([long, short])
        assert bounds["lag"].tolist() == [1, 2, 3]
        assert bounds["lag_time"].tolist() == mean_squared_displacement(short)["lag_time"].tolist()

    def test_a_higher_level_is_wider(self):
        several = [tracks_of(brownian(step=step)) for step in (0.95, 1.0, 1.05)]
        wide, narrow = (ensemble_intervals(several, level) for level in (0.99, 0.8))
        assert (wide["high"] - wide["low"] > narrow["high"] - narrow["low"]).all()

    @pytest.mark.parametrize(("count", "level"), [(1, 0.95), (0, 0.95), (2, 0.0), (2, 95)])
    def test_what_makes_no_interval_is_refused(self, count, level):
        with pytest.raises(InvalidSetting):
            ensemble_intervals([tracks_of(brownian())] * count, level)
