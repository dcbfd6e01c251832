"""The order in which tracks are drawn beside each other, one line each, so that lineages are seen as trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components


@dataclass(frozen=True)
class LineageOrder:
    """Tracks in lines.

    Attributes
    ----------
    rows : int64 (tracks,)
        Row of `measures` that is drawn in each line.
    joints : int64 (joints, 2)
        Lines of a parent and of its child, by the parent's.
    """

    rows: np.ndarray
    joints: np.ndarray


def order_lineages(measures: pd.DataFrame, parents: Mapping[int, Sequence[int]]) -> LineageOrder:
    """Order tracks by lineage, those that last longest first.

    Of lineages as long, the one with more tracks comes first, then the one with the smallest id. Within a lineage a
    track stands between its children, so that no line of a tree crosses another; a track that several have merged into
    stands with the first of them.

    Parameters
    ----------
    measures : DataFrame
        One row a track: `track_id`, `first_frame`, `last_frame` (`measure_tracks`).
    parents : mapping of int to sequence of int
        As in `Tracks`; those that are not in `measures`, or do not begin before their child, are left out.
    """
    track_id, first, last = (measures[name].to_numpy() for name in ("track_id", "first_frame", "last_frame"))
    joints = _joints(track_id, first, parents)
    order = _longest_first(track_id, first, last, joints)
    rows = _between_children(order, joints)
    line = np.empty(len(rows), np.int64)
    line[rows] = np.arange(len(rows))
    drawn = line[joints]
    return LineageOrder(rows, drawn[np.lexsort(drawn.T[::-1])])


def _joints(track_id: np.ndarray, first: np.ndarray, parents: Mapping[int, Sequence[int]]) -> np.ndarray:
    """Return rows of parents and children, int64 (joints, 2); of each child in the order of its parents."""
    pairs = np.array([(parent, child) for child, of in parents.items() for parent in of], np.int64).reshape(-1, 2)
    if not len(pairs) or not len(track_id):
        return np.empty((0, 2), np.int64)
    by_id = np.argsort(track_id)
    place = np.searchsorted(track_id, pairs, sorter=by_id)
    rows = by_id[np.minimum(place, len(track_id) - 1)]
    known = (track_id[rows] == pairs).all(axis=1)
    return rows[known & (first[rows[:, 0]] < first[rows[:, 1]])]


def _longest_first(track_id: np.ndarray, first: np.ndarray, last: np.ndarray, joints: np.ndarray) -> np.ndarray:
    """Return the rows lineage by lineage, in each by their beginning."""
    n = len(track_id)
    graph = coo_array((np.ones(len(joints), np.int8), joints.T), shape=(n, n))
    count, lineage = connected_components(graph, directed=False)
    begin, end = np.full(count, np.iinfo(np.int64).max), np.full(count, np.iinfo(np.int64).min)
    smallest = begin.copy()
    np.minimum.at(begin, lineage, first)
    np.maximum.at(end, lineage, last)
    np.minimum.at(smallest, lineage, track_id)
    size = np.bincount(lineage, minlength=count)
    rank = np.empty(count, np.int64)
    rank[np.lexsort((smallest, -size, begin - end))] = np.arange(count)
    return np.lexsort((track_id, first, rank[lineage]))


def _between_children(order: np.ndarray, joints: np.ndarray) -> np.ndarray:
    """Return the rows with each track between its children; those without relatives stay where they are."""
    children: dict[int, list[int]] = {}
    has_parent: set[int] = set()
    for parent, child in joints.tolist():
        if child not in has_parent:
            has_parent.add(child)
            children.setdefault(parent, []).append(child)
    rows: list[int] = []
    for row in order.tolist():
        if row in children and row not in has_parent:
            rows.extend(_tree(row, children))
        elif row not in has_parent:
            rows.append(row)
    return np.array(rows, np.int64)


def _tree(root: int, children: Mapping[int, Sequence[int]]) -> list[int]:
    """Return the rows of a tree, each between its children; without recursion, for lineages are deep."""
    rows: list[int] = []
    waiting = [(root, False)]
    while waiting:
        row, is_due = waiting.pop()
        of = children.get(row, ())
        if is_due or not of:
            rows.append(row)
            continue
        half = len(of) // 2
        waiting += [(child, False) for child in reversed(of[half:])]
        waiting.append((row, True))
        waiting += [(child, False) for child in reversed(of[:half])]
    return rows
