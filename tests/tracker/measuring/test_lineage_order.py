"""Tracks side by side: lineages stay together, longest first, and no line of a tree crosses another."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.measuring.lineage_order import order_lineages


def measures(*lives: tuple[int, int, int]) -> pd.DataFrame:
    """Tracks (id, first frame, last frame)."""
    return pd.DataFrame(lives, columns=["track_id", "first_frame", "last_frame"])


def ids(table: pd.DataFrame, parents) -> list[int]:
    return table["track_id"].to_numpy()[order_lineages(table, parents).rows].tolist()


def test_single_tracks_stand_longest_first_then_by_id():
    assert ids(measures((4, 0, 5), (9, 0, 9), (2, 3, 8), (7, 1, 1)), {}) == [9, 2, 4, 7]


def test_a_mother_stands_between_her_daughters_and_is_joined_to_both():
    table = measures((5, 0, 4), (8, 5, 9), (6, 5, 7))
    order = order_lineages(table, {6: [5], 8: [5]})
    assert ids(table, {6: [5], 8: [5]}) == [6, 5, 8]
    assert order.joints.tolist() == [[1, 0], [1, 2]]


def test_a_lineage_counts_as_long_as_all_of_it_lasts():
    """Each of three generations is shorter than the single track, all together are longer."""
    table = measures((1, 0, 6), (2, 0, 3), (3, 4, 7), (4, 4, 6), (5, 7, 9), (6, 8, 9))
    parents = {3: [2], 4: [2], 5: [3], 6: [3]}
    assert ids(table, parents) == [5, 3, 6, 2, 4, 1]


def test_of_lineages_as_long_the_larger_comes_first():
    assert ids(measures((0, 0, 9), (1, 0, 4), (2, 5, 9), (3, 5, 9)), {2: [1], 3: [1]}) == [2, 1, 3, 0]


def test_merged_tracks_stay_together_and_both_are_joined():
    table = measures((0, 0, 20), (1, 0, 4), (2, 0, 3), (3, 5, 9))
    order = order_lineages(table, {3: [1, 2]})
    lines = table["track_id"].to_numpy()[order.rows].tolist()
    assert lines == [0, 1, 3, 2]
    assert order.joints.tolist() == [[1, 2], [3, 2]]


@pytest.mark.parametrize(
    "parents", [{1: [77]}, {1: [0], 0: [1]}, {0: [0]}], ids=["of no track", "in a circle", "its own"]
)
def test_parents_that_cannot_be_are_left_out(parents):
    order = order_lineages(measures((0, 4, 9), (1, 4, 9)), parents)
    assert sorted(order.rows.tolist()) == [0, 1]
    assert len(order.joints) == 0


def test_no_tracks_have_no_lines():
    order = order_lineages(measures(), {})
    assert len(order.rows) == len(order.joints) == 0


def test_a_deep_lineage_is_ordered_without_recursion():
    table = measures(*((k, k, k) for k in range(5000)))
    order = order_lineages(table, {k + 1: [k] for k in range(4999)})
    assert order.rows.tolist() == list(range(5000))


@pytest.mark.parametrize("seed", range(5))
def test_every_track_has_one_line_and_lines_of_trees_never_cross(seed):
    """What lies between a mother and her daughter descends from the mother."""
    rng = np.random.default_rng(seed)
    first = np.sort(rng.integers(0, 40, 60))
    table = measures(*zip(range(60), first.tolist(), (first + rng.integers(0, 9, 60)).tolist(), strict=True))
    parents = {
        child: [int(rng.choice(before))]
        for child in range(60)
        if len(before := np.flatnonzero(first < first[child])) and rng.random() < 0.7
    }
    order = order_lineages(table, parents)
    assert sorted(order.rows.tolist()) == list(range(60))
    assert len(order.joints) == len(parents)
    for mother, daughter in order.joints.tolist():
        between = order.rows[min(mother, daughter) + 1 : max(mother, daughter)].tolist()
        assert all(int(order.rows[mother]) in ancestors(row, parents) for row in between)


def ancestors(track: int, parents) -> set[int]:
    found: set[int] = set()
    while track in parents:
        (track,) = parents[track]
        found.add(track)
    return found
