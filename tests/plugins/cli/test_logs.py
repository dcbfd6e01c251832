"""`--verbose` and `--log`: what is done, for the curious and for reports of bugs; the library itself prints nothing."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest

STAMPED = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} [A-Z]+ auctrack")


def test_a_log_holds_what_was_said_and_shown_and_every_detail(auctrack, movie, tmp_path):
    shown = auctrack("track", movie, "nowhere.csv", "--log", "run.log")
    log = (tmp_path / "run.log").read_text(encoding="utf-8")
    for line in shown.stdout.splitlines():
        assert line in log
    for fact in ("INFO auctrack.tracker.pipeline", "DEBUG auctrack.tracker.pipeline: detect: 3 of 3", "DetectSettings"):
        assert fact in log
    assert "ERROR auctrack.plugins.cli.terminal.console: nowhere.csv" in log
    assert "Traceback" in log
    assert "Traceback" not in shown.output
    assert STAMPED.match(log)


def test_a_log_is_continued_by_the_next_run_and_heard_no_longer_than_its_own(auctrack, movie, tmp_path):
    assert auctrack("track", movie, "--log", "run.log").exit_code == 0
    first = (tmp_path / "run.log").read_text(encoding="utf-8")
    assert auctrack("info", movie).exit_code == 0
    assert (tmp_path / "run.log").read_text(encoding="utf-8") == first
    assert auctrack("track", movie, "--log", "run.log").exit_code == 0
    assert (tmp_path / "run.log").read_text(encoding="utf-8").startswith(first)
    assert not [each for each in logging.getLogger("auctrack").handlers if not isinstance(each, logging.NullHandler)]


def without_times(shown: str) -> str:
    return re.sub(r"\d+\.\d s\b", "", shown)


def test_verbose_says_more_on_standard_error_and_nothing_twice(auctrack, movie):
    plain = auctrack("track", movie, "-o", "plain")
    verbose = auctrack("track", movie, "-o", "verbose", "--verbose")
    assert without_times(verbose.stdout).replace("verbose/", "plain/") == without_times(plain.stdout)
    assert "DetectSettings" in verbose.stderr
    assert "DetectSettings" not in plain.output
    assert not [line for line in verbose.stdout.splitlines() if line in verbose.stderr.splitlines()]


@pytest.mark.parametrize("command", ["info", "detect", "link", "measure", "score", "simulate", "track"])
def test_every_command_has_both(auctrack, command):
    page = auctrack(command, "--help").stdout
    assert "--verbose" in page
    assert "--log" in page


def test_a_log_that_cannot_be_opened_is_said_before_any_work(auctrack, movie, tmp_path):
    result = auctrack("track", movie, "--log", "nowhere/run.log")
    assert result.exit_code == 1
    assert "nowhere/run.log" in result.stderr
    assert not (tmp_path / "spots.tracks.csv").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no device that is always full")
def test_a_log_whose_disk_is_full_ends_and_the_work_goes_on(auctrack, movie, tmp_path):
    result = auctrack("track", movie, "--log", "/dev/full")
    assert result.exit_code == 0
    assert result.stderr.count("the log ends here") == 1
    assert (tmp_path / "spots.tracks.csv").exists()


def test_the_library_prints_nothing(movie):
    code = f"import auctrack; auctrack.track({str(movie)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_a_program_of_ones_own_hears_the_library_by_the_usual_means(movie, caplog):
    import auctrack

    with caplog.at_level(logging.INFO, logger="auctrack"):
        auctrack.track(movie)
    assert "auctrack.tracker.pipeline" in {record.name for record in caplog.records}
