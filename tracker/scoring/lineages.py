"""Tracks and their divisions as a directed graph: the rows of a table, and which follow which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..measuring.track_order import track_order
from ..points import Points
from .following import division_rows, steps_and_gaps

_ANY_REACH = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Lineages:
    """A graph whose nodes are the rows of a table and whose edges lead forward in time.

    Parameters
    ----------
    frame : ndarray
        int64 (n,): frame of every node.
    edges : ndarray
        int64 (k, 2): source and target of every edge, across gaps and from mothers to daughters too.
    """

    frame: np.ndarray
    edges: np.ndarray

    @classmethod
    def of(cls, points: Points, name: np.ndarray) -> Lineages:
        """Return the graph of a table whose rows are named by track, int64 (n,); a negative name has no edges."""
        order = track_order(name, points.frames)
        along, _ = steps_and_gaps(points, name, order, _ANY_REACH)
        return cls(points.frames, np.concatenate([along, division_rows(points, name, order, _ANY_REACH)]))

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.frame)

    @cached_property
    def out_degree(self) -> np.ndarray:
        """Number of successors of every node, int64 (n,)."""
        return np.bincount(self.edges[:, 0], minlength=len(self))

    @cached_property
    def in_degree(self) -> np.ndarray:
        """Number of predecessors of every node, int64 (n,)."""
        return np.bincount(self.edges[:, 1], minlength=len(self))

    @cached_property
    def dividing(self) -> np.ndarray:
        """The nodes that divide, int64."""
        return np.flatnonzero(self.out_degree > 1)

    @cached_property
    def joins_tracklets(self) -> np.ndarray:
        """Whether an edge leads from one tracklet to another, bool (k,): at a division or a merge."""
        return (self.out_degree[self.edges[:, 0]] > 1) | (self.in_degree[self.edges[:, 1]] > 1)

    @cached_property
    def tracklet(self) -> np.ndarray:
        """The tracklet of every node, numbered from 0, int64 (n,): a path between divisions, merges and ends."""
        return self._component(self.edges[~self.joins_tracklets])

    @cached_property
    def tree(self) -> np.ndarray:
        """The connected part of the graph that every node is in, numbered from 0, int64 (n,)."""
        return self._component(self.edges)

    def _component(self, edges: np.ndarray) -> np.ndarray:
        graph = coo_array((np.ones(len(edges), bool), (edges[:, 0], edges[:, 1])), shape=(len(self), len(self)))
        return connected_components(graph, directed=False)[1].astype(np.int64)

    @cached_property
    def tracklet_edges(self) -> np.ndarray:
        """From which tracklet to which other one an edge leads, int64 (k', 2)."""
        return self.tracklet[self.edges[self.joins_tracklets]]

    @cached_property
    def by_tracklet(self) -> np.ndarray:
        """The nodes by tracklet, and by frame within one, int64 (n,)."""
        return np.lexsort((self.frame, self.tracklet))

    @cached_property
    def first(self) -> np.ndarray:
        """Where in `by_tracklet` each tracklet starts, int64."""
        return np.flatnonzero(np.diff(self.tracklet[self.by_tracklet], prepend=-1))

    @cached_property
    def length(self) -> np.ndarray:
        """Number of nodes of every tracklet, int64."""
        return np.bincount(self.tracklet)

    @cached_property
    def begin(self) -> np.ndarray:
        """First frame of every tracklet, int64."""
        return self.frame[self.by_tracklet[self.first]]

    @cached_property
    def end(self) -> np.ndarray:
        """Last frame of every tracklet, int64."""
        return self.frame[self.by_tracklet[self.first + self.length - 1]]

    def successors(self, node: int) -> Sequence[int]:
        """Return the nodes that follow a node."""
        return self._successors[node]

    def predecessors(self, node: int) -> Sequence[int]:
        """Return the nodes that a node follows."""
        return self._predecessors[node]

    @cached_property
    def _successors(self) -> list[list[int]]:
        return _neighbours(self.edges, len(self))

    @cached_property
    def _predecessors(self) -> list[list[int]]:
        return _neighbours(self.edges[:, ::-1], len(self))


def _neighbours(edges: np.ndarray, n: int) -> list[list[int]]:
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for source, target in edges.tolist():
        neighbours[source].append(target)
    return neighbours
