"""The command line as the tests call it, and small inputs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tifffile
from typer.testing import CliRunner

from auctrack.plugins.cli.app import app

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


def two_spots(path: Path, *, frames: int = 3) -> Path:
    """Write frames of 48 × 48 pixels of 0.5 µm with two spots that move by one pixel a frame."""
    path.parent.mkdir(parents=True, exist_ok=True)
    y, x = np.mgrid[:48, :48]
    noise = np.random.default_rng(0).normal(100, 2, (frames, 48, 48))
    for t in range(frames):
        for row, column in ((12 + t, 14), (32, 30 + t)):
            noise[t] += 200 * np.exp(-((y - row) ** 2 + (x - column) ** 2) / 8)
    known = {
        "axes": "TYX",
        "PhysicalSizeX": 0.5,
        "PhysicalSizeY": 0.5,
        "PhysicalSizeXUnit": "µm",
        "PhysicalSizeYUnit": "µm",
    }
    tifffile.imwrite(path, noise.astype(np.uint16), ome=True, metadata=known)
    return path


@pytest.fixture
def summary(tmp_path):
    """Read the JSON summary in a folder, by default where the command was called."""

    def read(folder: Path = tmp_path) -> dict:
        return json.loads((folder / "auctrack-summary.json").read_text(encoding="utf-8"))

    return read
