"""A dense problem in device memory, and its initial reduction there."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..certificate.hall import violator_where_it_lies
from ..device import cuda
from ..errors import Infeasible
from ..problem import Problem
from ..problem.gpu_graph import CostGraph, bounds_on_device, none_beside, types_of
from .state import FREE

THREADS = 256
LOOKED_AT = 2**22
"""Pairs of a matrix that are looked at together for what they allow."""
STRIPES = 64
"""Parts of the rows in which column minima are taken first."""


@dataclass(frozen=True)
class DeviceCosts:
    """One dense block in device memory.

    Attributes
    ----------
    cp : module
        CuPy.
    cost : float32, float64, int32 or int64 (rows, columns)
        +inf = forbidden.
    forbidden : bool (rows, columns) or None
    row_bound, col_bound : int64 or float64 (rows,), (columns,)
        As `Problem.dual_bounds`.
    """

    cp: Any
    cost: Any
    forbidden: Any
    row_bound: Any
    col_bound: Any

    @classmethod
    def of(cls, cp: Any, block: Problem) -> DeviceCosts:
        """Copy what is not on the device yet of a dense problem of one block."""
        n, m = block.shape
        mask = 0 if block.forbidden is None else 1
        pairs = 0 if block.is_on_device else n * m * (block.data.itemsize + mask)
        needed = pairs + 80 * (n + m) + 8 * STRIPES * m + 2**22
        cuda.require_memory(needed, f"the Hungarian method on {n} x {m} costs")
        forbidden = None if block.forbidden is None else cp.asarray(block.forbidden).reshape(n, m)
        return cls(cp, cp.asarray(block.data).reshape(n, m), forbidden, *bounds_on_device(cp, block))

    @classmethod
    def of_graph(cls, matrix: CostGraph) -> DeviceCosts:
        """Return one matrix of the auction's; nothing is copied."""
        forbidden = None if matrix.forbidden is None else matrix.forbidden.reshape(matrix.n_rows, matrix.width)
        cost = matrix.cost.reshape(matrix.n_rows, matrix.width)
        return cls(matrix.cp, cost, forbidden, matrix.row_bound, matrix.col_bound)

    def graph_of(self, problem: Problem) -> CostGraph:
        """Return these costs of `problem`, blocks of one shape, as the certificate takes them; nothing is copied."""
        cp = self.cp
        return CostGraph(
            cp,
            *problem.shape,
            cp.empty(0, cp.int64),
            cp.empty(0, cp.int32),
            self.cost.reshape(-1),
            None if self.forbidden is None else self.forbidden.reshape(-1),
            self.row_bound,
            self.col_bound,
            problem.has_unmatched_cost,
            problem.has_unmatched_cost or problem.n_rows != problem.n_cols,
            self.cost.shape[1],
            max(problem.n_rows // problem.n_blocks, 1),
        )

    @property
    def sizes(self) -> tuple[np.int32, np.int32]:
        """Rows and columns, as kernels take them."""
        return np.int32(self.cost.shape[0]), np.int32(self.cost.shape[1])

    @property
    def pairs(self) -> tuple[Any, Any]:
        """Costs and mask, as kernels take them."""
        return self.cost, np.intp(0) if self.forbidden is None else self.forbidden

    @property
    def dual_dtype(self) -> np.dtype[Any]:
        """int64 or float64."""
        return np.dtype(np.int64 if self.cost.dtype.kind == "i" else np.float64)

    @property
    def none(self) -> Any:
        """+inf, or 2**62 in integers: no bound."""
        return none_beside(self.cost)

    @property
    def lowest(self) -> Any:
        """Below every dual."""
        return np.int64(np.iinfo(np.int64).min) if self.cost.dtype.kind == "i" else np.float64(-np.inf)

    @property
    def device(self) -> AbstractContextManager[Any]:
        """The device that the costs are on, to make it current."""
        return self.cost.device

    def synchronize(self) -> None:
        """Wait for what was launched on the current stream."""
        self.cp.cuda.get_current_stream().synchronize()

    def allowed_from(self, rows: np.ndarray) -> np.ndarray:
        """Return on the host which columns any of the given rows may be matched with, bool (columns,)."""
        found = self.cp.zeros(self.cost.shape[1], bool)
        step = max(1, LOOKED_AT // max(len(found), 1))
        for first in range(0, len(rows), step):
            some = self.cp.asarray(rows[first : first + step])
            allowed = self.cost[some] < self.none
            if self.forbidden is not None:
                allowed &= self.forbidden[some] == 0
            found |= allowed.any(axis=0)
        return cuda.to_host(found)

    def kernel(self, file: str, name: str, *options: str, cooperative: bool = False) -> Any:
        """Return a kernel in the form for these costs."""
        return cuda.load(file, *types_of(self.cost), *options, cooperative=cooperative)[name]


@dataclass
class DeviceState:
    """Duals and matching on the device, as `state.State`."""

    r: Any
    v: Any
    col_of_row: Any
    row_of_col: Any


def reduced(costs: DeviceCosts) -> DeviceState:
    """Return the state after Algorithm 1, in which nothing is matched; columns begin at their bound."""
    cp, (n, m) = costs.cp, costs.cost.shape
    begin = cp.where(costs.col_bound < costs.none, costs.col_bound, 0)
    v = begin.astype(costs.dual_dtype)
    state = DeviceState(cp.empty(n, costs.dual_dtype), v, cp.full(n, -1, cp.int32), cp.full(m, -1, cp.int32))
    reduce_rows(costs, state)
    minima = cp.empty((STRIPES, m), costs.dual_dtype)
    columns = -(-m // THREADS)
    stripes = costs.kernel("paths/reduce.cu", "hungarian_reduce_stripes")
    stripes((columns, STRIPES), (THREADS,), (*costs.sizes, *costs.pairs, state.r, minima))
    finish = costs.kernel("paths/reduce.cu", "hungarian_reduce_columns")
    finish((columns,), (THREADS,), (costs.sizes[1], np.int32(STRIPES), minima, costs.col_bound, state.v))
    return state


def reduce_rows(costs: DeviceCosts, state: DeviceState) -> None:
    """Give every row the largest dual that is feasible."""
    rows = costs.kernel("paths/reduce.cu", "hungarian_reduce_rows")
    grid = (min(costs.cost.shape[0], 1 << 16),)
    rows(grid, (THREADS,), (*costs.sizes, *costs.pairs, costs.row_bound, state.v, state.r))


def violator_of(costs: DeviceCosts, row: int, state: DeviceState) -> Infeasible:
    """Return the error that names the rows which keep `row` from being matched; the costs stay where they are."""
    matched = np.maximum(cuda.to_host(state.col_of_row), FREE), cuda.to_host(state.row_of_col)
    return violator_where_it_lies(row, costs.allowed_from, *matched)
