"""Candidate links: which particles of one frame may be which of the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from ....matching.certificate.assignment import Assignment
from ....matching.points.grid import (
    Grid,
    Grids,
    build_grid,
    build_grids,
    largest_square,
    more_pairs_than,
    pairs_in_grid,
    pairs_in_grids,
)
from ....matching.problem import Problem
from ....matching.problem.costs import edge_costs, pair_costs
from ...points import Points
from .limits import GateLimits

ALWAYS_WRITTEN = 1_000_000
"""Candidate links of a frame pair that are written out in any case where there is room."""
A_POINT = 100
"""Candidate links of each point of the earlier frame above which costs that are never stored are the quicker way."""
DENSE_SHARE = 1 / 4
"""Share of all pairs above which the matrix is the quicker way, where all of them are asked about."""
AT_ONCE = 20_000
"""Points of small frames that are gated in one call."""
ROUNDING = 1e-9
"""Part by which a longest link worth its cost may seem to exceed the radius that was made of it."""

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
    further : float64 (edges,) or None
        What it costs beside its length.
    too_dear : int
        Candidate links beside these, that cost more than both their ends unlinked.
    """

    row_points: np.ndarray
    col_points: np.ndarray
    row_offsets: np.ndarray
    col_offsets: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    distance: np.ndarray
    further: np.ndarray | None = None
    too_dear: int = 0

    @property
    def solver(self) -> str:
        """Solver that "auto" stands for."""
        return "auto"

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the points table that each candidate link leads from and to."""
        rows, per_pair = np.diff(self.indptr), np.diff(self.indptr[self.row_offsets])
        return np.repeat(self.row_points, rows), self.col_points[
            self.indices + np.repeat(self.col_offsets[:-1], per_pair)
        ]

    @property
    def size(self) -> int:
        """Points and candidate links together, what memory and time go with."""
        return len(self.row_points) + len(self.col_points) + len(self.distance)

    def only(self, kept: np.ndarray) -> CandidateLinks:
        """Return some of the candidate links, `kept` a mask."""
        indptr = np.concatenate([[0], np.cumsum(kept)])[self.indptr]
        further = None if self.further is None else self.further[kept]
        return replace(self, indptr=indptr, indices=self.indices[kept], distance=self.distance[kept], further=further)

    def costs(self, cost: Cost) -> np.ndarray:
        """Return what each candidate link costs, float64 (edges,)."""
        costs = self.distance * self.distance if cost == "squared" else self.distance
        return costs if self.further is None else costs + self.further

    def problem(self, cost: Cost, unmatched_cost: float | tuple[np.ndarray, np.ndarray]) -> Problem:
        """Return the matching problem of these links; `unmatched_cost` is in the unit of the cost.

        It is one for all, or one for each row and for each column, float64 (rows,), (columns,).
        """
        return Problem.sparse(
            (self.indptr, self.indices, self.costs(cost)),
            unmatched_cost=unmatched_cost,
            row_offsets=self.row_offsets,
            col_offsets=self.col_offsets,
        )

    def counted(self, problem: Problem) -> tuple[int, bool]:  # noqa: ARG002 - as `WideGate`
        """Return the number of candidate links, and whether these are all."""
        return len(self.distance) + self.too_dear, True

    def lengths(self, problem: Problem, answer: Assignment) -> np.ndarray:
        """Return the lengths of the links of their problem's answer, in the order of `answer.edges()`."""
        rows, _ = answer.edges()
        return edge_costs(replace(problem, data=self.distance), rows, rows, answer.col_of_row[rows])


@dataclass(frozen=True)
class WideGate:
    """Two frames with more candidate links than are written out: their costs are a matrix, or are never stored.

    Attributes
    ----------
    earlier, later : Frame
    radius : float
        Longest candidate link.
    limits : GateLimits
    more_than : int
        Candidate links that there are more of, the forbidden ones among them.
    forbidden : int64 (k, 2)
        Rows and columns that are not to be linked.
    """

    earlier: Frame
    later: Frame
    radius: float
    limits: GateLimits
    more_than: int
    forbidden: np.ndarray = field(default_factory=lambda: np.empty((0, 2), np.int64))

    @property
    def row_points(self) -> np.ndarray:
        """Row of the points table behind each row of the problem, int (rows,)."""
        return self.earlier.rows

    @property
    def col_points(self) -> np.ndarray:
        """Row of the points table behind each column of the problem, int (columns,)."""
        return self.later.rows

    @property
    def is_matrix(self) -> bool:
        """Whether the costs of all pairs, those longer than the radius among them, are few enough to hold."""
        return len(self.earlier) * len(self.later) <= self.limits.matrix

    @property
    def solver(self) -> str:
        """Solver that "auto" stands for: where costs are not stored, the one that never writes them out."""
        return "auto" if self.is_matrix else "auction"

    def problem(self, cost: Cost, unmatched_cost: float) -> Problem:
        """As `CandidateLinks.problem`; where all costs are too many to hold, links may be longer than the radius.

        `decides` says where they would be.
        """
        x, y = self.earlier.grid.points, self.later.grid.points
        if not self.is_matrix:
            return Problem.points(x, y, unmatched_cost=unmatched_cost, metric=cost)
        costs = pair_costs(x, y, cost)
        costs[costs > self._dearest(cost)] = np.inf
        costs[tuple(self.forbidden.T)] = np.inf
        return Problem.dense(costs, unmatched_cost=unmatched_cost)

    def decides(self, cost: Cost, unmatched_cost: float) -> bool:
        """Whether points whose costs are too many to hold may not be linked though the unmatched cost pays for it."""
        pays_for_longer = 2 * unmatched_cost > self._dearest(cost) * (1 + ROUNDING)
        return not self.is_matrix and (pays_for_longer or len(self.forbidden) > 0)

    def counted(self, problem: Problem) -> tuple[int, bool]:
        """As `CandidateLinks.counted`; where links are neither stored nor all within the radius, what is known."""
        if problem.kind == "dense":
            return int(np.count_nonzero(problem.data < np.inf)), True
        points = np.concatenate([self.earlier.grid.points, self.later.grid.points])
        is_all = bool(np.linalg.norm(np.ptp(points, axis=0)) * (1 + ROUNDING) <= self.radius)
        least = len(self.earlier) * len(self.later) if is_all else self.more_than + 1
        return max(least - len(self.forbidden), 0), is_all

    def parts(self) -> Iterator[CandidateLinks]:
        """Yield the candidate links of some rows after others, so many at a time as there is room for together.

        They are of all columns, and of at least one row.
        """
        waiting = [(0, len(self.earlier))]
        while waiting:
            first, last = waiting.pop()
            points, middle = self.earlier.grid.points[first:last], (first + last) // 2
            if middle > first and more_pairs_than(self.limits.together, points, self.later.grid, self.radius):
                waiting += [(middle, last), (first, middle)]
            else:
                yield self._written(first, last)

    def _written(self, first: int, last: int) -> CandidateLinks:
        """Return the candidate links of some rows."""
        rows = self.earlier.rows[first:last]
        links = _written(rows, self.earlier.grid.points[first:last], self.later, self.radius)
        if not len(self.forbidden):
            return links
        row = np.repeat(np.arange(first, last), np.diff(links.indptr))
        forbidden = self.forbidden @ [len(self.later), 1]
        return links.only(~np.isin(row * len(self.later) + links.indices, forbidden))

    def _dearest(self, cost: Cost) -> float:
        """Return the largest cost of a link that is within the radius."""
        return largest_square(self.radius) if cost == "squared" else self.radius

    def lengths(self, problem: Problem, answer: Assignment) -> np.ndarray:  # noqa: ARG002 - as `CandidateLinks`
        """As `CandidateLinks.lengths`."""
        rows, cols = answer.edges()
        return np.linalg.norm(self.earlier.grid.points[rows] - self.later.grid.points[cols], axis=1)


def frame_pairs(
    points: Points, search_range: float, predicted: Callable[[Frame, int], Frame] | None = None
) -> Iterator[tuple[Frame, Frame]]:
    """Yield the frames that follow each other: numbers that differ by the frame step of the points.

    Parameters
    ----------
    points : Points
        A frame without points takes part in no pair.
    search_range : float
        Longest radius that the pairs will be gated at, in the unit of the positions.
    predicted : callable, optional
        Called as predicted(frame, number): the frame with its points where they are expected in another.
    """
    frames = _Frames(points, search_range)
    for earlier, later in frames.pairs(np.flatnonzero(frames.follows)):
        yield earlier if predicted is None else predicted(earlier, later.number), later


class _Frames:
    """The frames of a movie in the order of time, sorted into grids as they are asked for.

    Attributes
    ----------
    sizes : int64 (frames,)
        Points of each.
    follows : bool (frames - 1,)
        Whether the next one is a frame step later.
    """

    def __init__(self, points: Points, search_range: float) -> None:
        self._points, self._range = points, search_range
        self._numbers, self._cuts, self._order = points.by_frame()
        self.sizes, self.follows = np.diff(self._cuts), np.diff(self._numbers) == points.frame_step

    def pairs(self, earlier: Iterable[int]) -> Iterator[tuple[Frame, Frame]]:
        """Yield the frames at some places, ascending, each with the next one."""
        at, later = -1, None
        for k in earlier:
            first = later if later is not None and k == at else self._frame(k)
            at, later = k + 1, self._frame(k + 1)
            yield first, later

    def gated(self, begin: int, end: int, limits: GateLimits) -> Iterator[CandidateLinks]:
        """Yield the candidate links of frames from `begin` on, before `end`, with the next ones, many at a time."""
        at_once = min(AT_ONCE, limits.together // 4)
        while begin < end:
            most = int(np.searchsorted(self._cuts, self._cuts[begin] + at_once, side="right")) - 2
            until = min(max(most, begin + 1), end)
            yield from self._gated(begin, until, limits.together // 2)
            begin = until

    def _gated(self, begin: int, end: int, most: int) -> Iterator[CandidateLinks]:
        first = self._cuts[begin : end + 2] - self._cuts[begin]
        table_rows, grids = self._sorted(begin, first)
        rows, cols = first[:-1], first[1:]
        while len(rows) > 1:
            indptr, indices, distance = pairs_in_grids(
                grids.points[rows[0] : rows[-1]], rows - rows[0], grids.after(1), self._range, most
            )
            k = int(np.searchsorted(rows, rows[0] + len(indptr) - 1))
            a, b = rows[: k + 1], cols[: k + 1]
            x, y = table_rows[a[0] : a[-1]], table_rows[b[0] : b[-1]]
            yield CandidateLinks(x, y, a - a[0], b - b[0], indptr, indices, distance)
            rows, cols, grids = rows[k:], cols[k:], grids.after(k)

    def _sorted(self, begin: int, first: np.ndarray) -> tuple[np.ndarray, Grids]:
        """Return table rows and grids of frames from `begin` on."""
        rows = self._rows(begin, begin + len(first) - 1)
        grids = build_grids(self._points.positions_of(rows), first, self._range)
        at = np.repeat(first[:-1], np.diff(first)) + grids.order
        return rows.start + at if isinstance(rows, slice) else rows[at], grids

    def _frame(self, k: int) -> Frame:
        rows = self._rows(k, k + 1)
        grid = build_grid(self._points.positions_of(rows), self._range)
        order = rows.start + grid.order if isinstance(rows, slice) else rows[grid.order]
        return Frame(int(self._numbers[k]), order, grid)

    def _rows(self, a: int, b: int) -> slice | np.ndarray:
        own = slice(*self._cuts[[a, b]].tolist())
        return own if self._order is None else self._order[own]


def gate(earlier: Frame, later: Frame, radius: float, limits: GateLimits | None = None) -> CandidateLinks | WideGate:
    """Return the pairs of points of two frames that are at most `radius` apart, written out if there is room for them.

    The choice rests on their number and the stated budget alone, never on the memory of the machine.
    """
    limits = limits or GateLimits.within()
    worth_it = DENSE_SHARE * len(later) if limits.matrix else A_POINT
    most = min(limits.written, max(int(worth_it * len(earlier)), ALWAYS_WRITTEN))
    if more_pairs_than(most, earlier.grid.points, later.grid, radius):
        return WideGate(earlier, later, radius, limits, most)
    return _written(earlier.rows, earlier.grid.points, later, radius)


def _written(rows: np.ndarray, points: np.ndarray, later: Frame, radius: float) -> CandidateLinks:
    """Return the candidate links from some rows of the points table, which are at `points`, to a frame."""
    indptr, indices, distance = pairs_in_grid(points, later.grid, radius)
    ends = np.array([0, len(rows)]), np.array([0, len(later)])
    return CandidateLinks(rows, later.rows, *ends, indptr, indices, distance)


def gated_pairs(
    points: Points, search_range: float, limits: GateLimits | None = None
) -> Iterator[CandidateLinks | WideGate]:
    """Yield the candidate links of each pair of consecutive frames; those of small frames side by side."""
    limits = limits or GateLimits.within()
    frames = _Frames(points, search_range)
    is_small = frames.sizes[1:] * frames.sizes[:-1] <= min(limits.written, ALWAYS_WRITTEN)  # never a wide gate
    kind = frames.follows * (1 + is_small)
    for a, b in pairwise([*np.flatnonzero(np.diff(kind, prepend=-1)).tolist(), len(kind)]):
        if kind[a] == 2:
            yield from frames.gated(a, b, limits)
        elif kind[a] == 1:
            yield from (gate(*pair, search_range, limits) for pair in frames.pairs(range(a, b)))


def in_runs(
    gated: Iterable[CandidateLinks | WideGate], limits: GateLimits | None = None
) -> Iterator[CandidateLinks | WideGate]:
    """Join frame pairs into runs that there is room for together, at least one pair each.

    How they are cut never changes a result: frame pairs do not depend on each other.
    """
    most = (limits or GateLimits.within()).together
    run: list[CandidateLinks] = []
    size = 0
    for links in gated:
        is_wide = isinstance(links, WideGate)
        if run and (is_wide or size + links.size > most):
            yield _joined(run)
            run, size = [], 0
        if is_wide:
            yield links
            continue
        run.append(links)
        size += links.size
    if run:
        yield _joined(run)


def rows_joined(parts: list[CandidateLinks]) -> CandidateLinks:
    """Return the candidate links of some rows after others, all of the same columns, as those of one frame pair."""
    joined = _joined(parts)
    ends = np.array([0, len(joined.row_points)])
    return replace(joined, row_offsets=ends, col_points=parts[0].col_points, col_offsets=parts[0].col_offsets)


def _joined(run: list[CandidateLinks]) -> CandidateLinks:
    """Return the candidate links of runs of frame pairs as those of one."""
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
        None if run[0].further is None else laid("further"),
        sum(links.too_dear for links in run),
    )
