"""Rows come by track and frame, and names are counted, in two ways that give the same."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.tracker.errors import InvalidInput
from auctrack.tracker.measuring.track_order import (
    in_pieces,
    numbered,
    require_once_a_frame,
    track_lengths,
    track_order,
)
from auctrack.tracker.track_frames import comes_twice

RNG = np.random.default_rng(0)
NAMES = {"few": np.arange(20), "spread over all numbers": np.arange(20) * 10**15}


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("in_order", [True, False])
def test_rows_come_by_track_and_then_frame_without_those_of_no_track(names: str, in_order: bool) -> None:
    frames, which = np.divmod(RNG.permutation(200)[:150], 20)
    order = np.argsort(frames, kind="stable") if in_order else np.arange(150)
    frames, track = frames[order], np.where(which == 7, -1, NAMES[names][which])[order]
    expected = np.lexsort([frames, track])
    assert track_order(track, frames).tolist() == expected[track[expected] >= 0].tolist()


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("frames", [[0, 1, 1, 1, 2], [2, 1, 1, 1, 0]])
def test_a_track_twice_in_a_frame_is_refused_with_its_name(names: str, frames: list[int]) -> None:
    track = NAMES[names][[3, 3, 4, 3, 3]]
    for refuse in (track_order, require_once_a_frame):
        with pytest.raises(InvalidInput, match=rf"particle {track[0]} .*frame 1 "):
            refuse(track, np.array(frames), "particle")


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("frames", [[0, 1, 1, 1, 2], [2, 1, 1, 1, 0], []])
def test_rows_without_a_track_are_not_twice_in_a_frame(names: str, frames: list[int]) -> None:
    track = NAMES[names][[3, 3, 4, 5, 3]][: len(frames)]
    track[3:4] = -1
    assert not comes_twice(track, np.array(frames, np.int64))
    assert not comes_twice(np.full(len(frames), -1), np.array(frames, np.int64))
    require_once_a_frame(track, np.array(frames, np.int64), "track")


@pytest.mark.parametrize("names", [NAMES["few"], NAMES["spread over all numbers"], np.empty(0, np.int64)])
def test_names_are_numbered_and_counted(names: np.ndarray) -> None:
    given = names[RNG.integers(0, len(names), 50)] if len(names) else names
    different, which, count = numbered(given)
    expected, how_often = np.unique(given, return_counts=True)
    assert different.tolist() == expected.tolist()
    assert count.tolist() == how_often.tolist()
    assert different[which].tolist() == given.tolist()
    assert track_lengths(np.insert(given, [0, 0, len(given)], -1)).tolist() == how_often.tolist()


@pytest.mark.parametrize("rows", [1, 4, 5, 100])
def test_pieces_are_whole_tracks_and_all_rows_in_order(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auctrack.tracker.measuring.track_order.ROWS_AT_ONCE", rows)
    start, n = np.array([0, 3, 4, 9]), 11
    pieces = list(in_pieces(start, n))
    assert [track for of, _ in pieces for track in range(of.start, of.stop)] == [0, 1, 2, 3]
    assert [row for _, at in pieces for row in range(at.start, at.stop)] == list(range(n))
    for of, at in pieces:
        assert at.start == start[of.start]
        assert of.stop - of.start == 1 or at.stop - at.start <= rows
