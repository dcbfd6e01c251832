"""Every command does on sample data what its page promises."""

from __future__ import annotations

import inspect
import json
import re
import runpy
import shlex
import shutil
from dataclasses import fields
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
import tifffile
from scipy.spatial.distance import pdist
from typer.testing import CliRunner

from auctrack.plugins.cli import entry
from auctrack.plugins.cli.app import app
from auctrack.plugins.cli.commands import simulate as simulate_command
from auctrack.plugins.cli.terminal import console
from auctrack.tracker.formats.tables import read_points, read_tracks
from auctrack.tracker.measuring import msd
from auctrack.tracker.simulating.render import RenderSettings
from auctrack.tracker.simulating.simulate import SimulationSettings, simulate


def ok(result):
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_movie_goes_in_and_tracks_that_agree_with_the_truth_come_out(auctrack, samples, tmp_path):
    said = ok(auctrack("track", samples / "movie.ome.tif", "--frames", ":10", "--picture"))
    assert "1 × 0.5 × 0.5 µm" in said
    assert "proven optimal" in said
    tracks = read_tracks(tmp_path / "movie.tracks.csv")
    assert tracks.calibration.scale == (1.0, 0.5, 0.5)
    assert (tmp_path / "movie.tracks.png").read_bytes().startswith(b"\x89PNG")
    score = json.loads(
        ok(auctrack("score", "movie.tracks.csv", samples / "movie.truth.csv", "--tolerance", 1, "--json"))
    )
    assert score["link_f1"] > 0.96
    assert score["real_detections"] == 600


def test_the_package_run_as_a_module_is_the_command(monkeypatch):
    begun = []
    monkeypatch.setattr(entry, "main", lambda: begun.append("command line"))
    runpy.run_module("auctrack", run_name="__main__")
    assert begun == ["command line"]


def test_of_what_holds_no_points_every_command_says_so_not_that_they_are_in_no_frame(auctrack, samples):
    made = ok(auctrack("simulate", "none.csv", "--missed", 1, "--particles", 5))
    for said in (
        made,
        ok(auctrack("link", "none.csv", "-o", "none.tracks.csv")),
        ok(auctrack("convert", "none.csv", "none.parquet")),
        ok(auctrack("detect", samples / "movie.ome.tif", "--frames", ":2", "--threshold", 1e9)),
        ok(auctrack("track", samples / "movie.ome.tif", "--frames", ":2", "--threshold", 1e9)),
    ):
        assert re.search("^  points +none$", said, re.MULTILINE), said


def test_detect_then_link_is_track(auctrack, samples, tmp_path):
    ok(auctrack("detect", samples / "movie.ome.tif", "--frames", "0:4", "--diameter", 2.5))
    ok(auctrack("link", "movie.points.csv"))
    ok(auctrack("track", samples / "movie.ome.tif", "--frames", "0:4", "--diameter", 2.5, "-o", "whole"))
    pd.testing.assert_frame_equal(
        read_tracks(tmp_path / "movie.tracks.csv").table, read_tracks(tmp_path / "whole/movie.tracks.csv").table
    )


@pytest.mark.parametrize("solver", ["jv", "auction"])
def test_the_solver_is_the_one_that_was_asked_for(auctrack, samples, summary, solver):
    ok(auctrack("track", samples / "points.csv", "--frames", "0:4", "--solver", solver, "--device", "cpu"))
    figures = summary()["inputs"][0]["figures"]
    assert (figures["solver"], figures["device"], figures["is_optimal"]) == (solver, "cpu", True)


@pytest.mark.parametrize("name", ["tracks.parquet", "tracks.napari.csv", "tracks.csv"])
def test_the_name_of_the_result_chooses_its_format(auctrack, samples, tmp_path, name):
    ok(auctrack("link", samples / "points.csv", "--frames", "0:3", "--min-length", 2, "-o", name))
    tracks = read_tracks(tmp_path / name)
    assert set(tracks.frames) == {0, 1, 2}
    assert tracks.table["track_id"].value_counts().min() >= 2
    assert tracks.calibration.unit == "µm"


def test_measure_writes_one_row_a_track_in_physical_units(auctrack, samples, tmp_path):
    asked = "--min-length", 5, "--msd", "--max-lag", 3, "--per-axis", "-o", "./"
    said = ok(auctrack("measure", samples / "movie.truth.csv", *asked))
    assert "µm/s" in said
    measures = pd.read_csv(tmp_path / "movie.measures.csv")
    truth = read_tracks(samples / "movie.truth.csv").table
    assert len(measures) == (truth["track_id"].value_counts() >= 5).sum()
    assert measures["length"].min() >= 5
    assert measures["mean_speed"].mean() == pytest.approx(0.1, rel=0.15)  # steps of 1 µm every 10 s
    msd = pd.read_csv(tmp_path / "movie.msd.csv")
    assert msd["lag"].tolist() == [1, 2, 3]
    assert msd["lag_time"].tolist() == [10.0, 20.0, 30.0]
    assert msd[["msd_z", "msd_y", "msd_x"]].sum(axis=1).to_numpy() == pytest.approx(msd["msd"].to_numpy())
    units = json.loads((tmp_path / "movie.msd.csv.settings.json").read_text())["settings"]["units"]
    assert units["msd"] == units["msd_x"] == "µm²"


def test_measure_writes_how_displacements_are_distributed_and_how_velocities_are_correlated(auctrack, tmp_path):
    rng = np.random.default_rng(1)
    places = rng.normal(0, 2, (200, 30, 2)).cumsum(axis=1).reshape(-1, 2)
    rows = {"frame": np.tile(np.arange(30), 200), "track_id": np.repeat(np.arange(200), 30)}
    pd.DataFrame({**rows, **dict(zip("yx", places.T, strict=True))}).to_csv(tmp_path / "t.csv")
    asked = "t.csv", "--voxel", "0.5,0.5", "--frame-interval", 2, "--displacements", "1,10,99", "--max-lag", 5
    result = auctrack("measure", *asked, "--velocity-correlation", "--picture")
    assert result.exit_code == 0, result.output
    assert "no two positions of a track are 99 frames apart." in result.output
    bins, curve = (pd.read_csv(tmp_path / f"t.{what}.csv") for what in ("displacements", "velocity_correlation"))
    assert bins["count"].groupby([bins["lag"], bins["axis"]]).sum().to_dict() == {
        **{(1, axis): 200 * 29 for axis in "yx"},
        **{(10, axis): 200 * 20 for axis in "yx"},
    }
    assert curve["lag_time"].tolist() == [0, 2, 4, 6, 8, 10]
    assert curve["correlation"][0] == pytest.approx(2 / 2**2, rel=0.05)  # steps of 1 µm along each axis in 2 s
    units = {
        what: json.loads((tmp_path / f"t.{what}.csv.settings.json").read_text(encoding="utf-8"))["settings"]["units"]
        for what in ("displacements", "velocity_correlation")
    }
    assert units["displacements"] == {"lag_time": "s", "displacement": "µm", "density": "1/µm", "gaussian": "1/µm"}
    assert units["velocity_correlation"] == {"lag_time": "s", "correlation": "µm²/s²", "standard_error": "µm²/s²"}
    assert (tmp_path / "t.measures.png").read_bytes().startswith(b"\x89PNG")
    again = auctrack("measure", "t.csv", "--velocity-correlation", "-o", "t2.parquet")
    assert again.exit_code == 0, again.output
    assert len(pd.read_parquet(tmp_path / "t2.velocity_correlation.parquet")) == 29


def test_measure_writes_how_many_particles_are_around_each_other(auctrack, tmp_path):
    rng = np.random.default_rng(1)
    places = rng.uniform(0, 20, (300, 4, 2)).reshape(-1, 2)
    rows = {"frame": np.tile(np.arange(4), 300), "track_id": np.repeat(np.arange(300), 4) // 2 * 2 - 1}
    table = pd.DataFrame({**rows, **dict(zip("yx", places.T, strict=True))}).drop_duplicates(["frame", "track_id"])
    table.to_csv(tmp_path / "t.csv")
    asked = "t.csv", "--voxel", "0.5,0.5", "--pair-correlation", 3, "--velocity-correlation", "--displacements", 1
    ok(auctrack("measure", *asked, "--min-length", 5, "--subtract-drift", "--picture"))
    found = pd.read_csv(tmp_path / "t.pair_correlation.csv")
    apart = np.concatenate([pdist(each[["y", "x"]] / 2) for _, each in table.groupby("frame")])
    assert found["n"].sum() == (apart <= 3).sum()  # of all that was found, where it was
    assert found["pair_correlation"].mean() == pytest.approx(1, abs=0.1)
    beside = json.loads((tmp_path / "t.pair_correlation.csv.settings.json").read_text(encoding="utf-8"))["settings"]
    assert beside["units"] == {"distance": "µm"}
    assert beside["max_distance"] == 3
    assert (tmp_path / "t.measures.png").read_bytes().startswith(b"\x89PNG")


def test_of_points_that_nobody_linked_only_what_is_around_them_is_measured(auctrack, tmp_path):
    rows = {
        "frame": np.repeat([0, 1], 150),
        **dict(zip("yx", np.random.default_rng(1).uniform(0, 20, (2, 300)), strict=True)),
    }
    pd.DataFrame(rows).to_csv(tmp_path / "p.csv", index=False)
    pd.DataFrame({**rows, "track_id": np.arange(300)}).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "p.measures.csv").write_text("of tracks of that name")
    asked = "--pair-correlation", 3, "--frames", "1:", "--roi", ":10,:"
    result = auctrack("measure", "p.csv", *asked, "--picture")
    ok(result)
    ok(auctrack("measure", "t.csv", *asked))
    assert "pixels of unknown size" in result.output
    of_points, of_tracks = (tmp_path / f"{name}.pair_correlation.csv" for name in "pt")
    assert of_points.read_bytes() == of_tracks.read_bytes()
    beside = json.loads(of_points.with_suffix(".csv.settings.json").read_text(encoding="utf-8"))["settings"]
    assert (beside["frames"], beside["max_distance"], beside["units"]) == ("1:", 3, {"distance": "pixel"})
    assert (tmp_path / "p.measures.csv").read_text() == "of tracks of that name"
    assert (tmp_path / "p.measures.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("distance", "bins", "width"), [(25, 100, 0.25), (500, 6, 5), (5000, 1, 50)])
@pytest.mark.parametrize("linked", [False, True])
def test_a_distance_beyond_the_box_of_all_particles_is_said_with_the_bins_that_are_left(
    auctrack, tmp_path, distance, bins, width, linked
):
    places = np.random.default_rng(1).uniform(0, 20, (300, 2))
    table = pd.DataFrame(places, columns=["y", "x"]).assign(frame=np.repeat([0, 1], 150))
    (table.assign(track_id=np.arange(300)) if linked else table).to_csv(tmp_path / "p.csv", index=False)
    result = auctrack("measure", "p.csv", "--pair-correlation", distance, "--unit", "pixel")
    ok(result)
    assert len(pd.read_csv(tmp_path / "p.pair_correlation.csv")) == bins
    said = f"has {bins} of 100 bins, each {width} pixels wide"
    assert (said in result.output) == (distance > 28)
    assert ("corner to corner" in result.output) == (distance > 28)


def test_points_that_were_detected_in_pixels_on_purpose_are_not_asked_for_their_size(auctrack, movie):
    ok(auctrack("detect", movie, "--unit", "pixel", "-o", "p.csv"))
    result = auctrack("measure", "p.csv", "--pair-correlation", 20)
    ok(result)
    assert "note" not in result.output


@pytest.mark.parametrize("more", [["--msd"], ["--min-length", 2], ["--subtract-drift"], ["--picture", "--max-lag", 3]])
def test_what_needs_tracks_asks_for_them_beside_a_pair_correlation_too(auctrack, tmp_path, more):
    pd.DataFrame({"frame": [0, 0], "y": [1, 2], "x": [1, 2]}).to_csv(tmp_path / "p.csv", index=False)
    result = auctrack("measure", "p.csv", "--pair-correlation", 3, *more)
    assert result.exit_code == 1
    assert "track_id" in result.output
    assert sorted(file.name for file in tmp_path.iterdir()) == ["p.csv"]


@pytest.mark.parametrize(("option", "times"), [("--msd", 1), ("--velocity-correlation", 1), ("--per-track", 2)])
def test_a_curve_that_is_written_and_drawn_is_computed_once(auctrack, tmp_path, monkeypatch, option, times):
    rows = [(track, frame, 1.0, frame * 2.0) for track in (0, 1) for frame in range(5)]
    pd.DataFrame(rows, columns=["track_id", "frame", "y", "x"]).to_csv(tmp_path / "t.csv")
    counted = Mock(wraps=msd.mean_squared_displacement)
    monkeypatch.setattr(msd, "mean_squared_displacement", counted)
    ok(auctrack("measure", "t.csv", "--picture", option, *(["--msd"] if option == "--per-track" else [])))
    assert counted.call_count == times


def test_a_part_of_the_tracks_is_measured_by_frames_and_region(auctrack, tmp_path):
    """Two particles go two voxels a frame along x, from 0 and from 100."""
    rows = [(track, frame, 1.0, 100 * track + frame * 2.0) for track in (0, 1) for frame in range(20)]
    pd.DataFrame(rows, columns=["track_id", "frame", "y", "x"]).to_csv(tmp_path / "t.csv")
    asked = "t.csv", "--voxel", "0.5,0.5", "--frame-interval", 2, "--frames", "5:15", "--roi", ":,0:20"
    result = auctrack("measure", *asked, "--msd")
    assert result.exit_code == 0, result.output
    (row,) = pd.read_csv(tmp_path / "t.measures.csv").to_dict("records")
    assert (row["track_id"], row["first_frame"], row["last_frame"], row["path_length"]) == (0, 5, 9, 4.0)
    assert pd.read_csv(tmp_path / "t.msd.csv")["n"].tolist() == [4, 3, 2, 1]
    made_with = json.loads((tmp_path / "t.measures.csv.settings.json").read_text(encoding="utf-8"))["settings"]
    assert (made_with["frames"], made_with["roi"]) == ("5:15", ":,0:20")
    every_other = auctrack("measure", "t.csv", "--frames", "::2", "--velocity-correlation", "--overwrite")
    assert every_other.exit_code == 0, every_other.output
    assert pd.read_csv(tmp_path / "t.velocity_correlation.csv")["lag"].tolist() == list(range(0, 18, 2))
    nowhere = auctrack("measure", "t.csv", "--frames", "50:60", "--overwrite")
    assert nowhere.exit_code == 1
    assert "--frames selects none of the table's frames, which are 0 to 19." in " ".join(nowhere.stderr.split())
    assert auctrack("measure", "t.csv", "--roi", "0:9", "--overwrite").exit_code == 1


def test_a_lag_below_the_frame_step_is_refused_by_its_option(auctrack, tmp_path):
    pd.DataFrame({"frame": [0, 5], "track_id": 0, "y": 0.0, "x": 0.0}).to_csv(tmp_path / "t.csv")
    result = auctrack("measure", "t.csv", "--frame-step", 5, "--displacements", "5,3")
    assert result.exit_code == 1
    said = " ".join(result.stderr.split())
    assert "--displacements needs whole numbers of at least 5, the frame step; got 3." in said


def test_measures_are_those_of_particles_that_nothing_carries_along_where_drift_is_subtracted(auctrack, tmp_path):
    rng = np.random.default_rng(1)
    steps = rng.normal([0.0, 2.0], 0.1, (300, 12, 2))  # carried along x
    places = rng.uniform(0, 400, (300, 1, 2)) + np.cumsum(steps, axis=1)
    rows = {"frame": np.tile(np.arange(12), 300), "track_id": np.repeat(np.arange(300), 12)}
    pd.DataFrame({**rows, **dict(zip("yx", places.reshape(-1, 2).T, strict=True))}).to_csv(tmp_path / "t.csv")
    asked = "t.csv", "--unit", "µm", "--frame-interval", 1, "--msd", "--max-lag", 4
    unsubtracted = auctrack("measure", *asked, "-o", "carried/")
    assert unsubtracted.exit_code == 0
    assert "--subtract-drift" in unsubtracted.output
    result = auctrack("measure", *asked, "--subtract-drift", "-o", "still/")
    assert result.exit_code == 0
    assert "--subtract-drift" not in result.output
    note = re.search(r"drift of y (\S+), x (\S+) µm between frames 0 and 11\.", " ".join(result.output.split()))
    assert note is not None
    assert [float(each) for each in note.groups()] == pytest.approx([0, 22], abs=0.2)
    carried, still = (pd.read_csv(tmp_path / folder / "t.msd.csv")["msd"] for folder in ("carried", "still"))
    lags = np.arange(1, 5)
    assert carried.to_numpy() == pytest.approx(4 * lags**2 + 0.02 * lags, rel=0.02)
    assert still.to_numpy() == pytest.approx(0.02 * lags, rel=0.1)
    made_with = json.loads((tmp_path / "still" / "t.msd.csv.settings.json").read_text(encoding="utf-8"))["settings"]
    assert made_with["subtract_drift"] is True


@pytest.mark.parametrize(
    ("tracks", "frames", "said"), [(5, range(9), "few tracks"), (50, (0, 1, 2, 5, 6), "3 are crossed by no track")]
)
def test_a_drift_that_is_hardly_known_is_said_to_be(auctrack, tmp_path, tracks, frames, said):
    rng = np.random.default_rng(1)
    rows = [(frame, track, *rng.uniform(0, 9, 2)) for track in range(tracks) for frame in frames]
    pd.DataFrame(rows, columns=["frame", "track_id", "y", "x"]).to_csv(tmp_path / "t.csv")
    result = auctrack("measure", "t.csv", "--subtract-drift", "--unit", "pixel")
    assert result.exit_code == 0
    assert said in " ".join(result.output.split())


def test_score_by_identity_needs_no_tolerance_and_by_position_says_that_it_does(auctrack, samples):
    ok(auctrack("link", samples / "points.csv", "-o", "points.tracks.csv"))
    said = ok(auctrack("score", "points.tracks.csv", samples / "points.csv"))
    links = next(line for line in said.splitlines() if line.strip().startswith("links"))
    assert float(links.split()[-1]) > 0.97
    ok(auctrack("track", samples / "movie.ome.tif", "--frames", "0:3", "--diameter", 2.5))
    refused = auctrack("score", "movie.tracks.csv", samples / "movie.truth.csv")
    assert refused.exit_code == 1
    assert "--tolerance" in refused.output
    assert "µm" in refused.output


def test_a_truth_without_units_is_in_the_voxels_of_the_tracks_and_only_frames_tracked_count(
    auctrack, samples, tmp_path
):
    ok(auctrack("track", samples / "movie.ome.tif", "--frames", "5:9", "--diameter", 2.5))
    without_units = pd.read_csv(samples / "movie.truth.csv").filter(regex="(?<!_um)(?<!t_s)$")
    without_units.to_csv(tmp_path / "truth.csv", index=False)
    with_units = auctrack("score", "movie.tracks.csv", samples / "movie.truth.csv", "--tolerance", 1, "--json")
    without = auctrack("score", "movie.tracks.csv", "truth.csv", "--tolerance", 1, "--json")
    assert "voxels of the tracks" in without.stderr
    assert json.loads(ok(with_units)) == json.loads(ok(without))
    assert json.loads(without.stdout)["real_detections"] == 4 * 60
    wrong = auctrack("score", "movie.tracks.csv", "truth.csv", "--tolerance", 1, "--truth-voxel", "1,1,1", "--json")
    assert json.loads(ok(wrong))["link_f1"] < 0.5


def test_the_commands_in_the_readme_of_the_sample_data_write_the_sample_data(auctrack, samples, tmp_path):
    text = (samples / "README.md").read_text(encoding="utf-8").replace("\\\n", " ")
    commands = [shlex.split(line) for line in re.findall(r"^    auctrack (simulate .*)$", text, re.MULTILINE)]
    assert len(commands) == 2
    (tmp_path / "sample_data").mkdir()
    for words in commands:
        ok(auctrack(*words))
    written = tmp_path / "sample_data"
    np.testing.assert_array_equal(
        tifffile.imread(written / "movie.ome.tif"), tifffile.imread(samples / "movie.ome.tif")
    )
    for name in ("movie.truth.csv", "points.csv", "points.truth.csv"):
        pd.testing.assert_frame_equal(pd.read_csv(written / name), pd.read_csv(samples / name), rtol=1e-12)
        ours, theirs = (json.loads((folder / f"{name}.settings.json").read_text()) for folder in (written, samples))
        assert ours["settings"] == theirs["settings"]
        assert ours["calibration"] == theirs["calibration"]


@pytest.mark.parametrize("settings", [SimulationSettings, RenderSettings])
def test_simulate_starts_with_the_defaults_of_its_settings(settings):
    asked = inspect.signature(simulate_command.command).parameters
    for declared in fields(settings):
        option = asked[simulate_command._OPTIONS.get(declared.name, declared.name)]
        if option.default is None and isinstance(declared.default, tuple):
            assert f"Default: {','.join(f'{size:g}' for size in declared.default)}." in option.annotation
        else:
            assert (option.default or 0) == (declared.default or 0)


def test_simulate_takes_two_dimensions_parquet_and_an_error_of_localisation(auctrack, tmp_path):
    ok(auctrack("simulate", "p.parquet", "--ndim", 2, "--particles", 20, "--localisation-error", "0.1,0.2"))
    assert read_points(tmp_path / "p.parquet").axes == ("y", "x")
    assert read_tracks(tmp_path / "p.truth.csv").table["track_id"].nunique() == 20
    assert auctrack("simulate", "p.parquet").exit_code == 1
    assert auctrack("simulate", "q.csv", "--walls", "open").exit_code == 2
    assert auctrack("simulate", "q.txt").exit_code == 2
    assert not (tmp_path / "q.csv").exists()


@pytest.mark.parametrize(
    ("output", "option", "value"),
    [("m.ome.tif", "--missed", 0.1), ("p.csv", "--peak", 50), ("p.csv", "--voxel", "1,1,1")],
)
def test_simulate_refuses_options_that_would_change_nothing(auctrack, tmp_path, output, option, value):
    result = auctrack("simulate", output, option, value)
    assert result.exit_code == 2
    assert f"{option}: goes with" in " ".join(result.output.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--particles", 0),
        ("--spacing", -1),
        ("--box", "1,2"),
        ("--step-um", -1),
        ("--deaths", 2),
        ("--births", -1),
        ("--localisation-error", "1,2"),
        ("--frame-interval", 0),
    ],
)
def test_simulate_names_the_option_that_cannot_be(auctrack, tmp_path, option, value):
    result = auctrack("simulate", "p.csv", option, value)
    assert result.exit_code == 2
    assert f"{option} needs" in " ".join(result.output.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("option", "value"), [("--voxel", "0,1,1"), ("--psf-sigma", "1,1"), ("--peak", -1)])
def test_simulate_names_the_option_of_the_microscope_that_cannot_be(auctrack, option, value):
    result = auctrack("simulate", "m.ome.tif", option, value)
    assert result.exit_code == 2
    assert f"{option} needs" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("output", "option", "value"),
    [("p.csv", "--missed", 1.5), ("m.ome.tif", "--box", "1,2"), ("m.ome.tif", "--voxel", "0,1,1")],
)
def test_simulate_names_an_option_that_cannot_be_before_a_result_that_exists(auctrack, tmp_path, output, option, value):
    (tmp_path / output).write_text("mine")
    result = auctrack("simulate", output, option, value)
    assert result.exit_code == 2
    assert f"{option} needs" in " ".join(result.output.split())
    assert (tmp_path / output).read_text() == "mine"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("words", [(), ("--overwrite",)], ids=["as it is", "overwrite"])
@pytest.mark.parametrize(("first", "second"), [("a.ome.tif", "a.csv"), ("a.csv", "a.parquet"), ("a.csv", "a.ome.tif")])
def test_simulate_never_leaves_a_movie_or_table_beside_the_truth_of_another(auctrack, tmp_path, first, second, words):
    tiny = ("--particles", 5, "--frames", 2, "--box", "4,9,9")
    ok(auctrack("simulate", first, *tiny))
    before = contents(tmp_path)
    result = auctrack("simulate", second, *tiny, "--seed", 1, *words)
    assert result.exit_code == 1
    assert "a.truth.csv" in result.stderr
    assert contents(tmp_path) == before
    ok(auctrack("simulate", first, *tiny, "--seed", 1, "--overwrite"))
    assert contents(tmp_path).keys() == before.keys()


@pytest.mark.parametrize("name", ["points.csv", "movie.ome.tif"])
@pytest.mark.parametrize("in_the_way", ["{}", "{}.truth.csv", "{}.truth.csv.settings.json"])
def test_simulate_looks_at_every_destination_before_the_work(auctrack, tmp_path, monkeypatch, name, in_the_way):
    monkeypatch.setattr("auctrack.tracker.simulating.simulate.simulate", lambda *_, **__: pytest.fail("work was done"))
    taken = tmp_path / (name if in_the_way == "{}" else in_the_way.format(name.split(".")[0]))
    taken.write_text("mine")
    result = auctrack("simulate", name)
    assert result.exit_code == 1
    assert taken.name in result.stderr
    assert contents(tmp_path) == {taken.name: b"mine"}


def test_info_of_a_movie_says_what_it_is_and_what_suits_it(auctrack, samples):
    said = ok(auctrack("info", samples / "movie.ome.tif"))
    for fact in ("TZYX", "1 × 0.5 × 0.5 µm", "10 s between frames", "20: 0 to 19", "diameter", "threshold", "range"):
        assert fact in said
    assert "of all possible links" in said
    assert "range and unmatched cost are those of --motion none" in said
    assert "automatic (measured on all frames, so numbers may differ slightly) in: auctrack track" in said
    facts = json.loads(ok(auctrack("info", samples / "movie.ome.tif", "--json", "--diameter", 3)))
    assert facts["voxel_size"] == [1.0, 0.5, 0.5]
    assert facts["suggested"]["diameter"] == 3
    assert facts["particles"]["points_per_frame"]["median"] == pytest.approx(60, abs=2)
    assert facts["command"].endswith("movie.ome.tif --diameter 3.0")
    shares = [at["share"] for at in facts["particles"]["reach"]]
    assert len(shares) == 4
    assert 0.9 < shares[0] < shares[-1] <= 1
    assert facts["particles"]["reach"][-1]["search_range"] == pytest.approx(facts["particles"]["search_range"])


def test_what_info_says_a_run_takes_holds_what_measuring_its_settings_takes(auctrack, samples):
    facts = json.loads(ok(auctrack("info", samples / "movie.ome.tif", "--json")))
    assert facts["particles"]["expected_seconds"]["detect"] > facts["suggested"]["seconds"] > 0


def test_info_shows_what_other_unmatched_costs_would_make_of_the_particles(auctrack, samples):
    particles = json.loads(ok(auctrack("info", samples / "points.csv", "--json")))["particles"]
    assert 1 > particles["expected_f1"]["now"] > particles["expected_f1"]["half_the_frame_rate"] > 0.9
    at = {round(row["unmatched_cost"] / particles["unmatched_cost"], 2): row for row in particles["unmatched_costs"]}
    assert list(at) == [0.5, 0.75, 1.0, 1.5, 2.0]
    assert at[0.5]["links"] < at[1.0]["links"] <= at[2.0]["links"]
    assert at[0.5]["lost"] > at[1.0]["lost"] >= at[2.0]["lost"]
    said = ok(auctrack("info", samples / "points.csv"))
    rows = [line.split() for line in said.splitlines() if line.endswith("%")]
    assert [int(row[-3]) for row in rows] == [row["links"] for row in particles["unmatched_costs"]]


def test_info_of_a_table_names_the_columns_it_recognised(auctrack, samples, tmp_path):
    table = pd.DataFrame({"FRAME": [0, 0, 2, 2], "POSITION_X": [1.0, 9.0, 1.5, 9.5], "POSITION_Y": 0.0, "MEAN": 3})
    table.to_csv(tmp_path / "spots.csv", index=False)
    facts = json.loads(ok(auctrack("info", "spots.csv", "--json")))
    assert facts["columns"] == {"frame": "FRAME", "x": "POSITION_X", "y": "POSITION_Y"}
    assert facts["column_names_of"] == "TrackMate"
    assert facts["other_columns"] == ["MEAN"]
    assert facts["particles"]["unit"] == "pixel"
    said = ok(auctrack("info", samples / "points.csv"))
    assert "frame, z, y, x, true_id" in said
    assert "µm" in said


def test_info_shows_what_a_file_says_even_where_it_does_not_say_enough(auctrack, tmp_path):
    tifffile.imwrite(tmp_path / "bare.tif", np.zeros((2, 32, 32), np.uint16), imagej=True, metadata={"axes": "TYX"})
    result = auctrack("info", "bare.tif")
    assert result.exit_code == 1
    assert "32 × 32" in result.stdout
    assert "--voxel Y,X" in result.stderr
    result = auctrack("info", "bare.tif", "--unit", "pixel")
    assert result.exit_code == 1
    assert "32 × 32" in result.stdout
    assert "bare.tif: found no bright blob" in result.stderr


def test_labels_are_particles_and_their_intensity_comes_from_a_movie(auctrack, movie, tmp_path):
    labels = np.zeros((3, 48, 48), np.uint16)
    for t in range(3):
        labels[t, 10 + t : 15 + t, 12:17] = 4
    tifffile.imwrite(tmp_path / "masks.tif", labels, imagej=True, metadata={"axes": "TYX"})
    given = ("--labels", "--voxel", "0.5,0.5", "--intensity", movie)
    ok(auctrack("detect", "masks.tif", *given))
    table = read_points(tmp_path / "masks.points.csv").table
    assert table["label"].tolist() == [4, 4, 4]
    assert (table["mean_intensity"] > 150).all()
    ok(auctrack("track", "masks.tif", *given))
    assert read_tracks(tmp_path / "masks.tracks.csv").table["track_id"].tolist() == [0, 0, 0]


@pytest.fixture
def two_channels(tmp_path):
    """What measures one label in a movie of two channels and one frame more: nuclei at 50, and a reporter at 100, …"""
    labels = np.zeros((3, 12, 12), np.uint8)
    labels[:, 4:8, 4:8] = 4
    tifffile.imwrite(tmp_path / "masks.tif", labels, photometric="minisblack")
    cells = np.full((4, 2, 12, 12), 50, np.uint16)
    cells[:, 1] = 100 + np.arange(4)[:, None, None]
    named = {"axes": "TCYX", "Channel": {"Name": ["nuclei", "reporter"]}}
    tifffile.imwrite(tmp_path / "cells.ome.tif", cells, photometric="minisblack", metadata=named)
    return "masks.tif", "--labels", "--axes", "TYX", "--voxel", "0.5,0.5", "--intensity", "cells.ome.tif"


@pytest.mark.parametrize("channel", ["reporter", "1"])
def test_a_reporter_in_a_channel_of_its_own_is_measured_under_labels_that_have_none(
    auctrack, two_channels, tmp_path, channel
):
    result = auctrack("track", *two_channels, "--intensity-channel", channel)
    ok(result)
    assert read_tracks(tmp_path / "masks.tracks.csv").table["mean_intensity"].tolist() == [100, 101, 102]
    assert "cells.ome.tif has 4 frames, the labels 3" in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((), "choose one. Give its number or name, such as --intensity-channel reporter."),
        (("--intensity-channel", "2"), "--intensity-channel '2' is not among those of cells.ome.tif"),
    ],
)
def test_which_channel_is_measured_under_labels_is_asked_for(auctrack, two_channels, given, said):
    result = auctrack("detect", *two_channels, *given)
    assert result.exit_code == 1
    assert said in " ".join(result.stderr.split())


@pytest.mark.parametrize("command", ["", "track", "detect", "link", "measure", "report", "simulate", "score", "info"])
@pytest.mark.parametrize("columns", ["80", "120"])
def test_the_page_of_a_command_fits_the_terminal(monkeypatch, command, columns):
    monkeypatch.setenv("COLUMNS", columns)
    result = CliRunner().invoke(app, [*command.split(), "--help"])
    assert result.exit_code == 0
    assert max(map(len, result.output.splitlines())) <= int(columns)
    if command:
        assert f"$ auctrack {command}" in result.output


def test_the_version_is_the_packages_own(auctrack):
    import auctrack as package

    assert ok(auctrack("--version")).split() == ["auctrack", package.__version__]


def test_hl60_nuclei_from_pixels_to_tracks(auctrack, real_data):
    folder = real_data("hl60_3d")

    def link_f1(*given: object) -> float:
        ok(auctrack("track", folder / "movie.ome.tif", "--voxel", "2,1,1", "--overwrite", *given))
        scored = auctrack("score", "movie.tracks.csv", folder / "truth.csv", "--tolerance", 5, "--json")
        return json.loads(ok(scored))["link_f1"]

    assert link_f1() >= 0.95
    assert link_f1("--diameter", 8) >= 0.985


def test_hl60_without_its_voxel_size_is_told_what_to_say(auctrack, real_data):
    result = auctrack("track", real_data("hl60_3d/movie.ome.tif"))
    assert result.exit_code == 1
    assert "--voxel Z,Y,X" in result.stderr
    assert "--unit pixel" in result.stderr


def test_trackmates_pixels_and_spots_go_in_as_they_are(auctrack, real_data, summary):
    ok(auctrack("track", real_data("faketracks/FakeTracks.tif"), "--unit", "pixel", "--diameter", 10))
    assert summary()["inputs"][0]["figures"]["points"] == 183
    spots = real_data("faketracks/trackmate_tracks_without_gap_closing_spots.csv")
    ok(auctrack("link", spots, "--motion", "none", "--search-range", 15, "--unmatched-cost", 15, "-o", "tracks.csv"))
    ours = read_tracks("tracks.csv").table.sort_values(["track_id", "frame"])
    following = (ours["track_id"].diff() == 0).to_numpy()
    ids = ours["id"].to_numpy()
    edges = pd.read_csv(real_data("faketracks/trackmate_tracks_without_gap_closing_edges.csv"))
    theirs = set(zip(edges["spot_source_id"], edges["spot_target_id"], strict=True))
    assert len(theirs) == 127
    assert set(zip(ids[:-1][following[1:]], ids[1:][following[1:]], strict=True)) == theirs


def test_jaqamans_steps_give_trackmates_tracks_with_their_splits(auctrack, real_data):
    spots = real_data("faketracks/trackmate_tracks_without_gap_closing_spots.csv")
    said = ok(auctrack("link", spots, "--linking", "jaqaman", "--search-range", 15, "--divisions", "-o", "tracks.csv"))
    assert "segments joined: 2 divisions, 1 gap" in said
    assert len(read_tracks("tracks.csv").parents) == 4
    assert re.search(r"^  divisions +2$", said, re.MULTILINE)


@pytest.mark.parametrize("command", ["link", "track"])
def test_what_was_asked_for_stands_beside_the_result(auctrack, walk, command):
    given = ("--unit", "pixel", "--motion", "none", "--search-range", 9)
    ok(auctrack(command, walk, *given, "-o", "tracks.csv"))
    asked = json.loads(Path("tracks.csv.settings.json").read_text(encoding="utf-8"))["settings"]["asked"]["link"]
    assert (asked["search_range"], asked["unmatched_cost"]) == (9, "auto")


def test_measures_come_with_intervals_of_trackings_that_are_all_likely(auctrack, walk, tmp_path):
    ok(auctrack("link", walk, "--unit", "µm", "--frame-interval", 2, "-o", "walk.tracks.csv"))
    asked = ("--intervals", "--msd", "--velocity-correlation", "--max-lag", 3, "--displacements", "1,2")
    with pytest.warns(UserWarning, match="not a diffusion coefficient"):  # these walk on as they came
        said = ok(auctrack("measure", "walk.tracks.csv", *asked))
    assert "diffusion" in said
    assert re.search(r"^  msd exponent +1\.\d+; 95 %: 1", said, re.MULTILINE)
    bounds = pd.read_csv(tmp_path / "walk.intervals.csv").set_index("measure")
    units = {"mean_speed": "µm/s", "diffusion": "µm²/s", "msd_exponent": ""}
    assert bounds["unit"].fillna("").to_dict() == units
    beside = json.loads((tmp_path / "walk.intervals.csv.settings.json").read_text(encoding="utf-8"))
    assert beside["settings"]["units"] == {}  # each row has its own
    tables = [(bounds, "value", "low", "high")]
    for what, value in {"msd": "msd", "velocity_correlation": "correlation", "displacements": "non_gaussian"}.items():
        tables.append((pd.read_csv(tmp_path / f"walk.{what}.csv"), value, f"{value}_low", f"{value}_high"))
    for table, value, low, high in tables:
        assert (table[low] < table[value]).all()
        assert (table[value] < table[high]).all()


def cells_that_divide() -> pd.DataFrame:
    """Thirty cells that divide once, in the sixth frame."""
    rng = np.random.default_rng(0)
    rows = [
        (frame, 40.0 * cell + side * max(frame - 5, 0), 0.0)
        for cell in range(30)
        for frame in range(12)
        for side in ((0,) if frame < 6 else (-1, 1))
    ]
    cells = pd.DataFrame(rows, columns=["frame", "y", "x"])
    cells[["y", "x"]] += rng.normal(0, 0.1, (len(cells), 2))
    return cells


def pairs_that_meet() -> pd.DataFrame:
    """Thirty pairs that meet in the sixth frame and go on as one, across."""
    rng = np.random.default_rng(0)
    rows = [
        (frame, 40.0 * pair + side * max(6 - frame, 0), float(max(frame - 6, 0)))
        for pair in range(30)
        for frame in range(12)
        for side in ((-1, 1) if frame < 6 else (0,))
    ]
    pairs = pd.DataFrame(rows, columns=["frame", "y", "x"])
    pairs[["y", "x"]] += rng.normal(0, 0.1, (len(pairs), 2))
    return pairs


def test_measures_name_the_parents_of_tracks_that_come_of_a_division(auctrack, tmp_path):
    cells_that_divide().to_csv(tmp_path / "cells.csv", index=False)
    ok(auctrack("link", "cells.csv", "--divisions", "-o", "cells.tracks.csv"))
    ok(auctrack("measure", "cells.tracks.csv", "-o", "m.csv"))
    parents = read_tracks("cells.tracks.csv").parents
    measures = pd.read_csv("m.csv").set_index("track_id")["parent_track_id"].dropna()
    assert measures.astype(int).to_dict() == {child: mother for child, (mother,) in parents.items()} != {}


def test_what_divisions_do_not_tell_is_said_in_a_note(auctrack, tmp_path):
    """Nobody is seen from one division to the next."""
    cells = cells_that_divide()
    cells.to_csv(tmp_path / "cells.csv", index=False)
    ok(auctrack("link", "cells.csv", "--divisions", "-o", "cells.tracks.csv"))
    with pytest.warns(UserWarning, match="not a straight line"):  # daughters go apart straight
        result = auctrack("measure", "cells.tracks.csv", "--intervals")
    assert re.search("generation time +not known$", ok(result), re.MULTILINE)
    assert "nan" not in result.stdout
    assert "from one division to the next" in result.stderr
    bounds = pd.read_csv(tmp_path / "cells.intervals.csv").set_index("measure")
    assert bounds.loc["generation_time", ["value", "low", "high"]].isna().all()
    assert bounds.loc["division_rate", "low"] > 0


def test_merges_are_counted(auctrack, tmp_path):
    pairs = pairs_that_meet()
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    said = ok(auctrack("link", "pairs.csv", "--merges", "--unit", "pixel"))
    assert re.search(r"^  merges +30$", said, re.MULTILINE)
    ok(auctrack("report", "pairs.tracks.csv"))
    page = (tmp_path / "pairs.report.html").read_text(encoding="utf-8")
    assert re.search(r"merges</\w+>\s*<\w+>30<", page)


@pytest.mark.filterwarnings("ignore:the mean squared displacement:UserWarning")
@pytest.mark.parametrize(("made", "option"), [(cells_that_divide, "--divisions"), (pairs_that_meet, "--merges")])
def test_intervals_of_tracks_that_nothing_is_known_of_divide_and_merge_as_they_do(auctrack, tmp_path, made, option):
    """The tracks of another program, say: nothing beside them says how they were linked."""
    made().to_csv(tmp_path / "own.csv", index=False)
    ok(auctrack("link", "own.csv", option, "-o", "own.tracks.csv"))
    shutil.copy("own.tracks.csv", "others.csv")
    known, unknown = (auctrack("measure", name, "--intervals") for name in ("own.tracks.csv", "others.csv"))
    assert "linked again" in unknown.stderr
    assert "linked again" not in known.stderr
    assert Path("others.intervals.csv").read_text() == Path("own.intervals.csv").read_text()


def test_intervals_say_how_far_they_are(auctrack, walk, monkeypatch):
    """Where links are guesses they take minutes, of which nothing was said."""
    ok(auctrack("link", walk, "-o", "walk.tracks.csv"))
    monkeypatch.setattr(console, "SECONDS_BETWEEN_LINES", 0.0)
    with pytest.warns(UserWarning, match="not a diffusion coefficient"):  # these walk on as they came
        said = auctrack("measure", "walk.tracks.csv", "--intervals").stderr
    assert "walk: sample 2 of 30 trackings, about" in said


def test_intervals_of_links_that_are_guesses_are_said_not_to_cover_that(auctrack, walk, tmp_path):
    anywhere = np.random.default_rng(0).random((640, 2)) * 100
    frames, ids = np.divmod(np.arange(640), 80)
    table = pd.DataFrame({"frame": frames, "y": anywhere[:, 0], "x": anywhere[:, 1], "track_id": ids})
    table.to_csv(tmp_path / "guesses.csv", index=False)
    said = auctrack("measure", "guesses.csv", "--unit", "µm", "--intervals").stderr
    assert "most of the links are guesses" in said
    assert "The intervals do not cover that." in said
    with pytest.warns(UserWarning, match="not a diffusion coefficient"):  # these walk on as they came
        sure = auctrack("measure", walk, "--intervals")
    ok(sure)
    assert "guesses" not in sure.stderr


def test_intervals_need_links_that_have_a_probability(auctrack, walk):
    ok(auctrack("link", walk, "--motion", "none", "-o", "walk.tracks.csv"))
    result = auctrack("measure", "walk.tracks.csv", "--intervals")
    assert result.exit_code == 1
    assert "learned motion" in result.output


def test_measure_draws_beside_the_measures(auctrack, samples, tmp_path):
    result = auctrack("measure", samples / "movie.truth.csv", "--picture", "--max-lag", 3, "-o", "new/")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "new" / "movie.measures.png").read_bytes().startswith(b"\x89PNG")
    assert not (tmp_path / "new" / "movie.msd.csv").exists()
    assert auctrack("measure", samples / "movie.truth.csv", "--picture", "-o", "new/").exit_code == 1


@pytest.fixture
def walk(tmp_path):
    """The table of 300 particles that walk for 6 frames, some of them missed."""
    settings = SimulationSettings(particles=300, frames=6, missed=0.1, false=0.05, seed=2)
    simulate(settings).detections.table.to_csv(tmp_path / "walk.csv", index=False)
    return tmp_path / "walk.csv"


def test_learned_links_bear_their_probability_and_the_doubtful_ones_are_named(auctrack, walk):
    shown = ok(auctrack("link", walk, "--unit", "pixel"))
    assert "expected to be wrong" in shown
    made = read_tracks("walk.tracks.csv").table
    least = made.loc[made["link_probability"].idxmin()]
    assert f"doubtful  track {least['track_id']:.0f} at frame {least['frame']:.0f} (" in shown
    assert (made["link_margin"].dropna() >= 0).all()


@pytest.mark.parametrize("command", ["link", "track"])
def test_what_was_learned_stands_beside_the_result_and_does_not_stop_its_repetition(auctrack, walk, command):
    first = "first.csv" if command == "link" else "first"
    ok(auctrack(command, walk, "--unit", "µm", "-o", first))
    (beside,) = Path.cwd().rglob("*.settings.json")
    lines = json.loads(beside.read_text(encoding="utf-8"))["settings"]["figures"]["learned"]
    assert re.match(r"typical step [\d.]+ µm per frame", lines[0])
    assert "expected to be wrong" in lines[-1]
    ok(auctrack(command, walk, "--config", beside, "-o", f"again{Path(first).suffix}"))


@pytest.mark.parametrize("names", [[], ["--features", "auto"], ["--features", "intensity"]])
def test_features_are_weighed_unless_they_are_not_wanted(auctrack, walk, names):
    table = pd.read_csv(walk)
    bright = np.random.default_rng(0).lognormal(0, 0.5, 10_000)
    table.assign(intensity=bright[table["true_id"]]).to_csv(walk, index=False)
    without = ok(auctrack("link", walk, "--unit", "pixel", "--features", "none", "-o", "plain.csv"))
    assert "intensity makes" not in without
    shown = ok(auctrack("link", walk, "--unit", "pixel", *names))
    assert "intensity makes a link likelier" in " ".join(shown.split())
    ok(auctrack("link", walk, "--config", "walk.tracks.csv.settings.json", "-o", "again.csv"))
    assert read_tracks("again.csv").table["track_id"].equals(read_tracks("walk.tracks.csv").table["track_id"])


def test_without_motion_nothing_is_said_to_be_learned(auctrack, walk):
    ok(auctrack("link", walk, "--unit", "pixel", "--motion", "none"))
    assert "learned" not in json.loads(Path("walk.tracks.csv.settings.json").read_text(encoding="utf-8"))["settings"]


def test_without_motion_links_bear_no_probability(auctrack, walk):
    shown = ok(auctrack("link", walk, "--unit", "pixel", "--motion", "none"))
    assert "doubtful" not in shown
    assert "unmatched cost" in shown
    assert "link_probability" not in read_tracks("walk.tracks.csv").table


@pytest.mark.parametrize("given", [("--motion", "none", "--divisions"), ("--motion", "some"), ("--cost", "distance")])
def test_settings_of_motion_that_contradict_each_other_are_wrong_usage(auctrack, walk, given):
    assert auctrack("link", walk, *given).exit_code == 2


def test_missed_frames_are_as_many_as_asked_for(auctrack, walk):
    gaps = {}
    for most in ("0", "1"):
        ok(auctrack("link", walk, "--max-missed-frames", most, "--overwrite"))
        made = read_tracks("walk.tracks.csv").table.sort_values(["track_id", "frame"])
        gaps[most] = made.groupby("track_id")["frame"].diff().max()
    assert gaps == {"0": 1, "1": 2}


def test_what_a_simulated_movie_will_take_is_said_before_it_is_made(auctrack, monkeypatch):
    monkeypatch.setattr("auctrack.tracker.simulating.render.render", interrupted)
    stopped = auctrack("simulate", "movie.ome.tif", "--particles", 5, "--frames", 3, "--box", "10,20,30")
    assert stopped.exit_code == 130
    assert "3 frames of 11 × 41 × 61 voxels, 0.2 MB" in stopped.stderr
    assert "memory" in stopped.stderr


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_of_one_particle_a_frame_no_spacing_is_named_for_the_range(auctrack, tmp_path):
    pd.DataFrame({"frame": range(5), "y": np.arange(5.0), "x": 1.0}).to_csv(tmp_path / "one.csv", index=False)
    said = " ".join(auctrack("info", "one.csv").stdout.split())
    assert "spacing not known" in said
    assert "as wide as the data" in said
    assert "× the spacing" not in said


@pytest.mark.filterwarnings("ignore:the mean squared displacement is not a straight line")
@pytest.mark.parametrize(
    "asked",
    [(), ("--msd", "--picture"), ("--displacements", "1", "--velocity-correlation", "--picture"), ("--intervals",)],
    ids=str,
)
def test_what_measure_says_stands_in_two_columns(auctrack, samples, asked):
    result = auctrack("measure", samples / "points.truth.csv", *asked, "-o", "out/")
    assert result.exit_code == 0, result.output
    names = "mean speed|msd exponent|velocity correlation|[a-z]+"
    assert len({re.match(f"  ({names}) +", row).end() for row in result.stdout.splitlines()}) == 1, result.stdout
