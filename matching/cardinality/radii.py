"""How many matched edges a radius allows: the maximum cardinality as a curve over gate radii."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..device import cuda
from ..errors import InvalidProblem
from ..problem.host_problem import fetched
from . import gpu_initial
from .best import best
from .cheap import cheap
from .gpu_best import best_gpu
from .gpu_graph import DeviceGraph
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
        sizes = curve(np, *_checked(np, *on_host, shape, chosen), chosen, _match_more)
        return cuda.cupy().asarray(sizes) if is_there else sizes
    with cuda.using(device) as cp:
        sizes = curve(cp, *_checked(cp, rows, columns, distances, shape, chosen), chosen, match_more_on_gpu)
        return cp.asarray(sizes) if is_there else sizes


Match = Callable[[tuple[Any, Any, tuple[int, int]], Any], Any]
"""Takes (indptr, indices, shape), and the column of each row in a smaller graph or None; returns that in this one."""


def curve(
    module: Any,
    rows: Any,
    columns: Any,
    distances: Any,
    shape: tuple[int, int],
    radii: NDArray[np.float64],
    match: Match,
) -> NDArray[np.int64]:
    """As `cardinality_over_radii`, of checked arrays of `module`, NumPy or CuPy."""
    place = rows * shape[1] + columns
    if (place[1:] < place[:-1]).any():
        order = module.argsort(place)
        rows, columns, distances = rows[order], columns[order], distances[order]
    indptr, columns = module.searchsorted(rows, module.arange(shape[0] + 1)), columns.astype(np.int32)
    sizes = np.zeros(len(radii), np.int64)
    col_of_row = None
    for position in np.argsort(radii, kind="stable"):
        within = module.flatnonzero(distances <= float(radii[position]))
        col_of_row = match((module.searchsorted(within, indptr), columns[within], shape), col_of_row)
        sizes[position] = int(module.count_nonzero(col_of_row >= 0))
    return sizes


def _match_more(within: tuple[Any, Any, tuple[int, int]], col_of_row: IntArray | None) -> IntArray:
    """Match as many rows as possible on the CPU, from the matching of a smaller graph."""
    graph = BipartiteGraph.from_any(within)
    row_of_col = np.full(graph.n_columns, -1, np.int32)
    if col_of_row is None:
        col_of_row = np.full(graph.n_rows, -1, np.int32)
    matched = np.flatnonzero(col_of_row >= 0)
    row_of_col[col_of_row[matched]] = matched
    cheap(graph, col_of_row, row_of_col)
    best(graph, col_of_row, row_of_col)
    return col_of_row


def match_more_on_gpu(within: tuple[Any, Any, tuple[int, int]], col_of_row: Any) -> Any:
    """Match as many rows as possible on the current device; as `Match` says."""
    graph = DeviceGraph.from_any(within)
    matching = gpu_initial.cheap(graph) if col_of_row is None else gpu_initial.given(graph, col_of_row)
    if graph.n_edges:
        best_gpu(graph, matching)
    return matching.col_of_row


def _checked(
    module: Any, rows: Any, columns: Any, distances: Any, shape: tuple[int, int], radii: NDArray[np.float64]
) -> tuple[Any, Any, Any, tuple[int, int]]:
    """The pairs as arrays of `module` (NumPy or CuPy), int64 and float64."""
    distances = _as_reals(module.asarray(distances), "distances")
    rows, columns = module.asarray(rows), module.asarray(columns)
    if not (distances.ndim == 1 and rows.shape == columns.shape == distances.shape):
        raise InvalidProblem(
            "rows, columns and distances need one dimension and the same length; got shapes "
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
