"""`auctrack track` over many inputs: skipped, refused, replaced, broken, interrupted; and nothing is ever lost."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tifffile

from auctrack.plugins.cli.runs import batch, dry_run
from auctrack.plugins.cli.runs.inputs import Job, plan
from auctrack.plugins.cli.runs.outcome import Outcome
from auctrack.plugins.cli.runs.summary import write_summary
from auctrack.plugins.cli.terminal import interrupt
from auctrack.plugins.cli.terminal.interrupt import held_back
from auctrack.tracker import pipeline
from auctrack.tracker.errors import InvalidInput
from auctrack.tracker.formats import write
from auctrack.tracker.formats.tables import read_points, read_tracks
from auctrack.tracker.settings import InputSettings

from ...tracker.reading.test_movie_bad_input import in_parts


def statuses(summary):
    return [entry["status"] for entry in summary["inputs"]]


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_result_is_skipped_while_input_and_settings_stay_refused_when_not_and_replaced_when_told(
    auctrack, movie, write_movie, tmp_path, summary
):
    assert auctrack("track", movie, "-o", "out").exit_code == 0
    first = contents(tmp_path / "out")
    again = auctrack("track", movie, "-o", "out")
    assert (again.exit_code, statuses(summary(tmp_path / "out"))) == (0, ["up to date"])
    refused = auctrack("track", movie, "-o", "out", "--min-length", 2)
    assert (refused.exit_code, statuses(summary(tmp_path / "out"))) == (1, ["failed"])
    assert "--overwrite" in refused.stderr
    assert "other settings: --min-length." in refused.stderr
    write_movie(movie, frames=4)
    other = auctrack("track", movie, "-o", "out")
    assert other.exit_code == 1
    assert "another input" in other.stderr
    unchanged = contents(tmp_path / "out")
    assert {name: unchanged[name] for name in first if "summary" not in name} == {
        name: content for name, content in first.items() if "summary" not in name
    }
    assert auctrack("track", movie, "-o", "out", "--overwrite").exit_code == 0
    assert set(read_tracks(tmp_path / "out/spots.tracks.csv").frames) == {0, 1, 2, 3}


def test_what_a_killed_run_left_is_removed_though_the_result_is_up_to_date(auctrack, movie, tmp_path, summary):
    assert auctrack("track", movie, "-o", "out", "--picture").exit_code == 0
    stems = ("spots.tracks.csv", "spots.tracks.csv.settings.json", "spots.tracks.png")
    left = [tmp_path / "out" / f".{name}.0123abcd.tmp" for name in stems]
    for file in left:
        file.write_bytes(b"half")
        os.utime(file, (0, 0))
    assert auctrack("track", movie, "-o", "out", "--picture").exit_code == 0
    assert statuses(summary(tmp_path / "out")) == ["up to date"]
    assert not [file for file in left if file.exists()]


@pytest.mark.parametrize("source", ["in/spots.ome.tif", "in/spots*.tif"])
def test_of_an_input_that_is_gone_it_is_said_that_it_is_not_there(auctrack, movie, source):
    assert auctrack("track", source).exit_code == 0
    movie.unlink()
    said = auctrack("track", source)
    assert said.exit_code == 1
    assert f"{source}: " in said.stderr
    assert "no such file" in said.stderr or "no file matches" in said.stderr
    assert "another input" not in said.stderr


def test_a_result_without_its_record_is_never_taken_for_ours(auctrack, movie, tmp_path):
    (tmp_path / "spots.tracks.csv").write_text("by hand")
    said = auctrack("track", movie)
    assert said.exit_code == 1
    assert "nothing beside it says" in said.stderr
    assert (tmp_path / "spots.tracks.csv").read_text() == "by hand"


@pytest.mark.parametrize("kind", ["csv", "parquet", "napari"])
@pytest.mark.parametrize("damaged", [lambda old: old[:0], lambda old: old[:-10], lambda old: b"9" + old[1:]])
def test_a_result_that_is_not_as_it_was_written_is_not_up_to_date(auctrack, movie, tmp_path, summary, kind, damaged):
    assert auctrack("track", movie, "--format", kind).exit_code == 0
    (result,) = (path for path in tmp_path.glob("spots.tracks.*") if not path.name.endswith(".json"))
    whole = result.read_bytes()
    result.write_bytes(damaged(whole))
    refused = auctrack("track", movie, "--format", kind)
    assert (refused.exit_code, statuses(summary())) == (1, ["failed"])
    assert "--overwrite" in refused.stderr
    assert auctrack("track", movie, "--format", kind, "--dry-run").exit_code == 1
    assert result.read_bytes() == damaged(whole)
    assert auctrack("track", movie, "--format", kind, "--overwrite").exit_code == 0
    assert result.read_bytes() == whole
    assert auctrack("track", movie, "--format", kind).exit_code == 0
    assert statuses(summary()) == ["up to date"]


def test_a_result_that_another_run_wrote_meanwhile_is_up_to_date(auctrack, movie, monkeypatch, summary):
    stages = batch.stages

    def while_another_is_faster(source, settings):
        monkeypatch.setattr(batch, "stages", stages)
        assert auctrack("track", movie, "--picture").exit_code == 0
        return stages(source, settings)

    monkeypatch.setattr(batch, "stages", while_another_is_faster)
    assert auctrack("track", movie, "--picture").exit_code == 0
    assert statuses(summary()) == ["up to date"]


def test_units_beside_a_table_are_part_of_the_input(auctrack, movie, tmp_path):
    assert auctrack("detect", movie, "-o", "spots.points.csv").exit_code == 0
    assert auctrack("track", "spots.points.csv").exit_code == 0
    beside = tmp_path / "spots.points.csv.settings.json"
    beside.write_text(beside.read_text().replace("0.5", "0.25"))
    assert auctrack("track", "spots.points.csv").exit_code == 1


def test_a_picture_that_is_missing_beside_an_up_to_date_result_is_drawn(auctrack, movie, tmp_path):
    assert auctrack("track", movie).exit_code == 0
    assert auctrack("track", movie, "--picture").exit_code == 0
    assert (tmp_path / "spots.tracks.png").exists()


@pytest.mark.parametrize("damaged", [lambda png: png[:0], lambda png: png[:-100], lambda png: png[:-9] + b"edited..."])
@pytest.mark.parametrize("drawn_later", [False, True])
def test_a_picture_that_is_not_as_it_was_drawn_is_not_up_to_date(
    auctrack, movie, tmp_path, summary, damaged, drawn_later
):
    if drawn_later:
        assert auctrack("track", movie).exit_code == 0
    assert auctrack("track", movie, "--picture").exit_code == 0
    picture = tmp_path / "spots.tracks.png"
    whole = picture.read_bytes()
    assert auctrack("track", movie, "--picture").exit_code == 0
    assert statuses(summary()) == ["up to date"]
    picture.write_bytes(damaged(whole))
    refused = auctrack("track", movie, "--picture")
    assert (refused.exit_code, statuses(summary())) == (1, ["failed"])
    assert picture.name in refused.stderr
    assert picture.read_bytes() == damaged(whole)
    assert auctrack("track", movie).exit_code == 0
    assert auctrack("track", movie, "--picture", "--overwrite").exit_code == 0
    assert picture.read_bytes() == whole


def test_a_broken_input_stops_no_other(auctrack, movie, write_movie, tmp_path, summary):
    folder = movie.parent
    (folder / "a_broken.tif").write_bytes(b"II*\x00 this is no movie")
    (folder / "b_empty.tif").write_bytes(b"")
    write_movie(folder / "z.ome.tif")
    result = auctrack("track", folder, "nowhere.csv", "-o", "out")
    assert result.exit_code == 1
    assert statuses(summary(tmp_path / "out")) == ["failed", "failed", "tracked", "tracked", "failed"]
    for entry in summary(tmp_path / "out")["inputs"]:
        assert (entry["message"] is None) == (entry["status"] == "tracked")
        assert entry["message"] is None or entry["source"] in entry["message"]
    assert "Traceback" not in result.output


@pytest.mark.parametrize("dry", [(), ("--dry-run",)], ids=["run", "dry run"])
@pytest.mark.parametrize(("broken", "more"), [(1, ""), (10, ""), (13, "and 3 more")])
def test_a_batch_ends_with_the_names_of_what_failed_of_many_the_first_ten(auctrack, movie, broken, more, dry):
    for number in range(broken):
        (movie.parent / f"well{number:02}.tif").write_bytes(b"II*\x00 this is no movie")
    result = auctrack("track", movie.parent, *dry)
    assert result.exit_code == 1
    end = [line.strip() for line in result.stderr.split("failed:\n")[-1].splitlines()]
    named = [str(movie.parent / f"well{number:02}.tif") for number in range(broken)]
    assert end == [*named[:10], *([more] if more else [])]


def test_a_single_input_that_fails_is_named_once(auctrack, tmp_path):
    (tmp_path / "well.tif").write_bytes(b"II*\x00 this is no movie")
    assert "failed:" not in auctrack("track", "well.tif").stderr


def failing_at_spots(work):
    """What does the same, but for a bug that one of the movies meets."""

    def buggy(source, settings, **rest):
        if "spots" in str(source):
            raise ZeroDivisionError("by zero")
        return work(source, settings, **rest)

    return buggy


def test_even_our_own_bug_stops_no_other(auctrack, movie, write_movie, monkeypatch, summary):
    write_movie(movie.parent / "z.ome.tif")
    monkeypatch.setattr(batch, "stages", failing_at_spots(batch.stages))
    result = auctrack("track", movie.parent)
    assert (result.exit_code, statuses(summary())) == (1, ["failed", "tracked"])
    assert "unexpected ZeroDivisionError: by zero" in result.stderr


def test_even_our_own_bug_stops_no_dry_run(auctrack, movie, write_movie, monkeypatch):
    write_movie(movie.parent / "z.ome.tif")
    monkeypatch.setattr(dry_run, "first_look", failing_at_spots(dry_run.first_look))
    result = auctrack("track", movie.parent, "--dry-run")
    assert result.exit_code == 1
    assert "unexpected ZeroDivisionError: by zero" in result.stderr
    assert "z.tracks.csv" in result.stdout
    assert "1 of 2" in result.stdout


def test_frames_in_files_of_their_own_are_one_movie_and_stacks_are_one_each(
    auctrack, movie, write_movie, tmp_path, summary
):
    frames = tmp_path / "frames"
    frames.mkdir()
    for number, image in enumerate(tifffile.imread(movie)):
        tifffile.imwrite(frames / f"t{number}.tif", image)
    assert auctrack("track", frames, "--voxel", "0.5,0.5").exit_code == 0
    assert [entry["result"] for entry in summary()["inputs"]] == ["frames.tracks.csv"]
    assert summary()["inputs"][0]["figures"]["frames"] == 3
    write_movie(movie.parent / "other.ome.tif")
    assert auctrack("track", f"{movie.parent}/*.tif").exit_code == 0
    ours, of_the_run_before = ["other.tracks.csv", "spots.tracks.csv"], ["frames.tracks.csv"]
    assert [entry["result"] for entry in summary()["inputs"]] == [*ours, *of_the_run_before]


@pytest.mark.parametrize("quoted", [True, False])
def test_folders_named_by_a_pattern_are_as_each_given_by_itself(auctrack, movie, write_movie, tmp_path, quoted):
    for name in ("a/one.ome.tif", "a/other.ome.tif", "b/third.ome.tif"):
        write_movie(tmp_path / "cells" / name)
    for number in range(2):
        (tmp_path / "cells/c").mkdir(exist_ok=True)
        tifffile.imwrite(tmp_path / f"cells/c/t{number}.tif", tifffile.imread(movie)[number])
    inputs = ["cells/*"] if quoted else ["cells/a", "cells/b", "cells/c"]
    auctrack("track", *inputs, "-o", "out")
    found = json.loads((tmp_path / "out/auctrack-summary.json").read_text(encoding="utf-8"))["inputs"]
    assert [each["source"] for each in found] == [
        "cells/a/one.ome.tif",
        "cells/a/other.ome.tif",
        "cells/b/third.ome.tif",
        "cells/c",
    ]


def test_a_folder_of_folders_is_answered_with_the_pattern_that_names_them(auctrack, write_movie, tmp_path):
    write_movie(tmp_path / "my cells/a/one.ome.tif")
    said = auctrack("track", "my cells")
    assert said.exit_code == 1
    assert "'my cells/*'" in said.stderr


def test_a_folder_without_movies_gives_its_tables_but_not_our_own_results(auctrack, tmp_path, summary):
    folder = tmp_path / "tables"
    folder.mkdir()
    table = pd.DataFrame({"frame": [0, 1], "y": [1.0, 1.2], "x": [2.0, 2.1]})
    for name in ("a.csv", "a.tracks.csv", "b.csv.gz", "b.measures.csv"):
        table.to_csv(folder / name, index=False)
    table.to_csv(folder / "c.tsv", index=False, sep="\t")
    (folder / "notes.txt").write_text("not a table")
    assert auctrack("track", folder).exit_code == 0
    assert [entry["result"] for entry in summary()["inputs"]] == ["a.tracks.csv", "b.tracks.csv", "c.tracks.csv"]


@pytest.mark.parametrize(
    "name", ["cells [1].csv", "cells_.csv", "cells-.csv.gz", "a*b.parquet", "what?.csv", "CELLS [1].CSV"]
)
def test_no_table_of_a_folder_is_left_out_for_the_signs_in_its_name(tmp_path, name):
    (tmp_path / "in").mkdir()
    for each in (name, "plain.csv", "spots [1].tracks.csv"):
        (tmp_path / "in" / each).write_text("frame,y,x\n")
    inputs = [Path(job.source).name for job in plan([str(tmp_path / "in")], tmp_path, "csv", InputSettings())]
    assert inputs == sorted([name, "plain.csv"])


def test_a_folder_of_our_own_tables_alone_says_how_they_are_given(auctrack, tmp_path):
    (tmp_path / "found").mkdir()
    for name in ("b.points.csv", "a.points.csv", "a.points.csv.settings.json"):
        (tmp_path / "found" / name).write_text("{}")
    result = auctrack("track", "found")
    assert result.exit_code == 1
    assert "a.points.csv" in result.stderr
    assert "'found/*.points.csv'" in result.stderr


def test_no_table_that_a_command_writes_is_an_input(auctrack):
    also = "--displacements", 1, "--velocity-correlation", "--pair-correlation", 5
    for words in (
        ("simulate", "in/walk.csv", "--frames", 6, "--particles", 5),
        ("link", "in/walk.csv", "-o", "in/walk.tracks.csv"),
        ("measure", "in/walk.tracks.csv", "--msd", *also, "--intervals"),
    ):
        result = auctrack(*words)
        assert result.exit_code == 0, result.output
    assert len([*Path("in").glob("*.csv")]) == 9
    assert [job.source for job in plan(["in"], Path("out"), "csv", InputSettings())] == ["in/walk.csv"]


def test_inputs_of_one_name_keep_their_folders_below_the_one_they_share(auctrack, movie, write_movie, summary):
    other = write_movie(movie.parent / "deep" / "other.ome.tif")
    for day in ("day1", "day2"):
        write_movie(movie.parent / day / "spots.ome.tif")
    result = auctrack("track", movie, other, "in/day1/spots.ome.tif", "in/day2/spots.ome.tif", "-o", "out")
    assert (result.exit_code, statuses(summary(Path("out")))) == (0, ["tracked"] * 4)
    results = [entry["result"] for entry in summary(Path("out"))["inputs"]]
    assert results == [f"out/{name}.tracks.csv" for name in ("spots", "other", "day1/spots", "day2/spots")]
    assert all(Path(name).exists() for name in results)


def test_of_two_inputs_of_one_name_in_one_folder_the_first_is_tracked_and_the_other_refused(auctrack, movie, summary):
    other = movie.with_name("spots.tif")
    other.write_bytes(movie.read_bytes())
    result = auctrack("track", movie, other)
    assert (result.exit_code, statuses(summary())) == (1, ["tracked", "failed"])
    assert f"where the tracks of {movie} go" in result.stderr
    assert "--output" in result.stderr
    assert auctrack("track", movie, other, "--dry-run").exit_code == 1


def test_the_time_left_is_told_by_the_bytes_of_what_was_tracked(tmp_path):
    def job(name, size):
        (tmp_path / name).write_bytes(bytes(size))
        return Job(name, (tmp_path / name,), tmp_path / "out")

    jobs = [job("a", 500), job("b", 100), job("c", 50), job("d", 250)]
    outcomes = [Outcome("a", "a", "up to date"), Outcome("b", "b", "tracked", seconds=4.0)]
    outcomes += [Outcome("c", "c"), Outcome("d", "d")]
    assert batch._time_left(jobs, outcomes) == ", about 12 s left for all"
    outcomes[1].compiling = 3.0
    assert batch._time_left(jobs, outcomes) == ", about 3 s left for all"
    outcomes[1].status = "failed"
    assert batch._time_left(jobs, outcomes) == ""


def test_the_time_left_is_not_told_by_inputs_that_are_far_smaller(tmp_path):
    """A first one of a hundredth of the bytes took a tenth of the time: 10 times too long was foretold."""
    jobs = [Job(name, (tmp_path / name,), tmp_path / "out") for name in "abc"]
    for job, size in zip(jobs, (10, 1000, 1000), strict=True):
        job.files[0].write_bytes(bytes(size))
    outcomes = [Outcome("a", "a", "tracked", seconds=1.0), Outcome("b", "b"), Outcome("c", "c")]
    assert batch._time_left(jobs, outcomes) == ""
    outcomes[1] = Outcome("b", "b", "tracked", seconds=9.1)
    assert batch._time_left(jobs, outcomes) == ", about 10 s left for all"


def test_an_input_given_twice_is_tracked_once_and_said_to_be(auctrack, movie, summary):
    result = auctrack("track", movie, movie.parent)
    assert (result.exit_code, statuses(summary())) == (0, ["tracked"])
    assert "given twice" in result.stderr


def test_a_link_beside_its_file_is_said_to_be_that_and_a_hard_link_has_a_result_of_its_own(auctrack, tmp_path, summary):
    (tmp_path / "in").mkdir()
    pd.DataFrame({"frame": [0, 1], "y": 0.0, "x": 0.0}).to_csv(tmp_path / "in/a.csv", index=False)
    (tmp_path / "in/b.csv").hardlink_to("in/a.csv")
    (tmp_path / "in/c.csv").symlink_to("a.csv")
    result = auctrack("track", "in")
    assert "in/c.csv is in/a.csv by another name" in result.stderr
    assert [entry["result"] for entry in summary()["inputs"]] == ["a.tracks.csv", "b.tracks.csv"]


@pytest.mark.parametrize("how", ["folder", "pattern", "files"])
def test_files_of_one_dataset_are_tracked_once(tmp_path, how, capsys):
    """Each of them is read as the whole movie, which was tracked as many times as it has files."""
    files = [str(tmp_path / name) for name in in_parts(tmp_path)]
    arguments = {"folder": [str(tmp_path)], "pattern": [str(tmp_path / "*.ome.tif")], "files": files}[how]
    assert [job.source for job in plan(arguments, tmp_path, "csv", InputSettings())] == files[:1]
    assert f"{files[1]} and 1 more are files of the same movie as {files[0]}" in capsys.readouterr().err


def test_a_movie_is_another_input_once_any_of_its_files_is(auctrack, tmp_path):
    """All files of a dataset were taken as they had been while the first one was."""
    first, *_, last = in_parts(tmp_path)
    asked = ("track", first, "--diameter", 3, "--motion", "none")
    assert auctrack(*asked).exit_code == 0
    assert "is up to date" in auctrack(*asked).stdout
    with tifffile.TiffFile(last) as tif:
        said, image = tif.pages.first.description, tif.asarray(series=0)
    tifffile.imwrite(last, np.zeros_like(image[-1]), photometric="minisblack", metadata=None, description=said)
    changed = auctrack(*asked)
    assert (changed.exit_code, "comes from another input" in changed.stderr) == (1, True)


def test_a_dry_run_says_what_to_expect_and_writes_nothing(auctrack, movie, samples, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    result = auctrack("track", movie, samples / "points.csv", "nowhere.tif", "--dry-run", "-o", "out")
    assert result.exit_code == 1
    assert sorted(tmp_path.rglob("*")) == before
    for fact in (
        "TYX",
        "0.5 × 0.5 µm",
        "3: 0 to 2",
        "6 in 3 frames",
        "5956 in 20 frames",
        "GB",
        "takes     a few seconds",
    ):
        assert fact in result.stdout
    assert "nowhere.tif" in result.stderr
    assert "2 of 3" in result.stdout
    assert auctrack("track", movie).exit_code == 0
    assert "skipped" in auctrack("track", movie, "--dry-run").stdout


@pytest.mark.parametrize(
    ("given", "counted"),
    [
        ((), "1 of 3 inputs could be tracked, 1 would be skipped as up to date;"),
        (("--overwrite",), "2 of 3 inputs could be tracked;"),
    ],
)
def test_a_dry_run_tells_what_would_be_tracked_from_what_is_up_to_date(auctrack, movie, write_movie, given, counted):
    assert auctrack("track", movie).exit_code == 0
    other = write_movie(movie.with_name("other.ome.tif"))
    assert counted in auctrack("track", movie, other, "nowhere.tif", "--dry-run", *given).stdout


@pytest.mark.parametrize("at", [1e300, -1e101])
def test_a_dry_run_refuses_positions_that_are_too_far_away_as_the_run_does_by_file_and_line(auctrack, tmp_path, at):
    pd.DataFrame({"frame": [0, 1, 2], "y": [1.0, 2.0, at], "cx": 2.0}).to_csv(tmp_path / "far.csv", index=False)
    tried, run = (auctrack("track", "far.csv", "--columns", "x=cx", *also) for also in (["--dry-run"], []))
    assert tried.exit_code == run.exit_code == 1
    assert tried.stderr in run.stderr
    for said in ("far.csv: ", "line 4", f"{abs(at):g}", "'y'"):
        assert said in tried.stderr


def test_a_dry_run_notes_that_no_two_frames_are_consecutive_as_the_run_does(auctrack, tmp_path):
    frames = np.repeat([0, 5, 10], 2)
    pd.DataFrame({"frame": frames, "y": np.arange(6.0), "x": 2.0}).to_csv(tmp_path / "fifth.csv", index=False)
    tried, run = (auctrack("track", "fifth.csv", *also) for also in (["--dry-run"], []))
    assert tried.exit_code == run.exit_code == 0
    assert "--frame-step 5" in tried.stderr
    assert tried.stderr in run.stderr
    told = auctrack("track", "fifth.csv", "--frame-step", 5, "--dry-run", "-o", "elsewhere")
    assert told.exit_code == 0
    assert "--frame-step" not in told.stderr


@pytest.mark.parametrize("kind", ["stack", "table"])
def test_a_dry_run_notes_that_all_particles_are_in_one_frame_as_the_run_does(auctrack, tmp_path, kind):
    stack = np.random.default_rng(0).normal(100, 5, (8, 32, 32)).astype(np.float32)
    stack[3:5, 9:12, 9:12] += 200
    tifffile.imwrite(tmp_path / "stack.tif", stack)
    pd.DataFrame({"frame": 0, "y": [1.0, 9.0], "x": 2.0}).to_csv(tmp_path / "table.csv", index=False)
    words = {"stack": ("stack.tif", "--axes", "ZYX", "--voxel", "1,1,1"), "table": ("table.csv",)}[kind]
    tried, run = (auctrack("track", *words, *also) for also in (["--dry-run"], []))
    assert tried.exit_code == run.exit_code == 0
    assert "nothing to link" in tried.stderr
    assert ("--axes TYX" in tried.stderr) == (kind == "stack")
    assert tried.stderr in run.stderr


def test_a_dry_run_refuses_a_picture_that_the_run_would_not_replace(auctrack, movie):
    (movie.parent.parent / "spots.tracks.png").write_bytes(b"mine")
    tried, run = (auctrack("track", movie, "--picture", *also) for also in (["--dry-run"], []))
    assert tried.exit_code == run.exit_code == 1
    assert "spots.tracks.png exists" in tried.stderr
    assert tried.stderr in run.stderr


def test_a_dry_run_refuses_a_result_whose_folder_is_a_file(auctrack, movie, tmp_path):
    (tmp_path / "file").touch()
    tried, run = (auctrack("track", movie, "-o", "file/out", *also) for also in (["--dry-run"], []))
    assert tried.exit_code == run.exit_code == 1
    assert "is a file" in tried.stderr
    assert tried.stderr in run.stderr


def test_a_dry_run_saves_the_settings_that_it_tried(auctrack, movie, tmp_path):
    tried = auctrack("track", movie, "--diameter", 3, "--dry-run", "-o", "out", "--save-config", "c.toml")
    assert tried.exit_code == 0, tried.output
    assert {path.name for path in tmp_path.iterdir()} == {"in", "c.toml"}
    assert auctrack("track", movie, "--config", "c.toml", "-o", "a").exit_code == 0
    assert auctrack("track", movie, "--diameter", 3, "-o", "b").exit_code == 0
    assert Path("a/spots.tracks.csv").read_bytes() == Path("b/spots.tracks.csv").read_bytes()


@pytest.mark.parametrize("motion", ["auto", "none"])
def test_the_settings_beside_a_result_repeat_it_exactly(auctrack, samples, tmp_path, motion):
    run = auctrack("track", samples / "movie.ome.tif", "--frames", "2:8:2", "--motion", motion, "-o", "first")
    assert run.exit_code == 0
    beside = tmp_path / "first/movie.tracks.csv.settings.json"
    effective = json.loads(beside.read_text())["settings"]["effective"]
    assert isinstance(effective["detect"]["diameter"], float)
    assert isinstance(effective["detect"]["threshold"], float)
    assert isinstance(effective["link"]["unmatched_cost"], float) is (motion == "none")
    given = ("--config", beside, "--save-config", "again.toml", "-o", "second")
    assert auctrack("track", samples / "movie.ome.tif", *given).exit_code == 0
    assert auctrack("track", samples / "movie.ome.tif", "--config", "again.toml", "-o", "third").exit_code == 0
    first, second, third = ((tmp_path / f"{run}/movie.tracks.csv").read_bytes() for run in ("first", "second", "third"))
    assert first == second == third


def test_options_override_the_settings_file(auctrack, movie, tmp_path):
    (tmp_path / "c.toml").write_text(
        'min_length = 3\n[input]\nframes = "0:2"\n[detect]\ndiameter = 3.0\nthreshold = 1e6\n[link]\nsearch_range = 2\n'
    )
    given = ("--config", "c.toml", "--frames", ":", "--threshold", "auto", "--diameter", "auto")
    assert auctrack("track", movie, *given).exit_code == 0
    note = json.loads((tmp_path / "spots.tracks.csv.settings.json").read_text())["settings"]
    assert note["asked"]["input"]["frames"] == ":"
    assert note["asked"]["detect"]["diameter"] == "auto"
    assert note["asked"]["link"]["search_range"] == 2
    assert note["asked"]["min_length"] == 3
    assert read_tracks(tmp_path / "spots.tracks.csv").table["track_id"].nunique() == 2


def test_a_threshold_alone_leaves_the_diameter_to_be_suggested(auctrack, movie, tmp_path):
    assert auctrack("track", movie, "--threshold", 50).exit_code == 0
    found = json.loads((tmp_path / "spots.tracks.csv.settings.json").read_text())["settings"]["effective"]["detect"]
    assert found["threshold"] == 50
    assert 1 < found["diameter"] < 6


def test_save_config_writes_what_was_asked_and_replaces_nothing_untold(auctrack, movie, tmp_path):
    assert auctrack("track", movie, "--diameter", 3, "--save-config", "c.toml").exit_code == 0
    text = (tmp_path / "c.toml").read_text()
    assert "diameter = 3.0" in text
    assert auctrack("track", movie, "--diameter", 4, "-o", "b", "--save-config", "c.toml").exit_code == 1
    assert (tmp_path / "c.toml").read_text() == text


@pytest.mark.parametrize(
    ("toml", "says"),
    [
        ("[detect]\ndiametre = 3\n", "diametre"),
        ("[link]\nsearch_range = -1\n", "search_range"),
        ("[link]\nsolver = 'magic'\n", "magic"),
        ("[input]\nscale = '2,1,1'\n", "scale"),
        ("min_length = 'three'\n", "min_length"),
        ("detect = 3\n", "[detect]"),
        ("this is no TOML", "TOML"),
    ],
)
def test_a_settings_file_that_cannot_be_used_is_wrong_usage(auctrack, movie, tmp_path, toml, says):
    (tmp_path / "c.toml").write_text(toml)
    result = auctrack("track", movie, "--config", "c.toml")
    assert result.exit_code == 2
    assert says in result.output
    assert "c.toml" in result.output
    assert not list(tmp_path.glob("*.tracks.csv"))


@pytest.mark.parametrize(
    "given",
    [
        ("--voxel", "a,b"),
        ("--frames", "3"),
        ("--frames", "5:2"),
        ("--roi", "1-5"),
        ("--roi", "1:2,4:4,:"),
        ("--columns", "frame"),
        ("--columns", "hour=Time"),
        ("--columns", "y=p,x=p"),
        ("--unit", "furlong"),
        ("--frame-interval", "2", "--time-unit", "fortnight"),
        ("--pinned", "nowhere.csv"),
        ("--diameter", "big"),
        ("--diameter", "-3"),
        ("--min-length", "0"),
        ("--cost", "cubic"),
        ("--solver", "magic"),
        ("--device", "tpu"),
        ("--device", "cuda:x"),
        ("--device", "cuda:0,cuda:1"),
        ("--format", "xlsx"),
        ("--config", "nowhere.toml"),
        ("--intensity", "m.tif"),
        ("--labels", "--intensity-channel", "1"),
        ("--unheard-of",),
    ],
)
def test_malformed_options_are_wrong_usage_before_anything_is_read(auctrack, tmp_path, given):
    result = auctrack("track", "nowhere.tif", *given)
    assert result.exit_code == 2
    assert "Error" in result.stderr
    assert not list(tmp_path.iterdir())


def test_a_setting_that_does_not_fit_one_input_fails_that_input(auctrack, movie, samples, summary):
    result = auctrack("track", movie, samples / "movie.ome.tif", "--frames", "5:8", "--diameter", 2.5)
    assert result.exit_code == 1
    assert statuses(summary()) == ["failed", "tracked"]


def test_ctrl_c_keeps_what_is_finished_and_says_so(samples, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in "abc":
        (folder / f"{name}.ome.tif").write_bytes((samples / "movie.ome.tif").read_bytes())
    out = tmp_path / "out"
    command = [sys.executable, "-c", "from auctrack.plugins.cli.app import main; main()", "track", folder, "-o", out]
    command += ["--frames", "0:10", "--diameter", "2.5"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 120
        while not (out / "a.tracks.csv.settings.json").exists() and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    found = json.loads((out / "auctrack-summary.json").read_text())
    states = statuses(found)
    assert states.count("interrupted") == 1
    assert states[states.index("interrupted") + 1 :] in (["not started"], ["not started"] * 2)
    assert "1 interrupted" in found["outcome"]
    assert "1 interrupted" in said
    assert found["exit_code"] == 130
    done = {f"{name}.tracks.csv" for name, state in zip("abc", states, strict=True) if state == "tracked"}
    written = {path.name for path in out.iterdir()}
    assert done <= {name for name in written if name.endswith(".tracks.csv")}
    assert not [name for name in written if "tmp" in name or "old" in name]
    assert all(f"{name}.settings.json" in written for name in written if name.endswith(".tracks.csv"))
    assert len(read_tracks(out / "a.tracks.csv")) > 500


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_while_files_are_put_in_place_is_heard_after_it(number, capsys):
    reached = []
    before = signal.getsignal(signal.SIGTERM)

    def put_in_place():
        with held_back():
            os.kill(os.getpid(), number)
            reached.append("the end")

    with pytest.raises(KeyboardInterrupt):
        put_in_place()
    assert reached == ["the end"]
    said = "stopping once what is being written is whole; pressed again, at once and without it\n"
    assert capsys.readouterr().err == said
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize("command", ["convert", "link", "detect"])
def test_a_result_that_is_whole_by_a_ctrl_c_is_named(auctrack, movie, samples, tmp_path, monkeypatch, command):
    real = write._write

    def pressed(*given, **named):
        real(*given, **named)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(write, "_write", pressed)
    source = movie if command == "detect" else samples / "points.csv"
    stopped = auctrack(command, source, *(("out.csv",) if command == "convert" else ("-o", "out.csv")))
    assert stopped.exit_code == 130
    said = [line for line in stopped.stderr.splitlines() if "whole" in line or "interrupted" in line]
    assert said[-2:] == ["out.csv is whole", "interrupted; nothing half-written was left"]
    assert len(read_points(tmp_path / "out.csv"))


@pytest.mark.parametrize(
    "made", [InvalidInput("in.csv: is damaged."), RuntimeError("no compiled object yet")], ids=repr
)
@pytest.mark.parametrize("command", ["track", "link"])
def test_what_libraries_make_of_a_ctrl_c_is_one(auctrack, tmp_path, monkeypatch, command, made):
    """pandas takes a file that it was reading for damaged, and numba misses what LLVM did not hand back."""
    pd.DataFrame({"frame": [0, 1], "y": 0.0, "x": 0.0}).to_csv(tmp_path / "in.csv", index=False)
    pressed = threading.Event()
    monkeypatch.setattr(interrupt, "_PRESSED", pressed)

    def stages(*_):
        with contextlib.suppress(KeyboardInterrupt):
            interrupt.press(signal.SIGINT, None)
        raise made

    monkeypatch.setattr(batch if command == "track" else pipeline, "stages", stages)
    result = auctrack(command, "in.csv")
    assert result.exit_code == 130, result.output
    assert result.stderr.count("interrupted; nothing half-written was left\n") == 1
    assert "error" not in result.stderr


def test_a_ctrl_c_that_was_lost_comes_again():
    """One in a destructor, where Python can only say that it was ignored."""
    code = """
import signal, sys, time
from auctrack.plugins.cli.terminal.interrupt import press, press_again
signal.signal(signal.SIGINT, press)
sys.unraisablehook = press_again
class Lost:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
        for _ in range(1000): pass
del (lost := [Lost()])[0]
try:
    time.sleep(30)
except KeyboardInterrupt:
    print("came again")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("came again\n", "")


@pytest.mark.parametrize("where", ["say", "show", "progress"])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemError])
def test_ctrl_c_at_any_moment_leaves_a_summary(
    auctrack, movie, write_movie, tmp_path, monkeypatch, summary, where, kind
):
    """Between two inputs, while something is shown, and in compiled code, which makes a SystemError of it."""
    other = write_movie(tmp_path / "in" / "other.ome.tif")
    real, calls = getattr(batch.console, where), itertools.count()

    def pressed(*given, **named):
        if next(calls) == {"say": 1, "show": 2, "progress": 1}[where]:
            raise kind("handed over") from KeyboardInterrupt()
        return real(*given, **named)

    monkeypatch.setattr(batch.console, where, pressed)
    result = auctrack("track", movie, other, "--diameter", 2.5)
    assert result.exit_code == 130, result.output
    assert "bug" not in result.output
    assert statuses(summary()).count("interrupted") == 1


@pytest.mark.parametrize("up_to_date", [False, True])
def test_ctrl_c_while_the_picture_is_drawn_says_that_the_table_is_whole(
    auctrack, movie, monkeypatch, summary, up_to_date
):
    def pressed(*_arguments, **_options):
        raise KeyboardInterrupt

    if up_to_date:
        assert auctrack("track", movie).exit_code == 0
    with monkeypatch.context() as patched:
        patched.setattr("auctrack.plugins.cli.results.picture.picture_of", pressed)
        stopped = auctrack("track", movie, "--picture")
    assert stopped.exit_code == 130
    (entry,) = summary()["inputs"]
    assert (entry["status"], entry["picture"]) == ("interrupted", None)
    assert entry["figures"]["points"] == len(read_tracks("spots.tracks.csv"))
    assert entry["message"].startswith("spots.tracks.csv is whole, and its picture was not drawn")
    assert entry["message"] in stopped.stderr
    again = auctrack("track", movie, "--picture", "--summary", "auctrack-summary.json")
    assert again.exit_code == 0
    (entry,) = summary()["inputs"]
    assert (entry["status"], entry["message"], entry["picture"]) == ("up to date", None, "spots.tracks.png")


def test_a_picture_of_earlier_tracks_is_pointed_out(auctrack, movie):
    assert auctrack("track", movie, "--picture").exit_code == 0
    again = auctrack("track", movie, "--search-range", "3", "--overwrite")
    assert again.exit_code == 0
    assert "spots.tracks.png shows earlier tracks" in again.output.replace("\n", " ")
    up_to_date = auctrack("track", movie, "--search-range", "3", "--picture")
    assert "shows earlier tracks" in up_to_date.output.replace("\n", " ")
    assert "shows earlier" not in auctrack("track", movie, "--picture", "--overwrite").output


@pytest.mark.parametrize(
    ("wrong", "code"),
    [(("--voxel", "0,0.5"), 2), (("--voxel", "0.5"), 2), (("--frame-interval", 0), 2), (("--channel", "GFP"), 1)],
    ids=lambda given: given[0] if isinstance(given, tuple) else "",
)
def test_a_wrong_option_is_named_before_an_earlier_result_that_is_in_the_way(auctrack, movie, wrong, code):
    assert auctrack("track", movie, "--diameter", 3).exit_code == 0
    again = auctrack("track", movie, "--diameter", 3, *wrong)
    assert again.exit_code == code
    assert wrong[0] in again.output
    assert "--overwrite" not in again.output


@pytest.mark.parametrize("wrong", [("--channel", "GFP"), ("--frames", "90:99"), ("--voxel", "0.5"), ("--bogus",)])
def test_a_run_that_its_options_kept_from_beginning_leaves_the_summary_of_an_earlier_one(
    auctrack, movie, samples, summary, wrong
):
    auctrack("track", movie, "--diameter", 3)
    before = summary()
    refused = auctrack("track", movie, "--diameter", 3, *wrong)
    assert refused.exit_code in (1, 2)
    assert summary() == before
    assert auctrack("track", movie, samples / "nowhere.tif", "--channel", "GFP").exit_code == 1
    assert statuses(summary()) == ["failed", "failed"]  # one of them not for an option
    auctrack("track", movie, "--channel", "GFP", "--summary", "asked.json")
    assert statuses(json.loads(Path("asked.json").read_text(encoding="utf-8"))) == ["failed"]


def test_the_summary_of_a_folder_is_of_all_runs_into_it_and_one_that_is_asked_for_of_its_own(
    auctrack, movie, write_movie, tmp_path, summary
):
    other, broken = write_movie(tmp_path / "in/other.ome.tif"), tmp_path / "in/broken.ome.tif"
    broken.write_bytes(b"II*\0")
    for each in (movie, broken, other):  # as the tasks of an array, one after the other
        auctrack("track", each, "-o", "out")
    found = summary(tmp_path / "out")
    assert (statuses(found), found["outcome"]) == (["tracked", "failed", "tracked"], "2 tracked, 1 failed")
    assert found["exit_code"] == 1
    write_movie(broken)
    auctrack("track", broken, movie, "-o", tmp_path / "out", "--summary", "of_this_run.json")
    assert summary(tmp_path / "out") == found
    assert statuses(json.loads(Path("of_this_run.json").read_text(encoding="utf-8"))) == ["tracked", "up to date"]
    auctrack("track", broken, "-o", tmp_path / "out")  # the same place by another name
    found = summary(tmp_path / "out")
    assert (statuses(found), found["exit_code"]) == (["up to date", "tracked", "tracked"], 0)
    (tmp_path / "out/auctrack-summary.json").write_text('{"inputs": [3]}')
    auctrack("track", other, "-o", "out")
    assert statuses(summary(tmp_path / "out")) == ["up to date"]


def test_an_input_that_its_options_kept_from_beginning_is_in_the_summary_if_it_was_in_none(
    auctrack, movie, write_movie, tmp_path, summary
):
    auctrack("track", movie)
    auctrack("track", write_movie(tmp_path / "in/other.ome.tif"), movie, "--channel", "GFP")
    by_result = {entry["result"]: entry["status"] for entry in summary()["inputs"]}
    assert by_result == {"spots.tracks.csv": "tracked", "other.tracks.csv": "failed"}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such lock")
def test_a_task_that_fails_before_any_other_made_the_folder_is_in_the_summary_too(auctrack, movie, tmp_path, summary):
    broken = tmp_path / "in/broken.ome.tif"
    broken.write_bytes(b"II*\0")
    auctrack("track", broken, "-o", "new/out")
    assert statuses(summary(tmp_path / "new/out")) == ["failed"]
    auctrack("track", movie, "-o", "new/out")
    assert statuses(summary(tmp_path / "new/out")) == ["tracked", "failed"]
    auctrack("track", movie, "--channel", "GFP", "-o", "other")
    assert not (tmp_path / "other").exists()


def test_runs_side_by_side_into_one_folder_make_one_summary(tmp_path, summary):
    path, together = tmp_path / "auctrack-summary.json", threading.Barrier(8)

    def end_of_a_run(number):
        for k in range(5):
            together.wait()
            write_summary(path, [Outcome("movie.tif", f"{number}.{k}.tracks.csv", "tracked")], of_folder=True)

    with ThreadPoolExecutor(8) as runs:
        list(runs.map(end_of_a_run, range(8)))
    assert summary()["outcome"] == "40 tracked"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", ["-", "ours", "movie.tif"])
def test_settings_are_saved_under_a_name_in_toml_alone(auctrack, tmp_path, name):
    result = auctrack("track", "--save-config", name)
    assert result.exit_code == 2
    assert ".toml" in result.stderr
    assert not (tmp_path / name).exists()


def test_settings_are_saved_without_an_input_and_nothing_else_is_done(auctrack, tmp_path):
    saved = auctrack("track", "--diameter", 3, "--axes", "TZYX", "--save-config", "c.toml")
    assert saved.exit_code == 0
    assert "c.toml" in saved.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["c.toml"]
    assert auctrack("track", "--min-length", 3).exit_code == 2


def test_an_interrupted_run_says_so_though_nothing_was_written_yet(auctrack, movie, tmp_path, monkeypatch):
    def pressed(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(batch, "stages", pressed)
    result = auctrack("track", movie, "-o", "out")
    assert result.exit_code == 130
    assert "interrupted; nothing half-written" in result.stderr
    assert not (tmp_path / "out").exists()


def test_positions_too_far_away_are_no_matter_where_their_frame_is_left_out(auctrack, tmp_path):
    y = [1.0, 2.0, 1e300, 3.0, 1e200]
    pd.DataFrame({"frame": range(5), "y": y, "x": 2.0}).to_csv(tmp_path / "far.csv", index=False)
    assert auctrack("track", "far.csv", "--frames", "0:2", "-o", "out").exit_code == 0
    refused = auctrack("track", "far.csv", "--frames", "3:", "-o", "out", "--dry-run")
    assert refused.exit_code == 1
    assert "line 6 is 1e+200 away" in refused.stderr
