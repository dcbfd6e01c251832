"""laptrack's three tables: what `LapTrack.predict_dataframe` returns, and what `to_csv` makes of it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from auctrack import read_points, read_tracks
from auctrack.tracker.errors import InvalidInput

TRACKS = pd.DataFrame(
    {
        "frame": [0, 1, 1, 2, 2, 3],
        "y": [1.0, 1, 3, 1, 3, 2],
        "x": 0.0,
        "tree_id": 0,
        "track_id": [0, 1, 2, 1, 2, 3],
    }
)
SPLITS = pd.DataFrame({"parent_track_id": [0, 0], "child_track_id": [1, 2]})
MERGES = pd.DataFrame({"parent_track_id": [1, 2], "child_track_id": [3, 3]})
NOTHING = pd.DataFrame()
"""What laptrack returns where nothing merges: no columns."""
LINEAGE = {1: [0], 2: [0], 3: [1, 2]}


def saved(folder: Path, names: list[str], tables: list[pd.DataFrame], **how) -> Path:
    for name, table in zip(names, tables, strict=True):
        table.to_csv(folder / name, **how)
    return folder / names[0]


@pytest.mark.parametrize(
    "names",
    [
        ["track_df.csv", "split_df.csv", "merge_df.csv"],
        ["tracks.csv", "splits.csv", "merges.csv"],
        ["Laptrack Tracks.csv.gz", "Laptrack Splits.csv.gz", "Laptrack Merges.csv.gz"],
    ],
    ids=lambda names: names[0],
)
@pytest.mark.parametrize("index", [True, False])
def test_splits_and_merges_beside_the_tracks_are_their_lineage(tmp_path: Path, names: list[str], index: bool) -> None:
    tracks = read_tracks(saved(tmp_path, names, [TRACKS, SPLITS, MERGES], index=index))
    assert tracks.parents == LINEAGE
    assert tracks.table["track_id"].tolist() == TRACKS["track_id"].tolist()


def test_the_three_are_taken_as_laptrack_returns_them() -> None:
    assert read_tracks((TRACKS, SPLITS, MERGES)).parents == LINEAGE
    indexed = TRACKS.set_index(["frame", pd.RangeIndex(6, name="index")])
    assert read_tracks((indexed, SPLITS, NOTHING)).parents == {1: [0], 2: [0]}


@pytest.mark.parametrize("index", [True, False])
def test_where_nothing_merges_the_table_is_empty(tmp_path: Path, index: bool) -> None:
    path = saved(tmp_path, ["track_df.csv", "split_df.csv", "merge_df.csv"], [TRACKS, SPLITS, NOTHING], index=index)
    assert read_tracks(path).parents == {1: [0], 2: [0]}


def test_tables_of_others_are_no_splits(tmp_path: Path) -> None:
    others = TRACKS.drop(columns="tree_id")
    assert read_tracks(saved(tmp_path, ["track_df.csv", "split_df.csv"], [others, SPLITS])).parents == {}
    assert read_tracks(saved(tmp_path, ["cells.csv"], [TRACKS])).parents == {}
    assert len(read_points(tmp_path / "cells.csv")) == len(TRACKS)


@pytest.mark.parametrize(
    "splits",
    [
        SPLITS.rename(columns={"child_track_id": "child"}),
        SPLITS.assign(child_track_id=[1, 99]),
        SPLITS.assign(child_track_id=[1, None]),
        SPLITS.assign(child_track_id=["1", "two"]),
        pd.DataFrame({"parent_track_id": [0, 1], "child_track_id": [1, 0]}),
    ],
    ids=["other columns", "no such track", "an empty cell", "a word", "a circle"],
)
def test_hostile_tables_end_in_a_sentence(tmp_path: Path, splits: pd.DataFrame) -> None:
    path = saved(tmp_path, ["track_df.csv", "split_df.csv"], [TRACKS, splits], index=False)
    with pytest.raises(InvalidInput, match=str(tmp_path)):
        read_tracks(path)
