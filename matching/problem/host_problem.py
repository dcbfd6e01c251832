"""Problems stated by arrays on the host: validated there. `device_problem` does the same for arrays on a GPU.

`Problem.dense`, `.sparse` and `.points` come here; the rules on types and shapes hold for both.
"""

from __future__ import annotations

import sys
from operator import index
from typing import Any

import numpy as np

from ..device import cuda
from ..errors import InvalidProblem
from ..jit.compiled import SMALL, compiled
from ..jit.row_scan import least_and_largest
from .csr import rows_of

# Limits of what numbers can hold, not tolerances: nothing is judged nearly equal by them.
INT_LIMIT = 2**62
"""Longest alternating path times largest cost stay below it, for exact int64 arithmetic; also the integer "none"."""
COORDINATE_LIMIT = 1e140
"""Beyond it, and where all are below its inverse, a float cannot hold squares of coordinates with all their digits."""
LARGEST_FLOAT = sys.float_info.max


def array(values: Any, name: str) -> np.ndarray:
    """Return `values` as an array, or refuse uneven rows, sparse matrices, and masks, which would be lost."""
    if hasattr(values, "tocsr"):
        raise InvalidProblem(
            f"{name} needs a full array; got a sparse matrix. State it with Problem.sparse.", argument=name
        )
    if isinstance(values, np.ma.MaskedArray):
        raise InvalidProblem(
            f"{name} needs a plain array; got a masked one. Pass its `data`, and pairs that must not be matched as "
            "forbidden=…",
            argument=name,
        )
    try:
        return np.asarray(values)
    except ValueError as error:
        raise InvalidProblem(f"{name} needs an array; NumPy cannot make one: {error}", argument=name) from None


def fetched(values: Any, name: str) -> np.ndarray:
    """Return `values` as `array` does, those of a GPU copied to the host."""
    return cuda.to_host(values) if cuda.is_device_array(values) else array(values, name)


def supported(values: Any, name: str) -> Any:
    """Return an array of the host or of a GPU as float32, float64, int32 or int64, or refuse the type."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "f" and size <= 8:
        return values.astype(np.float32) if size == 2 else values.astype(values.dtype.newbyteorder("="), copy=False)
    if kind in "iub":
        if values.dtype == np.uint64 and values.size and int(values.max()) >= 2**63:
            raise InvalidProblem(
                f"{name} needs integers below 2**63; got {int(values.max())}. Scale the costs.", argument=name
            )
        wide = size == 8 or values.dtype == np.uint32
        return values.astype(np.int64 if wide else np.int32, copy=False)
    raise InvalidProblem(
        f"{name} needs real numbers (float32, float64 or integers); got dtype {values.dtype}. Convert it first.",
        argument=name,
    )


def dense_shape(cost: Any, forbidden: Any) -> tuple[int, int, int]:
    """Return (blocks, rows, columns) of costs and mask, of the host or of a GPU, or refuse their shapes."""
    if cost.ndim not in (2, 3):
        raise InvalidProblem(
            f"cost needs 2 axes (rows, columns), or 3 for a batch; got shape {cost.shape}.", argument="cost"
        )
    if cost.ndim == 3 and cost.shape[0] == 0:
        raise InvalidProblem(f"cost needs at least one block; got shape {cost.shape}.", argument="cost")
    if forbidden is not None and (forbidden.shape != cost.shape or forbidden.dtype != np.bool_):
        raise InvalidProblem(
            f"forbidden needs a boolean array of cost's shape {cost.shape}; got {forbidden.dtype} {forbidden.shape}.",
            argument="forbidden",
        )
    return (1, *cost.shape) if cost.ndim == 2 else cost.shape


def dense_parts(cost: Any, forbidden: Any) -> tuple[tuple[int, int, int], np.ndarray, np.ndarray | None, bool, float]:
    """Return (blocks, rows, columns), the checked costs and the mask, both flat, and two facts about them.

    These are whether all pairs are allowed, and the costs' `largest_size`.
    """
    cost = array(cost, "cost")
    mask = None if forbidden is None else array(forbidden, "forbidden")
    shape = dense_shape(cost, mask)
    data = np.ascontiguousarray(supported(cost, "cost")).reshape(-1)
    low, high = _ends(data)
    if not (low > -np.inf and high > -np.inf):
        raise _not_a_number(data, cost.shape)
    largest = max(-low, high) if high < np.inf else largest_size(data)
    flat_mask = None if mask is None else np.ascontiguousarray(mask).reshape(-1)
    return shape, data, flat_mask, mask is None and high < np.inf, largest


def _not_a_number(data: np.ndarray, shape: tuple[int, ...]) -> InvalidProblem:
    bad = np.flatnonzero(~(data > -np.inf))
    where = [int(k) for k in np.unravel_index(int(bad[0]), shape)]
    return InvalidProblem(
        f"cost needs numbers, with +inf for forbidden pairs; cost{where} is {data[bad[0]]} ({len(bad)} such).",
        argument="cost",
    )


def refuse_beyond(largest: float, limit: float, what: str) -> None:
    """Refuse integers beyond ±`limit`; `what` says which they are."""
    if largest > limit:
        raise InvalidProblem(
            f"{what} must stay within ±{limit} for exact arithmetic; got {largest}. Scale the costs down.",
            argument="cost",
        )


def refuse_sums_beyond_range(
    largest: float,
    sides: tuple[np.ndarray, np.ndarray] | None,
    row_offsets: np.ndarray,
    col_offsets: np.ndarray,
    *,
    integer: bool,
) -> None:
    """Refuse costs whose sums along a path, or over all matched edges and unassigned members of a block, leave their
    arithmetic.

    `largest` is the costs' `largest_size`.
    """
    rows, cols = row_offsets[-1], col_offsets[-1]
    if len(row_offsets) == 2:  # a tenth of the time that arrays of one block take
        n_terms = 4 + int(2 * min(rows, cols) if sides is None else rows + cols)
    else:
        rows, cols = np.diff(row_offsets), np.diff(col_offsets)
        n_terms = 4 + int((2 * np.minimum(rows, cols) if sides is None else rows + cols).max())
    if sides is not None:
        largest = max(largest, *map(largest_size, map(np.atleast_1d, sides)))
    if integer:
        refuse_beyond(largest, INT_LIMIT // n_terms, f"integer costs that may add up {n_terms} at a time")
        return
    limit = LARGEST_FLOAT / (8 * n_terms)
    if largest > limit:
        raise InvalidProblem(
            f"real costs that may add up {n_terms} at a time must stay within ±{limit:.3g}; got {largest}. "
            "Scale the costs down; forbid a pair with +inf.",
            argument="cost",
        )


def coordinates(values: Any, name: str) -> np.ndarray:
    """Return positions as contiguous float64 (points, axes), all finite and within ±`COORDINATE_LIMIT`."""
    values = np.ascontiguousarray(exact_in_float64(supported(array(values, name), name), name), dtype=np.float64)
    if values.ndim != 2 or not 1 <= values.shape[1] <= 3:
        raise InvalidProblem(f"{name} needs shape (points, axes) with 1 to 3 axes; got {values.shape}.", argument=name)
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(bad):
        raise InvalidProblem(
            f"{name} needs finite coordinates; {name}[{bad[0]}] is {values[bad[0]]} ({len(bad)} such).", argument=name
        )
    if values.size and abs(values).max() > COORDINATE_LIMIT:
        raise InvalidProblem(
            f"{name} needs coordinates within ±{COORDINATE_LIMIT:g}, so that their squares can be held; got "
            f"{abs(values).max()}.",
            argument=name,
        )
    return values


def exact_in_float64(values: Any, name: str) -> Any:
    """Return positions, of the host or of a GPU; whole ones that float64 would round are refused."""
    if values.dtype == np.int64 and values.size and max(int(values.max()), -int(values.min())) > 2**53:
        raise InvalidProblem(
            f"{name} needs whole coordinates within ±2**53, as distances are computed in float64; subtract an origin.",
            argument=name,
        )
    return values


def refuse_vanishing(largest: float) -> None:
    """Refuse point sets of which the largest coordinate is so small that squares of distances vanish."""
    if 0 < largest < 1 / COORDINATE_LIMIT:
        raise InvalidProblem(
            f"x and y need a coordinate of at least {1 / COORDINATE_LIMIT:g}, so that its square can be held; "
            f"the largest is {largest}. Choose a smaller unit."
        )


def unmatched(given: Any, n: int, m: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the unmatched cost of each row and of each column, or one for all: both int64 or float64."""
    if given is None:
        return None
    sides = given if isinstance(given, (tuple, list)) else (given, given)
    if len(sides) != 2:
        raise InvalidProblem(
            f"unmatched_cost needs a number, or a pair (rows, columns); got {len(sides)} values.",
            argument="unmatched_cost",
        )
    checked: list[np.ndarray] = []
    for side, size, name in zip(sides, (n, m), ("rows", "columns"), strict=True):
        unmatched_cost = supported(fetched(side, "unmatched_cost"), "unmatched_cost")
        if unmatched_cost.shape not in ((), (size,)):
            raise InvalidProblem(
                f"unmatched_cost of the {name} needs one number or {size}; got shape {unmatched_cost.shape}.",
                argument="unmatched_cost",
            )
        if not np.isfinite(unmatched_cost).all():
            raise InvalidProblem(
                "unmatched_cost needs finite numbers; use None when every member of the shorter side must be matched.",
                argument="unmatched_cost",
            )
        checked.append(unmatched_cost.astype(np.int64 if unmatched_cost.dtype.kind == "i" else np.float64))
    if checked[0].dtype != checked[1].dtype:
        checked = [side.astype(np.float64) for side in checked]
    return checked[0], checked[1]


def one_arithmetic(
    dtype: np.dtype[Any], largest: float, unmatched_cost: Any, n: int, m: int
) -> tuple[np.dtype[Any], tuple[np.ndarray, np.ndarray] | None]:
    """Return the type of costs and of those in `unmatched`, all integers or all floats, and the latter.

    `largest` is the costs' `largest_size`: integers that a float cannot hold are refused beside fractional unmatched
    costs.
    """
    sides = unmatched(unmatched_cost, n, m)
    if sides is None:
        return dtype, None
    if dtype.kind == "i" and sides[0].dtype.kind == "f":
        refuse_beyond(largest, 2**53, "costs beside a fractional unmatched_cost (solved in float64)")
        dtype = np.dtype(np.float64)
    if dtype.kind == "f":
        sides = sides[0].astype(np.float64), sides[1].astype(np.float64)
    return dtype, sides


def spread(unmatched_cost: np.ndarray, size: int) -> np.ndarray:
    """Return one unmatched cost for each member of a side, of one for all or of as many."""
    return unmatched_cost if unmatched_cost.ndim else np.full(size, unmatched_cost)


def even_offsets(blocks: int, size: int) -> np.ndarray:
    """Return the offsets of blocks of one size, int64 (blocks + 1,)."""
    return np.arange(0, blocks * size + 1, size) if size else np.zeros(blocks + 1, np.int64)


def offsets_of(offsets: Any, name: str, total: int | None) -> np.ndarray:
    """Return block offsets as int64: from 0, never falling, up to `total` where that is known."""
    offsets = array(offsets, name)
    ok = (
        offsets.ndim == 1
        and offsets.dtype.kind in "iu"
        and len(offsets) >= 2
        and offsets[0] == 0
        and (offsets[1:] >= offsets[:-1]).all()
    )
    if not ok or (total is not None and offsets[-1] != total):
        ending = "" if total is None else f" and end at the number of rows, {total}"
        raise InvalidProblem(
            f"{name} needs integers that start at 0, never fall{ending}; got {offsets!r}.", argument=name
        )
    return offsets.astype(np.int64)


def csr_parts(
    graph: Any, shape: tuple[int, int] | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int] | None]:
    """Return (indptr, indices, data, shape) of a SciPy sparse matrix or of a tuple of arrays."""
    if isinstance(graph, tuple):
        if len(graph) != 3:
            raise InvalidProblem(f"graph needs (indptr, indices, data); got a tuple of {len(graph)}.", argument="graph")
        indptr, indices, data = (array(part, "graph") for part in graph)
    else:
        if not hasattr(graph, "tocsr"):
            raise InvalidProblem(
                f"graph needs a SciPy sparse matrix or (indptr, indices, data); got {type(graph).__name__}.",
                argument="graph",
            )
        if graph.format == "dia" or (graph.format == "bsr" and not graph.data.all()):
            raise InvalidProblem(
                f"graph in {graph.format.upper()} format cannot tell a zero cost from an absent pair; use CSR or COO.",
                argument="graph",
            )
        if len(graph.shape) != 2:
            raise InvalidProblem(f"graph needs 2 axes (rows, columns); got shape {graph.shape}.", argument="graph")
        if graph.format in ("csr", "csc"):
            csr = graph.tocsr()
            indptr, indices, data = csr.indptr, csr.indices, csr.data
        else:
            indptr, indices, data = _csr_from_coo(graph.tocoo())
        shape = graph.shape
    if not indices.size:
        indices = indices.astype(np.int32)  # NumPy takes an empty list for floats
    if indices.shape != data.shape or indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise InvalidProblem(
            "graph needs one index (an integer) and one cost for each edge; "
            f"got indices {indices.dtype} {indices.shape} and data {data.dtype} {data.shape}.",
            argument="graph",
        )
    rising = indptr.ndim == 1 and len(indptr) > 0 and indptr.dtype.kind in "iu" and (indptr[1:] >= indptr[:-1]).all()
    if not rising or indptr[0] != 0 or indptr[-1] != len(indices):
        raise InvalidProblem(
            "indptr needs integers that start at 0, never fall, and end at the number of edges.", argument="indptr"
        )
    check_shape(shape, len(indptr) - 1)
    return indptr.astype(np.int64, copy=False), indices, np.ascontiguousarray(supported(data, "data")), shape


def check_shape(shape: Any, rows: int) -> None:
    """Refuse what is not (rows, columns) of a graph of that many rows; None says nothing."""
    if shape is None:
        return
    try:
        said, columns = map(index, shape)
    except (TypeError, ValueError):
        said, columns = -1, -1
    if columns < 0:
        raise InvalidProblem(f"shape needs two whole numbers (rows, columns); got {shape!r}.", argument="shape")
    if said != rows:
        raise InvalidProblem(f"shape needs the {rows} rows of indptr; got {said}.", argument="shape")


def _csr_from_coo(coo: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """CSR arrays of a COO matrix with duplicates kept, so that they can be refused (SciPy would add them up)."""
    order = np.lexsort((coo.col, coo.row))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(coo.row, minlength=coo.shape[0]))])
    return indptr, coo.col[order], coo.data[order]


def checked_edges(
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
        order = np.lexsort((indices, rows_of(indptr)))
        indices, data = indices[order], data[order]
        fault, row, edge = _first_fault(indptr, indices, data, widths)
    if fault == _RANGE:
        raise InvalidProblem(
            f"row {row} names column {indices[edge]}, but its block has {widths[row]} columns.", argument="indices"
        )
    if fault == _DUPLICATE:
        raise InvalidProblem(
            f"row {row} names column {indices[edge]} twice; keep one cost for each pair.", argument="indices"
        )
    if fault == _NOT_FINITE:
        raise InvalidProblem(
            f"data needs finite costs; the edge ({row}, {indices[edge]}) has {data[edge]}. Leave forbidden pairs out.",
            argument="data",
        )
    return indptr, indices, data


_FINE, _UNSORTED, _RANGE, _DUPLICATE, _NOT_FINITE = range(5)


@compiled(plain=SMALL)
def _first_fault(indptr, indices, data, widths):  # noqa: ANN001, ANN202
    """Find what is wrong with the edges in one pass; unsorted rows are reported last, as they can be sorted."""
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


def largest_size(values: np.ndarray) -> float:
    """Return the largest absolute finite value, exact; 0 of none."""
    return max(map(abs, finite_range(values)))


def finite_range(values: np.ndarray) -> tuple[float, float]:
    """Return the least and the largest of the finite values, exact; (0, 0) of none."""
    low, high = _ends(values)
    if -np.inf < low and high < np.inf:
        return low, high
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)


def _ends(values: np.ndarray) -> tuple[float, float]:
    """Return the least and the largest value in one pass, (0, 0) of none; one of them is NaN where any value is."""
    return least_and_largest(values, 0 if values.dtype.kind == "i" else 0.0) if values.size else (0, 0)
