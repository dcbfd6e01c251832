"""The matching problem: costs, what may be matched, and what staying alone costs. Validated once, frozen after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numba import njit

from . import cuda, device_problem
from .errors import InvalidProblem

Kind = Literal["dense", "sparse", "points"]
Metric = Literal["distance", "squared"]

# Longest alternating path times largest cost must stay below this for exact int64 arithmetic; also the integer "none".
INT_LIMIT = 2**62
COORDINATE_LIMIT = 1e140


@dataclass(frozen=True, eq=False)
class Problem:
    """One bipartite matching problem, or a batch of independent ones laid side by side.

    The objective is: minimise Σ c_ij over links + u·(lone rows + lone columns). With no `unmatched_cost` every member
    of the shorter side must be matched.

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
        Price of each lone row and lone column; None when everything on the shorter side must be matched.
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

    # ---------------------------------------------------------------- making one

    @classmethod
    def dense(cls, cost: Any, *, unmatched_cost: Any = None, forbidden: Any = None) -> Problem:
        """State a problem by its full cost matrix.

        Parameters
        ----------
        cost : array_like (n, m), or (blocks, n, m) for a batch of equal shapes
            float32, float64, int32 or int64 are kept; smaller types are widened. +inf forbids a pair.
        unmatched_cost : scalar, or pair of (n,) and (m,) array_like, optional
            Price of each lone row and lone column.
        forbidden : bool array_like of the shape of `cost`, optional
            Pairs that must not be matched (the only way for integer costs).

        Raises
        ------
        InvalidProblem
            On NaN, -inf, wrong shapes or types, or integers too large for exact arithmetic.
        """
        if cuda.is_device_array(cost):
            return cls._dense_on_device(cost, unmatched_cost, forbidden)
        cost = _array(cost, "cost")
        if cost.ndim not in (2, 3):
            raise InvalidProblem(f"cost needs 2 axes (rows, columns), or 3 for a batch; got shape {cost.shape}.")
        blocks, n, m = (1, *cost.shape) if cost.ndim == 2 else cost.shape
        if blocks == 0:
            raise InvalidProblem(f"cost needs at least one block; got shape {cost.shape}.")
        data = np.ascontiguousarray(_supported(cost, "cost")).reshape(-1)
        mask = None
        if forbidden is not None:
            mask = _array(forbidden, "forbidden")
            if mask.shape != cost.shape or mask.dtype != np.bool_:
                raise InvalidProblem(
                    f"forbidden needs a boolean array of cost's shape {cost.shape}; got {mask.dtype} {mask.shape}."
                )
            mask = np.ascontiguousarray(mask).reshape(-1)
        if data.dtype.kind == "f":
            _refuse_nan_and_minus_inf(data, m)
        return cls._finish(
            "dense",
            np.arange(blocks + 1, dtype=np.int64) * n,
            np.arange(blocks + 1, dtype=np.int64) * m,
            data,
            unmatched_cost,
            forbidden=mask,
        )

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
        graph : SciPy sparse matrix or array (any format), or tuple (indptr, indices, data)
        unmatched_cost : scalar, or pair of (n,) and (m,) array_like, optional
        shape : (rows, columns)
            Needed with a tuple that states a single problem.
        row_offsets, col_offsets : int array_like (blocks + 1,)
            With a tuple: the rows and columns of each block of a batch; column numbers are then local to their block.

        Raises
        ------
        InvalidProblem
            On duplicate edges, columns out of range, costs that are not finite, or a malformed `indptr`.
        """
        on_device = cuda.is_device_array(graph[2] if isinstance(graph, tuple) and len(graph) == 3 else graph)
        indptr, indices, data, shape = (device_problem.csr_parts if on_device else _csr_parts)(graph, shape)
        rows = len(indptr) - 1
        if row_offsets is None and col_offsets is None:
            if shape is None:
                raise InvalidProblem(
                    "shape=(rows, columns) is needed with (indptr, indices, data); or give row_offsets and col_offsets."
                )
            row_offsets, col_offsets = [0, shape[0]], [0, shape[1]]
        row_offsets = _offsets(row_offsets, "row_offsets", rows)
        col_offsets = _offsets(col_offsets, "col_offsets", None)
        if len(row_offsets) != len(col_offsets):
            raise InvalidProblem(
                f"row_offsets and col_offsets need the same length (blocks + 1); "
                f"got {len(row_offsets)} and {len(col_offsets)}."
            )
        if on_device:
            indptr, indices, data = device_problem.checked_edges(indptr, indices, data, row_offsets, col_offsets)
        else:
            data = np.ascontiguousarray(_supported(data, "data"))
            indptr, indices, data = _checked_edges(indptr, indices, data, row_offsets, col_offsets)
        finish = cls._finish_on_device if on_device else cls._finish
        return finish("sparse", row_offsets, col_offsets, data, unmatched_cost, indptr=indptr, indices=indices)

    @classmethod
    def points(cls, x: Any, y: Any, *, unmatched_cost: Any = None, metric: Metric = "distance") -> Problem:
        """State a problem by two point sets; the Euclidean costs are computed when needed and never stored.

        Parameters
        ----------
        x, y : array_like (n, d), (m, d), with d of 1, 2 or 3
            Positions of rows and columns, in one unit.
        unmatched_cost : scalar, or pair of (n,) and (m,) array_like, optional
            In the unit of the cost.
        metric : {"distance", "squared"}

        Raises
        ------
        InvalidProblem
            On NaN or infinite coordinates or shapes that do not fit.
        """
        if cuda.is_device_array(x) or cuda.is_device_array(y):
            device_problem.on_one_device(x, y)
            x, y = (device_problem.coordinates(a, name, COORDINATE_LIMIT) for a, name in ((x, "x"), (y, "y")))
        else:
            x, y = _coordinates(x, "x"), _coordinates(y, "y")
        if x.shape[1] != y.shape[1]:
            raise InvalidProblem(f"x and y need the same number of axes; got {x.shape[1]} and {y.shape[1]}.")
        if metric not in ("distance", "squared"):
            raise InvalidProblem(f"metric needs 'distance' or 'squared'; got {metric!r}.")
        rows, cols = np.array([0, len(x)], dtype=np.int64), np.array([0, len(y)], dtype=np.int64)
        finish = cls._finish_on_device if cuda.is_device_array(x) else cls._finish
        nothing = device_problem.empty() if cuda.is_device_array(x) else np.empty(0)
        return finish("points", rows, cols, nothing, unmatched_cost, x=x, y=y, metric=metric)

    @classmethod
    def batch(cls, problems: Sequence[Problem]) -> Problem:
        """Lay independent problems side by side, to be solved in one call.

        Parameters
        ----------
        problems : sequence of Problem
            All of one kind (and metric), all with or all without `unmatched_cost`.

        Raises
        ------
        InvalidProblem
            On an empty sequence or problems that differ in kind.
        """
        if not problems:
            raise InvalidProblem("batch needs at least one problem; got none.")
        first = problems[0]
        alike = {(p.kind, p.metric, p.row_unmatched is None) for p in problems}
        if len(alike) > 1:
            raise InvalidProblem(
                "batch needs problems of one kind and metric, all with or all without unmatched_cost; "
                f"got {sorted(alike)}. Solve the kinds apart."
            )

        def joined(name: str) -> np.ndarray | None:
            parts = [getattr(p, name) for p in problems]
            return None if parts[0] is None else np.concatenate(parts)

        def stacked(name: str) -> np.ndarray:
            counts = [np.diff(cuda.to_host(getattr(p, name))) for p in problems]
            return np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64)

        indptr = stacked("indptr") if first.indptr is not None else None
        if first.is_on_device:
            indptr = device_problem.moved(indptr)
        forbidden = None
        if any(p.forbidden is not None for p in problems):
            forbidden = np.concatenate(
                [p.forbidden if p.forbidden is not None else np.zeros_like(p.data, dtype=bool) for p in problems]
            )
        return cls(
            first.kind,
            stacked("row_offsets"),
            stacked("col_offsets"),
            np.concatenate([p.data for p in problems]),
            forbidden,
            indptr,
            joined("indices"),
            joined("x"),
            joined("y"),
            first.metric,
            joined("row_unmatched"),
            joined("col_unmatched"),
        )

    @classmethod
    def of(cls, problem: Any) -> Problem:
        """Return `problem` itself, or the problem that a plain cost matrix or sparse matrix states."""
        if isinstance(problem, Problem):
            return problem
        if hasattr(problem, "tocsr"):
            return cls.sparse(problem)
        return cls.dense(problem)

    @classmethod
    def _finish(
        cls,
        kind: Kind,
        row_offsets: np.ndarray,
        col_offsets: np.ndarray,
        data: np.ndarray,
        unmatched_cost: Any,
        **parts: Any,
    ) -> Problem:
        """Attach the unmatched costs, and bring costs and prices to one arithmetic: integers or floats."""
        sides = _unmatched(unmatched_cost, int(row_offsets[-1]), int(col_offsets[-1]))
        if sides is not None and data.dtype.kind == "i" and sides[0].dtype.kind == "f":
            _refuse_beyond(data, 2**53, "costs beside a fractional unmatched_cost (solved in float64)")
            data = data.astype(np.float64)
        if sides is not None and data.dtype.kind == "f":
            sides = (sides[0].astype(np.float64), sides[1].astype(np.float64))
        _refuse_sums_beyond_range(data, sides, np.diff(row_offsets), np.diff(col_offsets))
        row_u, col_u = sides if sides is not None else (None, None)
        return cls(kind, row_offsets, col_offsets, data, row_unmatched=row_u, col_unmatched=col_u, **parts)

    @classmethod
    def _dense_on_device(cls, cost: Any, unmatched_cost: Any, forbidden: Any) -> Problem:
        (blocks, n, m), data, mask = device_problem.dense_parts(cost, forbidden)
        number = np.arange(blocks + 1, dtype=np.int64)
        return cls._finish_on_device("dense", number * n, number * m, data, unmatched_cost, forbidden=mask)

    @classmethod
    def _finish_on_device(
        cls, kind: Kind, row_offsets: np.ndarray, col_offsets: np.ndarray, data: Any, unmatched_cost: Any, **parts: Any
    ) -> Problem:
        """As `_finish`: the range of the costs and the unmatched costs are checked on the host."""
        if isinstance(unmatched_cost, (tuple, list)):
            unmatched_cost = tuple(cuda.to_host(side) for side in unmatched_cost)
        elif unmatched_cost is not None:
            unmatched_cost = cuda.to_host(unmatched_cost)
        ranges = device_problem.range_of(data)
        checked = cls._finish(kind, row_offsets, col_offsets, ranges, unmatched_cost, **parts)
        data = data.astype(checked.data.dtype, copy=False)
        sides = (device_problem.moved(side) for side in (checked.row_unmatched, checked.col_unmatched))
        return replace(checked, data=data, **dict(zip(("row_unmatched", "col_unmatched"), sides, strict=True)))

    def on_host(self) -> Problem:
        """Return the problem with every array on the host; itself if they are there."""
        if not self.is_on_device:
            return self
        arrays = ("data", "forbidden", "indptr", "indices", "x", "y", "row_unmatched", "col_unmatched")
        held = {name: getattr(self, name) for name in arrays}
        return replace(self, **{name: cuda.to_host(a) for name, a in held.items() if a is not None})

    # ---------------------------------------------------------------- looking at it

    @property
    def is_on_device(self) -> bool:
        """Whether the arrays (not the block offsets) are on a GPU, where only solvers that run there take them."""
        return cuda.is_device_array(self.data)

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
        return self.n_rows, self.n_cols

    @property
    def is_integer(self) -> bool:
        """Whether costs are integers, so that arithmetic is exact and an optimal gap is 0."""
        return self.data.dtype.kind == "i"

    @property
    def has_unmatched_cost(self) -> bool:
        """Whether rows and columns may stay alone at a price."""
        return self.row_unmatched is not None

    @property
    def n_edges(self) -> int:
        """Pairs that may be matched, forbidden dense pairs counted in."""
        return (
            len(self.data)
            if self.kind != "points"
            else int((np.diff(self.row_offsets) * np.diff(self.col_offsets)).sum())
        )

    @property
    def dual_dtype(self) -> np.dtype[Any]:
        """Type in which duals and sums are held: int64 for integer costs, float64 otherwise."""
        return np.dtype(np.int64 if self.is_integer else np.float64)

    def dual_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the upper bounds of row and column duals, (rows,) and (columns,), of `dual_dtype`.

        r ≤ u and v ≤ u where staying alone has a price; without one, the duals of a block's longer side are ≤ 0
        and the others are free: their bound is +inf, or 2**62 in integers.
        """
        if self.row_unmatched is not None and self.col_unmatched is not None:
            return self.row_unmatched, self.col_unmatched
        rows, cols = np.diff(self.row_offsets), np.diff(self.col_offsets)
        free = INT_LIMIT if self.is_integer else np.inf
        row_bound = np.where(rows > cols, 0, free).astype(self.dual_dtype)
        col_bound = np.where(cols > rows, 0, free).astype(self.dual_dtype)
        return np.repeat(row_bound, rows), np.repeat(col_bound, cols)

    def blocks(self) -> Iterator[Problem]:
        """Yield every block as a problem of its own."""
        for b in range(self.n_blocks):
            yield self.block(b)

    def block(self, b: int) -> Problem:
        """Return block `b` as a problem of its own; arrays are views where they can be."""
        if self.n_blocks == 1 and b == 0:
            return self
        r0, r1 = (int(k) for k in self.row_offsets[b : b + 2])
        c0, c1 = (int(k) for k in self.col_offsets[b : b + 2])
        sizes = np.array([0, r1 - r0], np.int64), np.array([0, c1 - c0], np.int64)
        row_u = self.row_unmatched[r0:r1] if self.row_unmatched is not None else None
        col_u = self.col_unmatched[c0:c1] if self.col_unmatched is not None else None
        if self.kind == "points":
            assert self.x is not None
            assert self.y is not None
            return Problem(
                "points", *sizes, self.data, None, None, None, self.x[r0:r1], self.y[c0:c1], self.metric, row_u, col_u
            )
        if self.kind == "sparse":
            assert self.indptr is not None
            assert self.indices is not None
            e0, e1 = int(self.indptr[r0]), int(self.indptr[r1])
            indptr = self.indptr[r0 : r1 + 1] - e0
            return Problem(
                "sparse",
                *sizes,
                self.data[e0:e1],
                None,
                indptr,
                self.indices[e0:e1],
                row_unmatched=row_u,
                col_unmatched=col_u,
            )
        e0 = int(self.dense_offsets[b])
        e1 = e0 + (r1 - r0) * (c1 - c0)
        mask = self.forbidden[e0:e1] if self.forbidden is not None else None
        return Problem("dense", *sizes, self.data[e0:e1], mask, row_unmatched=row_u, col_unmatched=col_u)

    @property
    def dense_offsets(self) -> np.ndarray:
        """dense: where each block begins in `data`, int64 (blocks + 1,)."""
        return np.concatenate([[0], np.cumsum(np.diff(self.row_offsets) * np.diff(self.col_offsets))])

    @property
    def cost_matrix(self) -> np.ndarray:
        """dense, one block: the cost as a matrix (rows, columns), a view."""
        return self.data.reshape(self.shape)


# -------------------------------------------------------------------- checks at the boundary


def _array(values: Any, name: str) -> np.ndarray:
    """Return `values` as an array, or refuse rows of unequal length."""
    try:
        return np.asarray(values)
    except ValueError as error:
        raise InvalidProblem(f"{name} needs an array; NumPy cannot make one: {error}") from None


def _supported(values: Any, name: str) -> np.ndarray:
    """Return `values` as float32, float64, int32 or int64, or refuse the type."""
    values = _array(values, name)
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "f" and size <= 8:
        return values.astype(np.float32) if size == 2 else values.astype(values.dtype.newbyteorder("="), copy=False)
    if kind in "iub":
        if values.dtype == np.uint64:
            if values.size and values.max() >= 2**63:
                raise InvalidProblem(f"{name} needs integers below 2**63; got {values.max()}. Scale the costs.")
            return values.astype(np.int64)
        wide = size == 8 or values.dtype == np.uint32
        return values.astype(np.int64 if wide else np.int32, copy=False)
    raise InvalidProblem(
        f"{name} needs real numbers (float32, float64 or integers); got dtype {values.dtype}. Convert it first."
    )


def _refuse_nan_and_minus_inf(data: np.ndarray, m: int) -> None:
    if not data.size or data.min() > -np.inf:  # a NaN anywhere is the minimum
        return
    bad = np.flatnonzero(~(data > -np.inf))
    if len(bad):
        where = np.unravel_index(int(bad[0]), (len(data) // m, m))
        raise InvalidProblem(
            f"cost needs numbers, with +inf for forbidden pairs; cost[{where[0]}, {where[1]}] is {data[bad[0]]} "
            f"({len(bad)} such)."
        )


def _refuse_beyond(values: np.ndarray, limit: int, what: str) -> None:
    largest = max(-int(values.min()), int(values.max())) if values.size else 0
    if largest > limit:
        raise InvalidProblem(
            f"{what} must stay within ±{limit} for exact arithmetic; got {largest}. Scale the costs down."
        )


def _refuse_sums_beyond_range(
    data: np.ndarray, sides: tuple[np.ndarray, np.ndarray] | None, rows: np.ndarray, cols: np.ndarray
) -> None:
    """Refuse costs whose sums along a path, or over all links and lone members of a block, leave their arithmetic."""
    terms = 2 * np.minimum(rows, cols) + 4 if sides is None else rows + cols + 4
    n_terms = int(terms.max())
    for values in (data, *(sides or ())):
        if values.dtype.kind == "i":
            _refuse_beyond(values, INT_LIMIT // n_terms, f"integer costs that may add up {n_terms} at a time")
            continue
        limit = np.finfo(np.float64).max / (8 * n_terms)
        largest = max(map(abs, finite_range(values)))
        if largest > limit:
            raise InvalidProblem(
                f"real costs that may add up {n_terms} at a time must stay within ±{limit:.3g}; got {largest}. "
                "Scale the costs down; forbid a pair with +inf."
            )


def _coordinates(values: Any, name: str) -> np.ndarray:
    values = np.ascontiguousarray(_supported(values, name), dtype=np.float64)
    if values.ndim != 2 or not 1 <= values.shape[1] <= 3:
        raise InvalidProblem(f"{name} needs shape (points, axes) with 1 to 3 axes; got {values.shape}.")
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(bad):
        raise InvalidProblem(
            f"{name} needs finite coordinates; {name}[{bad[0]}] is {values[bad[0]]} ({len(bad)} such)."
        )
    if values.size and abs(values).max() > COORDINATE_LIMIT:
        raise InvalidProblem(
            f"{name} needs coordinates within ±{COORDINATE_LIMIT:g}, whose squares fit; got {abs(values).max()}."
        )
    return values


def _unmatched(given: Any, n: int, m: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the price of each lone row and of each lone column, both int64 or both float64."""
    if given is None:
        return None
    sides = given if isinstance(given, (tuple, list)) else (given, given)
    if len(sides) != 2:
        raise InvalidProblem(f"unmatched_cost needs a number, or a pair (rows, columns); got {len(sides)} values.")
    full: list[np.ndarray] = []
    for side, size, name in zip(sides, (n, m), ("rows", "columns"), strict=True):
        price = _supported(side, "unmatched_cost")
        if price.shape not in ((), (size,)):
            raise InvalidProblem(f"unmatched_cost of the {name} needs one number or {size}; got shape {price.shape}.")
        if not np.isfinite(price).all():
            raise InvalidProblem(
                "unmatched_cost needs finite numbers; use None when every member of the shorter side must be matched."
            )
        full.append(np.full(size, price, dtype=np.int64 if price.dtype.kind == "i" else np.float64))
    if full[0].dtype != full[1].dtype:
        full = [side.astype(np.float64) for side in full]
    return full[0], full[1]


def _offsets(offsets: Any, name: str, total: int | None) -> np.ndarray:
    offsets = _array(offsets, name)
    ok = (
        offsets.ndim == 1
        and offsets.dtype.kind in "iu"
        and len(offsets) >= 2
        and offsets[0] == 0
        and (offsets[1:] >= offsets[:-1]).all()
    )
    if not ok or (total is not None and offsets[-1] != total):
        ending = "" if total is None else f" and end at the number of rows, {total}"
        raise InvalidProblem(f"{name} needs integers that start at 0, never fall{ending}; got {offsets!r}.")
    return offsets.astype(np.int64)


def _csr_parts(
    graph: Any, shape: tuple[int, int] | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int] | None]:
    if isinstance(graph, tuple):
        if len(graph) != 3:
            raise InvalidProblem(f"graph needs (indptr, indices, data); got a tuple of {len(graph)}.")
        indptr, indices, data = (_array(part, "graph") for part in graph)
    else:
        if not hasattr(graph, "tocsr"):
            raise InvalidProblem(
                f"graph needs a SciPy sparse matrix or (indptr, indices, data); got {type(graph).__name__}."
            )
        if graph.format == "dia":
            raise InvalidProblem("graph in DIA format cannot tell a zero cost from an absent pair; use CSR or COO.")
        if len(graph.shape) != 2:
            raise InvalidProblem(f"graph needs 2 axes (rows, columns); got shape {graph.shape}.")
        if graph.format in ("csr", "csc"):
            csr = graph.tocsr()
            indptr, indices, data = csr.indptr, csr.indices, csr.data
        else:
            indptr, indices, data = _csr_from_coo(graph.tocoo())
        shape = graph.shape
    if indices.shape != data.shape or indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise InvalidProblem(
            "indices (integers) and data need one axis with one entry an edge; "
            f"got {indices.dtype} {indices.shape} and {data.dtype} {data.shape}."
        )
    rising = indptr.ndim == 1 and len(indptr) > 0 and indptr.dtype.kind in "iu" and (indptr[1:] >= indptr[:-1]).all()
    if not rising or indptr[0] != 0 or indptr[-1] != len(indices):
        raise InvalidProblem("indptr needs integers that start at 0, never fall, and end at the number of edges.")
    if shape is not None and shape[0] != len(indptr) - 1:
        raise InvalidProblem(f"shape says {shape[0]} rows, indptr {len(indptr) - 1}.")
    return indptr.astype(np.int64, copy=False), indices, data, shape


def _csr_from_coo(coo: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """CSR arrays of a COO matrix with duplicates kept, so that they can be refused (SciPy would add them up)."""
    order = np.lexsort((coo.col, coo.row))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(coo.row, minlength=coo.shape[0]))])
    return indptr, coo.col[order], coo.data[order]


def _checked_edges(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, row_offsets: np.ndarray, col_offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return canonical CSR arrays: columns in range, ascending, no duplicate, every cost finite."""
    widths = np.repeat(np.diff(col_offsets), np.diff(row_offsets))
    if widths.size and widths.max() >= 2**31:
        raise InvalidProblem(f"a block may have at most 2**31 - 1 columns; got {widths.max()}.")
    out_of_range = indices.size and (int(indices.max()) >= 2**31 or int(indices.min()) < 0)
    indices = np.ascontiguousarray(indices) if out_of_range else np.ascontiguousarray(indices, dtype=np.int32)
    fault, row, edge = _first_fault(indptr, indices, data, widths)
    if fault == _UNSORTED:
        order = np.lexsort((indices, np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))))
        indices, data = indices[order], data[order]
        fault, row, edge = _first_fault(indptr, indices, data, widths)
    if fault == _RANGE:
        raise InvalidProblem(f"row {row} names column {indices[edge]}, but its block has {widths[row]} columns.")
    if fault == _DUPLICATE:
        raise InvalidProblem(f"row {row} names column {indices[edge]} twice; keep one cost for each pair.")
    if fault == _NOT_FINITE:
        raise InvalidProblem(
            f"data needs finite costs; the edge ({row}, {indices[edge]}) has {data[edge]}. Leave forbidden pairs out."
        )
    return indptr, indices, data


_FINE, _UNSORTED, _RANGE, _DUPLICATE, _NOT_FINITE = range(5)


@njit(cache=True, nogil=True)
def _first_fault(indptr, indices, data, widths):  # noqa: ANN001, ANN202
    """Find what is wrong with the edges in one pass; unsorted rows are reported last, as they can be mended."""
    unsorted_row = -1
    for i in range(len(indptr) - 1):
        previous = -1
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if j < 0 or j >= widths[i]:
                return _RANGE, i, e
            if not np.isfinite(data[e]):
                return _NOT_FINITE, i, e
            if j == previous:
                return _DUPLICATE, i, e
            if j < previous:
                unsorted_row = i
            previous = j
    if unsorted_row >= 0:
        return _UNSORTED, unsorted_row, indptr[unsorted_row]
    return _FINE, -1, -1


@njit(cache=True, nogil=True)
def finite_range(values):  # noqa: ANN001, ANN201
    """Return the least and the largest of the finite values, as floats; (0, 0) of none."""
    low, high = np.inf, -np.inf
    for value in values:
        if np.isfinite(value):
            low, high = min(low, value), max(high, value)
    return (low, high) if low <= high else (0.0, 0.0)
