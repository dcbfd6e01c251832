"""How many matched edges a radius allows: the maximum cardinality as a curve over gate radii."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..device import cuda
from ..errors import InvalidProblem
from ..jit.compiled import compiled
from ..problem.host_problem import fetched
from .best import best
from .cheap import cheap
from .graph import BipartiteGraph, IntArray
from .place import chosen_device
from .reading import checked_shape


def cardinality_over_radii(
    rows: ArrayLike,
    columns: ArrayLike,
    distances: ArrayLike,
    shape: tuple[int, int],
    radii: ArrayLike,
    device: str = "auto",
) -> NDArray[np.int64]:
    """The largest number of matched edges among the pairs within each radius.

    Parameters
    ----------
    rows, columns : array_like of int, shape (n_pairs,)
        The candidate pairs, e.g. all pairs within the largest radius. Of a repeated pair the shortest counts.
    distances : array_like of float, shape (n_pairs,)
        Their distances, in the unit of the radii.
    shape : (int, int)
        How many rows and columns there are.
    radii : array_like of float, shape (n_radii,)
        In any order. A pair at exactly the radius is allowed.
    device : str
        ``"cpu"``, ``"cuda"``, ``"cuda:N"``, or ``"auto"``: where the distances are.

    Returns
    -------
    ndarray of int64, shape (n_radii,)
        The maximum cardinality at each radius; it never falls as the radius grows. Each radius starts from the
        matching of the one before, so the whole curve costs little more than its last point.
        A CuPy array if the distances are one.

    Raises
    ------
    InvalidProblem
        Pairs and distances of different length, an index out of range, or values that are not numbers.
    """
    is_there = cuda.is_device_array(distances)
    device = chosen_device(device, is_there=is_there)
    chosen = _as_reals(fetched(radii, "radii"), "radii")
    if device == "cpu":
        on_host = fetched(rows, "rows"), fetched(columns, "columns"), fetched(distances, "distances")
        sizes = _on_cpu(*_checked(np, *on_host, shape, chosen), chosen)
        return cuda.cupy().asarray(sizes) if is_there else sizes
    from .gpu_radii import cardinality_over_radii_gpu  # needs CuPy

    with cuda.using(device) as cp:
        sizes = cardinality_over_radii_gpu(*_checked(cp, rows, columns, distances, shape, chosen), chosen)
        return cp.asarray(sizes) if is_there else sizes


def _on_cpu(
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    distances: NDArray[np.float64],
    shape: tuple[int, int],
    radii: NDArray[np.float64],
) -> NDArray[np.int64]:
    graph, length = _graph_with_distances(rows, columns, distances, shape)
    sizes = np.zeros(len(radii), np.int64)
    col_of_row = np.full(graph.n_rows, -1, np.int32)
    row_of_col = np.full(graph.n_columns, -1, np.int32)
    for position in np.argsort(radii, kind="stable"):
        indptr, indices = _within(graph.indptr, graph.indices, length, float(radii[position]))
        gated = BipartiteGraph.from_any((indptr, indices, graph.shape))
        cheap(gated, col_of_row, row_of_col)
        best(gated, col_of_row, row_of_col)
        sizes[position] = np.count_nonzero(col_of_row >= 0)
    return sizes


def _checked(
    module: Any, rows: Any, columns: Any, distances: Any, shape: tuple[int, int], radii: NDArray[np.float64]
) -> tuple[Any, Any, Any, tuple[int, int]]:
    """The pairs as arrays of `module` (NumPy or CuPy), int64 and float64."""
    distances = _as_reals(module.asarray(distances), "distances")
    rows, columns = module.asarray(rows), module.asarray(columns)
    if not (distances.ndim == 1 and rows.shape == columns.shape == distances.shape):
        raise InvalidProblem(
            "rows, columns and distances need one dimension and one length; got shapes "
            f"{rows.shape}, {columns.shape} and {distances.shape}."
        )
    if radii.ndim != 1:
        raise InvalidProblem(
            f"radii needs one dimension; got {radii.ndim}. Put a single radius into a list.", argument="radii"
        )
    if module.isnan(distances).any() or np.isnan(radii).any():
        raise InvalidProblem("distances and radii need numbers; got NaN. Drop those pairs.")
    shape = checked_shape(shape)
    return _as_indices(rows, shape[0], "rows"), _as_indices(columns, shape[1], "columns"), distances, shape


def _as_reals(values: NDArray[Any], name: str) -> NDArray[np.float64]:
    if values.dtype.kind not in "biuf":
        raise InvalidProblem(f"{name} needs real numbers; got {values.dtype}. Convert them first.", argument=name)
    return values.astype(np.float64, copy=False)


def _as_indices(indices: Any, n: int, name: str) -> Any:
    if indices.size and indices.dtype.kind not in "iu":
        raise InvalidProblem(
            f"{name} needs integers; got {indices.dtype}. Cast them with .astype(int) if meant.", argument=name
        )
    if indices.size and not 0 <= indices.min() <= indices.max() < n:
        raise InvalidProblem(
            f"{name} needs numbers in [0, {n}); got {indices.min()} to {indices.max()}.", argument=name
        )
    return indices.astype(np.int64)


def _graph_with_distances(
    rows: NDArray[Any], columns: NDArray[Any], distances: NDArray[np.float64], shape: tuple[int, int]
) -> tuple[BipartiteGraph, NDArray[np.float64]]:
    """CSR of the pairs and the length of each edge; of a repeated pair the shortest stays."""
    n_rows, n_columns = shape
    by_column = _stable_order(columns, n_columns)
    order = by_column[_stable_order(rows[by_column], n_rows)]
    rows, columns, distances = rows[order], columns[order], distances[order]
    is_first = np.ones(len(rows), np.bool_)
    is_first[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    first = np.flatnonzero(is_first)
    length = np.minimum.reduceat(distances, first) if len(first) else distances
    indptr = np.searchsorted(rows[first], np.arange(n_rows + 1))
    return BipartiteGraph.from_any((indptr, columns[first], shape)), length


@compiled
def _stable_order(keys: IntArray, n: int) -> IntArray:
    """Counting sort: positions in ascending order of their key in [0, n), equal keys in the order given."""
    start = np.zeros(n + 1, np.int64)
    for key in keys:
        start[key + 1] += 1
    for key in range(n):
        start[key + 1] += start[key]
    order = np.empty(len(keys), np.int64)
    for position in range(len(keys)):
        order[start[keys[position]]] = position
        start[keys[position]] += 1
    return order


@compiled
def _within(
    indptr: IntArray, indices: IntArray, length: NDArray[np.float64], radius: float
) -> tuple[IntArray, IntArray]:
    kept_indptr = np.zeros_like(indptr)
    kept = np.empty_like(indices)
    n = 0
    for i in range(len(indptr) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            if length[k] <= radius:
                kept[n] = indices[k]
                n += 1
        kept_indptr[i + 1] = n
    return kept_indptr, kept[:n].copy()
