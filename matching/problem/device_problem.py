"""Problems stated by arrays that are on a GPU already: validated there, never copied to the host.

Block offsets and scalars stay on the host; all that has the size of the rows, columns or edges stays on the device.
`Problem.dense`, `.sparse` and `.points` come here when they are given CuPy arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..device import cuda
from ..device.arrays import any_true
from ..errors import InvalidProblem
from . import host_problem
from .host_problem import COORDINATE_LIMIT, check_shape, dense_shape, exact_in_float64, supported

_COUNTED = {"int32": "int", "int64": "int64"}
"""Types of column numbers that the kernel reads."""


def on_one_device(*arrays: Any) -> Any:
    """Return the module CuPy for arrays that must all be on one GPU.

    Raises
    ------
    InvalidProblem
        If some are on the host or on another GPU: nothing is moved behind the caller's back.
    """
    if not all(map(cuda.is_device_array, arrays)) or len({array.device.id for array in arrays}) > 1:
        raise InvalidProblem("arrays of one problem need to be all on the host or all on one GPU; move them first.")
    return cuda.cupy()


def dense_parts(cost: Any, forbidden: Any) -> tuple[tuple[int, int, int], Any, Any, bool]:
    """Return (blocks, rows, columns), the checked costs and the mask, both flat, and whether all pairs are allowed."""
    cp = on_one_device(cost) if forbidden is None else on_one_device(cost, forbidden)
    shape = dense_shape(cost, forbidden)
    data = cp.ascontiguousarray(supported(cost, "cost")).reshape(-1)
    least, largest = _ends(cp, data) if data.dtype.kind == "f" and data.size else (0, 0)
    if not least > -np.inf:  # a NaN anywhere is the least
        bad = np.unravel_index(int(cp.argmax(~(data > -np.inf))), cost.shape)
        raise InvalidProblem(
            f"cost needs numbers, with +inf for forbidden pairs; cost{[int(k) for k in bad]} is {cost[bad]}.",
            argument="cost",
        )
    mask = None if forbidden is None else cp.ascontiguousarray(forbidden).reshape(-1)
    return shape, data, mask, mask is None and bool(largest < np.inf)


def _ends(cp: Any, values: Any) -> np.ndarray:
    """Return the least and the largest value, NaN if any is, on the host and in the same type."""
    return cuda.to_host(cp.stack([values.min(), values.max()]))


def csr_parts(graph: Any, shape: tuple[int, int] | None) -> tuple[Any, Any, Any, tuple[int, int] | None]:
    """Return (indptr, indices, data, shape) of a CuPy sparse matrix or of a tuple of CuPy arrays."""
    if not isinstance(graph, tuple):
        if graph.format not in ("csr", "csc"):
            raise InvalidProblem(
                f"graph on a GPU needs CSR or CSC format; got {graph.format}. Convert it first.", argument="graph"
            )
        csr = graph.tocsr()
        graph, shape = (csr.indptr, csr.indices, csr.data), graph.shape
    indptr, indices, data = graph
    cp = on_one_device(indptr, indices, data)
    integers = indptr.dtype.kind in "iu" and indices.dtype.kind in "iu"
    if not integers or indptr.ndim != 1 or indices.ndim != 1 or indices.shape != data.shape or len(indptr) == 0:
        raise InvalidProblem(
            "graph needs integers as indptr and indices, and one index and one cost for each edge; got indptr "
            f"{indptr.dtype} {indptr.shape}, indices {indices.dtype} {indices.shape}, data {data.shape}.",
            argument="graph",
        )
    indptr = indptr.astype(np.int64, copy=False)
    if int(indptr[0]) or int(indptr[-1]) != len(indices) or any_true(indptr[1:] < indptr[:-1]):
        raise InvalidProblem(
            "indptr needs integers that start at 0, never fall, and end at the number of edges.", argument="indptr"
        )
    check_shape(shape, len(indptr) - 1)
    return indptr, indices, cp.ascontiguousarray(supported(data, "data")), shape


def checked_edges(indptr: Any, indices: Any, data: Any, row_offsets: np.ndarray, col_offsets: np.ndarray) -> Any:
    """Return canonical (indptr, indices, data): columns in range, ascending, no duplicate, every cost finite."""
    cp = cuda.cupy()
    if len(indices) and _has_faults(indptr, indices, data, row_offsets, col_offsets):
        indices, data = _mended(indptr, indices, data, np.repeat(np.diff(col_offsets), np.diff(row_offsets)))
    return indptr, cp.ascontiguousarray(indices.astype(np.int32, copy=False)), data


def _has_faults(indptr: Any, indices: Any, data: Any, row_offsets: np.ndarray, col_offsets: np.ndarray) -> bool:
    """Whether some edge keeps edges from being canonical, asked in one reading of them."""
    cp, n = cuda.cupy(), len(indptr) - 1
    indices = cp.ascontiguousarray(indices if indices.dtype.name in _COUNTED else indices.astype(np.int64))
    cost = {"float32": "float", "float64": "double", "int32": "int", "int64": "int64"}[data.dtype.name]
    options = [f"-DINDEX={_COUNTED[indices.dtype.name]}", f"-DCOST={cost}"]
    options += ["-DINTEGER"] if data.dtype.kind == "i" else []
    kernel = cuda.load("problem/edges.cu", *options)["edges_checked"]
    fault, threads = cp.zeros(1, cp.int32), 256
    sizes = np.int32(n), np.int32(len(row_offsets) - 1)
    blocks = cp.asarray(row_offsets), cp.asarray(np.diff(col_offsets))
    kernel((-(-n * 8 // threads),), (threads,), (*sizes, *blocks, indptr, indices, data, fault))
    return bool(fault.get()[0])


def _mended(indptr: Any, indices: Any, data: Any, widths: np.ndarray) -> tuple[Any, Any]:
    """Return indices and data with the edges of each row ascending, or refuse what cannot be put right."""
    cp = cuda.cupy()
    row = cp.searchsorted(indptr, cp.arange(len(indices), dtype=np.int64), side="right") - 1
    outside = (indices < 0) | (indices >= cp.asarray(widths)[row])
    _refuse_edges(outside, "names a column that its block does not have", row, indices)
    if data.dtype.kind == "f":
        _refuse_edges(~cp.isfinite(data), "has a cost that is not finite; leave forbidden pairs out", row, indices)
    order = cp.lexsort(cp.stack([indices.astype(np.int64), row]))
    indices, data = indices[order], data[order]
    same = (row[1:] == row[:-1]) & (indices[1:] == indices[:-1])
    _refuse_edges(same, "is named twice; keep one cost a pair", row, indices)
    return indices, data


def _refuse_edges(bad: Any, why: str, row: Any, indices: Any) -> None:
    if any_true(bad):
        edge = int(np.flatnonzero(bad)[0])
        raise InvalidProblem(f"the edge ({int(row[edge])}, {int(indices[edge])}) {why}.", argument="graph")


def coordinates(values: Any, name: str) -> Any:
    """Return positions as contiguous float64 (points, axes), all finite and within ±`COORDINATE_LIMIT`."""
    cp = on_one_device(values)
    values = cp.ascontiguousarray(exact_in_float64(supported(values, name), name), dtype=np.float64)
    if values.ndim != 2 or not 1 <= values.shape[1] <= 3:
        raise InvalidProblem(f"{name} needs shape (points, axes) with 1 to 3 axes; got {values.shape}.", argument=name)
    if values.size and not bool(abs(values).max() <= COORDINATE_LIMIT):
        raise InvalidProblem(
            f"{name} needs finite coordinates within ±{COORDINATE_LIMIT:g}, so that their squares can be held.",
            argument=name,
        )
    return values


def empty(beside: Any) -> Any:
    """Return the data of point sets, none, on the GPU where an array of theirs is."""
    with cuda.device_of(beside):
        return cuda.cupy().empty(0)


def moved(array: np.ndarray) -> Any:
    """Copy an array to the current device."""
    return cuda.cupy().asarray(array)


def spread(one_or_all: np.ndarray, size: int) -> Any:
    """As `host_problem.spread`, on the current device."""
    return moved(one_or_all) if one_or_all.ndim else cuda.cupy().full(size, one_or_all.item(), one_or_all.dtype)


def largest_size(values: Any) -> float:
    """Return the largest absolute finite value, as the host's `largest_size` does."""
    return host_problem.largest_size(range_of(values))


STRIPE = 2**26
"""Values that are looked at in one go: what is only finite in part takes copies, and there may be memory for few."""


def range_of(values: Any) -> np.ndarray:
    """Return the least and the largest finite value, on the host and in the same type; empty if there is none."""
    cp, flat = cuda.cupy(), values.reshape(-1)
    if flat.size == 0:
        return np.empty(0, values.dtype)
    whole = _ends(cp, flat)
    if values.dtype.kind != "f" or np.isfinite(whole).all():
        return whole
    none = values.dtype.type(np.inf)
    ends = [cp.full(1, none), cp.full(1, -none)]
    for begin in range(0, flat.size, STRIPE):
        part = flat[begin : begin + STRIPE]
        finite = cp.isfinite(part)
        ends[0] = cp.minimum(ends[0], cp.where(finite, part, none).min())
        ends[1] = cp.maximum(ends[1], cp.where(finite, part, -none).max())
    least, largest = cuda.to_host(cp.concatenate(ends))
    return np.array([least, largest] if least <= largest else [], values.dtype)
