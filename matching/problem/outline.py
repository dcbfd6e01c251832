"""What is known of a problem without its costs: blocks, unmatched costs, arithmetic, bounds of its duals."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

import numpy as np

from .host_problem import INT_LIMIT

Kind = Literal["dense", "sparse", "points"]

INT64, FLOAT64 = np.dtype(np.int64), np.dtype(np.float64)


class Outline:
    """Blocks, unmatched costs and arithmetic of a problem, wherever its costs lie.

    Attributes
    ----------
    row_offsets, col_offsets : int64 (blocks + 1,)
    row_unmatched, col_unmatched : ndarray or None
        As in `Problem`.
    kind : {"dense", "sparse", "points"}
    cost_dtype : dtype
        Of the costs.
    """

    row_offsets: np.ndarray
    col_offsets: np.ndarray
    row_unmatched: np.ndarray | None
    col_unmatched: np.ndarray | None

    kind: Kind

    @property
    def cost_dtype(self) -> np.dtype[Any]:
        """Type of the costs."""
        raise NotImplementedError

    @property
    def n_rows(self) -> int:
        """Rows of all blocks together."""
        return int(self.row_offsets[-1])

    @property
    def n_cols(self) -> int:
        """Columns of all blocks together."""
        return int(self.col_offsets[-1])

    @property
    def n_blocks(self) -> int:
        """Independent problems in this batch; 1 for a single problem."""
        return len(self.row_offsets) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns) of all blocks together."""
        return int(self.row_offsets[-1]), int(self.col_offsets[-1])

    def must_match_all(self, fewest: int) -> bool:
        """Whether it is a single problem of equal sides, of `fewest` rows or more, and no one may stay unassigned."""
        n, m = self.shape
        return n == m and n >= fewest and self.n_blocks == 1 and not self.has_unmatched_cost

    @cached_property
    def n_rows_of_block(self) -> np.ndarray:
        """Rows of each block, int64 (blocks,)."""
        return self.row_offsets[1:] - self.row_offsets[:-1]

    @cached_property
    def n_cols_of_block(self) -> np.ndarray:
        """Columns of each block, int64 (blocks,)."""
        return self.col_offsets[1:] - self.col_offsets[:-1]

    @property
    def is_integer(self) -> bool:
        """Whether costs are integers, so that arithmetic is exact and an optimal gap is 0."""
        return self.cost_dtype.kind == "i"

    @property
    def has_unmatched_cost(self) -> bool:
        """Whether rows and columns may stay unassigned, at the unmatched cost."""
        return self.row_unmatched is not None

    @property
    def dual_dtype(self) -> np.dtype[Any]:
        """Type in which duals and sums are held: int64 for integer costs, float64 otherwise."""
        return INT64 if self.is_integer else FLOAT64

    def dual_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the upper bounds of row and column duals, (rows,) and (columns,), of `dual_dtype`.

        r ≤ u and v ≤ u where there are unmatched costs u; without, the duals of a block's longer side are ≤ 0
        and the others are free: their bound is +inf, or 2**62 in integers.
        """
        return self._dual_bounds

    @cached_property
    def _dual_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        if self.row_unmatched is not None and self.col_unmatched is not None:
            return self.row_unmatched, self.col_unmatched
        row_bound, col_bound = self.dual_bounds_of_blocks()
        return np.repeat(row_bound, self.n_rows_of_block), np.repeat(col_bound, self.n_cols_of_block)

    def dual_bounds_of_blocks(self) -> tuple[np.ndarray, np.ndarray]:
        """Return `dual_bounds` where there are no unmatched costs: one for all rows, and all columns, of a block."""
        rows, cols = self.n_rows_of_block, self.n_cols_of_block
        free = INT_LIMIT if self.is_integer else np.inf
        row_bound = np.where(rows > cols, 0, free).astype(self.dual_dtype)
        col_bound = np.where(cols > rows, 0, free).astype(self.dual_dtype)
        return row_bound, col_bound
