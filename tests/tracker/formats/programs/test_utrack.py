"""u-track's tracksFinal: segments, gaps, splits and merges, from MATLAB's counting to ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import loadmat, savemat
from scipy.sparse import csc_array

from auctrack.tracker.errors import InvalidInput
from auctrack.tracker.formats.tables import read_tracks

NOBODY = np.nan


def compound(places: list[list[tuple[float, float] | None]], events: list[list[float]]) -> dict[str, Any]:
    """Return a compound track of segments with a place (x, y) in some of the frames, as u-track has it."""
    features = np.array([[0 if place is None else 1 for place in row] for row in places], np.float64)
    coordinates = np.full((len(places), len(places[0]), 8), np.nan)
    for segment, row in enumerate(places):
        for frame, place in enumerate(row):
            if place is not None:
                coordinates[segment, frame] = [*place, 0, 50, 0.1, 0.2, 0, 5]
    return {
        "tracksFeatIndxCG": features,
        "tracksCoordAmpCG": coordinates.reshape(len(places), -1),
        "seqOfEvents": np.array(events, np.float64),
    }


def saved(folder: Path, *compounds: dict[str, Any]) -> Path:
    path = folder / "tracks.mat"
    array = np.empty((len(compounds), 1), dtype=object)
    array[:, 0] = compounds
    fields = list(compounds[0]) if compounds else []
    struct = np.zeros((len(compounds), 1), dtype=[(name, object) for name in fields])
    for row, each in enumerate(compounds):
        for name, value in each.items():
            struct[name][row, 0] = value
    savemat(path, {"tracksFinal": struct})
    return path


WITH_A_GAP = compound([[(10, 20), None, (12, 21)]], [[3, 1, 1, NOBODY], [5, 2, 1, NOBODY]])
SPLIT = compound(
    [[(1, 1), (2, 1), (3, 1)], [None, None, (3, 5)]],
    [[1, 1, 1, NOBODY], [3, 1, 2, 1], [3, 2, 1, NOBODY], [3, 2, 2, NOBODY]],
)
MERGED = compound(
    [[(1, 1), (2, 1), (3, 1)], [(1, 5), (2, 4), None]],
    [[1, 1, 1, NOBODY], [1, 1, 2, NOBODY], [3, 2, 2, 1], [3, 2, 1, NOBODY]],
)


def test_frames_and_pixels_begin_at_0_and_gaps_stay(tmp_path: Path) -> None:
    tracks = read_tracks(saved(tmp_path, WITH_A_GAP))
    table = tracks.table
    assert table[["frame", "y", "x"]].to_numpy().tolist() == [[2, 19, 9], [4, 20, 11]]
    assert table["track_id"].nunique() == 1
    assert table["amplitude"].tolist() == [50, 50]
    assert tracks.calibration.unit == "pixel"
    assert tracks.ndim == 2


def test_a_split_ends_the_mother_and_begins_two_daughters(tmp_path: Path) -> None:
    tracks = read_tracks(saved(tmp_path, WITH_A_GAP, SPLIT))
    ids = tracks.table.set_index(["frame", "x", "y"])["track_id"]
    mother, daughters = ids[1, 1.0, 0.0], [ids[2, 2.0, 0.0], ids[2, 2.0, 4.0]]
    assert tracks.parents == {int(daughter): [int(mother)] for daughter in daughters}
    assert ids[0, 0.0, 0.0] == mother


def test_a_merge_begins_a_track_with_two_parents(tmp_path: Path) -> None:
    tracks = read_tracks(saved(tmp_path, MERGED))
    ids = tracks.table.set_index(["frame", "x", "y"])["track_id"]
    assert {child: sorted(of) for child, of in tracks.parents.items()} == {
        int(ids[2, 2.0, 0.0]): sorted([int(ids[1, 1.0, 0.0]), int(ids[1, 1.0, 3.0])])
    }


def test_sparse_matrices_hold_0_for_what_is_missing(tmp_path: Path) -> None:
    sparse = dict(WITH_A_GAP, tracksCoordAmpCG=csc_array(np.nan_to_num(WITH_A_GAP["tracksCoordAmpCG"])))
    plain = read_tracks(saved(tmp_path, WITH_A_GAP)).table
    assert read_tracks(saved(tmp_path, sparse)).table.equals(plain)


def test_what_is_no_such_file_is_refused(tmp_path: Path) -> None:
    wrong = dict(WITH_A_GAP, tracksFeatIndxCG=np.ones((1, 9)))
    lost = dict(SPLIT, seqOfEvents=np.array([[1.0, 1, 1, NOBODY], [3, 1, 2, 7]]))
    other = tmp_path / "other.mat"
    savemat(other, {"x": 1})
    noise = tmp_path / "noise.mat"
    noise.write_bytes(np.random.default_rng(0).bytes(5000))
    empty = tmp_path / "empty.mat"
    empty.write_bytes(b"")
    newer = tmp_path / "newer.mat"
    newer.write_bytes(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM" + bytes(512))
    for path, said in (
        (saved(tmp_path, WITH_A_GAP, wrong), r"tracksFinal\(2\)"),
        (other, "other.*tracksFinal"),
        (noise, "noise.*MATLAB"),
        (empty, "empty.*MATLAB"),
        (newer, "-v7"),
    ):
        with pytest.raises(InvalidInput, match=said):
            read_tracks(path)
    with pytest.raises(InvalidInput, match=r"tracksFinal\(1\)"):
        read_tracks(saved(tmp_path, lost))


@pytest.mark.parametrize("packed", [False, True])
def test_damage_anywhere_gives_tracks_or_a_sentence(tmp_path: Path, packed: bool) -> None:
    path = saved(tmp_path, WITH_A_GAP, SPLIT, MERGED)
    savemat(path, {"other": "text", "tracksFinal": loadmat(path)["tracksFinal"]}, do_compression=packed)
    assert len(read_tracks(path).table) == 11
    whole, random, refused = path.read_bytes(), np.random.default_rng(0), 0
    for trial in range(300):
        damaged = bytearray(whole[: random.integers(len(whole))] if trial % 3 == 0 else whole)
        for place in random.integers(0, max(len(damaged), 1), trial % 3):
            damaged[place] = random.integers(256)
        path.write_bytes(damaged)
        try:
            read_tracks(path)
        except InvalidInput as error:
            assert str(path) in str(error)  # noqa: PT017
            refused += 1
    assert refused > 100


@pytest.mark.parametrize("frame", [-1e300, np.inf, NOBODY, 3.5])
def test_a_first_frame_that_is_none_is_refused(tmp_path: Path, frame: float) -> None:
    events = np.array([[frame, 1, 1, NOBODY], [np.maximum(frame, 5), 2, 1, NOBODY]])
    with pytest.raises(InvalidInput, match=r"tracksFinal\(1\)"):
        read_tracks(saved(tmp_path, dict(WITH_A_GAP, seqOfEvents=events)))


def test_segments_of_one_frame_stay_segments(tmp_path: Path) -> None:
    tracks = read_tracks(saved(tmp_path, compound([[(1, 1)], [(5, 5)]], [[1, 1, 1, NOBODY], [1, 1, 2, NOBODY]])))
    assert tracks.table["track_id"].tolist() == [0, 1]
