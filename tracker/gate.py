"""Candidate links: which particles of one frame may be which of the next."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ..matching.points.grid import Grid, build_grid, pairs_in_grid
from ..matching.problem import Problem
from .points import Points

EDGE_BUDGET = 1_000_000
"""Points and candidate links laid side by side in one solve: enough to keep any device busy, about 150 MB."""

Cost = Literal["squared", "distance"]


@dataclass(frozen=True)
class Frame:
    """The points of one frame, in the order of their grid.

    Attributes
    ----------
    number : int
        Frame number.
    rows : int (n,)
        Row of the table of each point.
    grid : Grid
        Their physical positions.
    """

    number: int
    rows: np.ndarray
    grid: Grid

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class CandidateLinks:
    """Candidate links of some consecutive frame pairs, side by side as one block-diagonal graph.

    Attributes
    ----------
    row_points, col_points : int (rows,), (columns,)
        Row of the points table behind each row and column of the graph.
    row_offsets, col_offsets : int64 (pairs + 1,)
        Rows and columns of each frame pair.
    indptr, indices : int64 (rows + 1,), int32 (edges,)
        CSR graph; columns are local to their frame pair.
    distance : float64 (edges,)
        Physical length of each candidate link.
    """

    row_points: np.ndarray
    col_points: np.ndarray
    row_offsets: np.ndarray
    col_offsets: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    distance: np.ndarray

    @property
    def size(self) -> int:
        """Points and candidate links together, what memory and time go with."""
        return len(self.row_points) + len(self.col_points) + len(self.distance)

    def up_to(self, length: float) -> CandidateLinks:
        """Return the candidate links that are no longer than `length`."""
        short = self.distance <= length
        indptr = np.concatenate([[0], np.cumsum(short)])[self.indptr]
        return replace(self, indptr=indptr, indices=self.indices[short], distance=self.distance[short])

    def problem(self, cost: Cost, price: float) -> Problem:
        """Return the matching problem of these links; `price` is the `unmatched_cost` in the unit of the cost."""
        data = self.distance * self.distance if cost == "squared" else self.distance
        return Problem.sparse(
            (self.indptr, self.indices, data),
            unmatched_cost=price,
            row_offsets=self.row_offsets,
            col_offsets=self.col_offsets,
        )


def frame_pairs(points: Points, search_range: float) -> Iterator[tuple[Frame, Frame]]:
    """Yield the frames that follow each other: numbers that differ by the table's frame step.

    Parameters
    ----------
    points : Points
        A frame without points takes part in no pair.
    search_range : float
        Longest radius that the pairs will be gated at, in the unit of the positions.
    """
    positions, step = points.positions, points.frame_step
    earlier: Frame | None = None
    for number, rows in _rows_by_frame(points.frames):
        grid = build_grid(positions[rows], search_range)
        later = Frame(number, rows.start + grid.order if isinstance(rows, slice) else rows[grid.order], grid)
        if earlier is not None and later.number - earlier.number == step:
            yield earlier, later
        earlier = later


def gate(earlier: Frame, later: Frame, radius: float) -> CandidateLinks:
    """Return the pairs of points of two frames that are at most `radius` apart."""
    indptr, indices, distance = pairs_in_grid(earlier.grid.points, later.grid, radius)
    rows, cols = np.array([0, len(earlier)]), np.array([0, len(later)])
    return CandidateLinks(earlier.rows, later.rows, rows, cols, indptr, indices, distance)


def gated_pairs(points: Points, search_range: float) -> Iterator[CandidateLinks]:
    """Yield the candidate links of each pair of consecutive frames."""
    return (gate(*pair, search_range) for pair in frame_pairs(points, search_range))


def in_runs(gated: Iterable[CandidateLinks], edge_budget: int = EDGE_BUDGET) -> Iterator[CandidateLinks]:
    """Join frame pairs into runs of at most `edge_budget` points and candidate links, at least one pair each.

    How they are cut never changes a result: frame pairs do not depend on each other.
    """
    run: list[CandidateLinks] = []
    size = 0
    for links in gated:
        if run and size + links.size > edge_budget:
            yield _joined(run)
            run, size = [], 0
        run.append(links)
        size += links.size
    if run:
        yield _joined(run)


def _rows_by_frame(frames: np.ndarray) -> Iterator[tuple[int, slice | np.ndarray]]:
    """Yield (frame number, rows of the table) in the order of time; slices where the table is in that order."""
    in_order = bool((frames[1:] >= frames[:-1]).all())
    order = None if in_order else np.argsort(frames, kind="stable")
    ordered = frames if order is None else frames[order]
    cuts = [0, *(np.flatnonzero(ordered[1:] != ordered[:-1]) + 1).tolist(), len(frames)]
    for a, b in itertools.pairwise(cuts):
        if b > a:
            yield int(ordered[a]), slice(a, b) if order is None else order[a:b]


def _joined(run: list[CandidateLinks]) -> CandidateLinks:
    if len(run) == 1:
        return run[0]

    def stacked(name: str) -> np.ndarray:
        parts = [np.diff(getattr(links, name)) for links in run]
        return np.concatenate([[0], np.cumsum(np.concatenate(parts))])

    def laid(name: str) -> np.ndarray:
        return np.concatenate([getattr(links, name) for links in run])

    return CandidateLinks(
        laid("row_points"),
        laid("col_points"),
        stacked("row_offsets"),
        stacked("col_offsets"),
        stacked("indptr"),
        laid("indices"),
        laid("distance"),
    )
