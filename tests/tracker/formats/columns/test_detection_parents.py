"""Tables of napari-track-edit and motile-tracker: every detection names the one it comes from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from auctrack.tracker.errors import InvalidInput, InvalidSetting
from auctrack.tracker.formats.columns.detection_parents import with_tracks_of_parents
from auctrack.tracker.formats.graph import edges_of
from auctrack.tracker.formats.loaded import Loaded, steps_of_one
from auctrack.tracker.formats.losses import lost
from auctrack.tracker.formats.registry import FORMATS
from auctrack.tracker.formats.tables import read_either, read_points, read_tracks
from auctrack.tracker.formats.write import write_points, write_tracks
from auctrack.tracker.points import Points, Tracks

from ..programs.test_trackmate import some_tracks
from ..test_graph import forests

EXPORTED = """t,z,y,x,id,parent_id,tracklet_id
0,1.5,2,3,11,,7
1,1.5,2,4,12,11,7
2,1.5,1,5,14,12,9
2,1.5,3,5,13,12,8
3,1.5,3,6,20,13,8
"""
SHOWN = EXPORTED.replace("t,z,y,x,id,parent_id,tracklet_id", "Time,z,y,x,ID,Parent ID,Tracklet ID")


@pytest.mark.parametrize("text", [
    EXPORTED, EXPORTED.replace("t,z", "time,z"), EXPORTED.replace(",11,,", ",11,-1,"), SHOWN,
], ids=["t", "time", "-1", "names shown"])  # fmt: skip
def test_parents_of_detections_make_tracks_and_lineage(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    for tracks in (read_tracks(tmp_path / "t.csv"), read_tracks(pd.read_csv(tmp_path / "t.csv"))):
        assert tracks.table["track_id"].tolist() == [7, 7, 9, 8, 8]
        assert tracks.parents == {9: [7], 8: [7]}
        assert tracks.table["id"].tolist() == [11, 12, 14, 13, 20]
        assert not {"parent_id", "tracklet_id"} & set(tracks.table.columns)


def test_ids_of_tracks_that_the_parents_contradict_are_not_believed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(EXPORTED.replace(",7\n", ",8\n"), encoding="utf-8")
    tracks = read_tracks(tmp_path / "t.csv")
    assert tracks.table["track_id"].tolist() == [0, 0, 1, 2, 2]
    assert tracks.table["tracklet_id"].tolist() == [8, 8, 9, 8, 8]
    (tmp_path / "t.csv").write_text(EXPORTED.replace(",tracklet_id", ",seg_id"), encoding="utf-8")
    tracks = read_tracks(tmp_path / "t.csv")
    assert tracks.table["track_id"].tolist() == [0, 0, 1, 2, 2]
    assert tracks.parents == {1: [0], 2: [0]}


def test_ids_may_be_words() -> None:
    table = pd.DataFrame({"t": [0, 1], "y": 0.0, "x": 0.0, "id": ["mother", "child"], "parent_id": [None, "mother"]})
    assert read_tracks(table).table["track_id"].tolist() == [0, 0]


def test_parents_of_tracks_beside_row_numbers_stay_those_of_tracks() -> None:
    table = pd.DataFrame({"frame": [0, 1, 2, 3], "y": 0.0, "x": 0.0, "id": [5, 6, 7, 8]})
    table = table.assign(track_id=[5, 5, 6, 6], parent_id=[-1, -1, 5, 5])
    tracks = read_tracks(table)
    assert tracks.table["track_id"].tolist() == [5, 5, 6, 6]
    assert tracks.parents == {6: [5]}


@pytest.mark.parametrize("ndim", [2, 3])
def test_tracks_come_back(tmp_path: Path, ndim: int) -> None:
    sent = some_tracks(ndim)
    sent = replace(sent, parents={8: [5], 9: [5], 2: [8]})
    write_tracks(sent, tmp_path / "t.motile.csv")
    back = read_tracks(tmp_path / "t.motile.csv")
    others = [name for name in sent.table.columns if name not in sent.axes]
    pd.testing.assert_frame_equal(back.table[others], sent.table[others], check_exact=True)
    assert set(back.table.columns) == set(sent.table.columns)
    assert back.parents == sent.parents
    np.testing.assert_array_equal(back.positions, sent.positions)
    assert (back.calibration.unit, back.calibration.frame_interval) == ("µm", 0.5)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(sent=forests())
def test_a_forest_comes_back_from_the_file_alone(sent: Tracks, tmp_path_factory: pytest.TempPathFactory) -> None:
    sent = replace(sent, parents={child: of[:1] for child, of in sent.parents.items()})
    path = tmp_path_factory.mktemp("forest") / "t.motile.csv"
    write_tracks(sent, path)
    path.with_name("t.motile.csv.settings.json").unlink()
    back = read_tracks(path)
    assert back.table["track_id"].tolist() == sent.table["track_id"].tolist()
    assert back.parents == sent.parents


def test_every_detection_has_at_most_one_parent_of_an_earlier_frame(tmp_path: Path) -> None:
    sent = some_tracks()
    write_tracks(sent, tmp_path / "t.motile.csv")
    table = pd.read_csv(tmp_path / "t.motile.csv")
    assert table.columns[:6].tolist() == ["t", "z", "y", "x", "id", "parent_id"]
    edges = edges_of(sent)
    pairs = table[["parent_id", "id"]].dropna().astype(int).to_numpy().tolist()
    assert set(map(tuple, pairs)) <= {(int(a) + 1, int(b) + 1) for a, b in edges}
    assert len(pairs) == len(np.unique(edges[:, 1]))
    assert "1 merge" in "; ".join(lost(sent, FORMATS["motile"]))
    assert "size of a voxel" in "; ".join(lost(sent, FORMATS["motile"]))


def test_points_stay_points(tmp_path: Path) -> None:
    write_points(Points(some_tracks().table.drop(columns="track_id")), tmp_path / "p.motile.csv")
    back = read_either(tmp_path / "p.motile.csv")
    assert not isinstance(back, Tracks)
    assert "parent_id" not in back.table


def test_ids_of_ones_own_go_along_and_others_step_aside(tmp_path: Path) -> None:
    table = some_tracks().table
    write_tracks(Tracks(table.assign(id=np.arange(9)[::-1] * 2)), tmp_path / "own.motile.csv")
    assert read_tracks(tmp_path / "own.motile.csv").table["id"].tolist() == list(range(16, -1, -2))
    write_tracks(Tracks(table.assign(id=3, parent_id=8)), tmp_path / "other.motile.csv")
    assert (
        read_tracks(tmp_path / "other.motile.csv").table[["file_id", "file_parent_id"]].to_numpy().tolist()
        == [[3, 8]] * 9
    )
    with pytest.raises(InvalidSetting):
        write_tracks(Tracks(table.assign(t=1)), tmp_path / "t.motile.csv")


@pytest.mark.parametrize("change", [
    ("12,11,7", "11,11,7"), ("12,11,7", ",11,7"), ("12,11,7", "12,77,7"), ("12,11,7", "12,12,7"),
    ("12,11,7", "12,20,7"), ("2,1.5,1", "0,1.5,1"), ("12,11,7", "12,word,7"), ("12,11,7", "nan,11,7"),
    ("12,11,7", "12,1e400,7"), ("3,1.5", "x,1.5"),
], ids=["twice", "no id", "unknown", "itself", "circle", "same frame", "word", "NaN", "huge", "frame"])  # fmt: skip
def test_hostile_tables_end_in_a_sentence_with_the_line(tmp_path: Path, change: tuple[str, str]) -> None:
    (tmp_path / "t.csv").write_text(EXPORTED.replace(*change), encoding="utf-8")
    for read in (read_points, read_tracks):
        with pytest.raises(InvalidInput, match=r"t\.csv: .*line \d"):
            read(tmp_path / "t.csv")


def test_other_tables_are_left_alone() -> None:
    table = pd.DataFrame({"frame": [0], "y": [0.0], "x": [0.0], "parent_id": [3]})
    loaded = Loaded(table, steps_of_one(), "here")
    assert with_tracks_of_parents(loaded) is loaded
