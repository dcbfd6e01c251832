"""TrackMate's spots and edges as CSV: the edges tell splits and merges, which track ids cannot."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from auctrack import read_points, read_tracks
from auctrack.tracker.errors import InvalidInput
from auctrack.tracker.formats.graph import edges_of

SPOTS = pd.DataFrame(
    {
        "LABEL": ["ID7", "ID9", "ID3", "ID5", "ID8"],
        "ID": [7, 9, 3, 5, 8],
        "TRACK_ID": [0, 0, 0, 0, None],
        "POSITION_X": [0.0, 0.5, -1, 1, 9],
        "POSITION_Y": 2.0,
        "POSITION_Z": 0.0,
        "FRAME": [0, 2, 3, 3, 1],
    }
)
EDGES = pd.DataFrame({"LABEL": "e", "SPOT_SOURCE_ID": [7, 3, 9], "SPOT_TARGET_ID": [9, 9, 5], "LINK_COST": 1.0})
"""A track that misses frame 1 and divides after frame 2; one edge is reversed."""


def saved(folder: Path, spots: pd.DataFrame, edges: pd.DataFrame, names: tuple[str, str], above: int = 0) -> Path:
    """Save both, with so many rows of names and units below the header as TrackMate writes."""
    for name, table in zip(names, (spots, edges), strict=True):
        header, *rows = table.to_csv(index=False).splitlines(keepends=True)
        more = [",".join(["(micron)" if "POSITION" in column else "text" for column in table.columns]) + "\n"] * above
        (folder / name).write_text("".join([header, *more, *rows]), encoding="utf-8")
    return folder / names[0]


@pytest.mark.parametrize("names", [("spots.csv", "edges.csv"), ("Cells-Spots.csv", "Cells-Edges.csv")])
@pytest.mark.parametrize("above", [0, 3])
def test_edges_beside_the_spots_are_their_tracks(tmp_path: Path, names: tuple[str, str], above: int) -> None:
    tracks = read_tracks(saved(tmp_path, SPOTS, EDGES, names, above))
    assert tracks.table["track_id"].tolist() == [0, 0, 2, 3, 1]
    assert tracks.parents == {2: [0], 3: [0]}
    assert tracks.table["TRACK_ID"].tolist()[:4] == [0, 0, 0, 0]
    assert tracks.calibration.unit == ("µm" if above else "pixel")


def test_without_edges_a_track_that_divides_is_refused_and_one_that_does_not_is_read(tmp_path: Path) -> None:
    path = saved(tmp_path, SPOTS, EDGES, ("spots.csv", "others.csv"))
    with pytest.raises(InvalidInput, match="frame 3"):
        read_tracks(path)
    SPOTS.drop(index=3).to_csv(path, index=False)
    assert len(set(read_tracks(path).table["track_id"])) == 2


def test_a_table_of_that_name_without_edges_is_left_alone(tmp_path: Path) -> None:
    path = saved(tmp_path, SPOTS.drop(index=3), SPOTS, ("spots.csv", "edges.csv"))
    assert len(set(read_tracks(path).table["track_id"])) == 2


@pytest.mark.parametrize(
    ("spots", "edges"),
    [
        (SPOTS, EDGES.assign(SPOT_TARGET_ID=[9, 9, 77])),
        (SPOTS, EDGES.assign(SPOT_TARGET_ID=["9", "9", "five"])),
        (SPOTS, EDGES.assign(SPOT_TARGET_ID=[9, 9, None])),
        (SPOTS, EDGES.assign(SPOT_SOURCE_ID=[7, 3, 3])),
        (SPOTS.assign(ID=7), EDGES),
    ],
    ids=["no such spot", "a word", "an empty cell", "within a frame", "one id"],
)
def test_hostile_edges_end_in_a_sentence(tmp_path: Path, spots: pd.DataFrame, edges: pd.DataFrame) -> None:
    path = saved(tmp_path, spots, edges, ("spots.csv", "edges.csv"))
    with pytest.raises(InvalidInput, match=str(tmp_path)):
        read_tracks(path)


@pytest.mark.data
@pytest.mark.parametrize(("kind", "n_edges"), [("without_gap_closing", 127), ("with_splitting_merging", 180)])
def test_the_real_example_has_all_its_edges(real_data, kind: str, n_edges: int) -> None:
    path = real_data("faketracks") / f"trackmate_tracks_{kind}_spots.csv"
    tracks = read_tracks(path)
    wanted = pd.read_csv(path.with_name(path.name.replace("spots", "edges")))
    ids = tracks.table["id"].to_numpy()
    found = {frozenset(pair) for pair in ids[edges_of(tracks)].tolist()}
    assert found == {frozenset(pair) for pair in wanted[["spot_source_id", "spot_target_id"]].to_numpy().tolist()}
    assert len(found) == n_edges
    assert len(read_points(path)) == len(tracks)
