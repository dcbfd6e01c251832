"""Errors name what helps where they are shown: options of the very command, or arguments that Python takes."""

from __future__ import annotations

import re
import shlex

import numpy as np
import pandas as pd
import pytest
import tifffile

from auctrack.tracker.errors import InvalidInput, UnknownAxes, UnknownColumns
from auctrack.tracker.formats.tables import read_points, read_tracks
from auctrack.tracker.formats.write import write_tracks
from auctrack.tracker.linking.link import link
from auctrack.tracker.pipeline import track

HERE = {"Time Point": [0, 1, 2], "Position Y": [1.0, 2.0, 3.0], "Position X": [1.0, 2.0, 3.0]}


@pytest.fixture
def foreign(tmp_path):
    pd.DataFrame(HERE).to_csv(tmp_path / "foreign.csv", index=False)
    return "foreign.csv"


@pytest.fixture
def stacks(tmp_path):
    (tmp_path / "stacks").mkdir()
    for number in range(3):
        tifffile.imwrite(tmp_path / "stacks" / f"t{number}.tif", np.zeros((5, 16, 16), np.uint16), metadata=None)
    return "stacks"


def said(result) -> str:
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("error:")]
    return line


def test_a_device_that_is_not_there_is_named_by_its_option(auctrack, foreign):
    columns = ("--columns", "frame=Time Point,y=Position Y,x=Position X", "--unit", "µm")
    told = said(auctrack("link", foreign, *columns, "--motion", "none", "--device", "cuda:99"))
    assert "--device" in told
    assert not re.search("(?<!--)device(=| cpu| needs)", told)


@pytest.mark.parametrize("command", ["link", "info", "track"])
def test_the_columns_asked_for_can_be_pasted(auctrack, foreign, command):
    message = said(auctrack(command, foreign))
    option, names = shlex.split(message.partition("which is which: ")[2].removesuffix("."))
    assert (option, names) == ("--columns", "frame=Time Point,y=Position Y,x=Position X")
    assert "columns={" not in message
    assert auctrack(command, foreign, option, names).exit_code == 0


@pytest.mark.parametrize(("axis", "unit"), [("{} (µm)", "µm"), ("Position {} [nm]", "nm"), ("{} (px)", "")])
def test_a_unit_in_the_names_of_columns_can_be_pasted_too(auctrack, tmp_path, axis, unit):
    table = pd.DataFrame({"frame": [0, 1]} | {axis.format(name): [1.0, 2.0] for name in "YX"})
    table.to_csv(tmp_path / "foreign.csv", index=False)
    message = said(auctrack("link", "foreign.csv"))
    pasted = shlex.split(message.partition("which is which: ")[2].removesuffix("."))
    assert pasted[2:] == (["--unit", unit] if unit else [])
    assert auctrack("link", "foreign.csv", *pasted).exit_code == 0
    with pytest.raises(UnknownColumns) as caught:
        link(table)
    assert (f'unit="{unit}")' in str(caught.value)) == bool(unit)


@pytest.mark.parametrize(
    ("units", "remedy"),
    [
        (("mm", "µm"), "auctrack convert TRACKS NEW --unit µm"),
        (("pixel", "µm"), "auctrack convert TRACKS NEW --voxel Z,Y,X"),
    ],
)
def test_tables_in_two_units_are_answered_with_what_brings_them_together(auctrack, tmp_path, units, remedy):
    table = pd.DataFrame({"frame": [0, 1], "y": [1.0, 2.0], "x": [1.0, 2.0], "track_id": 0})
    for name, unit in zip(("tracks.csv", "truth.csv"), units, strict=True):
        scale = None if unit == "pixel" else (1, 1)
        write_tracks(read_tracks(table, unit=unit, scale=scale), tmp_path / name)
    message = said(auctrack("score", "tracks.csv", "truth.csv", "--tolerance", 1))
    assert remedy in message
    assert "where the tables are made" not in message


@pytest.mark.parametrize("written", ["2024-01-01 10:00:00", "01/02/24", "10:00"])
def test_dates_are_answered_with_numbers_of_frames(auctrack, tmp_path, written):
    pd.DataFrame({"frame": [written, written], "y": [1.0, 2.0], "x": 1.0}).to_csv(tmp_path / "dates.csv", index=False)
    message = said(auctrack("link", "dates.csv"))
    assert f"line 2 has a date or time, '{written}'. Number the frames 0, 1, 2" in message


def test_score_names_its_own_option_for_columns_of_the_truth(auctrack, foreign, samples):
    message = said(auctrack("score", samples / "movie.truth.csv", foreign, "--tolerance", 1))
    assert "--truth-columns 'frame=Time Point" in message


def test_score_promises_no_option_for_columns_of_the_tracks(auctrack, foreign, samples):
    message = said(auctrack("score", foreign, samples / "movie.truth.csv", "--tolerance", 1))
    assert "Rename its columns" in message
    assert "columns=" not in message
    assert "--" not in message


def test_score_calls_the_voxel_of_the_truth_by_its_own_option(auctrack, samples):
    truth = samples / "movie.truth.csv"
    assert "--truth-voxel needs" in auctrack("score", truth, truth, "--truth-voxel", "a,b").stderr


def test_in_python_link_names_what_takes_columns():
    table = pd.DataFrame(HERE)
    with pytest.raises(InvalidInput, match=r"auctrack\.read_points\(…, columns=\{\"frame\": \"Time Point\"") as caught:
        link(table)
    assert "--" not in str(caught.value)
    assert len(read_points(table, columns={"frame": "Time Point", "y": "Position Y", "x": "Position X"})) == 3


def test_in_python_track_names_what_takes_axes(stacks, tmp_path):
    with pytest.raises(UnknownAxes, match=r'Say which is which: axes="ZYX" if each file is the z-stack') as caught:
        track(tmp_path / stacks / "t0.tif")
    assert "--" not in str(caught.value)
    with pytest.raises(InvalidInput, match=r"for instance scale=\(2, 0\.5, 0\.5\) if planes"):
        track(tmp_path / stacks, axes="ZYX")


@pytest.mark.parametrize("command", ["track", "info"])
def test_the_axes_of_a_folder_of_stacks_are_offered_first(auctrack, stacks, command):
    message = said(auctrack(command, stacks))
    offered = [message.find(f"--axes {axes} if ") for axes in ("ZYX", "TYX", "TZ12YX")]
    assert -1 < offered[0] < offered[1] < offered[2]
    assert message.count("t0.tif") == 1
    assert "axes=" not in message
    plan = auctrack("track", stacks, "--axes", "ZYX", "--voxel", "1,1,1", "--dry-run").output
    assert "stacks, 3 files" in plan
    assert "z × y × x = 5 × 16 × 16" in plan


@pytest.mark.parametrize(("axes", "code"), [("TXY", 2), ("TXC", 2), ("TQX", 2), ("TTX", 2), ("TZYX", 1), ("TZ7YX", 1)])
def test_axes_that_do_not_fit_are_named_as_they_were_typed(auctrack, stacks, axes, code):
    """2 where they fit no file."""
    result = auctrack("info", f"{stacks}/t0.tif", "--axes", axes)
    assert result.exit_code == code
    message = " ".join(result.stderr.replace("│", " ").split())
    assert f"the axes {axes} " in message
    assert "axes=" not in message


def test_columns_that_are_not_there_are_all_named(auctrack, foreign):
    given = "frame=Time Point,y=Position A,x=Position B"
    message = said(auctrack("link", foreign, "--columns", given))
    assert "columns 'Position A' and 'Position B'" in message
    assert "Time Point, Position Y, Position X" in message


def test_a_file_of_trackmate_without_spots_is_answered_with_what_it_lacks(auctrack, tmp_path):
    (tmp_path / "tracks.xml").write_text('<?xml version="1.0"?><TrackMate version="7"/>', encoding="utf-8")
    assert "has no <Model>" in said(auctrack("track", "tracks.xml"))


def test_commands_without_output_name_what_they_have_where_a_result_exists(auctrack, samples, tmp_path):
    (tmp_path / "out.csv").write_text("mine", encoding="utf-8")
    for words in (("convert", samples / "movie.truth.csv", "out.csv"), ("simulate", "out.csv")):
        message = said(auctrack(*words))
        assert "--output" not in message
        assert "another OUT" in message
        assert "--overwrite" in message


def test_convert_onto_its_own_input_names_what_it_has(auctrack, foreign):
    message = said(auctrack("convert", foreign, foreign, "--overwrite"))
    assert "--output" not in message
    assert "another OUT" in message


def test_intervals_of_tracks_that_have_none_name_no_setting_of_python(auctrack, samples):
    assert auctrack("link", samples / "movie.truth.csv", "--motion", "none", "-o", "none.csv").exit_code == 0
    message = said(auctrack("measure", "none.csv", "--intervals"))
    assert message.startswith("error: --intervals needs learned motion")
    assert "samples" not in message
    remedy = shlex.split(message.partition("for instance by ")[2].partition(" and measure")[0].rstrip(","))
    assert auctrack(*remedy[1:]).exit_code == 0
    with pytest.warns(UserWarning, match="not a straight line"):
        assert auctrack("measure", remedy[-1], "--intervals").exit_code == 0


def test_report_names_a_command_that_takes_columns(auctrack):
    pd.DataFrame({"frame": [0, 1], "y": [0.0, 1.0], "x": [0.0, 1.0], "Cell": 1}).to_csv("plain.csv", index=False)
    message = said(auctrack("report", "plain.csv"))
    words = shlex.split(message.partition("auctrack convert")[2].removesuffix("."))
    assert words[:1] + words[2:] == ["plain.csv", "--columns", "track_id=…"]
    assert auctrack("convert", *(word.replace("…", "Cell") for word in words)).exit_code == 0
    assert auctrack("report", words[1]).exit_code == 0


@pytest.mark.parametrize("command", ["measure", "report", "score"])
def test_points_that_were_not_linked_are_to_be_linked_first(auctrack, samples, tmp_path, command):
    pd.DataFrame({"frame": [0, 1], "y": 0.0, "x": 0.0}).to_csv(tmp_path / "points.csv", index=False)
    others = (samples / "movie.truth.csv", "--tolerance", 1) if command == "score" else ()
    refused = auctrack(command, "points.csv", *others)
    assert refused.exit_code == 1
    assert "not linked yet are to be linked first (auctrack link)" in refused.stderr


@pytest.mark.parametrize(
    ("option", "least", "command"),
    [
        ("--min-length", 1, ("measure", "t.csv")),
        ("--max-lag", 1, ("measure", "t.csv", "--msd")),
        ("--min-length", 1, ("draw", "t.csv")),
        ("--min-length", 1, ("link", "t.csv")),
        ("--min-length", 1, ("track", "t.csv")),
    ],
)
def test_too_small_a_whole_number_is_refused_in_the_same_words_everywhere(auctrack, option, least, command):
    refused = auctrack(*command, option, least - 1)
    said = " ".join(refused.stderr.replace("│", "").split())
    assert refused.exit_code == 2
    assert option in said
    assert f"needs a whole number of at least {least}; got {least - 1}." in said


def test_info_of_a_folder_of_tables_names_one_of_them(auctrack, tmp_path):
    (tmp_path / "in put").mkdir()
    for name in ("b.csv", "a.csv", "a.tracks.csv"):
        (tmp_path / "in put" / name).write_text("frame,y,x\n0,1,1\n")
    result = auctrack("info", "in put")
    assert result.exit_code == 1
    assert "in put: holds 2 tables and no movie" in result.output
    assert "auctrack info 'in put/a.csv'" in result.output
    assert "auctrack track 'in put' --dry-run" in result.output
    assert "TIFF" not in result.output
