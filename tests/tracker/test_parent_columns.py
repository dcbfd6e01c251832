"""Lineages as columns of a table: what is written is read, by us and by anyone who has the table alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auctrack.tracker.formats.sidecar import sidecar_path
from auctrack.tracker.formats.tables import read_points, read_tracks
from auctrack.tracker.formats.write import write_tracks
from auctrack.tracker.linking.link import link, link_points
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.parent_columns import PARENT, parent_columns, parents_in
from auctrack.tracker.points import Points, Tracks

TABLE = pd.DataFrame(
    {"frame": [0, 0, 1, 1, 2, 2, 3], "y": 0.0, "x": np.arange(7.0), "track_id": [7, 8, 4, 5, 4, 5, 9], "size": 1.5}
)
MERGED = {4: [7], 5: [7], 9: [5, 4]}


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
@pytest.mark.parametrize("parents", [{4: [7], 5: [7]}, MERGED], ids=["divisions", "merges"])
def test_a_table_alone_tells_its_lineage(tmp_path: Path, name: str, parents: dict[int, list[int]]) -> None:
    write_tracks(Tracks(TABLE, parents=parents), tmp_path / name)
    sidecar_path(tmp_path / name).unlink()
    back = read_tracks(tmp_path / name)
    assert back.parents == parents
    pd.testing.assert_frame_equal(back.table, TABLE)


def test_whoever_has_the_file_alone_sees_the_parents_of_each_row(tmp_path: Path) -> None:
    write_tracks(Tracks(TABLE, parents=MERGED), tmp_path / "t.csv")
    plain = pd.read_csv(tmp_path / "t.csv")
    assert plain.columns.tolist()[3:6] == ["track_id", PARENT, f"{PARENT}_2"]
    assert plain[PARENT].fillna(-1).tolist() == [-1, -1, 7, 7, 7, 7, 5]
    assert plain[f"{PARENT}_2"].fillna(-1).tolist() == [-1] * 6 + [4]


def test_tracks_of_which_none_descends_have_no_such_column(tmp_path: Path) -> None:
    write_tracks(Tracks(TABLE), tmp_path / "t.csv")
    assert PARENT not in pd.read_csv(tmp_path / "t.csv")


def test_parents_corrected_in_the_table_go_before_those_beside_it(tmp_path: Path) -> None:
    write_tracks(Tracks(TABLE, parents={4: [7], 5: [7]}), tmp_path / "t.csv")
    edited = pd.read_csv(tmp_path / "t.csv")
    edited.loc[edited["track_id"] == 5, PARENT] = 8
    edited.to_csv(tmp_path / "t.csv", index=False)
    assert read_tracks(tmp_path / "t.csv").parents == {4: [7], 5: [8]}


@pytest.mark.parametrize("none", ["", "-1"])
@pytest.mark.parametrize("taken_out", [[5], [4, 5], [7], [7, 8, 4, 5, 9]])
def test_points_taken_out_of_their_track_descend_from_none(tmp_path: Path, taken_out: list[int], none: str) -> None:
    write_tracks(Tracks(TABLE, parents={4: [7], 5: [7]}), tmp_path / "t.csv")
    edited = pd.read_csv(tmp_path / "t.csv", dtype=str)
    is_out = edited["track_id"].astype(int).isin(taken_out)
    edited.loc[is_out, "track_id"] = none
    edited.to_csv(tmp_path / "t.csv", index=False)
    back = read_tracks(tmp_path / "t.csv")
    assert back.table.loc[is_out, "track_id"].is_unique
    left = {child: [7] for child in (4, 5) if child not in taken_out and 7 not in taken_out}
    assert back.parents == left


def test_parents_of_an_earlier_linking_do_not_outlive_it(tmp_path: Path) -> None:
    write_tracks(Tracks(TABLE, parents=MERGED), tmp_path / "t.csv")
    points = read_points(tmp_path / "t.csv")
    linked = link_points(points, LinkSettings(0.5, motion="none")).tracks
    assert not any(name.startswith(PARENT) for name in linked.table)
    write_tracks(Tracks(points.table), tmp_path / "stale.csv")
    assert read_tracks(tmp_path / "stale.csv").parents == {}
    assert not any(name.startswith(PARENT) for name in link(points, 0.5, motion="none"))


def test_link_gives_the_lineage_of_its_tracks_with_the_table() -> None:
    rng = np.random.default_rng(0)
    rows = [(t, 9.0 * n + (t - 4 if side else 4 - t) * (t > 4), 0.0) for n in range(40) for t in range(9)
            for side in range(2 if t > 4 else 1)]  # fmt: skip
    cells = pd.DataFrame(rows, columns=["frame", "y", "x"])
    cells[["y", "x"]] += rng.normal(0, 0.05, (len(cells), 2))
    tracks = link_points(Points(cells), LinkSettings(divisions=True)).tracks
    assert tracks.parents
    table = link(cells, divisions=True)
    assert read_tracks(table).parents == tracks.parents
    named = link(cells, divisions=True, track_column="particle")
    assert named[PARENT].tolist() == table[PARENT].tolist()
    assert table[PARENT].isna().sum() == (~table["track_id"].isin(tracks.parents)).sum()


@settings(deadline=None, derandomize=True)
@given(
    parents=st.dictionaries(
        st.integers(0, 9), st.lists(st.integers(0, 9), min_size=1, max_size=12, unique=True), max_size=6
    ),
    ids=st.permutations(range(10)),
)
def test_columns_of_parents_say_what_they_were_made_of(parents: dict[int, list[int]], ids: list[int]) -> None:
    track_ids = np.array([*ids, *ids])
    table = pd.DataFrame({"track_id": track_ids, **parent_columns(track_ids, parents)})
    assert parents_in(table) == parents
