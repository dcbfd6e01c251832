"""Folders of the Cell Tracking Challenge: valid by the challenge's rules, and back as far as spheres can tell."""

from __future__ import annotations

import shutil
import struct
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tifffile
from hypothesis import given, settings
from hypothesis import strategies as st

from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.errors import InvalidInput, InvalidSetting, OutputFailed
from auctrack.tracker.formats.graph import tracks_of, unbroken_tracks_of
from auctrack.tracker.formats.losses import lost
from auctrack.tracker.formats.programs.spheres import sphere_labels
from auctrack.tracker.formats.registry import FORMATS, holds_points
from auctrack.tracker.formats.tables import read_either, read_tracks
from auctrack.tracker.formats.write import write_points, write_tracks
from auctrack.tracker.points import Points, Tracks
from auctrack.tracker.timeline import Timeline

from ..test_graph import forests


def far_apart(ndim: int = 3) -> Tracks:
    """A track with a gap that divides, a merge, a single point; particles that do not touch; rows in no order."""
    frames = [3, 0, 1, 4, 4, 6, 7, 5, 1]
    ids = [5, 5, 5, 8, 9, 2, 2, 40, 7]
    places = np.arange(9)[:, np.newaxis] * [9.0, 11.0, 13.0] + [6.0, 6.25, 7.5]
    columns = dict(zip("zyx"[3 - ndim :], places.T[3 - ndim :], strict=True))
    table = pd.DataFrame({"frame": frames, **columns, "track_id": ids})
    return Tracks(table, Calibration((2.0, 0.5, 0.5), "µm", 10, "s"), {8: [5], 9: [5], 2: [8, 9]})


def text_of(folder: Path, name: str = "res_track.txt") -> np.ndarray:
    return np.loadtxt(folder / name, dtype=np.int64, ndmin=2)


@pytest.mark.parametrize("ndim", [2, 3])
def test_tracks_come_back_cut_at_what_they_miss(tmp_path: Path, ndim: int) -> None:
    sent = far_apart(ndim)
    write_tracks(sent, tmp_path / "01_RES", settings={"diameter": 3.0})
    back = read_tracks(tmp_path / "01_RES")
    order = np.lexsort((sent.table["x"], sent.table["frame"]))
    assert back.axes == sent.axes
    assert back.calibration == sent.calibration  # by the settings beside it
    np.testing.assert_array_equal(back.frames, sent.frames[order])
    np.testing.assert_allclose(back.table[list(sent.axes)], sent.table.iloc[order][list(sent.axes)], atol=0.5)
    ids, _ = unbroken_tracks_of(sent)
    assert back.table["track_id"].tolist() == (ids[order] + 1).tolist()
    # 5 misses frame 2, so that its later part, 4, descends from its earlier, 1; of the two parents of 2 the first stays
    assert text_of(tmp_path / "01_RES").tolist() == [
        [1, 0, 1, 0], [2, 1, 1, 0], [3, 3, 3, 1], [4, 4, 4, 3], [5, 4, 4, 3], [6, 5, 5, 0], [7, 6, 7, 4]
    ]  # fmt: skip
    assert back.parents == {3: [1], 4: [3], 5: [3], 7: [4]}


@pytest.mark.parametrize("ndim", [2, 3])
def test_spheres_are_as_large_as_the_labels_were(tmp_path: Path, ndim: int) -> None:
    name = "volume" if ndim == 3 else "area"
    sent = far_apart(ndim)
    of_labels = replace(sent, table=sent.table.assign(**{name: [300, np.nan, 300, 1, 300, 0, 300, 9000, 300]}))
    write_tracks(of_labels, tmp_path / "01_RES", settings={})
    sizes = read_tracks(tmp_path / "01_RES").table[name]
    np.testing.assert_allclose(sizes.median(), 300, rtol=0.1)


@pytest.mark.parametrize("ndim", [2, 3])
def test_a_sphere_is_all_voxels_within_the_radius(tmp_path: Path, ndim: int) -> None:
    sent = far_apart(ndim)
    write_tracks(sent, tmp_path / "01_RES", settings={"diameter": 5.0, "image_shape": (90, 110, 130)[3 - ndim :]})
    image = tifffile.imread(tmp_path / "01_RES" / "mask000.tif")
    assert image.shape == (90, 110, 130)[3 - ndim :]
    assert image.dtype == np.uint16
    centre = sent.table[list(sent.axes)].to_numpy()[1]
    voxels = np.stack(np.indices(image.shape), axis=-1)
    distance = np.sqrt((((voxels - centre) * sent.calibration.scale_for(ndim)) ** 2).sum(axis=-1))
    np.testing.assert_array_equal(image > 0, distance <= 2.5)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(data=st.data(), ndim=st.sampled_from([2, 3]))
def test_every_point_keeps_a_voxel_however_dense(data: st.DataObject, ndim: int) -> None:
    shape = tuple(data.draw(st.integers(2, 6)) for _ in range(ndim))
    places = st.tuples(*(st.floats(-0.5, length - 0.51) for length in shape))
    centres = np.array(data.draw(st.lists(places, min_size=1, max_size=int(np.prod(shape)))))
    scale = np.array([data.draw(st.sampled_from([0.1, 1.0, 7.0])) for _ in range(ndim)])
    labels = np.arange(1, len(centres) + 1, dtype=np.uint16)
    image = sphere_labels(shape, centres, labels, data.draw(st.floats(0.01, 9.0)), scale)
    assert image.shape == shape
    assert np.array_equal(np.unique(image[image > 0]), labels)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(sent=forests())
def test_cut_tracks_are_what_the_challenge_allows_and_tell_the_same_lineage(sent: Tracks) -> None:
    ids, parents = unbroken_tracks_of(sent)
    spans = {track: np.sort(sent.frames[ids == track]) for track in np.unique(ids).tolist()}
    for track, frames in spans.items():
        assert np.array_equal(frames, np.arange(frames[0], frames[-1] + 1))
        assert all(spans[parent][-1] < frames[0] for parent in parents.get(track, []))
    edges = {
        (int(np.flatnonzero((ids == p) & (sent.frames == spans[p][-1]))[0]), c) for c in parents for p in parents[c]
    }
    along = [(track, frames) for track, frames in spans.items() if len(frames) > 1]
    rows = [
        *((row, int(np.flatnonzero((ids == child) & (sent.frames == spans[child][0]))[0])) for row, child in edges),
        *(
            tuple(int(np.flatnonzero((ids == track) & (sent.frames == frame + step))[0]) for step in (0, 1))
            for track, frames in along
            for frame in frames[:-1]
        ),
    ]
    joined, lineage = tracks_of(sent.frames, np.array(rows).reshape(-1, 2), sent.table["track_id"].to_numpy())
    assert joined.tolist() == sent.table["track_id"].tolist()
    assert {child: sorted(of) for child, of in lineage.items()} == {c: sorted(of) for c, of in sent.parents.items()}


def test_a_parent_that_goes_on_is_cut_where_its_child_begins() -> None:
    table = pd.DataFrame({"frame": [0, 1, 2, 2], "y": 0.0, "x": [0.0, 0, 0, 9], "track_id": [1, 1, 1, 4]})
    ids, parents = unbroken_tracks_of(Tracks(table, parents={4: [1]}))
    assert ids.tolist() == [0, 0, 1, 2]
    assert parents == {1: [0], 2: [0]}


def test_the_challenges_own_programs_find_it_valid(tmp_path: Path) -> None:
    traccuracy = pytest.importorskip("traccuracy.loaders")
    validation = pytest.importorskip("ctc_metrics.metrics.validation.valid")
    files = pytest.importorskip("ctc_metrics.utils.filesystem")
    sent = far_apart()
    write_tracks(sent, tmp_path / "01_RES", settings={"diameter": 4.0})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = traccuracy.load_ctc_data(str(tmp_path / "01_RES")).graph
    assert graph.number_of_nodes() == len(sent)
    assert graph.number_of_edges() == 6  # all but that from the second parent
    masks = files.parse_masks(str(tmp_path / "01_RES"))
    labels = [np.unique(tifffile.imread(mask)).tolist() for mask in masks]
    tracks = files.read_tracking_file(str(tmp_path / "01_RES" / "res_track.txt"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of frame 2, in which there is nothing
        assert validation.valid(masks, tracks, labels) == 1


def test_the_challenges_truth_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "01_GT" / "TRA"
    folder.mkdir(parents=True)
    first, second = np.zeros((2, 6, 7), np.uint16)
    first[1:3, 2:5] = 3
    second[1, 2], second[5, 5:] = 4, 9
    for frame, image in enumerate((first, second)):
        tifffile.imwrite(folder / f"man_track{frame:03}.tif", image)
    (folder / "man_track.txt").write_text("3 0 0 0\n4 1 1 3\n9 1 1 3\n")
    for place in (tmp_path / "01_GT", folder):
        truth = read_tracks(place)
        assert truth.table[["frame", "track_id", "y", "x", "area"]].to_numpy().tolist() == [
            [0, 3, 1.5, 3, 6], [1, 4, 1, 2, 1], [1, 9, 5, 5.5, 2]
        ]  # fmt: skip
        assert truth.parents == {4: [3], 9: [3]}
        assert truth.timeline.numbers == (0, 1)
        assert holds_points(place)


def test_frames_that_were_looked_at_and_are_empty_have_images_too(tmp_path: Path) -> None:
    sent = replace(far_apart(), timeline=Timeline(1, tuple(range(12))))
    write_tracks(sent, tmp_path / "01_RES")
    assert len(list((tmp_path / "01_RES").glob("mask*.tif"))) == 12
    assert read_tracks(tmp_path / "01_RES").timeline == sent.timeline
    nothing = Tracks(sent.table.iloc[:0], sent.calibration, timeline=sent.timeline)
    write_tracks(nothing, tmp_path / "02_RES")
    assert len(read_either(tmp_path / "02_RES")) == 0


def test_what_is_lost_is_said() -> None:
    said = "; ".join(lost(far_apart(), FORMATS["ctc"]))
    for word in (
        "exact positions",
        "unit of length",
        "frame interval",
        "numbers of the tracks",
        "1 merge",
        "cut in two",
    ):
        assert word in said


def moved(tracks: Tracks, **columns: object) -> Tracks:
    return replace(tracks, table=tracks.table.assign(**columns))


@pytest.mark.parametrize("unfit", [
    Points(far_apart().table),
    moved(far_apart(), x=-3.0),
    moved(far_apart(), x=1e9),
    moved(far_apart(), frame=far_apart().frames - 1),
    moved(far_apart(), frame=far_apart().frames + 10_000),
    Tracks(far_apart().table.iloc[:0]),
    replace(moved(far_apart(), frame=2 * far_apart().frames), timeline=Timeline(2)),
    Tracks(pd.DataFrame({"frame": 0, "y": 0.0, "x": np.zeros(65_536), "track_id": np.arange(65_536)})),
], ids=["points", "negative", "far", "frame -1", "frame 10,000", "none", "step", "labels"])  # fmt: skip
def test_what_no_label_image_holds_is_refused_before_anything_is_written(tmp_path: Path, unfit: Points) -> None:
    write = write_tracks if isinstance(unfit, Tracks) else write_points
    with pytest.raises(InvalidSetting):
        write(unfit, tmp_path / "01_RES")
    assert not list(tmp_path.iterdir())


def test_why_no_detections_make_no_images_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="no detections and the frames are unknown"):
        write_tracks(Tracks(far_apart().table.iloc[:0]), tmp_path / "01_RES")


@pytest.mark.parametrize("shape", [(90, 110), (5, 5, 5), (90, 110, "x"), 7, (10**9, 10**9, 10**9)])
def test_an_image_shape_that_does_not_fit_is_refused(tmp_path: Path, shape: object) -> None:
    with pytest.raises(InvalidSetting):
        write_tracks(far_apart(), tmp_path / "01_RES", settings={"image_shape": shape})


def test_a_folder_that_is_not_ours_stays(tmp_path: Path) -> None:
    (tmp_path / "01_RES").mkdir()
    (tmp_path / "01_RES" / "precious").write_text("")
    with pytest.raises(OutputFailed):
        write_tracks(far_apart(), tmp_path / "01_RES", overwrite=True)
    assert (tmp_path / "01_RES" / "precious").exists()


def test_label_images_without_tracks_are_told_to_be_tracked(tmp_path: Path) -> None:
    write_tracks(far_apart(), tmp_path / "01_RES")
    (tmp_path / "01_RES" / "res_track.txt").unlink()
    with pytest.raises(InvalidInput, match="--labels"):
        read_tracks(tmp_path / "01_RES")


def lines(*texts: str) -> Callable[[Path], object]:
    return lambda folder: (folder / "res_track.txt").write_text("\n".join(texts))


def swollen(folder: Path) -> None:
    """Let an image say that it is of 2⁴⁰ voxels, two terabytes."""
    tifffile.imwrite(folder / "mask003.tif", np.zeros((16, 16), np.uint16), metadata=None)
    content = bytearray((folder / "mask003.tif").read_bytes())
    with tifffile.TiffFile(folder / "mask003.tif") as file:
        places = [file.pages[0].tags[name].offset for name in ("ImageWidth", "ImageLength", "RowsPerStrip")]
    for place in places:
        struct.pack_into("<HII", content, place + 2, 4, 1, 2**20)
    (folder / "mask003.tif").write_bytes(content)


HOSTILE: dict[str, Callable[[Path], object]] = {
    "missing frame": lambda folder: (folder / "mask004.tif").unlink(),
    "missing last frame": lambda folder: (folder / "mask007.tif").unlink(),
    "no images": lambda folder: [file.unlink() for file in folder.glob("*.tif")],
    "cut image": lambda folder: (folder / "mask003.tif").write_bytes((folder / "mask003.tif").read_bytes()[:200]),
    "swollen image": swollen,
    "text as image": lambda folder: (folder / "mask003.tif").write_text("no image"),
    "frame twice": lambda folder: shutil.copy(folder / "mask003.tif", folder / "mask0003.tif"),
    "intensities": lambda folder: tifffile.imwrite(folder / "mask000.tif", np.full((84, 106, 129), 0.5, np.float32)),
    "other shape": lambda folder: tifffile.imwrite(folder / "mask003.tif", np.zeros((5, 6, 7), np.uint16)),
    "colours": lambda folder: tifffile.imwrite(folder / "mask000.tif", np.zeros((5, 6, 7, 3), np.uint16)),
    "label without line": lambda folder: (folder / "res_track.txt").write_text("1 0 1 0\n"),
    "line without label": lambda folder: (folder / "res_track.txt").write_text("1 0 2 0\n"),
    "binary": lambda folder: (folder / "res_track.txt").write_bytes(b"\xff\xfe\x00\xd8"),
    "three numbers": lines("1 0 1"),
    "words": lines("one two three four"),
    "NaN": lines("nan 0 1 0"),
    "fractions": lines("1.5 0 1 0"),
    "negative": lines("-1 0 1 0"),
    "huge": lines("1 0 99999999999999999999 0"),
    "long": lines("1 0 999999999 0"),
    "label 0": lines("0 0 1 0"),
    "label twice": lines("1 0 1 0", "1 3 3 0"),
    "backwards": lines("1 3 0 0"),
    "no such parent": lines("1 0 1 77"),
    "own parent": lines("1 0 1 1"),
    "circle": lines("1 0 1 2", "2 0 1 1"),
    "parent later": lines("1 0 1 2", "2 3 3 0"),
}


@pytest.mark.parametrize("how", HOSTILE)
def test_hostile_folders_end_in_a_sentence(tmp_path: Path, how: str) -> None:
    write_tracks(far_apart(), tmp_path / "01_RES", settings={"diameter": 3.0, "image_shape": [84, 106, 129]})
    HOSTILE[how](tmp_path / "01_RES")
    with pytest.raises(InvalidInput, match=str(tmp_path)):
        read_tracks(tmp_path / "01_RES")
