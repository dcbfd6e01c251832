"""Every format: whatever tracks come back as they were, or `lost` says in a phrase what does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.errors import InvalidInput
from auctrack.tracker.formats.graph import unbroken_tracks_of
from auctrack.tracker.formats.losses import lost
from auctrack.tracker.formats.registry import EVERYTHING, FORMATS, WRITTEN
from auctrack.tracker.formats.sidecar import sidecar_path
from auctrack.tracker.formats.tables import read_tracks
from auctrack.tracker.formats.write import write_tracks
from auctrack.tracker.points import Tracks

from .test_graph import forests

NUMBERS, WORDS = "größe µm² 細胞 <&\"';,>", "🧬 Name"
EXACT = st.floats(-1e9, 1e9, allow_subnormal=False)
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=8)


@st.composite
def any_tracks(draw: st.DrawFn) -> Tracks:
    """Gaps, divisions, merges, rows in any order, positions below 0, units, columns of all kinds; 2D and 3D."""
    forest = draw(forests())
    n, ndim = len(forest), draw(st.sampled_from([2, 3]))
    table = forest.table[["frame", "track_id"]].copy()
    for axis in "zyx"[3 - ndim :]:
        table[axis] = [0.5, *draw(st.lists(EXACT, min_size=n - 1, max_size=n - 1))]
    table[NUMBERS] = draw(st.lists(st.floats(), min_size=n, max_size=n))
    table["count"] = draw(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=n, max_size=n))
    table["is_edge"] = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    table[WORDS] = draw(st.lists(TEXT, min_size=n, max_size=n))
    length = st.floats(1e-3, 1e3)
    scale = (1.0, *(draw(length) for _ in "yx")) if ndim == 2 else tuple(draw(length) for _ in "zyx")
    interval = draw(st.none() | length)
    unit, time = draw(st.sampled_from(["µm", "nm"])), "frame" if interval is None else "s"
    return Tracks(table, Calibration(scale, unit, interval, time), forest.parents)


def in_order(tracks: Tracks) -> pd.DataFrame:
    return tracks.table.sort_values(["track_id", "frame"], kind="stable").reset_index(drop=True)


def numbers_of(tracks: Tracks) -> dict[int, int]:
    """Return the place of each track in the order of their ids."""
    return {track: place for place, track in enumerate(sorted(set(tracks.table["track_id"].tolist())))}


def lineage(tracks: Tracks, parents: int | None) -> dict[int, list[int]]:
    """Return which tracks, by place, descend from which; of each child so many parents."""
    place = numbers_of(tracks)
    return {place[child]: sorted(place[parent] for parent in of[:parents]) for child, of in tracks.parents.items()}


def same_places(sent: Tracks, back: Tracks) -> bool:
    in_voxels = [each.table[list(each.axes)].to_numpy() for each in (sent, back)]
    in_the_unit = [each.positions for each in (sent, back)]
    order = [np.lexsort((each.frames, each.table["track_id"])) for each in (sent, back)]
    return (
        sent.axes == back.axes
        and np.array_equal(sent.frames[order[0]], back.frames[order[1]])
        and [*in_order(sent)["track_id"].map(numbers_of(sent))] == [*in_order(back)["track_id"].map(numbers_of(back))]
        and any(np.allclose(a[order[0]], b[order[1]], rtol=1e-14, atol=0) for a, b in (in_voxels, in_the_unit))
    )


def same_columns(sent: Tracks, back: Tracks, names: tuple[str, ...]) -> bool:
    if not set(names) <= set(back.table.columns):
        return False
    pairs = [(in_order(sent)[name], in_order(back)[name]) for name in names]
    return all(pd.Series.equals(a.astype(object), b.astype(object)) for a, b in pairs)


KEPT: dict[str, Callable[[Tracks, Tracks], bool]] = {
    "never said to be lost": same_places,
    "size of a voxel": lambda sent, back: back.calibration.scale == sent.calibration.scale,
    "unit of length": lambda sent, back: back.calibration.unit == sent.calibration.unit,
    "frame interval": lambda sent, back: back.calibration.frame_interval == sent.calibration.frame_interval,
    "numbers of the tracks": lambda sent, back: numbers_of(sent) == numbers_of(back),
    "descent": lambda sent, back: lineage(sent, 1).keys() == lineage(back, 1).keys(),
    "first is kept": lambda sent, back: lineage(sent, None) == lineage(back, None) or not back.parents,
    NUMBERS: lambda sent, back: same_columns(sent, back, (NUMBERS, "count", "is_edge")),
    WORDS: lambda sent, back: same_columns(sent, back, (WORDS,)),
}
"""What may be lost, by a word of the phrase that says so."""
EXACTLY = [name for name in WRITTEN if "positions" in FORMATS[name].holds]
ALONE = [name for name in EXACTLY if FORMATS[name].reads]
"""Formats of others, which tell of the tracks without the settings beside them."""


@pytest.mark.parametrize(("name", "beside"), [*((name, True) for name in EXACTLY), *((name, False) for name in ALONE)])
@settings(max_examples=12, deadline=None, derandomize=True)
@given(sent=any_tracks())
def test_what_does_not_come_back_is_said(
    tmp_path_factory: pytest.TempPathFactory, name: str, beside: bool, sent: Tracks
) -> None:
    if name == "geff":
        pytest.importorskip("geff")
    path = tmp_path_factory.mktemp(name) / f"t{FORMATS[name].endings[0]}"
    write_tracks(sent, path, settings={})
    if not beside:
        sidecar_path(path).unlink()
    back, said = read_tracks(path), "; ".join(lost(sent, FORMATS[name]))
    gone = [word for word, is_kept in KEPT.items() if not is_kept(sent, back)]
    assert [word for word in gone if word not in said] == []


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("name", [name for name in WRITTEN if name != "ctc"])
def test_no_particles_come_back_as_none(tmp_path: Path, name: str, ndim: int) -> None:
    if name == "geff":
        pytest.importorskip("geff")
    columns = {"frame": int, **dict.fromkeys("zyx"[3 - ndim :], float), "track_id": int}
    none = Tracks(pd.DataFrame(columns=list(columns)).astype(columns), Calibration((2.0, 0.5, 0.5), "µm", 1, "s"))
    path = tmp_path / f"none{FORMATS[name].endings[0]}"
    write_tracks(none, path, settings={})
    back = read_tracks(path)
    assert (len(back), back.ndim, back.parents) == (0, ndim, {})


@pytest.mark.parametrize("name", ["trackmate", "isbi"])
def test_no_particles_of_another_program_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"none{FORMATS[name].endings[0]}"
    write_tracks(Tracks(pd.DataFrame({"frame": [], "y": [], "x": [], "track_id": []}, dtype=int)), path, settings={})
    sidecar_path(path).unlink()
    with pytest.raises(InvalidInput, match=r"has no (spots|detections)"):
        read_tracks(path)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_format_that_holds_everything_loses_nothing(name: str) -> None:
    table = pd.DataFrame({"frame": [0, 2, 3, 3], "y": 0.0, "x": 0.0, "track_id": [0, 0, 1, 2], "snr": 1.0, "name": "a"})
    said = lost(Tracks(table, Calibration((1.0, 0.5, 0.5), "µm", 1, "s"), {1: [0], 2: [0]}), FORMATS[name])
    assert (said == []) == (FORMATS[name].holds == EVERYTHING)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(sent=forests())
def test_label_images_keep_frames_voxels_and_the_cut_tracks(
    tmp_path_factory: pytest.TempPathFactory, sent: Tracks
) -> None:
    path: Path = tmp_path_factory.mktemp("ctc") / "01_RES"
    places = np.arange(len(sent)) * 4.0 + 2
    sent = Tracks(sent.table.assign(y=places, x=places), parents=sent.parents)
    write_tracks(sent, path, settings={"diameter": 3.0})
    back = read_tracks(path)
    ids, parents = unbroken_tracks_of(sent)
    order = np.lexsort((ids, sent.frames))
    np.testing.assert_array_equal(back.table[["frame", "y", "x"]], sent.table.iloc[order][["frame", "y", "x"]])
    assert back.table["track_id"].tolist() == (ids[order] + 1).tolist()
    assert back.parents == {child + 1: [of[0] + 1] for child, of in parents.items()}
