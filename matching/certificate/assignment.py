"""The answer to a matching problem, with the duals that prove it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..device import cuda
from ..errors import refuse_block_beyond


@dataclass(frozen=True, eq=False)
class Assignment:
    """Which row goes with which column, and the proof.

    Attributes
    ----------
    col_of_row : int32 (rows,)
        Column of each row, local to its block; -1 = unassigned.
    row_of_col : int32 (columns,)
        Row of each column, local to its block; -1 = unassigned.
    cost : number, or ndarray (blocks,) of several blocks
        Objective value: matched edges plus the unmatched cost. An integer for integer costs.
    row_duals, col_duals : ndarray (rows,), (columns,)
        Feasible dual variables r and v: c_ij - r_i - v_j ≥ 0, r ≤ u, v ≤ u (see `Problem.dual_bounds`). int64 for
        integer costs, float64 otherwise.
    gap : number, or ndarray (blocks,) of several blocks
        `cost` minus the dual objective, so that no assignment is cheaper than `cost - gap`. Computed as the sum of
        the violated complementary slackness (each term ≥ 0), hence free of cancellation; of real costs with what
        rounding may have kept from its terms. Where that leaves a doubt, what is proven without rounding: by duals of
        twice the digits, or in whole numbers, which leave 0; then the duals below may leave more. +inf where a member
        that must be matched is unassigned, as it may be in what `NotConverged` carries.
    is_optimal : bool
        Proven optimal: gap 0 for integer costs; for real costs every matched reduced cost and every unassigned one's
        distance from its unmatched cost within 64 ulp of the largest term of that pair, and the gap below 1e-9 of what
        the matched edges themselves cost: without what every answer pays, and in each group of matched edges that could
        be exchanged.
    solver, device : str
        What produced it; where blocks of a batch were solved apart, all that did, joined by commas.
    stats : mapping
        Times and counts of the solver's phases.
    row_offsets, col_offsets : int64 (blocks + 1,)
        As in `Problem`.
    maximize : bool
        The greatest sum was asked for: `cost` is the sum of the matched edges less the unmatched cost, no assignment
        has more than `cost + gap`, and the duals prove it with all signs turned: c_ij - r_i - v_j ≤ 0, r ≥ -u, v ≥ -u.
    """

    col_of_row: np.ndarray
    row_of_col: np.ndarray
    cost: Any
    row_duals: np.ndarray
    col_duals: np.ndarray
    gap: Any
    is_optimal: bool
    solver: str
    device: str
    stats: Mapping[str, Any] = field(default_factory=dict)
    row_offsets: np.ndarray = field(default_factory=lambda: np.zeros(2, np.int64))
    col_offsets: np.ndarray = field(default_factory=lambda: np.zeros(2, np.int64))
    maximize: bool = False

    @property
    def n_blocks(self) -> int:
        """Independent problems answered here."""
        return len(self.row_offsets) - 1

    @property
    def n_matched(self) -> int:
        """Matched edges of all blocks together."""
        return int(np.count_nonzero(self.col_of_row >= 0))

    def on_host(self) -> Assignment:
        """Return the assignment with every array on the host; itself if they are there."""
        if not cuda.is_device_array(self.col_of_row):
            return self
        return self._with_arrays(cuda.to_host)

    def on_device(self) -> Assignment:
        """Return the assignment with the arrays of rows and columns on the current GPU."""
        return self._with_arrays(cuda.cupy().asarray)

    def with_stats(self, **more: Any) -> Assignment:
        """Return the assignment with more statistics. A small problem takes three times as long as `replace` does."""
        other = object.__new__(Assignment)
        vars(other).update(vars(self), stats={**self.stats, **more})
        return other

    def _with_arrays(self, move: Callable[[Any], Any]) -> Assignment:
        arrays = ("col_of_row", "row_of_col", "row_duals", "col_duals")
        return replace(self, **{name: move(getattr(self, name)) for name in arrays})

    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the matched edges as SciPy does: (rows, columns), ascending rows, int64, on the host.

        Both are counted over all blocks of a batch.
        """
        col_of_row = cuda.to_host(self.col_of_row)
        rows = np.flatnonzero(col_of_row >= 0)
        first = np.repeat(self.col_offsets[:-1], np.diff(self.row_offsets))[rows]
        return rows, col_of_row[rows] + first

    def blocks(self) -> Iterator[Assignment]:
        """Yield the answer to every block."""
        for b in range(self.n_blocks):
            yield self.block(b)

    def block(self, b: int) -> Assignment:
        """Return the answer to block `b`; `is_optimal` is the whole batch's.

        Raises
        ------
        InvalidProblem
            If there is no such block; they are counted from 0.
        """
        refuse_block_beyond(b, self.n_blocks)
        if self.n_blocks == 1:
            return self
        rows = slice(*(int(k) for k in self.row_offsets[b : b + 2]))
        cols = slice(*(int(k) for k in self.col_offsets[b : b + 2]))
        return replace(
            self,
            col_of_row=self.col_of_row[rows],
            row_of_col=self.row_of_col[cols],
            cost=self.cost[b],
            row_duals=self.row_duals[rows],
            col_duals=self.col_duals[cols],
            gap=self.gap[b],
            row_offsets=np.array([0, rows.stop - rows.start]),
            col_offsets=np.array([0, cols.stop - cols.start]),
        )

    def transposed(self) -> Assignment:
        """Return the answer with rows and columns exchanged."""
        return replace(
            self,
            col_of_row=self.row_of_col,
            row_of_col=self.col_of_row,
            row_duals=self.col_duals,
            col_duals=self.row_duals,
            row_offsets=self.col_offsets,
            col_offsets=self.row_offsets,
        )

    def negated(self) -> Assignment:
        """Return the same matching for the same costs of the opposite sign: of a least sum a greatest one, and back."""
        cost, row_duals, col_duals = -self.cost, -self.row_duals, -self.col_duals
        return replace(self, cost=cost, row_duals=row_duals, col_duals=col_duals, maximize=not self.maximize)

    def __repr__(self) -> str:
        proof = "optimal" if self.is_optimal else f"gap {np.max(self.gap)}"
        cost, where = np.sum(self.cost), f"{self.solver} on {self.device}"
        return f"<Assignment {self.n_matched} matched, cost {cost}, {proof}, {where}>"
