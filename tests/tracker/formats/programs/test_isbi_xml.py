"""The XML of the ISBI 2012 particle tracking challenge."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.errors import InvalidInput, InvalidSetting
from auctrack.tracker.formats.losses import lost
from auctrack.tracker.formats.registry import FORMATS
from auctrack.tracker.formats.tables import read_tracks
from auctrack.tracker.formats.write import write_points, write_tracks
from auctrack.tracker.points import Points

from .test_trackmate import some_tracks

TRUTH = """<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<root>
<TrackContestISBI2012 snr="2" density="low" scenario="VESICLE">
<particle>
<detection t="4" x="1.5" y="2.5" z="{z}"/>
<detection t="6" x="2.5" y="3.5" z="{z}"/>
</particle>
<particle><detection t="0" x="7" y="8" z="{z}"/></particle>
</TrackContestISBI2012>
</root>
"""


@pytest.mark.parametrize(("z", "axes"), [("0", "yx"), ("-1", "yx"), ("3.25", "zyx")])
def test_the_challenges_truth_is_read(tmp_path: Path, z: str, axes: str) -> None:
    (tmp_path / "truth.xml").write_text(TRUTH.format(z=z), encoding="utf-8")
    tracks = read_tracks(tmp_path / "truth.xml")
    assert "".join(tracks.axes) == axes
    assert tracks.table[["track_id", "frame", "y", "x"]].to_numpy().tolist() == [
        [0, 4, 2.5, 1.5], [0, 6, 3.5, 2.5], [1, 0, 8, 7]
    ]  # fmt: skip
    assert tracks.calibration.unit == "pixel"


ICY = """<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<root><trackfile version="1"{within}<trackgroup description="mhtTracks-Run1"><track id="-1743400864">
<detection classname="plugins.DetectionSpotTrack" color="-6553856" t="4" type="1" x="1.5" y="2.5" z="{z}"/>
<detection classname="plugins.DetectionSpotTrack" color="-6553856" t="6" type="2" x="2.5" y="3.5" z="{z}"/>
</track></trackgroup>{after}<linklist/></root>
"""


@pytest.mark.parametrize(("within", "after"), [("/>", ""), (">", "</trackfile>")])
@pytest.mark.parametrize(("z", "axes"), [("-1", "yx"), ("3.25", "zyx")])
def test_the_tracks_of_icy_are_read(tmp_path: Path, within: str, after: str, z: str, axes: str) -> None:
    (tmp_path / "icy.xml").write_text(ICY.format(within=within, after=after, z=z), encoding="utf-8")
    tracks = read_tracks(tmp_path / "icy.xml")
    assert "".join(tracks.axes) == axes
    assert tracks.table[["track_id", "frame", "y", "x"]].to_numpy().tolist() == [[0, 4, 2.5, 1.5], [0, 6, 3.5, 2.5]]


@pytest.mark.parametrize("ndim", [2, 3])
def test_positions_frames_and_gaps_come_back_exactly(tmp_path: Path, ndim: int) -> None:
    sent = some_tracks(ndim)
    write_tracks(sent, tmp_path / "t.isbi.xml", settings={})
    root = ElementTree.parse(tmp_path / "t.isbi.xml").getroot()
    assert [len(particle) for particle in root.iterfind("TrackContestISBI2012/particle")] == [2, 4, 1, 1, 1]
    back = read_tracks(tmp_path / "t.isbi.xml")
    columns = ["frame", *sent.axes]
    wanted = sent.table.sort_values(["track_id", "frame"])
    np.testing.assert_array_equal(back.table[columns], wanted[columns])
    assert back.table["track_id"].tolist() == pd.factorize(wanted["track_id"])[0].tolist()
    assert back.calibration == sent.calibration  # by the settings beside it
    numbers = dict(zip(wanted["track_id"], back.table["track_id"], strict=True))
    assert back.parents == {numbers[child]: [numbers[p] for p in of] for child, of in sent.parents.items()}


def test_what_is_lost_is_said() -> None:
    said = "; ".join(lost(some_tracks(), FORMATS["isbi"]))
    for word in ("quality", "unit of length", "frame interval", "numbers of the tracks", "descent"):
        assert word in said


def test_points_are_no_tracks(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="link"):
        write_points(Points(some_tracks().table), tmp_path / "p.isbi.xml", settings={})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("change", [
    ('t="4"', 't="4.5"'), ('t="4"', 't="now"'), ('t="4"', ""), ('t="6"', 't="4"'), ('x="7"', 'x="1e999"'),
    ("TrackContestISBI2012", "Contest"), ("</root>", ""), ("detection", "spot"), ("<root>", "<!DOCTYPE root><root>"),
])  # fmt: skip
def test_hostile_files_end_in_a_sentence(tmp_path: Path, change: tuple[str, str]) -> None:
    (tmp_path / "t.xml").write_text(TRUTH.format(z="0").replace(*change), encoding="utf-8")
    with pytest.raises(InvalidInput):
        read_tracks(tmp_path / "t.xml")
