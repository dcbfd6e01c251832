"""Particles that a stage or a liquid carries along, and the same without it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auctrack import (
    filter_by_length,
    mean_squared_displacement,
    measure_drift,
    measure_ensemble,
    read_tracks,
    subtract_drift,
    write_tracks,
)
from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.errors import InvalidInput
from auctrack.tracker.measuring.drift import are_carried
from auctrack.tracker.points import Tracks
from auctrack.tracker.timeline import Timeline

MICROSCOPE = Calibration(scale=(2.0, 0.5, 0.25), unit="µm", frame_interval=10.0)
CARRIED = np.array([0.5, -1.0, 3.0])
"""Voxels a frame along z, y, x."""


def walkers(n=200, frames=30, *, step=1, ndim=3, seed=1) -> Tracks:
    """Tracks that diffuse, each from its own place."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(0, 100, (n, 1, ndim)) + np.cumsum(rng.normal(0, 1, (n, frames, ndim)), axis=1)
    columns = dict(zip(("z", "y", "x")[-ndim:], places.reshape(-1, ndim).T, strict=True))
    frame = np.tile(np.arange(frames) * step, n)
    table = pd.DataFrame({"track_id": np.repeat(np.arange(n), frames), "frame": frame, **columns})
    return Tracks(table, MICROSCOPE, timeline=Timeline(step))


def carried(tracks: Tracks) -> Tracks:
    """The same, carried along."""
    way = tracks.frames[:, None] / tracks.frame_step * CARRIED[-tracks.ndim :]
    moved = {axis: tracks.table[axis] + way[:, k] for k, axis in enumerate(tracks.axes)}
    return replace(tracks, table=tracks.table.assign(**moved))


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("step", [1, 5], ids=["every frame", "every fifth"])
def test_without_their_drift_carried_particles_are_where_they_would_be_but_for_what_they_share_by_chance(ndim, step):
    still, found = subtract_drift(walkers(ndim=ndim, step=step)), subtract_drift(carried(walkers(ndim=ndim, step=step)))
    np.testing.assert_allclose(found.positions, still.positions, atol=1e-9)


def test_the_drift_is_in_physical_units_and_begins_in_the_first_frame():
    tracks = walkers(n=4000, frames=5)
    drift = measure_drift(carried(tracks.only(tracks.frames > 0)))
    assert drift["frame"].tolist() == [1, 2, 3, 4]
    assert drift["n"].tolist() == [0, 4000, 4000, 4000]
    expected = np.outer(np.arange(4), CARRIED * MICROSCOPE.scale)
    np.testing.assert_allclose(drift[["z", "y", "x"]], expected, atol=6 * 2 * np.sqrt(3 / 4000))


def test_the_mean_squared_displacement_is_that_of_diffusion_again():
    tracks = walkers(n=500, frames=20)
    wanted = mean_squared_displacement(tracks, 10)["msd"].to_numpy()
    carried_along = mean_squared_displacement(carried(tracks), 10)["msd"].to_numpy()
    found = mean_squared_displacement(subtract_drift(carried(tracks)), 10)["msd"].to_numpy()
    assert carried_along[-1] > 1.5 * wanted[-1]
    np.testing.assert_allclose(found, wanted, rtol=0.02)


def test_particles_that_come_and_go_do_not_count_as_drift():
    """The mean position jumps by half the box where half the particles appear; their steps do not."""
    early, late = walkers(n=50), walkers(n=50, seed=2)
    late = late.only(late.frames >= 15)
    far = late.table.assign(track_id=late.table["track_id"] + 50, x=late.table["x"] + 1000)
    both = replace(early, table=pd.concat([early.table, far], ignore_index=True))
    assert abs(measure_drift(both)["x"]).max() < 1


def test_steps_over_missed_frames_are_not_the_drift_of_one():
    tracks = carried(walkers(n=300, frames=10))
    rng = np.random.default_rng(3)
    seen = tracks.only(rng.random(len(tracks)) < 0.8)
    x = measure_drift(seen)["x"].to_numpy()
    np.testing.assert_allclose(x, np.arange(10) * CARRIED[2] * MICROSCOPE.scale[2], atol=6 * 0.25 * 3 / np.sqrt(150))


def test_where_no_track_is_in_both_frames_the_drift_stays_what_it_was():
    tracks = carried(walkers(frames=10))
    halves = tracks.only(tracks.frames != 5)
    drift = measure_drift(halves).set_index("frame")
    assert drift.loc[[5, 6], "n"].tolist() == [0, 0]
    assert drift.loc[6, "x"] == drift.loc[5, "x"] == drift.loc[4, "x"]


def test_the_drift_of_particles_that_lie_still_can_be_taken_off_others():
    tracks = walkers()
    beads = carried(replace(tracks, table=tracks.table.assign(z=0.0, y=0.0, x=0.0)))
    np.testing.assert_allclose(subtract_drift(carried(tracks), measure_drift(beads)).positions, tracks.positions)


def straight_on(n: int, seed: int) -> Tracks:
    """Tracks that each keep a direction of their own."""
    rng, tracks = np.random.default_rng(seed), walkers(n=n)
    way = rng.normal(size=(n, 3))[tracks.table["track_id"]] * tracks.frames[:, None]
    return replace(tracks, table=tracks.table.assign(z=way[:, 0], y=way[:, 1], x=way[:, 2]))


@pytest.mark.parametrize("n", [12, 200])
def test_tracks_are_carried_where_what_they_share_is_sure_and_much(n):
    assert are_carried(carried(walkers(n=n)))
    assert not any(are_carried(walkers(n=n, seed=seed)) for seed in range(40))
    assert not any(are_carried(straight_on(n, seed)) for seed in range(40))


def test_a_little_that_is_shared_surely_is_not_much():
    slowly = walkers(n=20_000, frames=5)
    creeping = replace(slowly, table=slowly.table.assign(x=slowly.table["x"] + 0.1 * slowly.frames))
    assert abs(measure_drift(creeping)["x"].iloc[-1]) > 5 * 0.25 * 2 / np.sqrt(20_000)
    assert not are_carried(creeping)


def test_few_tracks_and_such_of_one_detection_are_not_said_to_be_carried():
    assert not are_carried(carried(walkers(n=9)))
    assert not are_carried(carried(walkers(n=50, frames=1)))


def few_of(seed: int) -> Tracks:
    """Six tracks, some of them short, with missed frames."""
    tracks, rng = walkers(n=6, frames=24, seed=seed), np.random.default_rng(seed)
    first, last = rng.integers(0, 8, 6), rng.integers(16, 24, 6)
    number = tracks.table["track_id"]
    seen = (tracks.frames >= first[number]) & (tracks.frames <= last[number]) & (rng.random(len(tracks)) < 0.95)
    return tracks.only(seen)


@pytest.mark.parametrize("kept", [1, 6], ids=["all", "the longer ones"])
def test_what_few_tracks_lose_with_their_drift_is_allowed_for(kept):
    """They lose a sixth and more of their squares; each frame of free steps adds the voxel's squares."""
    curves = [
        mean_squared_displacement(filter_by_length(subtract_drift(carried(few_of(seed))), kept), 6).set_index("lag")
        for seed in range(200)
    ]
    msd = np.mean([curve["msd"].loc[[1, 2, 6]] for curve in curves], axis=0)
    np.testing.assert_allclose(msd, [k * np.square(MICROSCOPE.scale).sum() for k in (1, 2, 6)], rtol=0.04)


@pytest.mark.parametrize("step", [1, 5], ids=["every frame", "every fifth"])
def test_over_missed_frames_tracks_take_what_others_did_by_chance(step):
    """A third of the pairs at a lag of two pass over a frame in whose steps they have no part."""
    curves = []
    for seed in range(150):
        tracks = walkers(n=9, frames=24, step=step, seed=seed)
        seen = tracks.only(np.random.default_rng(seed).random(len(tracks)) < 0.67)
        curves.append(mean_squared_displacement(subtract_drift(seen), 2 * step)["msd"])
    np.testing.assert_allclose(np.mean(curves, axis=0), np.square(MICROSCOPE.scale).sum() * np.array([1, 2]), rtol=0.03)


def test_each_axis_and_each_track_are_given_back_what_they_lost():
    still = subtract_drift(few_of(1))
    together = mean_squared_displacement(still, 3, per_axis=True)
    np.testing.assert_allclose(together[["msd_z", "msd_y", "msd_x"]].sum(axis=1), together["msd"])
    each = mean_squared_displacement(still, 1, per_track=True)
    raw = mean_squared_displacement(replace(still, drift=None), 1, per_track=True)
    assert (each["msd"] > 1.15 * raw["msd"]).all()
    assert each["n"].equals(raw["n"])


def test_of_one_track_nothing_is_left_and_of_two_no_error_is_known():
    alone, two = (mean_squared_displacement(subtract_drift(walkers(n=n)), 4) for n in (1, 2))
    assert alone["msd"].isna().all()
    assert two["msd"].notna().all()
    assert two["standard_error"].isna().all()
    assert measure_ensemble(subtract_drift(walkers(n=1)))["value"].isna().all()
    assert measure_ensemble(subtract_drift(walkers(n=2)))["standard_error"].isna().all()


def test_only_their_own_drift_is_allowed_for():
    tracks, others = few_of(1), walkers(seed=5)
    assert subtract_drift(tracks, measure_drift(tracks)).drift.equals(subtract_drift(tracks).drift)
    assert subtract_drift(tracks, measure_drift(others)).drift is None


def test_the_drift_of_another_program_is_told_what_it_needs():
    with pytest.raises(InvalidInput, match=r"lacks frame\.") as refused:
        subtract_drift(walkers(), measure_drift(walkers()).set_index("frame"))
    assert "reset_index" in str(refused.value)


def test_points_of_no_track_and_all_else_in_the_table_stay():
    tracks = carried(walkers(n=20))
    table = tracks.table.assign(intensity=np.arange(len(tracks)), track_id=tracks.table["track_id"] - 1)
    one_free = replace(tracks, table=table.set_index(np.arange(len(tracks)) + 7), parents={3: [2]})
    found = subtract_drift(one_free)
    assert found.parents == {3: [2]}
    assert found.table.index.equals(one_free.table.index)
    assert found.table.drop(columns=["z", "y", "x"]).equals(one_free.table.drop(columns=["z", "y", "x"]))
    assert (found.table["track_id"] < 0).any()


def test_no_tracks_have_no_drift():
    none = walkers().only(np.zeros(200 * 30, bool))
    assert len(measure_drift(none)) == 0
    assert len(subtract_drift(none)) == 0


@pytest.mark.parametrize("measure", [measure_drift, subtract_drift])
def test_a_table_is_no_tracks(measure):
    with pytest.raises(InvalidInput, match="Tracks"):
        measure(walkers().table)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.xml", "t.napari.csv"])
def test_what_was_lost_with_a_drift_is_given_back_after_the_tracks_were_written(name, tmp_path):
    still = subtract_drift(carried(few_of(1)))
    write_tracks(still, tmp_path / name)
    found = read_tracks(tmp_path / name)
    pd.testing.assert_frame_equal(found.drift, still.drift)
    again, wanted = (mean_squared_displacement(each, 6) for each in (found, still))
    np.testing.assert_allclose(again, wanted, rtol=1e-6)
    assert (again["msd"] > 1.15 * mean_squared_displacement(replace(found, drift=None), 6)["msd"]).all()
    write_tracks(replace(still, drift=None), tmp_path / name, overwrite=True)
    assert read_tracks(tmp_path / name).drift is None


@pytest.mark.parametrize("broken", ['{"frame": [0, 1], "n": [0]}', '{"frame": [0]}', '{"n": [0]}', '"much"', "[1]"])
def test_a_drift_that_is_damaged_is_refused_by_the_file_that_holds_it(broken, tmp_path):
    write_tracks(few_of(1), tmp_path / "t.csv")
    beside = tmp_path / "t.csv.settings.json"
    beside.write_text(
        beside.read_text(encoding="utf-8").replace('"settings": {}', f'"settings": {{}}, "drift": {broken}')
    )
    with pytest.raises(InvalidInput, match=r"t\.csv\.settings\.json: is damaged"):
        read_tracks(tmp_path / "t.csv")
