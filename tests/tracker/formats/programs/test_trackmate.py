"""TrackMate's files: what we write opens there and comes back; what it writes is read, edges included."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.errors import InvalidInput
from auctrack.tracker.formats.graph import edges_of
from auctrack.tracker.formats.losses import lost
from auctrack.tracker.formats.registry import FORMATS
from auctrack.tracker.formats.tables import read_either, read_points, read_tracks
from auctrack.tracker.formats.write import write_points, write_tracks
from auctrack.tracker.points import Points, Tracks

from ..trackmate_checker import complaints

CALIBRATION = Calibration((2.0, 0.325, 0.325), "µm", 0.5, "s")


def some_tracks(ndim: int = 3) -> Tracks:
    """A division, a merge, missed frames, a single point; columns of all kinds; rows in no order."""
    frames = [3, 0, 2, 4, 4, 6, 9, 5, 1]
    ids = [5, 5, 5, 8, 9, 2, 2, 40, 5]
    random = np.random.default_rng(1)
    columns = {f"{axis}": random.normal(0, 50, 9) for axis in "zyx"[3 - ndim :]}
    table = pd.DataFrame({"frame": frames, **columns, "track_id": ids})
    table = table.assign(quality=random.random(9).astype(np.float32), is_edge=[True, False, True] * 3)
    table = table.assign(label=np.arange(9) + 2**53, snr=[1.5, np.nan, np.inf, -np.inf, 0, 1, 2, 3, 4])
    table['odd name <&">'] = np.arange(9)
    return Tracks(table, CALIBRATION, {8: [5], 9: [5], 2: [8, 9]})


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("beside", [True, False])
def test_tracks_come_back(tmp_path: Path, ndim: int, beside: bool) -> None:
    sent = some_tracks(ndim)
    write_tracks(sent, tmp_path / "t.xml", settings={"source": "movie.tif"})
    if not beside:
        (tmp_path / "t.xml.settings.json").unlink()
    back = read_tracks(tmp_path / "t.xml")
    assert set(back.table.columns) == set(sent.table.columns)
    pd.testing.assert_frame_equal(
        back.table[list(sent.table.columns)], sent.table, check_dtype=beside, rtol=1e-14, atol=1e-300
    )
    assert back.calibration.scale[3 - ndim :] == sent.calibration.scale[3 - ndim :]
    assert replace(back.calibration, scale=(1, 1, 1)) == replace(sent.calibration, scale=(1, 1, 1))
    assert {child: sorted(of) for child, of in back.parents.items()} == sent.parents


def test_what_we_write_opens_in_trackmate(tmp_path: Path) -> None:
    for number, tracks in enumerate(
        (some_tracks(2), some_tracks(3), replace(some_tracks(), calibration=Calibration()))
    ):
        write_tracks(tracks, tmp_path / f"{number}.xml", settings={"effective": {"detect": {"diameter": 7.0}}})
        assert complaints(tmp_path / f"{number}.xml") == []
    assert 'RADIUS="3.5"' in (tmp_path / "1.xml").read_text(encoding="utf-8")


@pytest.mark.parametrize("damage", [
    ('isint="true"', 'isint="yes"'), ('TRACK_ID="0" />', 'TRACK_ID="7" />'), ('QUALITY="', 'QUANTITY="'),
    ("NaN", "nan"), ('SPOT_SOURCE_ID="1"', 'SPOT_SOURCE_ID="77"'), ("MANUAL_TRACKER", "OURS"), ("<GUIState", "<State"),
    ('ID="0"', 'ID="1"'), ('spatialunits="micron"', ""), ("<TrackFilterCollection />", ""),
    ('filename="movie.tif"', 'filename=""'), ('isabove="true"', 'isabove="yes"'), ('value="0.0"', ""),
    ('ID="0"', 'ID="0" ROI_N_POINTS="3"'), ("<EdgeAnalyzers />", '<EdgeAnalyzers><Analyzer key="?"/></EdgeAnalyzers>'),
])  # fmt: skip
def test_the_checker_finds_what_trackmate_would(tmp_path: Path, damage: tuple[str, str]) -> None:
    write_tracks(some_tracks(), tmp_path / "t.xml", settings={"source": "movie.tif"})
    text = (tmp_path / "t.xml").read_text(encoding="utf-8").replace('label="9007199254740992"', 'label="NaN"')
    broken = text.replace('LABEL="9007199254740992"', 'LABEL="NaN"').replace(*damage)
    broken = broken.replace("</GUIState>", "</State>") if damage[1] == "<State" else broken
    (tmp_path / "t.xml").write_text(broken, encoding="utf-8")
    assert complaints(tmp_path / "t.xml")


@st.composite
def any_tracks(draw: st.DrawFn) -> Tracks:
    spans = [sorted(draw(st.sets(st.integers(0, 9), min_size=1, max_size=4))) for _ in range(draw(st.integers(1, 4)))]
    rows = [(frame, 7 * number) for number, span in enumerate(spans) for frame in span]
    numbers = st.floats(-1e6, 1e6, allow_nan=False)
    table = pd.DataFrame(rows, columns=["frame", "track_id"])
    for name in ("z", "y", "x", "snr"):
        table[name] = draw(st.lists(numbers, min_size=len(rows), max_size=len(rows)))
    parents = {7: [0]} if len(spans) > 1 and spans[0][-1] < spans[1][0] else {}
    return Tracks(
        table, Calibration((draw(st.floats(0.01, 100)), 1.0, 0.5), "µm", draw(st.floats(0.01, 100)), "s"), parents
    )


@settings(max_examples=40, deadline=None, derandomize=True)
@given(sent=any_tracks())
def test_whatever_tracks_come_back(tmp_path_factory: pytest.TempPathFactory, sent: Tracks) -> None:
    path = tmp_path_factory.mktemp("any") / "t.xml"
    write_tracks(sent, path, settings={})
    assert complaints(path) == []
    back = read_tracks(path)
    pd.testing.assert_frame_equal(back.table[list(sent.table.columns)], sent.table, rtol=1e-14, atol=1e-300)
    assert (back.calibration, back.parents) == (sent.calibration, sent.parents)


def test_points_are_spots_without_tracks(tmp_path: Path) -> None:
    points = Points(some_tracks().table.drop(columns="track_id"), CALIBRATION)
    write_points(points, tmp_path / "p.xml", settings={})
    assert complaints(tmp_path / "p.xml") == []
    back = read_either(tmp_path / "p.xml")
    assert not isinstance(back, Tracks)
    np.testing.assert_allclose(back.positions, points.positions, rtol=1e-14)


def test_outlines_that_are_not_written_are_not_announced(tmp_path: Path) -> None:
    """TrackMate's own spots have a number of corners; it gives up where the corners do not follow."""
    outlined = replace(some_tracks(), table=some_tracks().table.assign(ROI_N_POINTS=33))
    write_tracks(outlined, tmp_path / "t.xml", settings={})
    assert complaints(tmp_path / "t.xml") == []
    assert read_tracks(tmp_path / "t.xml").table["ROI_N_POINTS"].tolist() == [33] * 9


def test_text_is_lost_and_said_to_be() -> None:
    named = some_tracks()
    named = replace(named, table=named.table.assign(name="a"))
    assert lost(named, FORMATS["trackmate"]) == ["columns name"]
    assert lost(some_tracks(), FORMATS["trackmate"]) == []


SETTINGS = {"without_gap_closing": 127, "with_gap_closing": 128, "with_merging": 129, "with_splitting": 130,
            "with_splitting_merging": 180}  # fmt: skip


@pytest.mark.parametrize("kind", SETTINGS)
def test_trackmates_own_files_give_trackmates_edges(real_data, kind: str) -> None:
    folder = real_data("faketracks")
    if not (folder / f"trackmate_tracks_{kind}.xml").exists():
        folder = Path(__file__).parents[5] / "shared" / "data" / "faketracks"
    if not (folder / f"trackmate_tracks_{kind}.xml").exists():
        pytest.skip("TrackMate's XML files are in shared/data only")
    tracks = read_tracks(folder / f"trackmate_tracks_{kind}.xml")
    edges = edges_of(tracks)
    assert len(edges) == SETTINGS[kind]
    wanted = pd.read_csv(folder / f"trackmate_tracks_{kind}_edges.csv")
    ids = tracks.table["ID"].to_numpy()
    found = {frozenset(pair) for pair in ids[edges].tolist()}
    assert found == {frozenset(pair) for pair in wanted[["spot_source_id", "spot_target_id"]].to_numpy().tolist()}
    assert tracks.calibration == Calibration((1, 1, 1), "pixel", 1.0, "s")


def test_another_program_reads_the_same_graph(tmp_path: Path) -> None:
    """GEFF's own converter from TrackMate, which shares nothing with ours."""
    convert, core = pytest.importorskip("geff.convert"), pytest.importorskip("geff")
    sent = some_tracks()
    write_tracks(sent, tmp_path / "t.xml", settings={})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it has no rule for features of its own names, and misses the image's folder
        convert.from_trackmate_xml_to_geff(tmp_path / "t.xml", tmp_path / "t.geff")
        reader = core.GeffReader(tmp_path / "t.geff")
    reader.read_node_props(["POSITION_X", "POSITION_T"])
    graph = reader.build()
    found = {frozenset(map(int, pair)) for pair in graph["edge_ids"]}
    assert found == {frozenset(pair) for pair in edges_of(sent).tolist()}
    row = graph["node_ids"].astype(int)
    np.testing.assert_allclose(graph["node_props"]["POSITION_X"]["values"], sent.positions[row, -1])
    np.testing.assert_allclose(graph["node_props"]["POSITION_T"]["values"], sent.frames[row] * 0.5)


BOMB = '<!DOCTYPE TrackMate [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'


class TestHostileFiles:
    @pytest.mark.parametrize("change", [
        (r"<TrackMate ", f"{BOMB}<TrackMate "),
        (r"<TrackMate ", '<!DOCTYPE TrackMate SYSTEM "file:///etc/passwd"><TrackMate '),
        (r"</AllSpots>[\s\S]*", ""),
        (r"<Model[\s\S]*</Model>", ""),
        (r'ID="3"', 'ID="2"'),
        (r'ID="3"', 'ID="x"'),
        (r'SPOT_SOURCE_ID="1"', 'SPOT_SOURCE_ID="99"'),
        (r'SPOT_SOURCE_ID="1"', 'SPOT_SOURCE_ID="one"'),
        (r'SPOT_TARGET_ID="(\d+)"', ""),
        (r'POSITION_X="[^"]*"', 'POSITION_X="left"'),
        (r'POSITION_X="[^"]*"', ""),
        (r' FRAME="4"', ' FRAME="4.5"'),
        (r' FRAME="4"', ' FRAME="NaN"'),
        (r'pixelwidth="[^"]*"', 'pixelwidth="wide"'),
        (r"[\s\S]*", ""),
        (r"[\s\S]*", "<html></html>"),
        (r'encoding="UTF-8"', 'encoding="EBCDIC"'),
    ])  # fmt: skip
    def test_they_end_in_a_sentence(self, tmp_path: Path, change: tuple[str, str]) -> None:
        write_tracks(some_tracks(), tmp_path / "t.xml", settings={})
        text = (tmp_path / "t.xml").read_text(encoding="utf-8")
        broken, count = re.subn(change[0], change[1], text)
        assert count
        (tmp_path / "t.xml").write_text(broken, encoding="utf-8")
        with pytest.raises(InvalidInput):
            read_tracks(tmp_path / "t.xml")

    @pytest.mark.parametrize("size", ["1e300", "NaN", "-1", "0"])
    def test_a_size_of_pixels_that_is_none_is_unknown(self, tmp_path: Path, size: str) -> None:
        write_tracks(some_tracks(), tmp_path / "t.xml", settings={})
        text = re.sub('pixelwidth="[^"]*"', f'pixelwidth="{size}"', (tmp_path / "t.xml").read_text(encoding="utf-8"))
        (tmp_path / "t.xml").write_text(text, encoding="utf-8")
        assert read_tracks(tmp_path / "t.xml").calibration.scale == (2.0, 0.325, 1.0)

    def test_links_within_a_frame(self, tmp_path: Path) -> None:
        write_tracks(some_tracks(), tmp_path / "t.xml", settings={})
        text = (tmp_path / "t.xml").read_text(encoding="utf-8")
        edge = '<Edge SPOT_SOURCE_ID="3" SPOT_TARGET_ID="4" />'
        (tmp_path / "t.xml").write_text(text.replace("<Edge SPOT", f"{edge}<Edge SPOT", 1), encoding="utf-8")
        with pytest.raises(InvalidInput, match=r"t\.xml"):
            read_tracks(tmp_path / "t.xml")

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput, match=r"\.xml"):
            read_points(tmp_path / "none.xml")
