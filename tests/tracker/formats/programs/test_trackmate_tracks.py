"""TrackMate's file of tracks alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from auctrack.tests.refusals import refused
from auctrack.tracker.errors import InvalidInput
from auctrack.tracker.formats.tables import read_tracks

FILE = """<?xml version="1.0" encoding="UTF-8"?>
<Tracks nTracks="2" {units} generationDateTime="Tue, 16 Apr 2024 18:36:11" from="TrackMate v7.12.2">
  <particle nSpots="2">
    <detection t="0" x="116.258" y="3.0" z="{z}" />
    <detection t="2" x="117.258" y="3.5" z="{z}" />
  </particle>
  <particle nSpots="1">
    <detection t="1" x="16.5" y="4.0" z="{z}" />
  </particle>
</Tracks>
"""


def read(path: Path, units: str, z: str = "0.0"):
    path.write_text(FILE.format(units=units, z=z), encoding="utf-8")
    return read_tracks(path)


@pytest.mark.parametrize(
    ("units", "length", "time"),
    [
        ('spaceUnits="micron" frameInterval="0.5" timeUnits="sec"', "µm", (0.5, "s")),
        ('spaceUnits="µm" frameInterval="2" timeUnits="min"', "µm", (2.0, "min")),
        ('spaceUnits="pixel" frameInterval="1.0" timeUnits="frame"', "pixel", (None, "frame")),
        ('spaceUnits="furlong" frameInterval="2" timeUnits="fortnight"', "furlong", (2.0, "fortnight")),
        ('spaceUnits="nm" frameInterval="NaN" timeUnits="s"', "nm", (None, "frame")),
        ("", "pixel", (None, "frame")),
    ],
)
def test_tracks_come_with_their_units(tmp_path: Path, units: str, length: str, time: tuple[float | None, str]) -> None:
    tracks = read(tmp_path / "tracks.xml", units)
    assert tracks.axes == ("y", "x")
    assert tracks.table[["track_id", "frame", "y", "x"]].to_numpy().tolist() == [
        [0, 0, 3.0, 116.258], [0, 2, 3.5, 117.258], [1, 1, 4.0, 16.5]
    ]  # fmt: skip
    assert tracks.calibration.unit == length
    assert (tracks.calibration.frame_interval, tracks.calibration.time_unit) == time


def test_three_dimensions_stay(tmp_path: Path) -> None:
    assert read(tmp_path / "tracks.xml", 'spaceUnits="µm"', z="2.5").table["z"].tolist() == [2.5] * 3


def test_a_place_that_is_no_number_is_named(tmp_path: Path) -> None:
    with refused(InvalidInput, match=r"tracks\.xml: .*'high'"):
        read(tmp_path / "tracks.xml", "", z="high")
