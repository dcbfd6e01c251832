"""Candidate links of a whole movie without what is given: confirmed links' ends closed, given links no candidates."""

from __future__ import annotations

import numpy as np

from ..constraints import Constraints, keys
from ..motion.candidates.graph import Graph
from ..motion.detections.ordered import Ordered
from .best_links import Answer


def in_order(constraints: Constraints, movie: Ordered) -> Constraints:
    """Return the constraints with detections in the movie's order in place of rows of the table."""
    if not constraints:
        return constraints
    place = np.empty(len(movie), np.int64)
    place[movie.row] = np.arange(len(movie))
    return Constraints(place[constraints.pinned], place[constraints.forbidden])


def within(constraints: Constraints, first: int, last: int) -> Constraints:
    """Return the constraints on links between the detections from `first` on, before `last`, counted from `first`."""
    given = constraints.pinned, constraints.forbidden
    return Constraints(*(links[((links >= first) & (links < last)).all(axis=1)] - first for links in given))


def open_weights(graph: Graph, weight: np.ndarray, constraints: Constraints) -> np.ndarray:
    """Return the weights of the candidates, −inf of those that are given."""
    given = constraints.never_solved
    is_given = np.isin(keys(graph.tail, graph.head, graph.n), keys(given[:, 0], given[:, 1], graph.n))
    return np.where(is_given, -np.inf, weight)


def ways_of(constraints: Constraints, n: int, free: Answer | None) -> np.ndarray:
    """Return which way out of its source, and into its target, each confirmed link takes: 0 the first, 1 the second.

    Parameters
    ----------
    constraints : Constraints
    n : int
        Detections.
    free : Answer or None
        The best links without constraints: what is confirmed among them keeps its ways. None: it takes the first that
        is left, as all others do; the same where nothing divides or merges.

    Returns
    -------
    int64 (pins, 2)
    """
    ways = np.full((len(constraints.pinned), 2), -1)
    if free is not None:
        rows, cols = free.proof.edges()
        made = {(row % n, col % n): (row // n, col // n) for row, col in zip(rows.tolist(), cols.tolist(), strict=True)}
        ways = np.array([made.get((source, target), (-1, -1)) for source, target in constraints.pinned.tolist()])
    for side in (0, 1):
        ends = constraints.pinned[:, side].tolist()
        known = zip(ends, ways[:, side].tolist(), strict=True)
        taken = {(end, way) for end, way in known if way >= 0}
        for k in np.flatnonzero(ways[:, side] < 0):
            ways[k, side] = 0 if (ends[k], 0) not in taken else 1
            taken.add((ends[k], int(ways[k, side])))
    return ways


def closed_ends(
    n: int, constraints: Constraints, ways: np.ndarray, *, divisions: bool, merges: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Mark the rows and columns, copies included, whose place confirmed links have."""
    closed = np.zeros(n * (1 + divisions), bool), np.zeros(n * (1 + merges), bool)
    for side in (0, 1):
        closed[side][constraints.pinned[:, side] + n * ways[:, side]] = True
    return closed
