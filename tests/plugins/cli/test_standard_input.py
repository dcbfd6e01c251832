"""`-` is standard input, for every command that takes a table."""

from __future__ import annotations

import gzip
import json
import os
import sys
import threading
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from auctrack.plugins.cli.app import app


@pytest.fixture
def spots() -> pd.DataFrame:
    return pd.DataFrame({"frame": [0, 1, 2], "y": [1.0, 1.1, 1.2], "x": 2.0, "track_id": 7})


@pytest.fixture
def piped(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda given, *words: CliRunner().invoke(app, [str(word) for word in words], input=given)


def test_a_table_is_linked_measured_and_scored_from_a_pipe(piped, spots, tmp_path):
    text = spots.to_csv(index=False).encode()
    (tmp_path / "truth.csv").write_bytes(text)
    for words in (("link", "-"), ("measure", "-"), ("score", "-", "truth.csv"), ("score", "truth.csv", "-")):
        more = ("--tolerance", 1) if words[0] == "score" else ()
        result = piped(text, *words, *more)
        assert result.exit_code == 0, result.output
    assert {path.name for path in tmp_path.glob("*.csv")} == {"truth.csv", "stdin.tracks.csv", "stdin.measures.csv"}
    assert pd.read_csv("stdin.tracks.csv")["track_id"].tolist() == [0, 0, 0]


def test_info_looks_at_a_table_from_a_pipe_and_names_the_command_for_one(piped, spots):
    result = piped(spots.to_csv(index=False).encode(), "info", "-", "--json")
    assert (result.exit_code, json.loads(result.stdout)["rows"]) == (0, 3)
    assert json.loads(result.stdout)["command"].startswith("auctrack link -")


def test_track_names_the_command_that_takes_a_pipe(piped):
    result = piped(b"", "track", "-")
    assert result.exit_code == 2
    assert "auctrack link -" in result.stderr


@pytest.mark.parametrize("kind", ["gzip", "parquet"])
def test_what_comes_is_known_by_how_it_begins(piped, spots, tmp_path, kind):
    given = gzip.compress(spots.to_csv(index=False).encode()) if kind == "gzip" else spots.to_parquet()
    assert piped(given, "link", "-", "-o", "out.csv").exit_code == 0
    assert len(pd.read_csv(tmp_path / "out.csv")) == 3


@pytest.mark.parametrize("given", [b"", b"a,b\n1,2\n", b"frame,y,x\n0,1,two\n"])
@pytest.mark.parametrize("command", ["link", "measure", "info"])
def test_what_is_wrong_is_said_of_standard_input(piped, tmp_path, given, command):
    result = piped(given, command, "-")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: standard input: ")
    assert not list(tmp_path.iterdir())


def test_two_tables_cannot_come_through_one_pipe(piped):
    assert piped(b"", "score", "-", "-").exit_code == 2


@pytest.mark.skipif(sys.platform == "win32", reason="has no such pipes")
@pytest.mark.timeout(60)
def test_a_named_pipe_is_answered_with_the_way_that_works(piped, tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    writer = threading.Thread(target=lambda: Path("pipe.csv").open("w").close(), daemon=True)
    writer.start()
    result = piped(b"", "link", "pipe.csv")
    assert result.exit_code == 1
    assert "'-'" in result.stderr
