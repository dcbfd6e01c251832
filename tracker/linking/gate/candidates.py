"""Candidate links: which particles of one frame may be which of the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from ....matching.certificate.assignment import Assignment
from ....matching.certificate.certify import block_of
from ....matching.points.grid import Grid, build_grid, largest_square, more_pairs_than, pairs_in_grid
from ....matching.problem import Problem
from ....matching.problem.costs import edge_costs, pair_costs
from ...points import Points
from .limits import GateLimits

DENSE_SHARE = 1 / 4
"""Candidate links among all pairs, `WORTH_A_MATRIX` at least, above which the matrix is the quicker way."""
WORTH_A_MATRIX = 1_000_000
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
        block = block_of(problem.row_offsets, rows)
        return edge_costs(replace(problem, data=self.distance), rows, block, answer.col_of_row[rows])


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
    step = points.frame_step
    earlier: Frame | None = None
    for number, rows in points.rows_by_frame():
        grid = build_grid(points.positions_of(rows), search_range)
        later = Frame(number, rows.start + grid.order if isinstance(rows, slice) else rows[grid.order], grid)
        if earlier is not None and later.number - earlier.number == step:
            yield earlier if predicted is None else predicted(earlier, later.number), later
        earlier = later


def gate(earlier: Frame, later: Frame, radius: float, limits: GateLimits | None = None) -> CandidateLinks | WideGate:
    """Return the pairs of points of two frames that are at most `radius` apart, written out if there is room for them.

    The choice rests on their number and the stated budget alone, never on the memory of the machine.
    """
    limits = limits or GateLimits.within()
    pairs = len(earlier) * len(later)
    most = min(limits.written, max(int(DENSE_SHARE * pairs), WORTH_A_MATRIX))
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
    """Yield the candidate links of each pair of consecutive frames."""
    return (gate(*pair, search_range, limits) for pair in frame_pairs(points, search_range))


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
