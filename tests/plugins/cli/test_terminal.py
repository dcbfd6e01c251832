"""What the terminal sees: help at once, and where there is no terminal plain lines with the time left."""

from __future__ import annotations

import subprocess
import sys

import pytest

from auctrack.plugins.cli import console


def test_help_loads_none_of_the_heavy_libraries():
    code = """
import sys
from auctrack.plugins.cli.app import app
try:
    app(["track", "--help"])
except SystemExit as leave:
    assert leave.code == 0
heavy = {"numpy", "scipy", "pandas", "numba", "matplotlib", "pyarrow", "tifffile", "cupy", "napari"}
print(sorted(heavy & set(sys.modules)))
"""
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert said.splitlines()[-1] == "[]"


def test_without_a_terminal_progress_is_a_line_now_and_then(monkeypatch, capsys):
    clock = iter([0.0, 1.0, 4.0, 12.0, 13.0])
    monkeypatch.setattr(console.time, "monotonic", lambda: next(clock))
    with console.progress("movie.tif") as progress:
        for done in (1, 2, 6, 7):
            progress("detect", done, 10)
    assert capsys.readouterr().err.splitlines() == ["movie.tif: detect 6 of 10 frames, about 7 s left"]


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (PermissionError(13, "Permission denied", "a.tif"), "a.tif: Permission denied."),
        (MemoryError(), "--roi"),
        (ZeroDivisionError("by zero"), "unexpected ZeroDivisionError: by zero"),
    ],
)
def test_an_error_is_a_sentence(error, says):
    assert says in console.sentence(error)


def test_a_reader_who_leaves_stops_no_work(samples, tmp_path):
    code = "from auctrack.plugins.cli.app import main; main()"
    command = [sys.executable, "-c", code, "track", samples / "points.csv", "--frames", "0:3"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (0, b"")
    assert (tmp_path / "points.tracks.csv").exists()
