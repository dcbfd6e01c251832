"""A matching problem in device memory, and a matching of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from ..device import cuda
from ..device.arrays import spread
from .host_problem import INT_LIMIT
from .outline import Outline
from .problem import Problem

PATH_BYTES = 2**29
"""Most device memory for the scratch space of searches side by side."""
THREADS = 256


def types_of(cost: Any) -> tuple[str, ...]:
    """Return the options that give kernels the types of costs, and of duals beside them."""
    name = {"float32": "float", "float64": "double", "int32": "int", "int64": "int64"}[cost.dtype.name]
    return (f"-DCOST={name}", *(["-DINTEGER"] if cost.dtype.kind == "i" else []))


def none_beside(cost: Any) -> Any:
    """Return +inf, or 2**62 in integers: no bound."""
    return np.int64(INT_LIMIT) if cost.dtype.kind == "i" else np.float64(np.inf)


@dataclass(frozen=True)
class CostGraph:
    """One matching problem in device memory; a batch is one graph whose parts do not touch.

    Attributes
    ----------
    cp : module
        CuPy.
    n_rows, n_cols : int
    indptr, indices : int64 (rows + 1,), int32 (edges,)
        Columns counted over all blocks; both empty when dense.
    cost : float32, float64, int32 or int64 (edges,)
    forbidden : bool of the shape of `cost`, or None
    row_bound, col_bound : int64 or float64 (rows,), (columns,)
        As `Problem.dual_bounds`.
    has_unmatched_cost : bool
    is_bounded : bool
        Some dual has a bound: unassigned members are allowed somewhere.
    width, block_rows : int
        dense: columns and rows of each matrix, all of one shape; else width is 0.
    """

    cp: Any
    n_rows: int
    n_cols: int
    indptr: Any
    indices: Any
    cost: Any
    forbidden: Any
    row_bound: Any
    col_bound: Any
    has_unmatched_cost: bool
    is_bounded: bool
    width: int = 0
    block_rows: int = 1

    @classmethod
    def of(cls, cp: Any, problem: Problem) -> CostGraph:
        """Copy what is not on the device yet of a sparse problem, or of a dense one whose blocks have one shape."""
        n, m = problem.shape
        cuda.require_memory(_bytes(problem), f"the auction of {n} rows, {m} columns and {len(problem.data)} costs")
        row_bound, col_bound = bounds_on_device(cp, problem)
        rows, cols = np.diff(problem.row_offsets), np.diff(problem.col_offsets)
        dense = problem.kind == "dense"
        return cls(
            cp,
            n,
            m,
            cp.empty(0, cp.int64) if dense else cp.asarray(problem.indptr),
            cp.empty(0, cp.int32) if dense else _global_columns(cp, problem),
            cp.asarray(problem.data),
            None if problem.forbidden is None else cp.asarray(problem.forbidden),
            row_bound,
            col_bound,
            problem.has_unmatched_cost,
            problem.has_unmatched_cost or not np.array_equal(rows, cols),
            int(cols[0]) if dense else 0,
            max(int(rows[0]), 1) if dense else 1,
        )

    @property
    def is_dense(self) -> bool:
        """Whether the edges are whole matrices."""
        return self.width > 0

    @property
    def is_integer(self) -> bool:
        """Whether costs and duals are integers."""
        return self.cost.dtype.kind == "i"

    @property
    def none(self) -> Any:
        """+inf, or 2**62 in integers: no bound."""
        return none_beside(self.cost)

    @property
    def dual_dtype(self) -> np.dtype[Any]:
        """int64 or float64."""
        return np.dtype(np.int64 if self.is_integer else np.float64)

    @property
    def lanes(self) -> int:
        """Threads that serve one row."""
        return 32 if self.is_dense or len(self.cost) > 12 * self.n_rows else 8

    @property
    def is_batch_of_matrices(self) -> bool:
        """Whether it comes from several matrices of one shape."""
        return 1 < self.block_rows < self.n_rows

    def kernel(self, file: str, name: str, *, lanes: bool = False, cooperative: bool = False) -> Any:
        """Return a kernel in the form for this graph's types."""
        options = [*types_of(self.cost)]
        options += ["-DDENSE"] if self.is_dense else []
        options += [f"-DLANES={self.lanes}"] if lanes else []
        return cuda.load(file, *options, cooperative=cooperative)[name]

    def edges(self) -> tuple[Any, ...]:
        """Return what every kernel takes after the numbers of rows and columns."""
        forbidden = np.intp(0) if self.forbidden is None else self.forbidden
        return self.indptr, self.indices, self.cost, forbidden, np.int32(self.width), np.int32(self.block_rows)

    def as_floats(self) -> CostGraph:
        """Return the graph with costs and bounds in float64, +inf where there is no bound."""
        if not self.is_integer:
            return self
        cp = self.cp
        bounds = (
            cp.where(bound < self.none, bound.astype(cp.float64), cp.inf) for bound in (self.row_bound, self.col_bound)
        )
        return replace(self, cost=self.cost.astype(cp.float64), row_bound=next(bounds), col_bound=next(bounds))

    def transposed(self) -> CostGraph:
        """Return the graph with rows and columns exchanged."""
        cp, n, m = self.cp, self.n_rows, self.n_cols
        swapped = replace(self, n_rows=m, n_cols=n, row_bound=self.col_bound, col_bound=self.row_bound)
        if self.is_dense:
            shape = (-1, self.block_rows, self.width)
            cost, forbidden = (
                None if a is None else cp.ascontiguousarray(a.reshape(shape).transpose(0, 2, 1)).reshape(-1)
                for a in (self.cost, self.forbidden)
            )
            return replace(swapped, cost=cost, forbidden=forbidden, width=self.block_rows, block_rows=self.width)
        order = cp.argsort(self.indices)  # CuPy sorts stably: rows stay ascending within a column
        indptr = cp.searchsorted(self.indices[order], cp.arange(m + 1, dtype=cp.int32))
        rows = self.row_of_edge()[order].astype(cp.int32)
        return replace(swapped, indptr=indptr, indices=rows, cost=self.cost[order])

    def row_of_edge(self) -> Any:
        """Return the row of each edge of a sparse graph, int64."""
        cp = self.cp
        return cp.searchsorted(self.indptr, cp.arange(len(self.indices), dtype=cp.int64), side="right") - 1


def bounds_on_device(cp: Any, problem: Outline) -> tuple[Any, Any]:
    """Return `Problem.dual_bounds` on the device, where bounds that are one number a block are spread."""
    if problem.has_unmatched_cost:
        row_bound, col_bound = problem.dual_bounds()
        return cp.asarray(row_bound), cp.asarray(col_bound)
    row_bound, col_bound = problem.dual_bounds_of_blocks()
    return spread(cp, row_bound, problem.n_rows_of_block), spread(cp, col_bound, problem.n_cols_of_block)


def _bytes(problem: Problem) -> int:
    """Device memory that a solve takes at its peak, arrays that are there already counted in."""
    n, m = problem.shape
    edges = len(problem.data) * (problem.data.itemsize + (4 if problem.kind == "sparse" else 1))
    candidates = 512 * n + 2560 * m if problem.kind == "dense" else 0
    paths = min(PATH_BYTES, 2**16 * m)
    return edges + candidates + paths + 96 * (n + m) + 2**20


def _global_columns(cp: Any, problem: Problem) -> Any:
    """Return the columns of the edges counted over all blocks."""
    indices = cp.asarray(problem.indices)
    if problem.n_blocks == 1:
        return indices
    indptr = cp.asarray(problem.indptr)
    edges = cp.diff(indptr[cp.asarray(problem.row_offsets)])
    return indices + cp.repeat(cp.asarray(problem.col_offsets[:-1].astype(np.int32)), edges.tolist())


@dataclass
class Spent:
    """What has been spent on a matching so far, of which there may be a limit: as its statistics name it."""

    bids: int = 0
    rounds: int = 0
    rows_scanned: int = 0
    pricing_rounds: int = 0


@dataclass
class DeviceSolution:
    """A matching and column duals in device memory, and what was done for them.

    Attributes
    ----------
    v : int64 or float64 (columns,)
    col_of_row, row_of_col : int32 (rows,), (columns,)
        -1 = unassigned.
    spent : Spent
        What limits are held against.
    counts : dict
        What else was done so far, for the statistics alone.
    waiting : int
        Rows that have no column yet because a budget is spent.
    unchecked_rows : int
        Rows that still had better pairs than the graph's when the rounds of adding pairs were over.
    has_given_up : bool
        A phase lasted longer than it may.
    is_searched : bool
        Searches have changed the duals: each rounds them once more.
    """

    v: Any
    col_of_row: Any
    row_of_col: Any
    spent: Spent = field(default_factory=Spent)
    counts: dict[str, int] = field(default_factory=dict)
    waiting: int = 0
    unchecked_rows: int = 0
    has_given_up: bool = False
    is_searched: bool = False

    @classmethod
    def start(cls, graph: CostGraph, v: Any) -> DeviceSolution:
        """Nothing is matched; column duals `v` (kept, not copied)."""
        cp = graph.cp
        return cls(v, cp.full(graph.n_rows, -1, cp.int32), cp.full(graph.n_cols, -1, cp.int32))

    def unmatch_all(self) -> None:
        """Leave all unassigned and keep the duals."""
        self.col_of_row.fill(-1)
        self.row_of_col.fill(-1)

    def unmatch(self, rows: Any) -> Any:
        """Leave the given matched rows unassigned; return them as int32."""
        rows = rows.astype(np.int32, copy=False)
        arguments = np.int32(len(rows)), rows, self.col_of_row, self.row_of_col
        if len(rows):
            unmatch = cuda.load("problem/unmatch.cu")["auction_unmatch"]
            unmatch((-(-len(rows) // THREADS),), (THREADS,), arguments)
        return rows

    def count(self, **more: int) -> None:
        """Add to the counts."""
        for name, number in more.items():
            self.counts[name] = self.counts.get(name, 0) + number

    def count_on(self, earlier: DeviceSolution) -> None:
        """Add what was done for a matching that this one takes the place of."""
        for name, number in asdict(earlier.spent).items():
            setattr(self.spent, name, getattr(self.spent, name) + number)
        self.count(**earlier.counts)

    def statistics(self) -> dict[str, int]:
        """Return all that was done."""
        return asdict(self.spent) | self.counts


def starting_duals(graph: CostGraph) -> Any:
    """Return column duals at their bounds: columns without a bid stay there if they stay unassigned. 0 if none."""
    if not graph.is_bounded:
        return graph.cp.zeros(graph.n_cols, graph.dual_dtype)
    return graph.cp.where(graph.col_bound < graph.none, graph.col_bound, graph.dual_dtype.type(0))
