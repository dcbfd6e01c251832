"""Tracks to a graph of detections and back."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auctrack.tracker.errors import InvalidInput
from auctrack.tracker.formats.graph import count_divisions, count_merges, edges_of, lineages, tracks_of
from auctrack.tracker.points import Points, Tracks


def tracks(frames: list[int], ids: list[int], parents: dict[int, list[int]] | None = None) -> Tracks:
    return Tracks(pd.DataFrame({"frame": frames, "y": 0.0, "x": 0.0, "track_id": ids}), parents=parents or {})


def pairs(edges: np.ndarray) -> set[tuple[int, int]]:
    return set(map(tuple, edges.tolist()))


def test_edges_follow_tracks_over_missed_frames_and_divisions():
    of = tracks([5, 0, 7, 6, 6, 2], [1, 1, 2, 2, 3, 1], {2: [1], 3: [1]})
    assert pairs(edges_of(of)) == {(1, 5), (5, 0), (3, 2), (0, 3), (0, 4)}


def test_points_have_no_edges():
    assert len(edges_of(Points(tracks([0, 1], [0, 0]).table))) == 0


def test_a_parent_that_lives_on_hands_over_at_its_last_detection_before_the_child():
    assert pairs(edges_of(tracks([0, 1, 2, 2], [0, 0, 0, 1], {1: [0]}))) == {(0, 1), (1, 2), (1, 3)}


@pytest.mark.parametrize(
    ("frames", "ids", "parents", "divisions", "merges"),
    [
        ([0, 1, 1, 2], [0, 1, 2, 1], {1: [0], 2: [0]}, 1, 0),
        ([0, 1, 1], [0, 0, 1], {1: [0]}, 1, 0),  # the mother lives on
        ([0, 0, 1], [0, 1, 2], {2: [0, 1]}, 0, 1),
        ([0, 1], [0, 0], {}, 0, 0),
    ],
)
def test_a_division_is_a_detection_that_two_follow_a_merge_one_that_follows_two(
    frames, ids, parents, divisions, merges
):
    assert count_divisions(tracks(frames, ids, parents)) == divisions
    assert count_merges(tracks(frames, ids, parents)) == merges


def test_a_parent_that_is_not_there_before_its_child_gives_no_edge():
    assert len(edges_of(tracks([0, 4], [1, 0], {1: [0], 9: [0], 0: [8]}))) == 0


def test_a_graph_is_cut_where_it_branches():
    ids, parents = tracks_of(np.array([0, 1, 2, 2, 3]), np.array([[0, 1], [1, 2], [1, 3], [2, 4], [3, 4]]))
    assert ids.tolist() == [0, 0, 1, 2, 3]
    assert parents == {1: [0], 2: [0], 3: [1, 2]}


def test_direction_and_repetition_of_edges_do_not_matter():
    ids, parents = tracks_of(np.array([3, 0, 1]), np.array([[0, 2], [2, 1], [1, 2], [2, 0]]))
    assert ids.tolist() == [0, 0, 0]
    assert not parents


def test_a_link_within_a_frame_is_refused():
    with pytest.raises(InvalidInput, match=r"\b1\b"):
        tracks_of(np.array([1, 1]), np.array([[0, 1]]))


def test_ids_that_contradict_the_edges_are_not_believed():
    frames, edges = np.array([0, 1, 2]), np.array([[0, 1]])
    assert tracks_of(frames, edges, np.array([7, 7, 7]))[0].tolist() == [0, 0, 1]
    assert tracks_of(frames, edges, np.array([7, 7, 9]))[0].tolist() == [7, 7, 9]
    assert tracks_of(frames, edges, np.array([7, 9, 9]))[0].tolist() == [0, 0, 1]


@st.composite
def forests(draw: st.DrawFn) -> Tracks:
    """Tracks with gaps whose parents end before they begin, in rows of any order."""
    spans = [sorted(draw(st.sets(st.integers(0, 9), min_size=1, max_size=5))) for _ in range(draw(st.integers(1, 6)))]
    rows = [(frame, number * 3) for number, span in enumerate(spans) for frame in span]
    parents: dict[int, list[int]] = {}
    for child, span in enumerate(spans):
        older = [parent for parent, other in enumerate(spans) if other[-1] < span[0]]
        if older and (chosen := sorted(draw(st.sets(st.sampled_from(older), max_size=2)))):
            parents[child * 3] = [3 * parent for parent in chosen]
    frames, ids = zip(*draw(st.permutations(rows)), strict=True)
    return tracks(list(frames), list(ids), parents)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(forests())
def test_tracks_come_back_from_their_edges_and_ids(sent: Tracks):
    ids, parents = tracks_of(sent.frames, edges_of(sent), sent.table["track_id"].to_numpy())
    np.testing.assert_array_equal(ids, sent.table["track_id"])
    assert {child: sorted(of) for child, of in parents.items()} == sent.parents


@settings(max_examples=200, deadline=None, derandomize=True)
@given(forests())
def test_tracks_without_ids_give_the_same_edges(sent: Tracks):
    edges = edges_of(sent)
    ids, parents = tracks_of(sent.frames, edges)
    assert pairs(edges_of(Tracks(sent.table.assign(track_id=ids), parents=parents))) == pairs(edges)


def test_lineages_join_all_that_descend_from_one():
    assert lineages({2: [1], 3: [2, 5], 9: [8]}, np.array([1, 2, 3, 5, 9, 7])).tolist() == [1, 1, 1, 1, 9, 7]
