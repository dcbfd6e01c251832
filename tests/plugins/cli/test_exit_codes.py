"""One rule: 2 for what no input could make right, said before any is read; 1 for what one input does not fit."""

from __future__ import annotations

import re

import pandas as pd
import pytest

COMMANDS = {
    "link": ("link", "{}", "-o", "linked.csv"),
    "measure": ("measure", "{}"),
    "draw": ("draw", "{}", "-o", "drawn.png"),
    "convert": ("convert", "{}", "converted.csv"),
    "info": ("info", "{}"),
    "score": ("score", "{}", "{}"),
}


def run(auctrack, command, table, options):
    return auctrack(*(word.format(table) for word in COMMANDS[command]), *options)


@pytest.fixture
def tracks(tmp_path):
    frames = pd.DataFrame({"frame": [0, 1, 2], "z": 0.0, "y": 0.0, "x": [0.0, 1, 2], "track_id": 4})
    frames.to_csv(tmp_path / "t.csv", index=False)
    return "t.csv"


@pytest.mark.parametrize("table", ["t.csv", "nowhere.csv"])
@pytest.mark.parametrize(
    ("command", "options"),
    [
        *((each, ("--unit", "furlong")) for each in ("link", "measure", "draw", "convert", "info")),
        *((each, ("--time-unit", "fortnight")) for each in ("link", "measure", "convert", "info")),
        *((each, ("--columns", "hour=Time")) for each in ("link", "measure", "draw", "convert", "info")),
        *(
            (each, ("--voxel", size))
            for size in ("0,1,1", "1e9,1,1")
            for each in ("link", "measure", "draw", "convert", "info")
        ),
        ("link", ("--forbidden", "missing.csv")),
        ("link", ("--config", "missing.toml")),
        ("draw", ("--tracks", "first")),
        ("score", ("--tolerance", "-1")),
        ("score", ("--scores", "isbi")),
        ("score", ("--truth-columns", "hour=Time")),
        ("score", ("--tolerance", "1", "--output", "scores.txt")),
        ("measure", ("--max-lag", "3")),
    ],
)
@pytest.mark.usefixtures("tracks")
def test_what_no_input_could_make_right_is_2_whether_or_not_there_is_one(auctrack, command, options, table):
    result = run(auctrack, command, table, options)
    assert result.exit_code == 2, result.output
    assert any(option in result.stderr for option in options[::2])


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("link", ("--voxel", "1,1")),
        ("link", ("--frames", "7:9")),
        ("link", ("--roi", "0:1,0:1")),
        ("measure", ("--columns", "frame=hour")),
        ("draw", ("--tracks", "4,999")),
        ("draw", ("--colour", "red")),
        ("draw", ("--frames", "7:9")),
        ("score", ()),
    ],
)
def test_what_another_input_could_make_right_is_1(auctrack, tracks, command, options):
    result = run(auctrack, command, tracks, options)
    assert result.exit_code == 1, result.output
    assert result.stderr.startswith("error: ")


def test_tracks_that_are_not_there_are_named(auctrack, tracks):
    said = run(auctrack, "draw", tracks, ("--tracks", "4,998,999")).stderr
    assert said == "error: --tracks names tracks 998, 999, which are not there.\n"


@pytest.mark.parametrize("given", ["0,1,1", "1", "1,x", "1,1,inf", "[2,1,1]"])
def test_the_form_that_is_advised_is_the_one_that_is_taken(auctrack, tracks, given):
    said = " ".join(run(auctrack, "measure", tracks, ("--voxel", given)).stderr.split())
    assert f"--voxel needs sizes above 0 along z,y,x (or y,x), such as 2,0.5,0.5; got '{given}'" in said
    assert run(auctrack, "measure", tracks, ("--voxel", "2,0.5,0.5")).exit_code == 0


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ('[input]\nunit = "furlong"\n', "ours.toml: unit"),
        ('[input]\ntime_unit = "fortnight"\nframe_interval = 2\n', "ours.toml: time_unit"),
        ("diameter = 5\n", r"diameter is a setting of \[detect\]"),
        ("[link]\ndiameter = 5\n", r"diameter is a setting of \[detect\]"),
    ],
)
def test_a_settings_file_is_to_blame_like_an_option(auctrack, tmp_path, tracks, config, named):
    (tmp_path / "ours.toml").write_text(config, encoding="utf-8")
    result = auctrack("link", tracks, "--config", "ours.toml", "-o", "linked.csv")
    assert result.exit_code == 2, result.output
    assert re.search(named, result.stderr)
