"""Inputs that are no ordinary files, under names that are no ordinary text: none stops another, and none is obeyed."""

from __future__ import annotations

import errno
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tifffile

from auctrack.plugins.cli.terminal import console

ESC = "\x1b[31mred\x1b[0m\x9b"
NO_UTF8 = os.fsdecode(b"\xff\xfe")
ODD = ("a b", "a[1]", "glob*?", "ümläut 粒子", "100%", "$x$", "it's", '"q"', ESC, "tab\tnew\nline", NO_UTF8)


@pytest.fixture
def good(tmp_path) -> Path:
    return spots(tmp_path / "good.csv")


def spots(path: Path) -> Path:
    table = pd.DataFrame({"frame": [0, 1, 2], "y": [1.0, 1.1, 1.2], "x": 2.0})
    with path.open("w") as file:  # pandas takes no name that is not UTF-8
        table.to_csv(file, index=False)
    return path


@pytest.fixture
def loop(tmp_path):
    (tmp_path / "loop.tif").symlink_to("loop.tif")
    return "loop.tif"


@pytest.fixture
def pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe.tif")
    return "pipe.tif"


@pytest.fixture
def table_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    return "pipe.csv"


@pytest.fixture
def dangling(tmp_path):
    (tmp_path / "gone.tif").symlink_to("nowhere.tif")
    return "gone.tif"


@pytest.fixture
def loop_of_folders(tmp_path):
    (tmp_path / "folder").symlink_to("folder")
    return "folder/*.tif"


@pytest.mark.skipif(sys.platform == "win32", reason="has neither such links nor pipes")
@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", ["loop", "pipe", "table_pipe", "dangling", "loop_of_folders"])
def test_what_is_no_file_fails_and_the_next_one_is_tracked(auctrack, good, summary, request, kind):
    bad = request.getfixturevalue(kind)
    result = auctrack("track", bad, good)
    assert result.exit_code == 1, result.output
    first, second = summary()["inputs"]
    assert (first["status"], second["status"]) == ("failed", "tracked")
    assert bad in first["message"]
    assert "Traceback" not in result.output


@pytest.mark.skipif(sys.platform == "win32", reason="has no such links")
@pytest.mark.parametrize("kind", ["loop", "pipe", "dangling"])
def test_what_is_no_file_fails_by_name_in_a_folder_too(auctrack, movie, tmp_path, summary, request, kind):
    bad = request.getfixturevalue(kind)
    movie.rename(tmp_path / "movie.ome.tif")
    assert auctrack("track", tmp_path).exit_code == 1
    one, other = sorted(summary()["inputs"], key=lambda each: each["status"])
    assert (one["status"], other["status"]) == ("failed", "tracked")
    assert bad in one["message"]


@pytest.mark.skipif(sys.platform == "win32", reason="has no such pipes")
@pytest.mark.timeout(60)
@pytest.mark.parametrize("command", ["info", "detect", "link", "measure", "track"])
def test_no_command_waits_for_a_pipe(auctrack, pipe, table_pipe, command):
    for name in (pipe, table_pipe):
        if command not in ("link", "measure") or name == table_pipe:
            assert auctrack(command, name).exit_code == 1


@pytest.mark.parametrize("name", ODD, ids=ascii)
def test_an_odd_name_is_tracked_under_its_name_and_shown_as_text(auctrack, tmp_path, summary, name):
    source = spots(tmp_path / f"{name}.csv")
    result = auctrack("track", source, "--picture", "--verbose", "--log", "run.log")
    assert result.exit_code == 0, result.output
    written = tmp_path / summary()["inputs"][0]["result"]
    assert written.is_file()
    assert summary()["inputs"][0]["source"] == str(source)
    beside = json.loads(written.with_name(f"{written.name}.settings.json").read_text(encoding="utf-8"))
    assert beside["settings"]["source"] == str(source)
    assert not set(result.output) & {"\x1b", "\x9b"}
    assert "\x1b" not in (tmp_path / "run.log").read_text(encoding="utf-8")
    assert auctrack("track", source).exit_code == 0
    assert summary()["inputs"][0]["status"] == "up to date"


@pytest.mark.parametrize("name", ODD, ids=ascii)
def test_an_odd_name_of_a_movie_is_read_too(auctrack, movie, name):
    odd = movie.rename(movie.with_name(f"{name}.ome.tif"))
    for words in (("track", odd), ("info", odd), ("detect", odd), ("info", odd, "--json")):
        result = auctrack(*words)
        assert result.exit_code == 0, result.output
    assert shlex.split(json.loads(result.stdout)["command"])[2] == str(odd)


def test_a_word_of_wrong_usage_is_not_obeyed_either(auctrack):
    result = auctrack("link", "p.csv", "-o", f"{ESC}.xlsx")
    assert result.exit_code == 2
    assert "\x1b[31mred" not in result.output


def test_printable_text_stays_as_it_is():
    text = "µm → 粒子, naïve\n\tמזהה"
    assert console.printable(text) == text
    assert console.printable("a\x1b\u202eb\x7f\udcff") == r"a\u001b\u202eb\u007f\udcff"


def test_a_folder_of_frames_with_a_pipe_among_them(auctrack, tmp_path):
    frames = tmp_path / "frames"
    frames.mkdir()
    for number in range(3):
        tifffile.imwrite(frames / f"t{number}.tif", np.zeros((16, 16), np.uint8))
    os.mkfifo(frames / "t3.tif")
    result = auctrack("track", "frames", "--voxel", "1,1", "--diameter", 3)
    assert result.exit_code == 1
    assert "t3.tif" in result.stderr


def test_a_full_disk_under_the_compiled_code_is_a_note_and_no_failure(samples, tmp_path):
    code = f"""
import errno, sys
from auctrack.matching.jit import compiled
def full(*_):
    raise OSError({errno.ENOSPC}, "No space left on device")
compiled.Files.save = full
from auctrack.plugins.cli.app import main
main()
"""
    command = [sys.executable, "-c", code, "detect", samples / "movie.ome.tif", "--frames", "0:1", "--diameter", "2.5"]
    command += ["--output", "points.csv"]
    there = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(command, cwd=tmp_path, env=there, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("compiled code cannot be written (No space left on device)") == 1
    assert (tmp_path / "points.csv").exists()


@pytest.mark.parametrize(
    ("option", "other"), [(("--spacing", 5), ("--box", "20,20,20")), (("--step", 0.2), ("--step-um", 1))]
)
def test_what_another_option_replaces_is_refused_beside_it(auctrack, tmp_path, option, other):
    for words in ((*option, *other), (*other, *option)):
        refused = auctrack("simulate", "points.csv", "--particles", 9, *words)
        assert refused.exit_code == 2
        assert option[0] in refused.stderr
        assert other[0] in refused.stderr
    assert not list(tmp_path.iterdir())
    assert auctrack("simulate", "points.csv", "--particles", 9, *other).exit_code == 0


USAGE = {
    "no such command": ("nosuch",),
    "no such option": ("info", "--bogus"),
    "nothing to track": ("track", ""),
    "ending of OUT": ("convert", "t.csv", "t.xlsx"),
    "ending of a simulation": ("simulate", "t.png"),
    "voxels beyond number": ("simulate", "t.ome.tif", "--voxel", "1e-6,1e-6,1e-6"),
    "frames from later to earlier": ("score", "t.csv", "t.csv", "--frames", "5:2"),
    "an empty region": ("draw", "t.csv", "--roi", "0:4,7:7"),
    "a setting out of its range": ("link", "t.csv", "--search-range", -3),
    "no such variant": ("bench", "auction", "--quick", "--sizes", 30, "--only", "nothing"),
    "a name for many pages": ("report", "t.csv", "t.csv", "-o", "t.html"),
}
FAILED = {
    "no such file": ("info", "nowhere.tif"),
    "frames that are not there": ("link", "t.csv", "--frames", "5:9"),
    "a result that stands there": ("convert", "t.csv", "t.csv"),
    "a folder that is a file": ("link", "t.csv", "-o", "t.csv/"),
    "a table without tracks": ("measure", "t.csv"),
}


@pytest.mark.parametrize(
    ("words", "code"),
    [*((words, 2) for words in USAGE.values()), *((words, 1) for words in FAILED.values())],
    ids=[*USAGE, *FAILED],
)
def test_what_no_input_could_make_right_is_wrong_usage_and_all_else_a_failure(auctrack, tmp_path, words, code):
    (tmp_path / "t.csv").write_text("frame,y,x\n0,1,1\n1,1,1\n", encoding="utf-8")
    before = (tmp_path / "t.csv").read_bytes()
    result = auctrack(*words)
    assert (result.exit_code, type(result.exception)) == (code, SystemExit), result.output
    assert result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
    assert (tmp_path / "t.csv").read_bytes() == before


@pytest.mark.parametrize("length", [243, 251])
def test_a_table_whose_name_leaves_no_room_for_settings_beside_it_is_read(auctrack, tmp_path, length):
    table = spots(tmp_path / ("x" * (length - 4) + ".csv"))
    for words in (("link", table, "-o", "short.csv"), ("track", table, "-o", "other.csv")):
        assert auctrack(*words).exit_code == 0


@pytest.mark.parametrize("length", [221, 230, 241, 251])
@pytest.mark.parametrize("command", ["link", "track"])
def test_a_result_whose_name_is_too_long_is_refused_before_any_work(auctrack, tmp_path, monkeypatch, command, length):
    for place in ("tracker.pipeline", "plugins.cli.runs.batch"):
        monkeypatch.setattr(f"auctrack.{place}.stages", lambda *_, **__: pytest.fail("worked"))
    table = spots(tmp_path / ("x" * (length - 4) + ".csv"))
    refused = auctrack(command, table, "-o", "out/")
    assert refused.exit_code == 1
    assert "too long" in refused.stderr
    assert "shorter" in refused.stderr
    assert not [*tmp_path.glob("out/*.csv*")]


def test_a_long_name_stops_no_other_input(auctrack, tmp_path, good):
    long = spots(tmp_path / ("x" * 247 + ".csv"))
    assert auctrack("track", long, good, "-o", "out").exit_code == 1
    assert (tmp_path / "out" / "good.tracks.csv").exists()


def test_a_dry_run_refuses_a_name_that_the_run_would_refuse(auctrack, tmp_path):
    refused = auctrack("track", spots(tmp_path / ("x" * 226 + ".csv")), "--dry-run")
    assert refused.exit_code == 1
    assert "shorter" in refused.stderr
