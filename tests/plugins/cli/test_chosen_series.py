"""One of several series of a file: its name is part of those of its results, so that each has its own."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tifffile
from hypothesis import given
from hypothesis import strategies as st

from auctrack.plugins.cli.runs.chosen_series import parts_of_names
from auctrack.plugins.cli.runs.inputs import plan, stem
from auctrack.tracker.settings import InputSettings

from ...tracker.reading.test_series import DATA, dataset, one_each
from ...two_spots import two_spots
from .test_bad_input import refused


@pytest.fixture
def positions(movie) -> Path:
    """Write a file of two positions, the second the first one upside down."""
    frames = tifffile.imread(movie)
    known = {"axes": "TYX", "PhysicalSizeX": 0.5, "PhysicalSizeY": 0.5}
    with tifffile.TiffWriter(path := movie.with_name("well.ome.tif"), ome=True) as tif:
        for name, data in (("Pos1", frames), ("B/2: late", frames[:, ::-1])):
            tif.write(np.ascontiguousarray(data), metadata={**known, "Name": name})
    return path


def tracked(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.tracks.*") if path.suffix != ".json")


def test_each_series_of_a_file_has_results_of_its_own(auctrack, positions, tmp_path):
    for series in ("Pos1", "B/2: late"):
        assert auctrack("track", positions, "--series", series, "-o", "out", "--picture").exit_code == 0
    names = [f"well.{part}.tracks.{kind}" for part in ("B_2_late", "Pos1") for kind in ("csv", "png")]
    assert tracked(tmp_path / "out") == names
    beside = [json.loads((tmp_path / f"out/{name}.settings.json").read_text()) for name in names[::2]]
    assert [one["settings"]["asked"]["input"]["series"] for one in beside] == ["B/2: late", "Pos1"]
    late, first = (pd.read_csv(tmp_path / "out" / name) for name in names[::2])
    assert not np.allclose(np.sort(late["y"]), np.sort(first["y"]))


def test_a_series_is_up_to_date_by_its_number_as_by_its_name(auctrack, positions, tmp_path):
    auctrack("track", positions, "--series", "Pos1")
    before = (tmp_path / "well.Pos1.tracks.csv").read_bytes()
    again = auctrack("track", positions, "--series", 0)
    assert (again.exit_code, "well.Pos1.tracks.csv is up to date" in again.stdout) == (0, True)
    assert tracked(tmp_path) == ["well.Pos1.tracks.csv"]
    assert (tmp_path / "well.Pos1.tracks.csv").read_bytes() == before


def test_a_dry_run_names_the_result_of_a_series_as_the_run_does(auctrack, positions, tmp_path):
    said = auctrack("track", positions, "--series", 1, "--dry-run")
    assert "well.B_2_late.tracks.csv would be written" in said.stdout
    auctrack("track", positions, "--series", 1)
    assert tracked(tmp_path) == ["well.B_2_late.tracks.csv"]
    assert "is up to date and would be skipped" in auctrack("track", positions, "--series", 1, "--dry-run").stdout


def test_a_named_result_keeps_its_name_and_refuses_another_series(auctrack, positions, tmp_path):
    assert auctrack("track", positions, "--series", 0, "-o", "cells.tracks.csv").exit_code == 0
    other = auctrack("track", positions, "--series", 1, "-o", "cells.tracks.csv")
    assert (other.exit_code, "made with other settings: --series" in other.stderr) == (1, True)
    assert tracked(tmp_path) == ["cells.tracks.csv"]


def test_all_series_of_a_file_are_tracked_in_turn_each_as_if_it_were_chosen(auctrack, positions, movie, summary):
    said = auctrack("track", positions, movie, "--series", "all", "-o", "out")
    assert (said.exit_code, "note: " + str(movie) in said.stderr) == (0, False)
    folder = Path("out").resolve()
    assert tracked(folder) == ["spots.tracks.csv", "well.B_2_late.tracks.csv", "well.Pos1.tracks.csv"]
    assert [entry["series"] for entry in summary(folder)["inputs"]] == ["Pos1", "B/2: late", None]
    late = (folder / "well.B_2_late.tracks.csv").read_bytes()
    for series in ("all", "B/2: late", 1):
        again = auctrack("track", positions, "--series", series, "-o", folder)
        assert "well.B_2_late.tracks.csv is up to date" in again.stdout
    alone = auctrack("track", positions, "--series", 1, "-o", "alone")
    assert (alone.exit_code, Path("alone/well.B_2_late.tracks.csv").read_bytes() == late) == (0, True)


def test_a_series_that_fails_is_named_at_the_end_and_stops_no_other(auctrack, positions, tmp_path, summary):
    (tmp_path / "well.Pos1.tracks.csv").write_text("mine")
    for dry in ([], ["--dry-run"]):
        said = auctrack("track", positions, "--series", "all", *dry)
        assert (said.exit_code, said.stderr.endswith(f"failed:\n  {positions}, Pos1\n")) == (1, True)
    assert [entry["status"] for entry in summary()["inputs"]] == ["failed", "tracked"]
    assert auctrack("track", positions, "--series", "all", "--overwrite").exit_code == 0
    assert (tmp_path / "well.Pos1.tracks.csv").read_text() != "mine"


def test_settings_of_one_of_all_series_repeat_it_alone(auctrack, positions, tmp_path):
    auctrack("track", positions, "--series", "all", "--save-config", "ours.toml")
    assert 'series = "all"' in (tmp_path / "ours.toml").read_text()
    beside = tmp_path / "well.Pos1.tracks.csv.settings.json"
    assert auctrack("track", positions, "--config", beside, "-o", "again").exit_code == 0
    assert tracked(tmp_path / "again") == ["well.Pos1.tracks.csv"]


def test_of_a_dataset_of_one_file_a_position_each_file_is_its_own_of_all(tmp_path):
    files = map(str, one_each(tmp_path))
    jobs = plan([*files], tmp_path, "csv", InputSettings(series="all"))
    assert [(job.name, job.result.name) for job in jobs] == [
        (str(tmp_path / f"Pos{n}.ome.tif"), f"Pos{n}.tracks.csv") for n in range(2)
    ]


_BOTH = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]


@pytest.mark.parametrize(
    "held",
    [
        {"a": _BOTH[::2], "b": _BOTH[1::2]},
        {"a": _BOTH, "b": [(2, 0), (2, 1), (2, 2)]},
        {"a": _BOTH[:2], "b": _BOTH[2:3], "c": _BOTH[3:4], "d": _BOTH[4:]},
    ],
    ids=["both in each file", "one of three in a file of its own", "several files each"],
)
def test_each_position_of_a_dataset_is_one_movie_of_all_files_that_hold_it(tmp_path, held, capsys):
    data = np.concatenate([DATA, DATA[:1]])[: 1 + max(position for volumes in held.values() for position, _ in volumes)]
    files = dataset(tmp_path, {f"{name}.ome.tif": volumes for name, volumes in held.items()}, data)
    jobs = plan([str(tmp_path)], tmp_path, "csv", InputSettings(series="all"))
    made_of = [{file.name.removesuffix(".ome.tif") for file in job.files} for job in jobs]
    assert made_of == [
        {name for name, volumes in held.items() if any(position == of for of, _ in volumes)}
        for position in range(len(data))
    ]
    assert f"{files[1]} is a file of the same movie as {files[0]}" in capsys.readouterr().err


def test_all_series_of_files_of_one_frame_each_are_movies_of_these(tmp_path):
    for number in range(3):
        with tifffile.TiffWriter(tmp_path / f"t{number}.ome.tif", ome=True) as tif:
            for name in ("A", "A", "B"):
                tif.write(np.zeros((4, 8, 8), np.uint8), metadata={"axes": "ZYX", "Name": name})
    jobs = plan([str(tmp_path)], tmp_path, "csv", InputSettings(series="all"))
    assert [len(job.files) for job in jobs] == [3, 3, 3]
    assert [job.series.asked for job in jobs] == [0, 1, "B"]
    assert [job.result.name.split(".", 1)[1] for job in jobs] == ["A.0.tracks.csv", "A.1.tracks.csv", "B.tracks.csv"]


def test_all_series_are_of_a_command_that_takes_many_inputs(auctrack, positions, movie, tmp_path):
    for command in ("detect", "info"):
        refused(auctrack(command, positions, "--series", "all"), "--series all", "auctrack track")
        assert auctrack(command, movie, "--series", "all").exit_code == 0
    assert [path.name for path in tmp_path.glob("*.points.csv")] == ["spots.points.csv"]
    refused(auctrack("track", positions), "--series all")
    assert auctrack("track", positions, "--series", "all", "-o", "one.csv").exit_code == 2


def test_a_file_of_one_series_is_taken_beside_those_of_which_one_is_chosen(auctrack, positions, movie, tmp_path):
    """The pattern names it first: it had refused the call as a whole."""
    said = auctrack("track", str(positions.parent / "*.tif"), "--series", "B/2: late")
    assert min(positions.parent.glob("*.tif")) == movie
    assert (said.exit_code, f"note: {movie} holds one image" in said.stderr) == (0, True)
    assert f"note: {positions}" not in said.stderr
    assert tracked(tmp_path) == ["spots.tracks.csv", "well.B_2_late.tracks.csv"]
    assert "is up to date" in auctrack("track", movie).stdout


def test_a_file_of_one_series_keeps_its_name(auctrack, movie, tmp_path):
    assert auctrack("track", movie, "--series", 0).exit_code == 0
    assert tracked(tmp_path) == ["spots.tracks.csv"]


def test_a_series_that_is_not_there_is_answered_as_before(auctrack, positions, tmp_path):
    said = auctrack("track", positions, "--series", "Pos7")
    assert (said.exit_code, "'Pos7' is not among those of" in said.stderr) == (1, True)
    assert tracked(tmp_path) == []


def test_a_file_named_as_the_series_of_another_in_its_folder_is_refused_not_mixed_up(auctrack, positions, summary):
    two_spots(positions.with_name("well.Pos1.ome.tif"))
    auctrack("track", positions, positions.with_name("well.Pos1.ome.tif"), "--series", 0)
    assert [entry["status"] for entry in summary()["inputs"]] == ["tracked", "failed"]


def test_points_of_a_series_and_what_is_made_of_its_results_carry_its_name(auctrack, positions, tmp_path):
    assert auctrack("detect", positions, "--series", 1).exit_code == 0
    assert auctrack("link", "well.B_2_late.points.csv").exit_code == 0
    assert auctrack("measure", "well.B_2_late.tracks.csv").exit_code == 0
    assert auctrack("draw", "well.B_2_late.tracks.csv").exit_code == 0
    made = {path.name for path in tmp_path.glob("well.*")}
    assert {f"well.B_2_late.{what}" for what in ("points.csv", "tracks.csv", "measures.csv", "tracks.png")} <= made


@given(st.lists(st.text(max_size=80) | st.sampled_from(["a", "A", "a.0", "a 0", "a_", "", "series"]), max_size=9))
def test_series_have_safe_names_of_which_no_two_are_alike(names):
    parts = parts_of_names(names)
    assert len({part.casefold() for part in parts}) == len(names)
    for part in parts:
        assert part
        assert not set('/\\:*?"<>|[] \n\0') & set(part)
        assert stem(f"well.{part}.tracks.csv") == f"well.{part}"
