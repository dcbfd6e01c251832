"""The command line as the tests call it, and small inputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from auctrack.plugins.cli.app import app

from ...two_spots import two_spots

ROOT = Path(__file__).parents[3]


@pytest.fixture
def auctrack(tmp_path, monkeypatch):
    """Call the command in an empty folder; returns typer's result, with `.output` of both streams."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def call(*words: object):
        return CliRunner().invoke(app, [str(word) for word in words])

    return call


@pytest.fixture
def samples() -> Path:
    return ROOT / "sample_data"


@pytest.fixture
def movie(tmp_path) -> Path:
    return two_spots(tmp_path / "in" / "spots.ome.tif")


@pytest.fixture
def write_movie():
    return two_spots


@pytest.fixture
def summary(tmp_path):
    """Read the JSON summary in a folder, by default where the command was called."""

    def read(folder: Path = tmp_path) -> dict:
        return json.loads((folder / "auctrack-summary.json").read_text(encoding="utf-8"))

    return read
