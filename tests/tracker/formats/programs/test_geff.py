"""GEFF: valid by its own validator, and back as it was."""

from __future__ import annotations

import json
import shutil
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.errors import InvalidInput, InvalidSetting, OutputExists, OutputFailed
from auctrack.tracker.formats.graph import edges_of
from auctrack.tracker.formats.programs.ellipsoids import columns
from auctrack.tracker.formats.sidecar import read_sidecar
from auctrack.tracker.formats.tables import read_either, read_tracks
from auctrack.tracker.formats.write import write_points, write_tracks
from auctrack.tracker.points import Points, Tracks

from .test_trackmate import some_tracks

geff = pytest.importorskip("geff")


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("beside", [True, False])
def test_tracks_come_back_exactly(tmp_path: Path, ndim: int, beside: bool) -> None:
    sent = some_tracks(ndim)
    write_tracks(sent, tmp_path / "t.geff", settings={})
    if not beside:
        (tmp_path / "t.geff.settings.json").unlink()
    back = read_tracks(tmp_path / "t.geff")
    pd.testing.assert_frame_equal(back.table[list(sent.table.columns)], sent.table, check_exact=True)
    assert set(back.table.columns) == set(sent.table.columns)
    assert back.calibration.scale[3 - ndim :] == sent.calibration.scale[3 - ndim :]
    assert (back.calibration.unit, back.calibration.frame_interval, back.calibration.time_unit) == ("µm", 0.5, "s")
    assert {child: sorted(of) for child, of in back.parents.items()} == sent.parents


def test_it_is_valid_and_says_what_trackers_ask_for(tmp_path: Path) -> None:
    sent = some_tracks()
    write_tracks(sent, tmp_path / "t.geff", settings={"made": "here"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        geff.validate_structure(str(tmp_path / "t.geff"))
        graph = geff.GeffReader(str(tmp_path / "t.geff")).build()
    metadata = graph["metadata"]
    assert metadata.directed
    assert [axis.name for axis in metadata.axes] == ["t", "z", "y", "x"]
    assert [axis.scale for axis in metadata.axes] == [0.5, 2.0, 0.325, 0.325]
    assert [axis.scaled_unit for axis in metadata.axes] == ["second", *["micrometer"] * 3]
    assert [axis.unit for axis in metadata.axes] == ["frame", *["pixel"] * 3]
    assert metadata.track_node_props == {"tracklet": "track_id", "lineage": "lineage_id"}
    assert metadata.extra == {"auctrack": {"made": "here"}}
    assert set(map(tuple, graph["edge_ids"].tolist())) == set(map(tuple, edges_of(sent).tolist()))


def test_ids_that_end_where_the_graph_goes_on_are_no_tracklets_and_come_back_all_the_same(tmp_path: Path) -> None:
    table = pd.DataFrame({"frame": [0, 1], "y": 0.0, "x": 1.0, "track_id": [4, 6]})
    write_tracks(Tracks(table, parents={6: [4]}), tmp_path / "t.geff", settings={})
    back = read_tracks(tmp_path / "t.geff")
    assert back.table["track_id"].tolist() == [4, 6]
    assert back.parents == {6: [4]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert geff.GeffReader(str(tmp_path / "t.geff")).metadata.track_node_props == {"lineage": "lineage_id"}


class TestHowSureLinksAre:
    def sent(self) -> Tracks:
        """Return a parent, its child, and a track that both merge into."""
        table = pd.DataFrame({"frame": [0, 1, 2, 3], "y": 0.0, "x": 1.0, "track_id": [0, 0, 1, 2]})
        sure = table.assign(link_probability=[np.nan, 0.75, 0.5, 0.25], link_margin=[np.nan, 3.0, 2.0, 1.0])
        return Tracks(sure, parents={1: [0], 2: [0, 1]})

    def test_it_stands_at_edges_but_where_several_lead_to_one_detection(self, tmp_path: Path) -> None:
        write_tracks(self.sent(), tmp_path / "t.geff", settings={})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            geff.validate_structure(str(tmp_path / "t.geff"))
            reader = geff.GeffReader(str(tmp_path / "t.geff"))
            reader.read_edge_props()
            graph = reader.build()
        for name, expected in (("probability", {1: 0.75, 2: 0.5}), ("margin", {1: 3.0, 2: 2.0})):
            prop = graph["edge_props"][name]
            known = ~prop["missing"]
            targets = graph["edge_ids"][known, 1].tolist()
            assert dict(zip(targets, prop["values"][known].tolist(), strict=True)) == expected

    def test_a_file_that_has_it_at_edges_only_is_read(self, tmp_path: Path) -> None:
        write_tracks(self.sent(), tmp_path / "t.geff", settings={})
        (tmp_path / "t.geff.settings.json").unlink()
        attributes = tmp_path / "t.geff" / ".zattrs"
        said = json.loads(attributes.read_text())
        for name in ("link_probability", "link_margin"):
            shutil.rmtree(tmp_path / "t.geff" / "nodes" / "props" / name)
            del said["geff"]["node_props_metadata"][name]
        attributes.write_text(json.dumps(said))
        back = read_tracks(tmp_path / "t.geff").table
        np.testing.assert_array_equal(back["link_probability"], [np.nan, 0.75, 0.5, np.nan])
        np.testing.assert_array_equal(back["link_margin"], [np.nan, 3.0, 2.0, np.nan])


class TestEllipsoids:
    def sent(self, ndim: int) -> Tracks:
        """Every covariance is a product of a matrix and itself, so that it has an ellipsoid."""
        tracks = some_tracks(ndim)
        roots = np.random.default_rng(0).normal(size=(len(tracks), ndim, ndim))
        return replace(tracks, table=tracks.table.assign(**columns(roots @ roots.swapaxes(1, 2), tracks.axes)))

    @pytest.mark.parametrize("ndim", [2, 3])
    def test_columns_of_covariance_are_geffs_ellipsoids_and_come_back(self, tmp_path: Path, ndim: int) -> None:
        sent = self.sent(ndim)
        write_tracks(sent, tmp_path / "t.geff", settings={})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            geff.validate_structure(str(tmp_path / "t.geff"))
            reader = geff.GeffReader(str(tmp_path / "t.geff"))
            reader.read_node_props(["covariance"])
            graph = reader.build()
        assert graph["metadata"].ellipsoid == "covariance"
        np.testing.assert_array_equal(
            graph["node_props"]["covariance"]["values"][:, 0, -1], sent.table[f"covariance_{sent.axes[0]}x"]
        )
        back = read_tracks(tmp_path / "t.geff")
        pd.testing.assert_frame_equal(back.table[list(sent.table.columns)], sent.table, check_exact=True)

    def test_what_is_no_ellipsoid_stays_columns(self, tmp_path: Path) -> None:
        sent = self.sent(2)
        sent = replace(sent, table=sent.table.assign(covariance_yy=-1.0))
        write_tracks(sent, tmp_path / "t.geff", settings={})
        back = read_tracks(tmp_path / "t.geff")
        pd.testing.assert_frame_equal(back.table[list(sent.table.columns)], sent.table, check_exact=True)
        assert not (tmp_path / "t.geff" / "nodes" / "props" / "covariance").exists()


@pytest.mark.parametrize("unit", ["pixel", "nm", "m"])
@pytest.mark.parametrize("time", ["min", "ms", "kilosecond", None])
def test_units_come_back(tmp_path: Path, unit: str, time: str | None) -> None:
    of = Calibration((1.0, 2.0, 3.0), unit, None if time is None else 2.0, time or "frame")
    points = Points(some_tracks().table.drop(columns="track_id"), of)
    write_points(points, tmp_path / "p.geff", settings={})
    (tmp_path / "p.geff.settings.json").unlink()
    back = read_either(tmp_path / "p.geff")
    assert not isinstance(back, Tracks)
    assert back.calibration == of


def test_axes_in_several_units_are_brought_to_um(tmp_path: Path) -> None:
    write_tracks(replace(some_tracks(), calibration=Calibration((500.0, 2.0, 3.0), "µm")), tmp_path / "t.geff")
    (tmp_path / "t.geff.settings.json").unlink()
    attributes = tmp_path / "t.geff" / ".zattrs"
    said = json.loads(attributes.read_text())
    said["geff"]["axes"][1]["scaled_unit"] = "nanometer"
    attributes.write_text(json.dumps(said))
    assert read_tracks(tmp_path / "t.geff").calibration == Calibration((0.5, 2.0, 3.0), "µm")


class TestFolders:
    def test_one_of_ours_is_replaced_only_where_that_was_asked_for(self, tmp_path: Path) -> None:
        path = tmp_path / "t.geff"
        write_tracks(some_tracks(), path, settings={})
        with pytest.raises(OutputExists):
            write_tracks(some_tracks(2), path, settings={})
        write_tracks(some_tracks(2), path, settings={}, overwrite=True)
        assert read_tracks(path).ndim == 2
        assert sorted(file.name for file in tmp_path.iterdir()) == ["t.geff", "t.geff.settings.json"]

    def test_one_of_others_is_never_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "t.geff").mkdir()
        (tmp_path / "t.geff" / "kept").touch()
        with pytest.raises(OutputFailed, match=r"t\.geff"):
            write_tracks(some_tracks(), tmp_path / "t.geff", settings={}, overwrite=True)
        assert (tmp_path / "t.geff" / "kept").exists()

    def test_its_checksum_stands_beside_it(self, tmp_path: Path) -> None:
        write_tracks(some_tracks(), tmp_path / "a.geff", settings={})
        write_tracks(some_tracks(), tmp_path / "b.geff", settings={})
        write_tracks(replace(some_tracks(), parents={}), tmp_path / "c.geff", settings={})
        a, b, c = (read_sidecar(tmp_path / f"{name}.geff").table for name in "abc")
        assert a == b != c

    def test_nothing_is_left_of_one_that_fails(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("geff.core_io.write_arrays", fail)
        with pytest.raises(OutputFailed):
            write_tracks(some_tracks(), tmp_path / "t.geff", settings={})
        assert not list(tmp_path.iterdir())


def test_without_the_package_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "geff_spec", None)
    with pytest.raises(InvalidSetting, match=r"auctrack\[formats\]"):
        write_tracks(some_tracks(), tmp_path / "t.geff", settings={})


class TestHostileFolders:
    @pytest.mark.parametrize("what", ["empty", "no graph", "cut", "pickle", "edge", "json", "shape", "chunks", "words"])
    def test_they_end_in_a_sentence(self, tmp_path: Path, what: str) -> None:
        path = tmp_path / "t.geff"
        write_tracks(some_tracks(), path, settings={})
        array = path / "nodes" / "props" / "x" / "values" / ".zarray"
        attributes = path / ".zattrs"
        if what == "empty":
            path = tmp_path / "none.geff"
            path.mkdir()
        elif what == "no graph":
            attributes.write_text("{}")
        elif what == "json":
            attributes.write_text("{" * 10)
        elif what == "cut":
            array.unlink()
        elif what == "pickle":
            array.write_text(json.dumps(json.loads(array.read_text()) | {"filters": [{"id": "pickle", "protocol": 5}]}))
        elif what in ("shape", "chunks", "words"):
            trap = {"shape": "?"} if what == "words" else {what: [10**12]}
            array.write_text(json.dumps(json.loads(array.read_text()) | trap))
        else:
            import zarr

            zarr.open_array(str(path / "edges" / "ids"), mode="r+")[0] = [7, 777]
        with pytest.raises(InvalidInput, match=str(path)) as refused:
            read_tracks(path)
        assert (what in ("shape", "chunks")) == ("packed that tightly" in str(refused.value))


def test_positions_are_physical_by_the_axes(tmp_path: Path) -> None:
    sent = some_tracks()
    write_tracks(sent, tmp_path / "t.geff", settings={})
    np.testing.assert_array_equal(read_tracks(tmp_path / "t.geff").positions, sent.positions)
