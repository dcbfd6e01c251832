"""What users may pass as a graph, wherever its arrays lie: its parts, and what they must be."""

from __future__ import annotations

from operator import index
from typing import Any, cast

import numpy as np

from ..device import cuda
from ..errors import InvalidProblem
from ..problem.networkx_graph import as_sparse, is_networkx

_INDEX_MAX = np.iinfo(np.int32).max


def is_on_device(graph: Any) -> bool:
    """Whether a graph lies on a GPU: a `DeviceGraph`, a CuPy sparse matrix, a tuple of CuPy arrays."""
    if isinstance(graph, tuple):
        return any(map(cuda.is_device_array, cast("tuple[object, ...]", graph)))
    return cuda.is_device_array(graph) or cuda.is_device_array(getattr(graph, "indices", None))


def parts_of(graph: Any) -> tuple[Any, Any, Any]:
    """Return the row pointer, the columns and the shape of anything that is a graph, unchecked, where they lie."""
    if isinstance(graph, tuple):
        parts = cast("tuple[Any, ...]", graph)
        if len(parts) != 3:
            raise InvalidProblem(
                f"graph needs (indptr, indices, shape); got a tuple of {len(parts)}.", argument="graph"
            )
        return parts[0], parts[1], parts[2]
    if hasattr(graph, "n_columns"):  # a DeviceGraph
        return graph.indptr, graph.indices, (graph.n_rows, graph.n_columns)
    if isinstance(graph, np.ndarray):
        return _parts_of_mask(cast("Any", graph))
    if is_networkx(graph):
        graph = as_sparse(graph, weighted=False)
    if getattr(graph, "format", None) is None or not hasattr(graph, "tocsr") or len(graph.shape) != 2:
        raise InvalidProblem(
            "graph needs a 2-D SciPy or CuPy sparse matrix, a boolean array, (indptr, indices, shape), a bipartite "
            f"networkx graph or a BipartiteGraph; got {type(graph).__name__}.",
            argument="graph",
        )
    csr = graph if graph.format == "csr" else graph.tocsr()
    if graph.format in {"bsr", "dia"}:
        csr.eliminate_zeros()
    return csr.indptr, csr.indices, csr.shape


def _parts_of_mask(mask: np.ndarray[Any, Any]) -> tuple[Any, Any, Any]:
    if isinstance(mask, np.ma.MaskedArray):
        raise InvalidProblem(
            "graph needs a plain array; got a masked one. Pass .filled(False) of it, if what is masked is no edge.",
            argument="graph",
        )
    if mask.dtype != np.bool_ or mask.ndim != 2:
        raise InvalidProblem(
            f"graph needs a boolean array of 2 dimensions (True = edge); got {mask.dtype} with {mask.ndim} "
            f"dimension{'' if mask.ndim == 1 else 's'}. Compare it with the threshold you mean, or pass a sparse "
            "matrix.",
            argument="graph",
        )
    indptr = np.concatenate([[0], np.cumsum(mask.sum(axis=1))])
    return indptr, np.nonzero(mask)[1], mask.shape


def checked_shape(shape: Any) -> tuple[int, int]:
    """Return (n_rows, n_columns) as integers; `InvalidProblem` if it is not a shape."""
    try:
        n_rows, n_columns = map(index, shape)
    except (TypeError, ValueError) as error:
        raise InvalidProblem(
            f"shape needs two whole numbers (n_rows, n_columns); got {shape!r}.", argument="shape"
        ) from error
    if n_rows < 0 or n_columns < 0 or n_rows + n_columns > _INDEX_MAX:
        raise InvalidProblem(
            f"graph needs sides of 0 or more, together below 2**31 vertices; got shape ({n_rows}, {n_columns}).",
            argument="graph",
        )
    return n_rows, n_columns


def checked_type(values: Any, name: str) -> Any:
    """Return the array with a signed type that holds all its integers; `InvalidProblem` if it has none."""
    if values.ndim != 1:
        raise InvalidProblem(f"graph: {name} needs one dimension; got {values.ndim}.", argument="graph")
    if values.size == 0:
        return values.astype(np.int32)
    if values.dtype.kind not in "iu":
        raise InvalidProblem(
            f"graph: {name} needs integers; got {values.dtype}. Cast it with .astype(int) if meant.", argument="graph"
        )
    if values.dtype == np.uint64:
        if int(values.max()) > np.iinfo(np.int64).max:
            raise InvalidProblem(f"graph: {name} needs integers below 2**63; got {values.max()}.", argument="graph")
        return values.astype(np.int64)
    return values


def checked_csr(indptr: Any, indices: Any, shape: Any) -> tuple[Any, Any, bool]:
    """Return the row pointer and the columns, checked where they lie, and whether columns rise within each row."""
    n_rows, n_columns = checked_shape(shape)
    indptr, indices = checked_type(indptr, "indptr"), checked_type(indices, "indices")
    n_edges = len(indices)
    _check_pointer(indptr, n_rows, n_edges)
    if n_edges == 0:
        return indptr, indices, True
    _check_columns(int(indices.min()), int(indices.max()), n_columns)
    begins = indptr[:-1][indptr[1:] > indptr[:-1]][1:]  # of the rows that have edges, but the first
    falls, falls_between = (indices[1:] <= indices[:-1]).sum(), (indices[begins] <= indices[begins - 1]).sum()
    return indptr, indices, bool(falls == falls_between)


def _check_pointer(indptr: Any, n_rows: int, n_edges: int) -> None:
    """Raise `InvalidProblem` unless these are the offsets of that many rows and edges."""
    if len(indptr) != n_rows + 1:
        raise InvalidProblem(
            f"graph: indptr needs n_rows + 1 = {n_rows + 1} entries; got {len(indptr)}.", argument="graph"
        )
    if indptr[0] != 0 or indptr[-1] != n_edges:
        raise InvalidProblem(
            f"graph: indptr needs to run from 0 to len(indices) = {n_edges}; got {indptr[0]} to {indptr[-1]}.",
            argument="graph",
        )
    decreases = indptr[1:] < indptr[:-1]
    if decreases.any():
        row = int(decreases.argmax())
        raise InvalidProblem(f"graph: indptr needs to rise, but it falls after row {row}.", argument="graph")


def _check_columns(low: int, high: int, n_columns: int) -> None:
    """Raise `InvalidProblem` unless the least and the largest column exist."""
    if low < 0 or high >= n_columns:
        bad = low if low < 0 else high
        raise InvalidProblem(
            f"graph: column indices need to lie in [0, {n_columns}); got {bad}. Drop the edge or widen the shape.",
            argument="graph",
        )


def pointer_type(n_edges: int) -> type[np.signedinteger[Any]]:
    """Return the type of a row pointer: as narrow as that many edges allow."""
    return np.int32 if n_edges <= _INDEX_MAX else np.int64
