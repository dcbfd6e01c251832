"""Tracks whose measures are known in advance."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.errors import InvalidInput, InvalidSetting
from auctrack.tracker.measuring.measures import filter_by_length, measure_tracks, measure_units
from auctrack.tracker.measuring.msd import mean_squared_displacement
from auctrack.tracker.points import Points, Tracks
from auctrack.tracker.simulating.simulate import SimulationSettings, simulate
from auctrack.tracker.timeline import Timeline

MICROSCOPE = Calibration(scale=(2.0, 0.5, 0.25), unit="µm", frame_interval=10.0, time_unit="s")


def tracks(*lives: dict[int, tuple[float, ...]], calibration=MICROSCOPE, step=1, **columns) -> Tracks:
    """One track a life, `{frame: (z, y, x)}`."""
    rows = [(number, frame * step, *place) for number, life in enumerate(lives) for frame, place in life.items()]
    table = pd.DataFrame(rows, columns=["track_id", "frame", "z", "y", "x"]).assign(**columns)
    return Tracks(table, calibration, timeline=Timeline(step))


def line(frames, *, z=0.0, y=0.0, x=0.0) -> dict[int, tuple[float, ...]]:
    """A straight line that moves by (z, y, x) voxels a frame."""
    return {frame: (3 + z * frame, 5 + y * frame, 7 + x * frame) for frame in frames}


def test_a_straight_line_in_voxels_measures_in_physical_units():
    row = measure_tracks(tracks(line(range(5), y=6.0, x=16.0))).iloc[0]  # 3 µm and 4 µm a frame of 10 s
    assert (row["track_id"], row["length"], row["first_frame"], row["last_frame"], row["missed_frames"]) == (
        0,
        5,
        0,
        4,
        0,
    )
    assert row["duration"] == 40.0
    assert row["net_displacement"] == pytest.approx(20.0)
    assert row["path_length"] == pytest.approx(20.0)
    assert row["mean_speed"] == pytest.approx(0.5)
    assert row["straightness"] == pytest.approx(1.0)


def test_a_way_out_and_back_has_a_path_but_no_net_displacement():
    row = measure_tracks(tracks({0: (0, 0, 0), 1: (1, 0, 0), 2: (0, 0, 0)})).iloc[0]
    assert (row["path_length"], row["net_displacement"], row["straightness"]) == (4.0, 0.0, 0.0)


def test_the_largest_distance_from_the_start_is_that_of_the_way_out():
    row = measure_tracks(tracks({0: (0, 0, 0), 1: (1, 0, 0), 2: (3, 0, 0), 3: (1, 0, 0)})).iloc[0]
    assert (row["max_distance"], row["net_displacement"]) == (6.0, 2.0)


@pytest.mark.parametrize(
    ("life", "angle"),
    [
        (line(range(4), z=1.0, x=2.0), 0.0),
        ({0: (0, 0, 0), 1: (1, 0, 0), 2: (0, 0, 0), 3: (1, 0, 0)}, 180.0),
        ({0: (0, 0, 0), 1: (0, 2, 0), 2: (0, 2, 4), 3: (0, 4, 4)}, 90.0),
        ({0: (0, 0, 0), 1: (0, 2, 0), 2: (0, 2, 4), 3: (0, 2, 8)}, 45.0),
        ({0: (0, 0, 0), 1: (0, 2, 0), 2: (0, 2, 0), 3: (0, 4, 0)}, np.nan),
        ({0: (0, 0, 0), 1: (0, 2, 0)}, np.nan),
    ],
    ids=["straight", "back and forth", "corners", "one corner of two", "with a rest between", "one step"],
)
def test_turning_angles_are_between_steps_in_a_row_in_physical_lengths(life, angle):
    other = {frame: (z + 9, y, x) for frame, (z, y, x) in line(range(3), y=1.0).items()}
    table = measure_tracks(tracks(other, life, other))
    assert table["mean_turning_angle"][1] == pytest.approx(angle, nan_ok=True, abs=1e-6)
    assert table["mean_turning_angle"][[0, 2]].tolist() == pytest.approx([0.0, 0.0], abs=1e-6)


def test_free_diffusion_turns_by_a_right_angle_on_average():
    steps = np.random.default_rng(0).normal(size=(4000, 3)).cumsum(axis=0)
    walk = tracks({frame: tuple(place) for frame, place in enumerate(steps)}, calibration=Calibration())
    assert measure_tracks(walk)["mean_turning_angle"][0] == pytest.approx(90.0, abs=3.0)


def test_tracks_far_apart_do_not_add_to_each_others_path():
    far = {frame: (z + 100, y, x) for frame, (z, y, x) in line(range(3), z=2.0).items()}
    table = measure_tracks(tracks(line(range(4), z=1.0), far))
    assert table["path_length"].tolist() == [6.0, 8.0]


def test_a_missed_frame_counts_in_time_and_not_in_length():
    row = measure_tracks(tracks(line([2, 3, 6, 8], z=1.0))).iloc[0]
    assert (row["length"], row["missed_frames"], row["duration"]) == (4, 3, 60.0)
    assert row["mean_speed"] == pytest.approx(2.0 / 10.0)


def test_a_strided_table_misses_nothing():
    row = measure_tracks(tracks(line(range(4), z=1.0), step=5)).iloc[0]
    assert (row["last_frame"], row["missed_frames"], row["duration"]) == (15, 0, 150.0)


def test_frames_that_were_not_looked_at_are_not_missed():
    life = tracks(line([0, 1, 8, 11], z=1.0))
    known = replace(life, timeline=Timeline(1, (0, 1, 2, 3, 4, 8, 9, 10, 11)))
    assert [measure_tracks(each)["missed_frames"][0] for each in (life, known)] == [8, 5]


def test_a_lag_below_the_frame_step_is_refused():
    with pytest.raises(InvalidSetting, match=r"^max_lag .*5.*4"):
        mean_squared_displacement(tracks(line(range(4)), step=5), max_lag=4)


def test_a_single_detection_and_a_standing_particle_have_no_direction():
    table = measure_tracks(tracks(line([4]), line([0, 1, 2])))
    assert table["duration"].tolist() == [0.0, 20.0]
    assert table["path_length"].tolist() == [0.0, 0.0]
    assert np.isnan(table["mean_speed"][0])
    assert table["mean_speed"][1] == 0.0
    assert table["straightness"].isna().all()


def test_without_an_interval_times_are_in_frames():
    row = measure_tracks(tracks(line(range(3), z=1.0), calibration=Calibration())).iloc[0]
    assert (row["duration"], row["mean_speed"]) == (2.0, 1.0)
    assert measure_units(Calibration())["mean_speed"] == "pixel/frame"
    assert measure_units(MICROSCOPE) == {
        "duration": "s",
        "net_displacement": "µm",
        "max_distance": "µm",
        "path_length": "µm",
        "mean_speed": "µm/s",
        "mean_turning_angle": "°",
        "lag_time": "s",
        "msd": "µm²",
        "msd_z": "µm²",
        "msd_y": "µm²",
        "msd_x": "µm²",
        "standard_error": "µm²",
        "msd_low": "µm²",
        "msd_high": "µm²",
        "displacement": "µm",
        "distance": "µm",
        "density": "1/µm",
        "gaussian": "1/µm",
        "correlation": "µm²/s²",
        "correlation_low": "µm²/s²",
        "correlation_high": "µm²/s²",
    }


def test_intensity_and_quality_columns_are_averaged_others_are_not():
    table = tracks(
        line(range(2)), line(range(3)), mean_intensity=[1.0, 3.0, 5, 6, 10], quality=[2, 2, 1, 2, 3], label=9
    )
    measured = measure_tracks(table)
    assert measured["mean_mean_intensity"].tolist() == [2.0, 7.0]
    assert measured["mean_quality"].tolist() == [2.0, 2.0]
    assert "mean_label" not in measured


def test_a_value_that_is_missing_takes_no_mean_from_its_track():
    table = tracks(line(range(3)), line(range(1)), line(range(2)), intensity=[1.0, np.nan, 4.0, np.nan, 5.0, 7.0])
    assert measure_tracks(table)["mean_intensity"].tolist() == pytest.approx([2.5, np.nan, 6.0], nan_ok=True)


def test_row_order_and_rows_without_a_track_change_nothing():
    one = tracks(line(range(6), z=1.0), line(range(3, 9), x=2.0))
    mixed = pd.concat([one.table.sample(frac=1, random_state=1), one.table.assign(track_id=-1)], ignore_index=True)
    other = Tracks(mixed, one.calibration)
    pd.testing.assert_frame_equal(measure_tracks(other), measure_tracks(one))
    pd.testing.assert_frame_equal(mean_squared_displacement(other), mean_squared_displacement(one))
    assert len(filter_by_length(other, 1)) == len(one)


def test_track_ids_of_any_size_in_2d():
    table = pd.DataFrame({"track_id": [70, 70, 10**12], "frame": [0, 1, 0], "y": [0.0, 3, 0], "x": [0.0, 4, 0]})
    measured = measure_tracks(Tracks(table))
    assert measured["track_id"].tolist() == [70, 10**12]
    assert measured["net_displacement"].tolist() == [5.0, 0.0]


def test_no_tracks_measure_as_an_empty_table_of_the_same_columns():
    full = tracks(line(range(3)), quality=1.0)
    empty = Tracks(full.table.iloc[:0], MICROSCOPE)
    assert list(measure_tracks(empty).columns) == list(measure_tracks(full).columns)
    assert measure_tracks(empty).dtypes.tolist() == measure_tracks(full).dtypes.tolist()
    for per_track, per_axis in itertools.product((False, True), repeat=2):
        curve = mean_squared_displacement(empty, per_track=per_track, per_axis=per_axis)
        assert len(curve) == 0
        wanted = mean_squared_displacement(full, per_track=per_track, per_axis=per_axis)
        assert list(curve.columns) == list(wanted.columns)


def test_msd_of_a_straight_line_is_the_squared_distance():
    curve = mean_squared_displacement(tracks(line(range(6), y=6.0, x=16.0)))
    assert curve["lag"].tolist() == [1, 2, 3, 4, 5]
    assert curve["n"].tolist() == [5, 4, 3, 2, 1]
    np.testing.assert_allclose(curve["lag_time"], curve["lag"] * 10.0)
    np.testing.assert_allclose(curve["msd"], (0.5 * curve["lag_time"]) ** 2)


def test_the_error_of_the_msd_is_the_spread_of_repeated_experiments():
    def experiment(seed):
        draws = np.random.default_rng(seed)
        lives = [draws.normal(size=(length, 3)).cumsum(axis=0) for length in draws.integers(5, 30, 40)]
        return tracks(*({f: tuple(place) for f, place in enumerate(life)} for life in lives), calibration=Calibration())

    curves = [mean_squared_displacement(experiment(seed), 12).set_index("lag") for seed in range(100)]
    found, said = (
        pd.concat([c["msd"] for c in curves], axis=1),
        pd.concat([c["standard_error"] for c in curves], axis=1),
    )
    ratio = said.mean(axis=1) / found.std(axis=1)
    assert ratio.between(0.8, 1.2).all(), ratio
    pairs = pd.concat([c["n"] for c in curves], axis=1).mean(axis=1)
    as_if_independent = found.mean(axis=1) * np.sqrt(2 / 3 / pairs)  # of a squared normal step in 3D
    assert said.mean(axis=1)[12] > 2 * as_if_independent[12]


def test_the_error_of_the_msd_is_that_of_drawing_whole_tracks_anew():
    draws = np.random.default_rng(1)
    lives = [draws.normal(size=(int(n), 3)).cumsum(axis=0) for n in draws.integers(3, 12, 60)]
    of = tracks(*({f: tuple(place) for f, place in enumerate(life)} for life in lives))
    whole, single = mean_squared_displacement(of, 2), mean_squared_displacement(of, 2, per_track=True)
    for lag, row in whole.groupby("lag"):
        mine = single[single["lag"] == lag]
        drawn = draws.integers(0, len(mine), (4000, len(mine)))
        total, n = (mine["msd"] * mine["n"]).to_numpy()[drawn].sum(axis=1), mine["n"].to_numpy()[drawn].sum(axis=1)
        assert row["standard_error"].item() == pytest.approx(np.std(total / n), rel=0.1)
        assert row["n_tracks"].item() == len(mine)


def test_one_track_has_no_error_over_tracks():
    assert mean_squared_displacement(tracks(line(range(6), x=1.0)))["standard_error"].isna().all()
    assert "standard_error" not in mean_squared_displacement(tracks(line(range(6), x=1.0)), per_track=True)


def test_msd_goes_by_time_and_not_by_row_where_frames_are_missing():
    curve = mean_squared_displacement(tracks(line([0, 1, 4, 6, 7, 11], z=1.0)))
    np.testing.assert_allclose(curve["msd"], (2.0 * curve["lag"]) ** 2)
    pairs = [b - a for i, a in enumerate([0, 1, 4, 6, 7, 11]) for b in [0, 1, 4, 6, 7, 11][i + 1 :]]
    assert dict(zip(curve["lag"], curve["n"], strict=True)) == {lag: pairs.count(lag) for lag in sorted(set(pairs))}


def test_msd_agrees_with_a_loop_over_all_pairs_and_max_lag_only_cuts_it():
    rng = np.random.default_rng(3)
    lives = [
        {int(f): tuple(rng.normal(size=3)) for f in np.sort(rng.choice(12, size=n, replace=False))}
        for n in (1, 5, 8, 12)
    ]
    table = tracks(*lives)
    squares: dict[tuple[int, int], list[float]] = {}
    for number, life in enumerate(lives):
        for f, a in life.items():
            for g, b in life.items():
                if g > f:
                    off = (np.asarray(b) - a) * MICROSCOPE.scale
                    squares.setdefault((number, g - f), []).append(float(off @ off))
    curves = mean_squared_displacement(table, per_track=True)
    found = {
        (t, lag): (msd, n) for t, lag, msd, n in zip(*(curves[c] for c in ("track_id", "lag", "msd", "n")), strict=True)
    }
    assert found.keys() == squares.keys()
    for key, (msd, n) in found.items():
        assert n == len(squares[key])
        assert msd == pytest.approx(np.mean(squares[key]))
    whole = mean_squared_displacement(table)
    for lag, msd in zip(whole["lag"], whole["msd"], strict=True):
        assert msd == pytest.approx(np.mean([s for (_, at), all_s in squares.items() if at == lag for s in all_s]))
    cut = mean_squared_displacement(table, max_lag=4)
    pd.testing.assert_frame_equal(cut, whole[whole["lag"] <= 4])


@pytest.mark.parametrize("ndim", [2, 3])
def test_msd_of_brownian_motion_is_2_d_diffusion_lag(ndim):
    """Steps of variance s² along each axis diffuse with D = s²/(2·interval)."""
    settings = SimulationSettings(
        particles=3000, frames=12, ndim=ndim, box_um=(1e9,) * ndim, persistence=0.0, step_um=1.0, frame_interval_s=0.5
    )
    curve = mean_squared_displacement(simulate(settings).truth, max_lag=4)
    variance = {2: 2 / np.pi, 3: np.pi / 8}[ndim]
    diffusion = variance / (2 * 0.5)
    np.testing.assert_allclose(curve["msd"], 2 * ndim * diffusion * curve["lag_time"], rtol=0.03)


def test_filtering_keeps_long_tracks_their_index_and_their_lineage():
    table = tracks(line(range(5)), line(range(2)), line(range(3)), line(range(4)))
    family = Tracks(table.table, MICROSCOPE, {1: [0], 2: [0, 1], 3: [1]})
    kept = filter_by_length(family, 3)
    assert sorted(kept.table["track_id"].unique()) == [0, 2, 3]
    pd.testing.assert_frame_equal(kept.table, table.table[table.table["track_id"] != 1])
    assert kept.parents == {2: [0]}
    assert kept.calibration == MICROSCOPE


@pytest.mark.parametrize("measure", [measure_tracks, mean_squared_displacement])
def test_a_track_twice_in_a_frame_is_refused(measure):
    table = tracks(line(range(3)))
    doubled = pd.concat([table.table, table.table.iloc[[1]]], ignore_index=True)
    unchecked = Points(doubled, MICROSCOPE).with_track_ids(doubled["track_id"].to_numpy())
    with pytest.raises(InvalidInput, match=r"track 0 .*frame 1"):
        measure(unchecked)


@pytest.mark.parametrize(
    "measure", [measure_tracks, mean_squared_displacement, partial(filter_by_length, min_length=2)]
)
def test_a_table_that_is_not_read_as_tracks_is_refused_with_the_remedy(measure):
    with pytest.raises(InvalidInput, match=r"^tracks .*Tracks.*DataFrame.*read_tracks"):
        measure(tracks(line(range(3))).table)


def test_lags_below_one_are_refused():
    with pytest.raises(InvalidSetting, match=r"^max_lag .*1"):
        mean_squared_displacement(tracks(line(range(3))), max_lag=0)


@pytest.mark.parametrize("least", [0, "5", 2.5, True, None])
def test_a_least_length_that_is_no_count_is_refused(least):
    with pytest.raises(InvalidSetting, match=r"^min_length .*1"):
        filter_by_length(tracks(line(range(3))), least)


def test_lags_that_do_not_fit_into_memory_are_asked_for_one_by_one():
    far_apart = tracks(line([0, 3, 10**12]))
    with pytest.raises(InvalidSetting, match="max_lag"):
        mean_squared_displacement(far_apart)
    assert mean_squared_displacement(far_apart, max_lag=5)["lag"].tolist() == [3]


@pytest.mark.parametrize("per_track", [False, True])
def test_along_each_axis_particles_spread_by_their_part_of_the_whole(per_track):
    rng = np.random.default_rng(1)
    widths = np.array([0.5, 2.0, 8.0])  # voxels a frame; 1, 1 and 2 µm
    lives = [dict(enumerate(rng.normal(0, 1, (30, 3)).cumsum(axis=0) * widths)) for _ in range(300)]
    lives[0] = {frame: place for frame, place in lives[0].items() if frame % 3}
    curve = mean_squared_displacement(tracks(*lives), 4, per_track=per_track, per_axis=True)
    whole = mean_squared_displacement(tracks(*lives), 4, per_track=per_track)
    along = curve[["msd_z", "msd_y", "msd_x"]]
    pd.testing.assert_frame_equal(curve.drop(columns=along.columns), whole)
    np.testing.assert_allclose(along.sum(axis=1), whole["msd"])
    mean = along.groupby(curve["lag"]).mean().to_numpy()
    np.testing.assert_allclose(mean, np.outer(range(1, 5), [1.0, 1.0, 4.0]), rtol=0.1)
    assert measure_units(MICROSCOPE)["msd_z"] == "µm²"


def test_a_plane_has_no_z_of_its_own_to_spread_along():
    table = pd.DataFrame({"track_id": 0, "frame": range(4), "y": [0.0, 1, 2, 3], "x": 0.0})
    curve = mean_squared_displacement(Tracks(table), per_axis=True)
    assert [name for name in curve if name.startswith("msd_")] == ["msd_y", "msd_x"]
    np.testing.assert_allclose(curve["msd_y"], [1, 4, 9])
    np.testing.assert_allclose(curve["msd_x"], 0)


@pytest.mark.parametrize("rows", [1, 7, 50])
def test_tracks_measured_a_few_at_a_time_measure_the_same_to_the_last_bit(rows, monkeypatch):
    rng = np.random.default_rng(0)
    lives = [
        {frame: tuple(rng.normal(size=3)) for frame in range(20) if kept or rng.random() < 0.8}
        for kept in (True, False, True, False)
    ]
    whole = tracks(*lives, intensity=1.0)
    measured = [
        measure_tracks,
        partial(mean_squared_displacement, max_lag=6, per_axis=True),
        partial(mean_squared_displacement, per_track=True),
    ]
    at_once = [measure(whole) for measure in measured]
    monkeypatch.setattr("auctrack.tracker.measuring.track_order.ROWS_AT_ONCE", rows)
    for measure, expected in zip(measured, at_once, strict=True):
        pd.testing.assert_frame_equal(measure(whole), expected, check_exact=True)
