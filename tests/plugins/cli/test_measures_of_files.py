"""`auctrack measure` of several tables, as of the wells of a plate: one table that names the file of each track."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

WELLS = ("A01", "A02", "B01")


def write_tracks(path: Path, tracks: int, speed: float) -> None:
    rows = [(frame, 20.0 * k, speed * frame, k) for k in range(tracks) for frame in range(4)]
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows, columns=["frame", "y", "x", "track_id"]).to_csv(path, index=False)


@pytest.fixture
def plate(auctrack, tmp_path) -> Path:
    """Return a folder of results as `track` leaves it; wells differ in how many particles there are, and how fast."""
    for number, well in enumerate(WELLS, 1):
        write_tracks(tmp_path / "in" / f"{well}.csv", number + 1, number / 4)
    result = auctrack("track", "in", "-o", "res", "--motion", "none", "--voxel", "0.5,0.5", "--frame-interval", 2)
    assert result.exit_code == 0, result.output
    return tmp_path / "res"


@pytest.mark.parametrize(
    "words",
    [["res"], ["res/*.csv"], ["r*s"], [f"res/{well}.tracks.csv" for well in WELLS], ["res/A*", "res", "res/B01*"]],
)
def test_a_folder_a_pattern_and_names_stand_for_the_same_tables_each_once(auctrack, plate, words):
    result = auctrack("measure", *words)
    assert result.exit_code == 0, result.output
    table = pd.read_csv(plate / "res.measures.csv")
    assert table.columns[0] == "file"
    assert table.groupby("file").size().to_dict() == {f"{well}.tracks.csv": k for k, well in enumerate(WELLS, 2)}


def test_of_a_folder_tables_without_their_settings_are_named_where_they_are_left_out(auctrack, plate):
    """Such as those that were copied alone; a table of another kind is nobody's loss."""
    for well in WELLS[1:]:
        (plate / f"{well}.tracks.csv.settings.json").unlink()
    (plate / "notes.csv").write_text("a,b")
    result = auctrack("measure", "res", "-o", "all.csv")
    assert result.exit_code == 0, result.output
    assert set(pd.read_csv("all.csv")["file"]) == {f"{WELLS[0]}.tracks.csv"}
    assert f"{WELLS[1]}.tracks.csv" in result.stderr
    assert f"{len(WELLS) - 2} more" in result.stderr
    assert "notes.csv" not in result.stderr


def test_rows_and_units_are_those_that_each_table_has_by_itself(auctrack, plate):
    auctrack("measure", "res", "--min-length", 2, "--subtract-drift", "-o", "all.csv")
    for well in WELLS:
        name = f"{well}.tracks.csv"
        auctrack("measure", plate / name, "--min-length", 2, "--subtract-drift", "-o", "one.csv", "--overwrite")
        both = pd.read_csv("all.csv")
        alone = pd.read_csv("one.csv")
        of_well = both[both["file"] == name].drop(columns="file").reset_index(drop=True)
        pd.testing.assert_frame_equal(of_well, alone)
        units = [
            json.loads(Path(f"{each}.csv.settings.json").read_text("utf-8"))["settings"] for each in ("all", "one")
        ]
        assert units[0]["units"] == units[1]["units"]


def test_what_was_measured_is_not_taken_for_tracks_the_next_time(auctrack, plate):
    assert auctrack("measure", "res").exit_code == 0
    first = (plate / "res.measures.csv").read_bytes()
    assert auctrack("measure", plate / "A01.tracks.csv", "--msd").exit_code == 0
    for words in ("res", "res/*.csv", "res/*"):
        assert auctrack("measure", words).exit_code == 1  # it exists
        result = auctrack("measure", words, "--overwrite")
        assert result.exit_code == 0, result.output
        assert (plate / "res.measures.csv").read_bytes() == first


@pytest.mark.usefixtures("plate")
@pytest.mark.parametrize("as_json", [False, True])
def test_each_table_has_a_line_of_counts_and_medians(auctrack, as_json):
    said = auctrack("measure", "res", *["--json"] * as_json).stdout
    speeds = [number / 4 * 0.5 / 2 for number in (1, 2, 3)]
    if as_json:
        shown = json.loads(said)
        assert shown["units"] == {"median_speed": "µm/s"}
        assert [each["detections"] for each in shown["files"]] == [8, 12, 16]
        assert np.allclose([each["median_speed"] for each in shown["files"]], speeds)
        return
    heading, *lines = said.splitlines()
    assert heading.split() == ["file", "tracks", "detections", "median", "length", "median", "speed", "(µm/s)"]
    for k, (well, line) in enumerate(zip(WELLS, lines, strict=False)):
        file, tracks, detections, length, speed = line.split()
        assert (file, int(tracks), int(detections), float(length)) == (f"{well}.tracks.csv", k + 2, 4 * (k + 2), 4)
        assert float(speed) == pytest.approx(speeds[k], rel=0.01)


@pytest.mark.parametrize("fault", ["no table", "damaged settings", "another unit", "not there"])
def test_a_table_that_cannot_be_measured_is_named_and_does_not_stop_the_others(auctrack, plate, fault):
    broken, settings = plate / "A02.tracks.csv", plate / "A02.tracks.csv.settings.json"
    if fault == "no table":
        broken.write_text("nothing")
    elif fault == "damaged settings":
        settings.write_text("{")
    elif fault == "another unit":
        settings.write_text(settings.read_text("utf-8").replace("µm", "mm"), "utf-8")
    else:
        broken.unlink()
    result = auctrack("measure", *[plate / f"{well}.tracks.csv" for well in WELLS], "--json")
    assert result.exit_code == 1
    assert "A02.tracks.csv" in result.stderr
    assert [each["file"] for each in json.loads(result.stdout)["failed"]] == ["A02.tracks.csv"]
    assert set(pd.read_csv(plate / "res.measures.csv")["file"]) == {"A01.tracks.csv", "B01.tracks.csv"}
    if fault != "not there":
        again = auctrack("measure", "res", "--overwrite")
        assert (again.exit_code, "2 measured, 1 failed" in again.stdout) == (1, True)


def test_where_no_table_can_be_measured_nothing_is_written(auctrack, plate):
    for well in WELLS:
        (plate / f"{well}.tracks.csv").write_text("nothing")
    assert auctrack("measure", "res").exit_code == 1
    assert not (plate / "res.measures.csv").exists()


@pytest.mark.parametrize(
    "option",
    ["--msd", "--displacements=1", "--velocity-correlation", "--pair-correlation=5", "--intervals", "--picture"],
)
@pytest.mark.parametrize("tables", [["res"], ["res/A*.csv"], ["res/A01.tracks.csv", "res/A02.tracks.csv"]])
def test_what_is_for_one_table_is_wrong_usage_with_several(auctrack, plate, tables, option):
    result = auctrack("measure", *tables, option)
    assert result.exit_code == 2
    assert option.partition("=")[0] in result.stderr
    assert "one table" in result.stderr
    assert not [*plate.glob("*.measures.*")]


def test_standard_input_is_one_table_and_json_is_of_several(auctrack, plate):
    assert auctrack("measure", "-", "res").exit_code == 2
    assert auctrack("measure", plate / "A01.tracks.csv", "--json").exit_code == 2


@pytest.mark.parametrize("words", [["empty"], ["no*.csv"]])
def test_what_holds_no_tracks_is_named(auctrack, plate, tmp_path, words):
    (tmp_path / "empty").mkdir()
    for command in ("measure", "report"):
        result = auctrack(command, *words)
        assert (result.exit_code, words[0] in result.stderr) == (1, True)
    assert auctrack("measure", *words, "res").exit_code == 1
    assert len(pd.read_csv(plate / "res.measures.csv")) == 9


def test_tables_of_one_name_are_told_apart_by_their_folders(auctrack, tmp_path):
    for day in ("day1", "day2"):
        write_tracks(tmp_path / "all" / day / "cells.tracks.csv", 2, 1.0)
    assert auctrack("measure", "all/*/*.csv", "--unit", "pixel").exit_code == 0
    table = pd.read_csv(tmp_path / "all" / "all.measures.csv")
    assert [*table["file"].unique()] == ["day1/cells.tracks.csv", "day2/cells.tracks.csv"]


def test_that_the_size_of_pixels_is_unknown_is_said_once(auctrack, tmp_path):
    for well in WELLS:
        write_tracks(tmp_path / f"{well}.csv", 2, 1.0)
    assert auctrack("measure", "*.csv", "-o", "all.csv").stderr.count("unknown size") == 1


def test_a_well_without_tracks_is_counted_and_has_no_rows(auctrack, tmp_path):
    write_tracks(tmp_path / "in" / "full.csv", 2, 1.0)
    (tmp_path / "in" / "empty.csv").write_text("frame,y,x,track_id\n0,1,1,0\n")
    shown = json.loads(auctrack("measure", "in/*.csv", "--unit", "pixel", "--min-length", 2, "--json").stdout)
    assert [(each["file"], each["tracks"], each["median_speed"]) for each in shown["files"]] == [
        ("empty.csv", 0, None), ("full.csv", 2, 1.0),
    ]  # fmt: skip
    assert set(pd.read_csv(tmp_path / "in" / "in.measures.csv")["file"]) == {"full.csv"}


def test_a_table_that_cannot_be_reported_on_does_not_keep_the_others_from_their_pages(auctrack, plate):
    (plate / "A01.tracks.csv.settings.json").write_text("{")
    result = auctrack("report", "res")
    assert (result.exit_code, "A01.tracks.csv" in result.stderr) == (1, True)
    assert {page.name for page in plate.glob("*.html")} == {"A02.report.html", "B01.report.html", "index.html"}
