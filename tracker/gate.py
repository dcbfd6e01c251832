"""Candidate links: which particles of one frame may be which of the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..matching.grid import Grid, build_grid, pairs_in_grid
from ..matching.problem import Problem
from .points import Points

EDGE_BUDGET = 10_000_000
"""Candidate links laid side by side in one solve: enough to fill any device, under 300 MB."""

Cost = Literal["squared", "distance"]


@dataclass(frozen=True)
class Frame:
    """The points of one frame, in the order of their grid.

    Attributes
    ----------
    number : int
        Frame number.
    rows : int64 (n,)
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
    row_points, col_points : int64 (rows,), (columns,)
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

    A frame without points takes part in no pair. Each frame is sorted once.
    """
    positions, step = points.positions, points.frame_step
    earlier: Frame | None = None
    for number, rows in _rows_by_frame(points.frames):
        later = _sorted_frame(number, rows, positions, search_range)
        if earlier is not None and later.number - earlier.number == step:
            yield earlier, later
        earlier = later


def candidate_links(
    pairs: Iterator[tuple[Frame, Frame]], search_range: float, edge_budget: int = EDGE_BUDGET
) -> Iterator[CandidateLinks]:
    """Gate frame pairs and hand them out in runs, each of as many pairs as `edge_budget` allows, at least one.

    Parameters
    ----------
    pairs : iterator of (Frame, Frame)
    search_range : float
        Longest candidate link, in the unit of the positions.
    edge_budget : int
        How links are cut into runs never changes a result: frame pairs do not depend on each other.
    """
    run: list[CandidateLinks] = []
    edges = 0
    for earlier, later in pairs:
        links = _gated(earlier, later, search_range)
        if run and edges + len(links.distance) > edge_budget:
            yield _side_by_side(run)
            run, edges = [], 0
        run.append(links)
        edges += len(links.distance)
    if run:
        yield _side_by_side(run)


def _rows_by_frame(frames: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (frame number, rows of the table) in the order of time."""
    in_order = bool((np.diff(frames) >= 0).all())
    order = np.arange(len(frames)) if in_order else np.argsort(frames, kind="stable")
    sorted_frames = frames if in_order else frames[order]
    cuts = np.concatenate([[0], np.flatnonzero(np.diff(sorted_frames)) + 1, [len(frames)]])
    for a, b in zip(cuts[:-1], cuts[1:], strict=True):
        if b > a:
            yield int(sorted_frames[a]), order[a:b]


def _sorted_frame(number: int, rows: np.ndarray, positions: np.ndarray, search_range: float) -> Frame:
    grid = build_grid(positions[rows], search_range)
    return Frame(number, rows[grid.order], grid)


def _gated(earlier: Frame, later: Frame, search_range: float) -> CandidateLinks:
    indptr, indices, distance = pairs_in_grid(earlier.grid.points, later.grid, search_range)
    offsets = (np.array([0, len(frame)]) for frame in (earlier, later))
    return CandidateLinks(earlier.rows, later.rows, *offsets, indptr, indices, distance)


def _side_by_side(run: list[CandidateLinks]) -> CandidateLinks:
    if len(run) == 1:
        return run[0]

    def stacked(name: str) -> np.ndarray:
        parts = [np.diff(getattr(links, name)) for links in run]
        return np.concatenate([[0], np.cumsum(np.concatenate(parts))])

    def joined(name: str) -> np.ndarray:
        return np.concatenate([getattr(links, name) for links in run])

    return CandidateLinks(
        joined("row_points"),
        joined("col_points"),
        stacked("row_offsets"),
        stacked("col_offsets"),
        stacked("indptr"),
        joined("indices"),
        joined("distance"),
    )
