"""The matching problem: costs, what may be matched, and what staying unassigned costs. Validated once, frozen after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np

from ..device import cuda
from ..errors import InvalidProblem, refuse_block_beyond
from . import device_problem, host_problem
from .batching import laid_together, taken_apart
from .networkx_graph import as_sparse, is_networkx
from .outline import Kind, Outline

Metric = Literal["distance", "squared"]


@dataclass(frozen=True, eq=False, repr=False)
class Problem(Outline):
    """One bipartite matching problem, or a batch of independent ones laid side by side.

    The objective is: minimise Σ c_ij over matched edges + u·(unassigned rows + unassigned columns). With no
    `unmatched_cost` every member of the shorter side must be matched.

    Make one with `Problem.dense`, `Problem.sparse`, `Problem.points` or `Problem.batch`; all arguments are validated
    there and the arrays are never written to.

    Attributes
    ----------
    kind : {"dense", "sparse", "points"}
    row_offsets, col_offsets : int64 (blocks + 1,)
        Block b owns rows `row_offsets[b]:row_offsets[b+1]` and columns `col_offsets[b]:col_offsets[b+1]`.
    data : ndarray
        dense: every block's cost in C order, one after the other, +inf = forbidden. sparse: cost of each edge.
        points: empty.
    forbidden : bool ndarray or None
        dense: pairs that must not be matched, laid out as `data`.
    indptr : int64 (rows + 1,), indices : int32 (edges,)
        sparse: the edges of each row; column numbers are local to the block, ascending within a row.
    x, y : float64 (rows, d), (columns, d)
        points: positions of rows and columns.
    metric : {"distance", "squared"}
        points: cost of a pair is the Euclidean distance or its square.
    row_unmatched, col_unmatched : ndarray or None
        Cost of each unassigned row and unassigned column; None when everything on the shorter side must be matched.
    allows_all : bool
        Every pair is known to be allowed; False where some may be forbidden.
    """

    kind: Kind
    row_offsets: np.ndarray
    col_offsets: np.ndarray
    data: np.ndarray
    forbidden: np.ndarray | None = None
    indptr: np.ndarray | None = None
    indices: np.ndarray | None = None
    x: np.ndarray | None = None
    y: np.ndarray | None = None
    metric: Metric = "distance"
    row_unmatched: np.ndarray | None = None
    col_unmatched: np.ndarray | None = None
    allows_all: bool = False

    # ---------------------------------------------------------------- making one

    @classmethod
    def dense(cls, cost: Any, *, unmatched_cost: Any = None, forbidden: Any = None) -> Problem:
        """State a problem by its full cost matrix.

        Parameters
        ----------
        cost : array_like (n, m), or (blocks, n, m) for a batch of equal shapes
            float32, float64, int32 or int64 are kept; smaller types are widened. +inf forbids a pair.
        unmatched_cost : scalar, or pair of (n,) and (m,) array_like, optional
            Cost of each unassigned row and unassigned column; a negative one rewards staying unassigned. A pair is
            worth matching where its cost is below the two unmatched costs together.
        forbidden : bool array_like of the shape of `cost`, optional
            Pairs that must not be matched (the only way for integer costs).

        Raises
        ------
        InvalidProblem
            On NaN, -inf, wrong shapes or types, or integers too large for exact arithmetic.
        """
        largest = None
        if cuda.is_device_array(cost):
            (blocks, n, m), data, mask, allows_all = device_problem.dense_parts(cost, forbidden)
        else:
            (blocks, n, m), data, mask, allows_all, largest = host_problem.dense_parts(cost, forbidden)
        rows = host_problem.even_offsets(blocks, n)
        cols = rows if n == m else host_problem.even_offsets(blocks, m)
        mask_parts = {"forbidden": mask, "allows_all": allows_all}
        return cls._finish("dense", rows, cols, data, unmatched_cost, largest=largest, **mask_parts)

    @classmethod
    def sparse(
        cls,
        graph: Any,
        *,
        unmatched_cost: Any = None,
        shape: tuple[int, int] | None = None,
        row_offsets: Any = None,
        col_offsets: Any = None,
    ) -> Problem:
        """State a problem by its edges; an absent pair is forbidden and a stored zero is an edge of cost zero.

        Parameters
        ----------
        graph : SciPy sparse matrix or array (any format but DIA), tuple (indptr, indices, data), or networkx.Graph
            Of networkx, nodes of bipartite=0 are the rows, those of bipartite=1 the columns, each in the graph's order,
            and `weight` is the cost.
        unmatched_cost : scalar, or pair of (n,) and (m,) array_like, optional
            As in `dense`.
        shape : (rows, columns)
            Needed with a tuple that states a single problem.
        row_offsets, col_offsets : int array_like (blocks + 1,)
            With a tuple: the rows and columns of each block of a batch; column numbers are then local to their block.

        Raises
        ------
        InvalidProblem
            On duplicate edges, columns out of range, costs that are not finite, or a malformed `indptr`.
        """
        if is_networkx(graph):
            graph = as_sparse(graph, weighted=True)
        on_device = cuda.is_device_array(graph[2] if isinstance(graph, tuple) and len(graph) == 3 else graph)
        where = device_problem if on_device else host_problem
        indptr, indices, data, shape = where.csr_parts(graph, shape)
        rows = len(indptr) - 1
        if row_offsets is None and col_offsets is None:
            if shape is None:
                raise InvalidProblem(
                    "shape=(rows, columns) is needed with (indptr, indices, data); "
                    "or give row_offsets and col_offsets.",
                    argument="shape",
                )
            row_offsets, col_offsets = [0, shape[0]], [0, shape[1]]
        row_offsets = host_problem.offsets_of(row_offsets, "row_offsets", rows)
        col_offsets = host_problem.offsets_of(col_offsets, "col_offsets", None)
        if len(row_offsets) != len(col_offsets):
            raise InvalidProblem(
                f"row_offsets and col_offsets need the same length (blocks + 1); "
                f"got {len(row_offsets)} and {len(col_offsets)}."
            )
        indptr, indices, data = where.checked_edges(indptr, indices, data, row_offsets, col_offsets)
        return cls._finish("sparse", row_offsets, col_offsets, data, unmatched_cost, indptr=indptr, indices=indices)

    @classmethod
    def points(cls, x: Any, y: Any, *, unmatched_cost: Any = None, metric: Metric = "distance") -> Problem:
        """State a problem by two point sets; the Euclidean costs are computed when needed and never stored.

        Parameters
        ----------
        x, y : array_like (n, d), (m, d), with d of 1, 2 or 3
            Positions of rows and columns, in one unit.
        unmatched_cost : scalar, or pair of (n,) and (m,) array_like, optional
            As in `dense`, in the unit of the cost: a length, or with "squared" a squared length.
        metric : {"distance", "squared"}
            Cost of a pair: the Euclidean distance (the default; tracking takes "squared" by default), or its square.

        Raises
        ------
        InvalidProblem
            On NaN or infinite coordinates, shapes that do not fit, whole coordinates beyond 2**53, or coordinates whose
            squares do not fit (beyond 1e140, or all below 1e-140).
        """
        on_device = cuda.is_device_array(x) or cuda.is_device_array(y)
        if on_device:
            device_problem.on_one_device(x, y)
        where = device_problem if on_device else host_problem
        x, y = where.coordinates(x, "x"), where.coordinates(y, "y")
        if x.shape[1] != y.shape[1]:
            raise InvalidProblem(f"x and y need the same number of axes; got {x.shape[1]} and {y.shape[1]}.")
        host_problem.refuse_vanishing(max((float(abs(part).max()) for part in (x, y) if part.size), default=0.0))
        if metric not in ("distance", "squared"):
            raise InvalidProblem(f"metric needs 'distance' or 'squared'; got {metric!r}.", argument="metric")
        rows, cols = np.array([0, len(x)], dtype=np.int64), np.array([0, len(y)], dtype=np.int64)
        nothing = device_problem.empty(x) if on_device else np.empty(0)
        return cls._finish("points", rows, cols, nothing, unmatched_cost, x=x, y=y, metric=metric, allows_all=True)

    @classmethod
    def batch(cls, problems: Any) -> Problem:
        """Lay independent problems side by side, to be solved in one call.

        Parameters
        ----------
        problems : iterable of Problem or of what `solve` takes, or array_like (blocks, n, m)
            All of one kind (and metric), all with or all without `unmatched_cost`, all on the host or all on one GPU.
            Integer costs beside real ones become float64. A stack of equal shapes is what `dense` takes too, there with
            an `unmatched_cost`. A batch of one is answered as the problem by itself: `numpy.atleast_1d` of the answer's
            `cost` has one number a block whatever their number.

        Raises
        ------
        InvalidProblem
            If there are none, they differ in kind, or integers beside real costs are beyond ±2**53.
        """
        axes = getattr(problems, "ndim", None)
        if axes == 3:
            return cls.dense(problems)
        if axes == 2 or isinstance(problems, Problem):
            raise InvalidProblem(
                "batch needs problems, or a stack of costs (blocks, n, m); got a single problem, of shape "
                f"{tuple(problems.shape)}. [problem] is a batch of one.",
                argument="problems",
            )
        if not isinstance(problems, Iterable):
            raise InvalidProblem(
                f"batch needs problems, or a stack of costs; got {type(problems).__name__}.", argument="problems"
            )
        parts: list[Problem] = []
        for number, part in enumerate(cast("Iterable[Any]", problems)):
            try:
                parts.append(cls.of(part))
            except InvalidProblem as error:
                raise InvalidProblem(f"problems[{number}]: {error}", argument=error.argument) from error
        return laid_together(parts)

    @classmethod
    def of(cls, problem: Any) -> Problem:
        """Return `problem` itself, or the one that a plain cost matrix, sparse matrix or networkx graph states."""
        if isinstance(problem, Problem):
            return problem
        if isinstance(problem, np.ndarray) or not (hasattr(problem, "tocsr") or is_networkx(problem)):
            return cls.dense(problem)
        return cls.sparse(problem)

    @classmethod
    def of_values(cls, values: Any) -> Problem:
        """Return the problem whose cheapest matching has the greatest sum of `values`, less the unmatched cost.

        Parameters
        ----------
        values : Problem, array or sparse matrix
            As `of` takes them, but in a plain array -inf forbids a pair.

        Raises
        ------
        InvalidProblem
            As `dense` and `sparse`; also for point sets, whose costs are not stored.
        """
        if not isinstance(values, Problem) and not hasattr(values, "tocsr") and not is_networkx(values):
            values = values if cuda.is_device_array(values) else host_problem.array(values, "cost")
            try:
                return cls.dense(_negated(host_problem.supported(values, "cost")))
            except InvalidProblem:
                _refuse_no_gain(values)
                raise
        stated = cls.of(values)
        if stated.kind == "points":
            raise InvalidProblem(
                "maximize needs dense or sparse costs; those of point sets can only be minimised.", argument="maximize"
            )
        data = _negated(stated.data)
        if not stated.is_integer:
            data[data == -np.inf] = np.inf  # what is forbidden stays so
        return replace(stated, data=data)

    @classmethod
    def _finish(
        cls,
        kind: Kind,
        row_offsets: np.ndarray,
        col_offsets: np.ndarray,
        data: Any,
        unmatched_cost: Any,
        *,
        largest: float | None = None,
        **parts: Any,
    ) -> Problem:
        """Attach the unmatched costs, and bring all costs to one arithmetic: integers or floats.

        `largest` is `host_problem.largest_size` of the data, where it is known.
        """
        row_u = col_u = sides = None
        if largest is None or unmatched_cost is not None:
            sizes = int(row_offsets[-1]), int(col_offsets[-1])
            with cuda.device_of(data):
                where = device_problem if cuda.is_device_array(data) else host_problem
                largest = where.largest_size(data) if largest is None else largest
                dtype, sides = host_problem.one_arithmetic(data.dtype, largest, unmatched_cost, *sizes)
                row_u, col_u = map(where.spread, sides, sizes) if sides is not None else (None, None)
                data = data.astype(dtype, copy=False)
        stated = cls(kind, row_offsets, col_offsets, data, row_unmatched=row_u, col_unmatched=col_u, **parts)
        host_problem.refuse_sums_beyond_range(largest, sides, row_offsets, col_offsets, integer=stated.is_integer)
        return stated

    def on_host(self) -> Problem:
        """Return the problem with every array on the host; itself if they are there."""
        if not self.is_on_device:
            return self
        arrays = ("data", "forbidden", "indptr", "indices", "x", "y", "row_unmatched", "col_unmatched")
        held = {name: getattr(self, name) for name in arrays}
        return replace(self, **{name: cuda.to_host(a) for name, a in held.items() if a is not None})

    # ---------------------------------------------------------------- looking at it

    def __repr__(self) -> str:
        """Say what it is: showing its arrays would copy those of a GPU to the host."""
        blocks = f" in {self.n_blocks} blocks" if self.n_blocks > 1 else ""
        of = f", {self.n_edges} pairs" if self.kind == "sparse" else ""
        unmatched = ", unmatched_cost" if self.has_unmatched_cost else ""
        where = ", on a GPU" if self.is_on_device else ""
        return f"<Problem {self.kind} {self.n_rows} x {self.n_cols}{blocks}{of}, {self.data.dtype}{unmatched}{where}>"

    @property
    def cost_dtype(self) -> np.dtype[Any]:
        """Type of the costs, as `data`."""
        return self.data.dtype

    @property
    def is_on_device(self) -> bool:
        """Whether the arrays (not the block offsets) are on a GPU, where only solvers that run there take them."""
        return cuda.is_device_array(self.data)

    @property
    def n_edges(self) -> int:
        """Pairs that may be matched, forbidden dense pairs counted in."""
        return len(self.data) if self.kind != "points" else self.n_pairs

    @property
    def n_pairs(self) -> int:
        """Pairs of a row and a column of one block."""
        return int((self.n_rows_of_block * self.n_cols_of_block).sum())

    def blocks(self) -> Iterator[Problem]:
        """Yield every block as a problem of its own."""
        for b in range(self.n_blocks):
            yield self.block(b)

    def block(self, b: int) -> Problem:
        """Return block `b` as a problem of its own; arrays are views where they can be.

        Raises
        ------
        InvalidProblem
            If there is no such block; they are counted from 0.
        """
        refuse_block_beyond(b, self.n_blocks)
        if self.n_blocks == 1 and b == 0:
            return self
        return taken_apart(self, b, b + 1)

    @cached_property
    def dense_offsets(self) -> np.ndarray:
        """dense: where each block begins in `data`, int64 (blocks + 1,)."""
        if self.n_blocks == 1:
            return np.array([0, self.n_rows * self.n_cols])
        return np.concatenate([[0], np.cumsum(self.n_rows_of_block * self.n_cols_of_block)])

    @property
    def cost_matrix(self) -> np.ndarray:
        """dense, one block: the cost as a matrix (rows, columns), a view."""
        return self.data.reshape(self.shape)


def _refuse_no_gain(values: Any) -> None:
    """Refuse what cannot be maximised by the sign that it has: +inf and NaN; costs below 0 may be forbidden by -inf."""
    if values.dtype.kind == "f" and len(bad := (~(values < np.inf)).nonzero()[0]):
        where = tuple(int(each[0]) for each in (~(values < np.inf)).nonzero())
        raise InvalidProblem(
            f"cost needs numbers, with -inf for forbidden pairs where the sum is maximized; cost{list(where)} is "
            f"{values[where]} ({len(bad)} such).",
            argument="cost",
        )


def _negated(costs: Any) -> Any:
    """Return costs of the opposite sign; those of integers in int64, as int32 has no opposite of its lowest."""
    return -(costs.astype(np.int64) if costs.dtype.kind == "i" else costs)
