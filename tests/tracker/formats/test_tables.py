"""Tables are recognised by the column names of the programs that write them, and keep what they carry."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path

import hypothesis
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.errors import InvalidInput, InvalidSetting, InvalidTable, UnknownColumns, UnknownScale
from auctrack.tracker.formats.graph import refuse_circles
from auctrack.tracker.formats.tables import read_either, read_points, read_tracks
from auctrack.tracker.formats.write import write_points
from auctrack.tracker.points import Points, Tracks

from ...refusals import refused

FRAME = np.array([2, 0, 0, 5])
Z, Y, X = np.array([[1.5, 2.25, 3.0, 4.0], [10.0, 20.5, 30.0, 40.0], [0.1, 0.2, 0.3, 100.0]])
ID = np.array([7, 7, 3, 7])

TRACKMATE = """LABEL,ID,TRACK_ID,QUALITY,POSITION_X,POSITION_Y,POSITION_Z,POSITION_T,FRAME
Label,Spot ID,Track ID,Quality,X,Y,Z,T,Frame
Label,Spot ID,Track ID,Quality,X,Y,Z,T,Frame
,,,(quality),({unit}),({unit}),({unit}),(sec),
ID1,1,7,0.5,0.1,10.0,{z[0]},5.0,2
ID2,2,7,0.5,0.2,20.5,{z[1]},0.0,0
ID3,3,,0.5,0.3,30.0,{z[2]},0.0,0
ID4,4,7,0.5,100.0,40.0,{z[3]},12.5,5
"""


def table(**columns: object) -> pd.DataFrame:
    return pd.DataFrame(columns)


DIALECTS = {
    "trackpy": table(y=Y, x=X, mass=X, frame=FRAME, particle=ID, z=Z),
    "laptrack": table(frame=FRAME, position_x=X, position_y=Y, position_z=Z, track_id=ID, tree_id=ID),
    "TrackMate": table(TRACK_ID=ID, POSITION_X=X, POSITION_Y=Y, POSITION_Z=Z, FRAME=FRAME),
    "napari tracks": table(track_id=ID, t=FRAME.astype(float), z=Z, y=Y, x=X),
    "celltrackR": table(frame=FRAME, z=Z, y=Y, x=X, true_id=ID),
    "another case": table(Track_ID=ID, T=FRAME, Z=Z, Y=Y, X=X),
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", None])
def test_every_dialect_gives_the_same_points(tmp_path: Path, dialect: str, suffix: str | None) -> None:
    source = DIALECTS[dialect]
    if suffix == ".parquet":
        source.to_parquet(tmp_path / "t.parquet")
    elif suffix:
        source.to_csv(tmp_path / f"t{suffix}", index=False)
    points = read_points(source if suffix is None else tmp_path / f"t{suffix}")
    assert points.ndim == 3
    np.testing.assert_array_equal(points.frames, FRAME)
    np.testing.assert_array_equal(points.table[["z", "y", "x"]], np.column_stack([Z, Y, X]))
    assert points.calibration.unit == "pixel"
    positions = [name for name in source.columns if name.rpartition("_")[2].lower() in ("frame", "t", "z", "y", "x")]
    extra = source.drop(columns=positions)
    assert not extra.empty
    pd.testing.assert_frame_equal(points.table[extra.columns], extra)


@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name != "another case"])
def test_every_dialect_gives_the_same_tracks(dialect: str) -> None:
    tracks = read_tracks(DIALECTS[dialect])
    np.testing.assert_array_equal(tracks.table["track_id"], ID)
    assert tracks.table["track_id"].dtype == np.int64


def test_napari_points_in_3d_and_2d(tmp_path: Path) -> None:
    table(index=range(4), **{"axis-0": FRAME, "axis-1": Z, "axis-2": Y, "axis-3": X}).to_csv(
        tmp_path / "3.csv", index=False
    )
    points = read_points(tmp_path / "3.csv")
    assert list(points.table.columns) == ["frame", "z", "y", "x"]
    np.testing.assert_array_equal(points.table["z"], Z)
    table(index=range(4), **{"axis-0": FRAME, "axis-1": Y, "axis-2": X}).to_csv(tmp_path / "2.csv", index=False)
    flat = read_points(tmp_path / "2.csv")
    assert flat.ndim == 2
    np.testing.assert_array_equal(flat.table["y"], Y)


def test_pandas_row_numbers_are_dropped_and_other_first_columns_kept(tmp_path: Path) -> None:
    numbered = DIALECTS["celltrackR"]
    numbered.to_csv(tmp_path / "t.csv")
    assert list(read_points(tmp_path / "t.csv").table.columns) == list(numbered.columns)
    numbered.set_axis([9, 8, 7, 6]).to_csv(tmp_path / "t.csv")
    assert read_points(tmp_path / "t.csv").table.iloc[:, 0].tolist() == [9, 8, 7, 6]


def test_frames_in_the_index_as_laptrack_returns_them() -> None:
    indexed = DIALECTS["laptrack"].set_index(["frame", pd.RangeIndex(4, name="index")])
    points = read_points(indexed)
    np.testing.assert_array_equal(points.frames, FRAME)
    assert "index" not in points.table.columns


@pytest.mark.parametrize("levels", [["frame"], ["frame", "particle"]])
def test_frames_in_the_index_of_a_parquet_file(tmp_path: Path, levels: list[str]) -> None:
    DIALECTS["trackpy"].set_index(levels).to_parquet(tmp_path / "t.parquet")
    tracks = read_tracks(tmp_path / "t.parquet")
    assert (tracks.frames.tolist(), tracks.table["track_id"].tolist()) == (FRAME.tolist(), ID.tolist())
    assert tracks.table.index.tolist() == [0, 1, 2, 3]


def test_a_table_given_is_not_changed() -> None:
    before = DIALECTS["trackpy"].copy()
    read_tracks(DIALECTS["trackpy"])
    pd.testing.assert_frame_equal(DIALECTS["trackpy"], before)


@pytest.mark.parametrize("program", ["TrackMate", "Imaris"])
@pytest.mark.parametrize(("said", "setting"), [({"scale": (2, 0.5, 0.5)}, "scale"), ({"unit": "pixel"}, "unit")])
def test_voxels_of_positions_that_another_program_says_are_lengths_are_refused(tmp_path, program, said, setting):
    text = {"TrackMate": TRACKMATE.format(unit="micron", z=Z), "Imaris": IMARIS}[program]
    (tmp_path / "spots.csv").write_text(text)
    with refused(InvalidSetting, match="in µm already", setting=setting):
        read_points(tmp_path / "spots.csv", **said)
    assert read_points(tmp_path / "spots.csv", unit="nm").calibration.scale == (1000, 1000, 1000)


def test_voxels_of_positions_that_trackmate_says_are_pixels_are_taken(tmp_path):
    (tmp_path / "spots.csv").write_text(TRACKMATE.format(unit="pixel", z=Z))
    points = read_points(tmp_path / "spots.csv", scale=(2, 0.5, 0.5))
    np.testing.assert_array_equal(points.positions, np.column_stack([Z, Y, X]) * [2, 0.5, 0.5])


@pytest.mark.parametrize("time", ["fortnight", "min"])
def test_trackmate_times_keep_their_unit(tmp_path: Path, time: str) -> None:
    """One that is not known here had taken the frame interval with it."""
    (tmp_path / "spots.csv").write_text(TRACKMATE.format(unit="µm", z=Z).replace("(sec)", f"({time})"))
    points = read_points(tmp_path / "spots.csv")
    assert (points.calibration.frame_interval, points.calibration.time_unit) == (2.5, time)


@pytest.mark.parametrize(("unit", "expected"), [("micron", "µm"), ("µm", "µm"), ("pixel", "pixel"), ("mm", "mm")])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_trackmate_with_four_header_rows_brings_its_units(
    tmp_path: Path, unit: str, expected: str, encoding: str
) -> None:
    path = tmp_path / "spots.csv"
    path.write_text(TRACKMATE.format(unit=unit, z=Z), encoding=encoding)
    points = read_points(path)
    np.testing.assert_array_equal(points.positions, np.column_stack([Z, Y, X]))
    assert points.calibration.unit == expected
    assert (points.calibration.frame_interval, points.calibration.time_unit) == (2.5, "s")
    assert points.table["QUALITY"].tolist() == [0.5] * 4
    assert {"LABEL", "ID", "TRACK_ID", "POSITION_T"} <= set(points.table.columns)


IMARIS = """Position X,Position Y,Position Z,Unit,Category,Collection,Time,TrackID,ID,
1.5,2.5,3.5,um,Spot,Position,1,1000000000,0,
8.5,9.5,7.5,um,Spot,Position,1,,1,
1.6,2.6,3.6,um,Spot,Position,2,1000000000,2,
"""


@pytest.mark.parametrize("comma", [True, False], ids=["comma at the end", "none"])
@pytest.mark.parametrize(
    "above", ["", "\nPosition\n==================== \n", "Position\n\n", "\ufeff\n\nPosition\n====\n\n"], ids=ascii
)
def test_imaris_with_its_title_lines_brings_its_unit(tmp_path: Path, above: str, comma: bool) -> None:
    text = above + (IMARIS if comma else IMARIS.replace(",\n", "\n"))
    (tmp_path / "position.csv").write_text(text, encoding="utf-8")
    tracks = read_tracks(tmp_path / "position.csv")
    assert tracks.frames.tolist() == [1, 1, 2]
    assert tracks.table["track_id"].tolist() == [1000000000, 1000000001, 1000000000]
    assert tracks.table[["z", "y", "x"]].to_numpy()[0].tolist() == [3.5, 2.5, 1.5]
    assert (tracks.calibration.unit, tracks.calibration.scale) == ("µm", (1, 1, 1))
    assert [name for name in tracks.table if str(name).startswith("Unnamed")] == []


def test_the_line_of_a_bad_cell_is_counted_from_the_titles_on(tmp_path: Path) -> None:
    (tmp_path / "position.csv").write_text("\n\nPosition\n====\n" + IMARIS.replace("8.5,", "far,"))
    with pytest.raises(InvalidInput, match=r"line 7 .*'far'"):
        read_points(tmp_path / "position.csv")


def test_trackmate_tracks_give_a_single_spot_an_id_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "spots.csv").write_text(TRACKMATE.format(unit="micron", z=Z))
    assert read_tracks(tmp_path / "spots.csv").table["track_id"].tolist() == [7, 7, 8, 7]


def test_trackmate_writes_2d_as_z_zero(tmp_path: Path) -> None:
    (tmp_path / "spots.csv").write_text(TRACKMATE.format(unit="micron", z=[0.0] * 4))
    assert read_points(tmp_path / "spots.csv").ndim == 2


def test_columns_of_ones_own() -> None:
    own = table(time=FRAME, depth=Z, row=Y, column=X, cell=ID, x=[1.0, 2.0, 3.0, 4.0])
    columns = {"frame": "time", "z": "depth", "y": "row", "x": "column"}
    points = read_points(own, columns=columns)
    np.testing.assert_array_equal(points.table[["frame", "z", "y", "x"]], np.column_stack([FRAME, Z, Y, X]))
    assert points.table["file_x"].tolist() == [1.0, 2.0, 3.0, 4.0]
    assert read_tracks(own, columns={**columns, "track_id": "cell"}).table["track_id"].tolist() == ID.tolist()
    with pytest.raises(InvalidInput, match=r"'hour'.*time, depth"):
        read_points(own, columns={"frame": "hour"})
    with pytest.raises(InvalidSetting, match=r"columns .*t; .*frame"):
        read_points(own, columns={"t": "time"})
    with pytest.raises(InvalidSetting, match=r"columns .*'row' .*z .*y"):
        read_points(own, columns={**columns, "z": "row"})


def test_units_are_pixels_unless_given() -> None:
    source = DIALECTS["celltrackR"]
    assert read_points(source).calibration.unit == "pixel"
    in_metres = read_points(source, unit="m", frame_interval=0.02)
    assert (in_metres.calibration.unit, in_metres.calibration.frame_interval) == ("m", 0.02)
    assert in_metres.calibration.time_unit == "s"
    scaled = read_points(source, scale=(2, 0.5, 0.25))
    assert scaled.calibration.unit == "µm"
    np.testing.assert_array_equal(scaled.positions, np.column_stack([2 * Z, 0.5 * Y, 0.25 * X]))


def test_missing_frames_stay_missing_and_the_order_of_rows_stays() -> None:
    points = read_points(DIALECTS["celltrackR"])
    assert sorted(set(points.frames)) == [0, 2, 5]
    assert points.frame_step == 1
    assert points.table["true_id"].tolist() == ID.tolist()


@pytest.mark.parametrize(
    ("name", "separator"), [("t.csv", ";"), ("t.csv", "\t"), ("t.tsv", "\t"), ("t.txt", ","), ("t.csv", "|")]
)
def test_semicolons_and_tabs(tmp_path: Path, name: str, separator: str) -> None:
    DIALECTS["celltrackR"].to_csv(tmp_path / name, index=False, sep=separator)
    np.testing.assert_array_equal(read_points(tmp_path / name).table["x"], X)


@pytest.mark.parametrize("separator", [";", "\t"])
def test_decimal_commas_as_spreadsheets_write_them(tmp_path: Path, separator: str) -> None:
    expected = DIALECTS["trackpy"]
    expected.to_csv(tmp_path / "t.csv", index=False, sep=separator, decimal=",")
    pd.testing.assert_frame_equal(read_points(tmp_path / "t.csv").table[list(expected.columns)], expected)


def test_decimal_commas_that_come_after_whole_numbers(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("frame;y;x\n" + "0;1;2\n" * 5 + "1;1,5;2\n")
    assert read_points(tmp_path / "t.csv").table["y"].tolist() == [1.0] * 5 + [1.5]


@pytest.mark.parametrize("above", ["", "\n", " \n\n"], ids=["nothing", "an empty line", "empty lines"])
@pytest.mark.parametrize("separator", [", ", "; ", "\t"], ids=["comma", "semicolon", "tab"])
def test_spaces_around_names_and_empty_lines_above_them(tmp_path: Path, above: str, separator: str) -> None:
    rows = [["frame", "y", "x ", "note"], ["0", "1.5", "2.5", "a"], ["1", "1.5", "2.5", "b"]]
    (tmp_path / "t.csv").write_text(above + "".join(f"{separator.join(row)}\n" for row in rows))
    points = read_points(tmp_path / "t.csv").table
    assert points.columns.tolist() == ["frame", "y", "x", "note"]
    assert points["x"].tolist() == [2.5, 2.5]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "utf-8", "latin-1"])
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_text_as_spreadsheets_encode_it(tmp_path: Path, encoding: str, suffix: str) -> None:
    content = "frame\ty\tx\tGröße\n0\t1,5\t2,5\t7\n1\t1,5\t\t7\n"
    path = tmp_path / f"t{suffix}"
    path.write_bytes(gzip.compress(content.encode(encoding)) if suffix == ".csv.gz" else content.encode(encoding))
    with pytest.raises(InvalidInput, match=r"'x' .*line 3 .*nan"):
        read_points(path)
    good = content.replace("\t\t", "\t3,5\t").encode(encoding)
    path.write_bytes(gzip.compress(good) if suffix == ".csv.gz" else good)
    points = read_points(path).table
    assert points.columns.tolist() == ["frame", "y", "x", "Größe"]
    assert points["x"].tolist() == [2.5, 3.5]


def test_a_comma_in_a_text_is_no_decimal_comma_where_numbers_have_points(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("frame;y;x;name\n0;1.5;2.5;3,5\n1;1.5;2.5;4,5\n")
    points = read_points(tmp_path / "t.csv").table
    assert (points["x"].tolist(), points["name"].tolist()) == ([2.5, 2.5], ["3,5", "4,5"])


def test_a_feature_that_is_text_far_down_is_text_in_every_row(tmp_path: Path) -> None:
    """Long tables are read in parts, of which the first hold nothing but numbers."""
    note = ["7"] * 300_000 + ["good"]
    path = tmp_path / "points.csv"
    pd.DataFrame({"frame": np.arange(len(note)), "y": 1.0, "x": 2.0, "note": note}).to_csv(path, index=False)
    assert read_points(path).table["note"].tolist() == note


@pytest.mark.parametrize("rows", [3, 300_000])
def test_a_column_that_is_there_twice_is_read_once(tmp_path: Path, rows: int) -> None:
    """As of `trackpy.filter_stubs(tracks).to_csv(…)`, whose index is named as the column of the frames."""
    kept = pd.DataFrame({"y": 1.0, "x": 2.0, "frame": np.arange(rows), "particle": 7}).set_index("frame", drop=False)
    kept.to_csv(tmp_path / "kept.csv")
    tracks = read_tracks(tmp_path / "kept.csv")
    assert tracks.frames.tolist() == list(range(rows))
    assert set(tracks.table) == {"frame", "y", "x", "track_id"}


def test_the_lineage_of_a_parent_column() -> None:
    family = table(frame=[0, 1, 1, 2], y=Y, x=X, true_id=[4, 5, 6, 6], parent_id=[-1, 4, 4, 4])
    assert read_tracks(family).parents == {5: [4], 6: [4]}
    assert read_tracks(family[1:]).parents == {}


def test_the_lineage_of_a_column_that_the_user_names() -> None:
    family = table(frame=[0, 1, 1, 2], y=Y, x=X, cell=[4, 5, 6, 6], mother=[np.nan, 4, 4, 4])
    tracks = read_tracks(family, columns={"track_id": "cell", "parent_track_id": "mother"})
    assert tracks.parents == {5: [4], 6: [4]}
    assert "mother" not in tracks.table


# --- bad input ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("frame,y,x,x\n0,1,2,3\n", "'x'"),
        ("frame,y, x,x\n0,1,2,3\n", "'x'"),
        ("# made, by hand\nframe,y,x\n0,1,2\n", "# made, by hand"),
        ("\x1f\x8b\x08\0\0", ""),
        ("frame,y,x\n0,1,2\n,,\n\n \n1,2,z\n", "'frame' .*line 3"),
        ("", ""),
        ("\n\n", ""),
        ("frame,y,x\n", ""),
        ("frame,y\n0,1\n", "frame, y[^,].*frame, y, x"),
        ("frame,y,x\n0,1,2\n1,nan,3\n", "'y' .*line 3"),
        ("frame,y,x\n0,1,2\n1,inf,3\n", "'y' .*line 3"),
        ("frame,y,x\n0,1,2\n,2,3\n", "'frame' .*line 3"),
        ("frame,y,x\n0,1,2\n1,two,3\n", "'y' .*line 3 .*'two'"),
        ("frame,y,x\n0,1,2\n,\n1,2,3\n", "'frame' .*line 3"),
        ("frame,y,x\n0,1,2\n0.5,2,3\n", "'frame' .*line 3"),
        ("frame,y,x\n0,1,2\n1,2,3,4\n", ""),
        ('frame,y,x\n0,1,2\n1,"2,3\n', ""),
    ],
)
def test_bad_tables_are_refused_in_a_sentence_that_names_the_file(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "bad.csv").write_text(content)
    with pytest.raises(InvalidInput, match=rf"bad\.csv: .*({said})"):
        read_points(tmp_path / "bad.csv")


def test_two_points_of_one_track_in_one_frame(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("frame,y,x,track_id\n0,1,2,7\n1,1,2,7\n1,3,4,7\n")
    with pytest.raises(InvalidInput, match=r"t\.csv: .*track 7 .*frame 1 .*line 4"):
        read_tracks(tmp_path / "t.csv")
    assert len(read_points(tmp_path / "t.csv")) == 3


@pytest.mark.parametrize("bad", ["1.5", "seven", "1e300", str(2**53)])
def test_track_ids_that_are_none(tmp_path: Path, bad: str) -> None:
    (tmp_path / "t.csv").write_text(f"frame,y,x,particle\n0,1,2,7\n1,1,2,{bad}\n")
    with pytest.raises(InvalidInput, match=r"'particle' .*line 3"):
        read_tracks(tmp_path / "t.csv")


def test_track_ids_that_are_too_large_are_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"frame,y,x,track_id\n0,1,2,{10**16}\n1,1,2,7\n")
    with pytest.raises(InvalidInput, match=rf"'track_id' .*below 2\*\*53.*line 2 has {10**16}\.$"):
        read_tracks(path)


def test_a_negative_id_is_a_point_alone() -> None:
    tracks = read_tracks(table(frame=[0, 0, 1], y=[1, 2, 3], x=[1, 2, 3], true_id=[-1, -1, 4]))
    assert tracks.table["track_id"].tolist() == [5, 6, 4]


def test_tracks_need_a_track_id() -> None:
    with pytest.raises(InvalidInput, match="track_id"):
        read_tracks(table(frame=FRAME, y=Y, x=X))


def test_no_name_is_no_table() -> None:
    with pytest.raises(InvalidInput, match="\\.csv"):
        read_points("")


def test_a_table_that_is_not_there_or_of_no_known_kind(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"gone\.csv"):
        read_points(tmp_path / "gone.csv")
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    with pytest.raises(InvalidInput, match=r"\.csv, \.tsv, \.txt, \.parquet"):
        read_points(tmp_path / "t.xlsx")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InvalidInput, match=r"folder\.csv"):
        read_points(tmp_path / "folder.csv")


def test_damaged_binary_tables(tmp_path: Path) -> None:
    whole = gzip.compress(DIALECTS["trackpy"].to_csv(index=False).encode() * 100)
    (tmp_path / "t.csv.gz").write_bytes(whole[: len(whole) // 2])
    DIALECTS["trackpy"].to_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.parquet").write_bytes((tmp_path / "t.parquet").read_bytes()[:-20])
    (tmp_path / "e.parquet").touch()
    (tmp_path / "n.csv").write_bytes(bytes(range(256)) * 4)
    for name in ("t.csv.gz", "t.parquet", "e.parquet", "n.csv"):
        with pytest.raises(InvalidInput, match=name):
            read_points(tmp_path / name)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_damage_anywhere_gives_a_table_or_a_sentence(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    source = DIALECTS["trackpy"]
    source.to_parquet(path) if suffix == ".parquet" else source.to_csv(path, index=False)
    whole = path.read_bytes()
    random = np.random.default_rng(3)
    refused = 0
    for _ in range(100):
        damaged = bytearray(whole)
        for place in random.integers(0, len(whole), 3):
            damaged[place] = random.integers(0, 256)
        path.write_bytes(damaged)
        try:
            read_tracks(path)
        except InvalidInput as error:
            assert str(path) in str(error)  # noqa: PT017
            refused += 1
    assert refused > 50


def test_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_text("frame,y,x\n0,1,2\n")

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "no way in")

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(InvalidInput, match=r"t\.csv.*no way in"):
        read_points(tmp_path / "t.csv")


# --- real tables -------------------------------------------------------------------------------------------------


REAL = {
    "hl60_3d/truth.csv": (777, 75, 23, 16),
    "phallusia_pm03/truth.csv.gz": (13484, 90, 604, 558),
    "tcells_3d/tracks_um.csv": (5157, 40, 258, 0),
    "mosquito_swarm/tracks_m.csv.gz": (29999, 3966, 36, 0),
    "ptv_tracers/tracks_mm.csv.gz": (164920, 200, 66898, 0),
}


@pytest.mark.parametrize("name", REAL)
def test_real_tables(real_data, name: str) -> None:
    tracks = read_tracks(real_data(name))
    ids = tracks.table["track_id"]
    assert (len(tracks), len(set(tracks.frames)), ids.nunique(), len(tracks.parents)) == REAL[name]
    assert tracks.ndim == 3


def test_trackmate_spots_as_laptrack_ships_them(real_data) -> None:
    points = read_points(real_data("faketracks/trackmate_tracks_without_gap_closing_spots.csv"), unit="pixel")
    assert (len(points), points.ndim, list(points.table.columns)) == (134, 2, ["id", "frame", "x", "y", "track_id"])


@pytest.mark.parametrize("program", DIALECTS)
def test_a_dataframe_is_recognised_by_the_same_names_and_stays_as_it_is(program):
    own = DIALECTS[program].set_axis([4, 3, 9, 1])
    before = own.copy()
    named = read_points(own).table
    pd.testing.assert_frame_equal(named[["y", "x"]], pd.DataFrame({"y": Y, "x": X}))
    assert named["frame"].tolist() == FRAME.tolist()
    pd.testing.assert_frame_equal(own, before)


def test_an_index_level_called_frame_becomes_a_column():
    own = table(frame=FRAME, y=Y, x=X, spot=ID).set_index(["frame", "spot"])
    assert read_points(own).table["frame"].tolist() == FRAME.tolist()


def test_positions_in_um_that_were_left_alone_are_not_taken_for_voxels(tmp_path):
    file = tmp_path / "spots.csv"
    voxels = table(frame=FRAME, z=Z, y=Y, x=X)
    written = Points(voxels, Calibration((2.0, 0.5, 0.5), "µm", frame_interval=3.0))
    write_points(written, file)
    pd.read_csv(file).drop(columns=["z", "y", "x"]).to_csv(file, index=False)
    points = read_points(file)
    np.testing.assert_allclose(points.positions, written.positions)
    assert (points.calibration.unit, points.calibration.frame_interval) == ("µm", 3.0)


@pytest.mark.parametrize(
    ("said", "setting"), [({"scale": (2, 0.5, 0.5)}, "scale"), ({"unit": "pixel"}, "unit"), ({"unit": "px"}, "unit")]
)
def test_voxels_of_positions_that_are_lengths_already_are_refused(tmp_path, said, setting):
    own = table(frame=FRAME, z_um=Z, y_um=Y, x_um=X)
    own.to_csv(tmp_path / "spots.csv", index=False)
    for source in (own, tmp_path / "spots.csv"):
        with refused(InvalidSetting, match="in µm already .z_um, y_um, x_um.", setting=setting):
            read_points(source, **said)
    assert read_points(own, scale=(1, 1, 1)).calibration.scale == (1, 1, 1)
    assert read_points(own, unit="nm").calibration.scale == (1000, 1000, 1000)


@pytest.mark.parametrize("names", ["{} [nm]", "{}nm"])
def test_localizations_of_thunderstorm_and_smap_are_in_nm(names):
    own = table(**{"frame": FRAME, "uncertainty_xy [nm]": Z, names.format("y"): Y, names.format("x"): X})
    points = read_points(own)
    assert (points.axes, points.calibration.unit) == (("y", "x"), "nm")
    np.testing.assert_array_equal(points.positions, np.column_stack([Y, X]))


def test_positions_named_by_hand_are_in_the_unit_that_ends_their_names():
    own = table(time=FRAME, **{"Y (nm)": Y, "X (nm)": X})
    columns = {"frame": "time", "y": "Y (nm)", "x": "X (nm)"}
    assert read_points(own, columns=columns).calibration.unit == "nm"
    in_um = read_points(own, columns=columns, unit="µm")
    np.testing.assert_allclose(in_um.positions, np.column_stack([Y, X]) / 1000)
    with refused(InvalidSetting, match=r"in nm already .Y .nm., X .nm..", setting="scale"):
        read_points(own, columns=columns, scale=(0.1, 0.1))
    in_pixels = table(frame=FRAME, **{"Y (px)": Y, "X (px)": X})
    columns = {"y": "Y (px)", "x": "X (px)"}
    assert read_points(in_pixels, columns=columns, scale=(0.1, 0.1)).calibration.scale[1:] == (0.1, 0.1)


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_rows_of_empty_cells_below_a_table_as_spreadsheets_leave_them_are_none(tmp_path: Path, sign: str) -> None:
    rows = ["frame,y,x,note", "0,1.5,2,a", "1,2.5,3,b", ",,,", "", ",,,", ""]
    (tmp_path / "t.csv").write_text("\n".join(rows).replace(",", sign))
    points = read_points(tmp_path / "t.csv")
    assert points.table[["frame", "y", "x", "note"]].to_numpy().tolist() == [[0, 1.5, 2, "a"], [1, 2.5, 3, "b"]]
    assert points.table.index.tolist() == [0, 1]


def test_positions_whose_names_end_in_several_units_are_brought_to_um(tmp_path):
    """x in nm beside y and z in µm had been taken for pixels, a thousand times as far apart."""
    in_nm = np.multiply(X, 1000)
    own = table(time=FRAME, **{"Z (µm)": Z, "Y (µm)": Y, "X (nm)": in_nm})
    columns = {"frame": "time", "z": "Z (µm)", "y": "Y (µm)", "x": "X (nm)"}
    own.to_csv(tmp_path / "spots.csv", index=False)
    for source in (own, tmp_path / "spots.csv"):
        points = read_points(source, columns=columns)
        np.testing.assert_allclose(points.positions, np.column_stack([Z, Y, X]))
        assert points.calibration.unit == "µm"
        assert points.table["x"].tolist() == in_nm.tolist()
        assert read_points(source, columns=columns, unit="nm").calibration.scale == (1000, 1000, 1)
        assert read_points(source, columns=columns, scale=(1, 1, 0.002)).calibration.scale == (1, 1, 0.002)


def test_a_depth_in_another_unit_than_y_and_x_is_not_left_out():
    own = table(frame=FRAME, z_nm=Z, y_um=Y, x_um=X)
    with pytest.raises(UnknownColumns) as caught:
        read_points(own)
    columns = {"frame": "frame", "z": "z_nm", "y": "y_um", "x": "x_um"}
    assert caught.value.likely == columns
    assert read_points(own, columns=columns).calibration == Calibration((0.001, 1.0, 1.0), "µm")


def test_a_unit_that_ends_the_name_of_one_axis_is_not_that_of_others():
    own = table(frame=FRAME, z_um=Z, y=Y, x=X)
    with refused(UnknownScale, match="z = 1 µm, but nothing for y, x", setting="scale"):
        read_points(own, columns={"z": "z_um"})
    assert read_points(own, columns={"z": "z_um"}, scale=(1, 0.2, 0.2)).calibration.scale == (1, 0.2, 0.2)


@pytest.mark.parametrize("spelt", [str.upper, str.lower])
def test_a_table_of_edges_is_answered_with_that_of_spots(spelt: Callable[[str], str]) -> None:
    edges = table(**{spelt(name): [1, 2] for name in ("Label", "Spot_source_ID", "Spot_target_ID", "Edge_time")})
    with pytest.raises(InvalidInput, match=r"edges.*spots\.csv"):
        read_points(edges)


@pytest.mark.parametrize("end", [" (µm)", " [micron]", "_um", "_µm"])
def test_the_unit_that_names_of_unknown_columns_end_in_is_offered(tmp_path: Path, end: str) -> None:
    table(**{"time point": [0, 1], f"pos_y{end}": [1.0, 2.0], f"pos_x{end}": [1.0, 2.0]}).to_csv(tmp_path / "t.csv")
    with pytest.raises(UnknownColumns) as caught:
        read_points(tmp_path / "t.csv")
    assert caught.value.unit == "µm"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("frame,y,x\n0,1,2\n\n\n1,nan,3\n", 5),
        ('frame,y,x,note\n0,1,2,"two\nlines"\n1,nan,3,b\n', 4),
        (TRACKMATE.format(unit="micron", z=[1, 2, "nan", 4]), 7),
        ("frame,y,x,π\n0,1,2,ä\n1,nan,3,ö\n", 3),
    ],
    ids=["empty lines", "a cell of two lines", "four header rows", "not ASCII"],
)
def test_a_bad_row_of_a_file_is_named_by_its_line_and_of_a_dataframe_by_its_row(tmp_path, content, line):
    (tmp_path / "bad.csv").write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput, match=rf"line {line} .*nan"):
        read_points(tmp_path / "bad.csv")
    bad = table(frame=[0, 1], y=[1.0, np.nan], x=[1.0, 2.0])
    bad.to_parquet(tmp_path / "bad.parquet")
    for source in (bad, tmp_path / "bad.parquet"):
        with pytest.raises(InvalidInput, match=r"row 1 .*nan"):
            read_points(source)


@pytest.mark.parametrize(
    ("columns", "asked"),
    [
        (
            ("Time", "pz", "py", "px", "quality", "index"),
            {"frame": "Time", "z": "pz", "y": "py", "x": "px"},
        ),
        (
            ("ImageNumber", "ObjectNumber", "Location_Center_X", "Location_Center_Y"),  # CellProfiler
            {"frame": "ImageNumber", "y": "Location_Center_Y", "x": "Location_Center_X"},
        ),
        (("slice", "Pos_Y", "Pos_X"), {"frame": "slice", "y": "Pos_Y", "x": "Pos_X"}),
        (("a", "b"), {"frame": "…", "y": "…", "x": "…"}),
        (("frame_y", "y", "x"), {"frame": "frame_y", "y": "y", "x": "x"}),  # none for two
        (  # scikit-image
            ("t", "label", "bbox-0", "bbox-1", "bbox-2", "bbox-3", "centroid-0", "centroid-1"),
            {"frame": "t", "y": "centroid-0", "x": "centroid-1"},
        ),
        (
            ("timepoint", "centroid-0", "centroid-1", "centroid-2"),
            {"frame": "timepoint", "z": "centroid-0", "y": "centroid-1", "x": "centroid-2"},
        ),
    ],
)
def test_columns_to_be_named_are_asked_for(columns, asked):
    with refused(UnknownColumns, match=r'columns=\{"frame": ', setting="columns", examples=asked, has=columns):
        read_points(table(**{name: [1.0] for name in columns}))


def test_a_unit_that_is_none_is_refused_with_those_that_are_known():
    for given in ({"unit": "furlong"}, {"unit": "furlong", "scale": (1, 1, 1)}):
        with refused(InvalidSetting, match="nm, µm, mm.*pixel.*'furlong'", setting="unit"):
            read_points(DIALECTS["trackpy"], **given)
    with refused(InvalidSetting, match="ms, s, min.*'fortnight'", setting="time_unit"):
        read_points(DIALECTS["trackpy"], frame_interval=1, time_unit="fortnight")


@pytest.mark.parametrize(("suffix", "unit"), [("um", "µm"), ("nm", "nm"), ("m", "m")])
@pytest.mark.parametrize("axes", ["zyx", "yx"])
def test_positions_may_be_physical_alone(suffix: str, unit: str, axes: str) -> None:
    columns = {f"{axis}_{suffix}": values for axis, values in zip("zyx", (Z, Y, X), strict=True) if axis in axes}
    points = read_points(table(frame=FRAME, **columns))
    assert points.calibration.unit == unit
    np.testing.assert_array_equal(points.positions, np.column_stack(list(columns.values())))
    assert set(points.table.columns) == {"frame", *axes}


BTRACK = """ID t x y z parent root state generation dummy
3 0 1.5 2.5 0.0 3 3 5 0 False
3 1 2.5 2.5 0.0 3 3 5 0 False
4 2 3.5 2.5 {z} 3 3 5 1 True
5 2 1.5 9.5 0.0 3 3 5 1 False
"""


@pytest.mark.parametrize(("z", "axes"), [("0.0", "yx"), ("7.5", "zyx")])
def test_btracks_table_is_read_with_its_lineage(tmp_path: Path, z: str, axes: str) -> None:
    (tmp_path / "t.csv").write_text(BTRACK.format(z=z))
    for source in (tmp_path / "t.csv", pd.read_csv(tmp_path / "t.csv", sep=" ")):
        tracks = read_tracks(source)
        assert "".join(tracks.axes) == axes
        assert tracks.table["track_id"].tolist() == [3, 3, 4, 5]
        assert tracks.table[["frame", "y", "x"]].to_numpy()[2].tolist() == [2, 2.5, 3.5]
        assert tracks.parents == {4: [3], 5: [3]}
        assert tracks.table["dummy"].tolist() == [False, False, True, False]


ILASTIK = """frame,labelimageId,lineageId,trackId,parentTrackId,Object_Center_0,Object_Center_1,Object_Center_2
0,1,2,2,0,1.5,2.5,3.5
1,1,2,3,2,1.5,3.5,3.5
1,2,2,4,2,1.5,1.5,3.5
1,3,-1,-1,-1,9.5,1.5,3.5
"""


def test_names_of_tracks_are_refused_with_what_numbers_them() -> None:
    named = DIALECTS["laptrack"].assign(track_id=["cell_7", "cell_7", "cell_3", "cell_7"])
    with refused(InvalidTable, match=r"pandas\.factorize.*row 0 has 'cell_7'"):
        read_tracks(named)
    numbered = read_tracks(named.assign(track_id=pd.factorize(named["track_id"])[0]))
    assert numbered.table["track_id"].tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("axes", ["yx", "zyx"])
def test_the_first_centre_of_ilastik_is_along_x(tmp_path: Path, axes: str) -> None:
    """In the order of axes of an image it was offered as z."""
    exported = pd.read_csv(io.StringIO(ILASTIK)).iloc[:, : 5 + len(axes)]
    exported.to_csv(tmp_path / "t.csv", index=False)
    tracks = read_tracks(tmp_path / "t.csv")
    assert tracks.table["x"].tolist() == [1.5, 1.5, 1.5, 9.5]
    assert tracks.table[list(axes)].to_numpy()[1].tolist() == [3.5, 3.5, 1.5][-len(axes) :]
    assert tracks.table["track_id"].tolist()[:3] == [2, 3, 4]
    assert tracks.parents == {3: [2], 4: [2]}
    centres = {f"Object_Center_{number}": f"Center of the object_{number}" for number in range(3)}
    objects = read_points(exported.rename(columns={"frame": "timestep", **centres}))
    pd.testing.assert_frame_equal(objects.table[["frame", *axes]], tracks.table[["frame", *axes]])


def test_the_id_of_celltrackr_is_that_of_the_track(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,t,x,y,z\n7,1,1,2,3\n7,2,1,2,4\n9,1,5,5,5\n")
    assert read_tracks(tmp_path / "t.csv").table["track_id"].tolist() == [7, 7, 9]
    assert isinstance(read_either(tmp_path / "t.csv"), Tracks)


@pytest.mark.parametrize("parents", [[5, -1, -1], [6, 5, -1], [6, 7, 5]])
def test_a_lineage_in_a_circle_ends_in_a_sentence(parents: list[int]) -> None:
    table = pd.DataFrame({"frame": 0, "y": 0.0, "x": 0.0, "track_id": [5, 6, 7], "parent_id": parents})
    with pytest.raises(InvalidInput, match="track 5"):
        read_tracks(table)


@hypothesis.given(st.dictionaries(st.integers(0, 6), st.lists(st.integers(0, 6), max_size=3), max_size=7))
def test_only_circles_are_refused(parents: dict[int, list[int]]) -> None:
    graph = nx.DiGraph((parent, child) for child, of in parents.items() for parent in of)
    if nx.is_directed_acyclic_graph(graph):
        refuse_circles(parents)
    else:
        with pytest.raises(InvalidInput):
            refuse_circles(parents)


OWN = {"frame": "hour", "y": "row", "x": "col", "track_id": "cell"}


@pytest.mark.parametrize("role", OWN)
@pytest.mark.parametrize("kind", ["DataFrame", "csv"])
def test_a_column_that_was_named_by_hand_is_called_so_where_it_is_at_fault(
    tmp_path: Path, role: str, kind: str
) -> None:
    faulty = pd.DataFrame({"hour": [0, 1], "row": [1.0, 2.0], "col": [1.0, 2.0], "cell": [1, 1]}).astype(object)
    faulty.loc[1, OWN[role]] = "some text"
    source: Path | pd.DataFrame = faulty
    if kind == "csv":
        source = tmp_path / "t.csv"
        faulty.to_csv(source, index=False)
    with pytest.raises(InvalidInput, match=rf"column '{OWN[role]}' needs.*{'line 3' if kind == 'csv' else 'row 1'}"):
        read_tracks(source, columns=OWN)


def test_a_column_of_another_program_is_called_by_its_name() -> None:
    with pytest.raises(InvalidInput, match="column 'POSITION_X' needs"):
        read_points(table(FRAME=[0, 1], POSITION_Y=[0.0, 1.0], POSITION_X=[0.0, np.nan]))


@pytest.mark.parametrize(
    "text",
    ["0,1.5,2.5,3\n1,2,3,4\n", "0 1.5 1.5 0\n1 2 3 4\n", "0;1,5;-2,5\n1;2;3\n", "0\t1e-3\t2\n1\t2\t3\n"],
    ids=["commas", "spaces", "semicolons", "tabs"],
)
def test_a_file_without_a_line_of_names_is_said_to_lack_it(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InvalidInput, match=r"t\.csv: its line of column names seems to be missing.*frame,z,y,x"):
        read_points(tmp_path / "t.csv")


def test_a_row_that_is_too_long_is_named_without_the_words_of_a_parser(tmp_path):
    (tmp_path / "t.csv").write_text("frame,y,x\n0,1,2\n1,2,3,4\n")
    with pytest.raises(InvalidInput, match=r"it is damaged \(Expected 3 fields in line 3, saw 4\)\.$"):
        read_points(tmp_path / "t.csv")


def test_times_are_not_said_to_be_frames_which_they_are_refused_as():
    seconds, places = np.arange(4) * 0.5, {"y": np.zeros(4), "x": np.zeros(4)}
    dates = pd.Timestamp("2026-11-29") + pd.to_timedelta(seconds, unit="s")
    asked = {"frame": "…", "y": "y", "x": "x"}
    for times in (seconds, dates, dates.astype(str)):
        with refused(UnknownColumns, match="'t_s' has times.* number them", setting="columns", examples=asked):
            read_points(table(t_s=times, **places))
    with refused(UnknownColumns, setting="columns", examples=asked | {"frame": "Time Point"}):
        read_points(table(t_s=seconds, **places, **{"Time Point": np.arange(4)}))


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (np.array([0, 1, 2, 5]) * 0.5, "between two, here 0.5, as the frame interval"),
        (np.arange(40) * 0.1 + 3.25, "between two, here 0.1, as the frame interval"),
        (np.array([0.3, 0.1 + 0.2, 0.6, 0.9]), "between two, here 0.3, as the frame interval"),
        (np.array([0.0, 1.01, 1.97, 3.04]), "between two as the frame interval"),
        (np.array([0.5, 0.5]), "between two as the frame interval"),
        (np.array([0.5, np.inf, np.nan]), "between two as the frame interval"),
    ],
)
def test_how_far_times_are_apart_is_said_where_that_is_even(times, said):
    with pytest.raises(UnknownColumns, match=said):
        read_points(table(t_s=times, y=np.zeros(len(times)), x=np.zeros(len(times))))


def test_a_dataframe_with_numbers_for_names_is_asked_for_names():
    with pytest.raises(InvalidInput, match=r"not all recognised; it has 0, 1, 2"):
        read_points(pd.DataFrame([[0, 1.0, 2.0]]))


def test_a_unit_of_time_without_a_time_is_refused():
    with refused(InvalidSetting, match="min has no effect", setting="time_unit"):
        read_points(DIALECTS["trackpy"], time_unit="min")


@pytest.mark.parametrize("first", ["sep=;", "sep=;\r", '"sep=;"', "SEP=;"])
def test_excels_line_on_what_parts_cells_is_no_header(tmp_path, first):
    (tmp_path / "excel.csv").write_text(f"{first}\nframe;z;y;x\n0;1,5;2;3\n1;1,5;2;x\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="line 4 has 'x'"):
        read_points(tmp_path / "excel.csv")
    (tmp_path / "excel.csv").write_text(f"{first}\nframe;z;y;x\n0;1,5;2;3\n1;1,5;2;4\n", encoding="utf-8")
    assert read_points(tmp_path / "excel.csv").table.to_numpy().tolist() == [[0, 1.5, 2, 3], [1, 1.5, 2, 4]]


def test_a_packed_table_is_read_whatever_letters_its_ending_has(tmp_path):
    with gzip.open(tmp_path / "SPOTS.CSV.GZ", "wt", encoding="utf-8") as file:
        file.write("frame,z,y,x\n0,1,2,3\n")
    assert len(read_points(tmp_path / "SPOTS.CSV.GZ")) == 1


@pytest.mark.parametrize("name", ["track_id", "particle"])
def test_tracks_stay_as_they_were_read_whatever_becomes_of_the_table(name):
    table = pd.DataFrame({"frame": [0, 1, 2], "y": 1.0, "x": 2.0, name: [4, 4, 5]})
    tracks = read_tracks(table)
    table.loc[0, name] = 7
    table.loc[0, "frame"] = 9
    assert tracks.table["track_id"].tolist() == [4, 4, 5]
    assert tracks.frames.tolist() == [0, 1, 2]


SPOTS = pd.DataFrame({"frame": [0, 1, 2], "t_s": [0.0, 2.0, 4.0], "y": [1.0, 2.0, 3.0], "x": 1.0})
DATES = pd.to_datetime(pd.Series([0, 1, 2]))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (SPOTS.assign(frame=DATES), "'frame' needs numbers; it has dates or times"),
        (SPOTS.assign(frame=DATES - DATES[0]), "'frame' needs numbers; it has dates or times"),
        (SPOTS.assign(x_um=1.0, y_um=1.0, x=DATES), "'x' needs numbers; it has dates or times"),
        (pd.concat([SPOTS.assign(x_um=1.0, y_um=1.0), SPOTS[["x"]]], axis=1), "needs one column 'x'; it has several"),
        (SPOTS.assign(x_um=1.0, y_um=1.0, x=1j), "'x' needs real numbers"),
    ],
    ids=["dates", "times", "dates for positions", "a column twice", "complex"],
)
def test_beside_physical_columns_what_is_wrong_with_the_others_is_said_in_our_words(given, said):
    with pytest.raises(InvalidInput, match=said):
        read_points(given)


@pytest.mark.parametrize("name", ["t_s", "x_um"])
def test_a_physical_column_that_comes_twice_or_is_no_number_states_nothing(name):
    known = SPOTS.assign(x_um=0.5 * SPOTS["x"], y_um=0.5 * SPOTS["y"])
    for given in (pd.concat([known, known[[name]]], axis=1), known.assign(**{name: DATES})):
        stated = read_points(given).calibration
        assert (stated.frame_interval is None) == (name == "t_s")
        assert stated.is_physical == (name == "t_s")


def test_frames_that_are_categories_are_numbers_all_the_same():
    assert read_points(SPOTS.assign(frame=SPOTS["frame"].astype("category"))).frames.tolist() == [0, 1, 2]
