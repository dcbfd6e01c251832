"""A uniform grid over points, and the pairs of two point sets that lie within a radius."""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from ..jit.compiled import BORROWING, SMALL, compiled
from ..jit.threads import side_by_side
from ..tolerance import CELL_MARGIN

ROWS_PER_TASK = 50_000
LONG_ROW = 8
"""Mean pairs of a row above which SciPy sorts sooner: 25 and 10 in three quarters of the time, 4 in 1.0 to 1.7."""
DENSE = 64.0
"""Mean number of points sharing a point's cell above which a KD-tree replaces the grid (clusters, far outliers)."""
_ROWS_ASKED = 16
SPARE_CELLS = 64
"""Cells that a grid may have beyond two a point."""
AT_ONCE = 8
"""Points of a line of cells that are numbered without asking how many there are; few lines have more."""
SMALLEST = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Grid:
    """Points sorted by the cell they lie in; x runs fastest, so neighbours along x are neighbours in memory.

    Attributes
    ----------
    origin : float64 (3,)
        Lower corner; axes z, y, x, missing ones are 0.
    cell : float
        Edge length of a cell.
    dims : int64 (3,)
        Cells along each axis.
    starts : int32 (cells + 1,)
        Cell c owns the sorted points `starts[c]:starts[c+1]`.
    order : int32 (points,)
        Index of each sorted point in the caller's order, ascending within a cell.
    points : float64 (points, 3)
        The points, sorted.
    density : float
        Mean number of points in a point's own cell.
    """

    origin: np.ndarray
    cell: float
    dims: np.ndarray
    starts: np.ndarray
    order: np.ndarray
    points: np.ndarray
    density: float


@dataclass(frozen=True)
class Grids:
    """Point sets one after the other, each in a grid of its own; attributes are those of `Grid`, by set.

    Attributes
    ----------
    first : int64 (sets + 1,)
        Set s owns the points `first[s]:first[s+1]`, as given and as sorted.
    origin, cell, dims, density : float64 (sets, 3), float64 (sets,), int64 (sets, 3), float64 (sets,)
    cells : int64 (sets,)
        Place of each set's first cell in `starts`, which like `order` count the set's own points.
    starts, order, points
    """

    first: np.ndarray
    origin: np.ndarray
    cell: np.ndarray
    dims: np.ndarray
    density: np.ndarray
    cells: np.ndarray
    starts: np.ndarray
    order: np.ndarray
    points: np.ndarray

    def after(self, k: int) -> Grids:
        """Return all sets but the first k; points keep their places."""
        by_set = {name: getattr(self, name)[k:] for name in ("first", "origin", "cell", "dims", "density", "cells")}
        return replace(self, **by_set)


def build_grid(points: np.ndarray, cell: float) -> Grid:
    """Sort points into cells of at least `cell`, larger where a cell would hold less than one point on average.

    Parameters
    ----------
    points : float64 (n, d), n of at least 1, d of 1 to 3
    cell : float
    """
    one = build_grids(points, np.array([0, len(points)]), cell)
    starts = one.starts[: int(one.dims[0].prod()) + 1]
    return Grid(one.origin[0], float(one.cell[0]), one.dims[0], starts, one.order, one.points, float(one.density[0]))


def build_grids(points: np.ndarray, first: np.ndarray, cell: float) -> Grids:
    """Sort each of some sets of points as `build_grid` does, `first` as in `Grids`; a set may be without points."""
    at, sets = padded(points), len(first) - 1
    cells = 2 * first[:-1] + (SPARE_CELLS + 1) * np.arange(sets)
    starts = np.empty(2 * len(at) + (SPARE_CELLS + 1) * sets, np.int32)
    where = np.empty((sets, 3)), np.empty(sets), np.empty((sets, 3), np.int64), np.empty(sets)
    in_order = np.empty(len(at), np.int32), np.empty((len(at), 3))
    _sort_by_cell(at, first, float(cell), np.empty(len(at), np.int64), *where, cells, starts, *in_order)
    return Grids(first, *where, cells, starts, *in_order)


def pairs_within(x: np.ndarray, y: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find every pair of two point sets whose Euclidean distance is at most `radius`.

    Parameters
    ----------
    x, y : float64 (n, d), (m, d)
        Finite, d of 1 to 3.
    radius : float
        At least 0, in the points' unit.

    Returns
    -------
    indptr, indices, distance : int64 (n + 1,), int32 (pairs,), float64 (pairs,)
        CSR graph, columns ascending within a row.
    """
    if len(x) == 0 or len(y) == 0:
        return np.zeros(len(x) + 1, np.int64), np.empty(0, np.int32), np.empty(0)
    grid = build_grid(y, radius)
    indptr, places, distance = pairs_in_grid(x, grid, radius)
    indices = grid.order[places]
    if len(indices) > LONG_ROW * len(x):
        graph = csr_array((distance, indices, indptr), shape=(len(x), len(y)))
        graph.sort_indices()
        return indptr, graph.indices.astype(np.int32, copy=False), graph.data
    _sort_rows(indptr, indices, distance)
    return indptr, indices, distance


def pairs_in_grid(x: np.ndarray, grid: Grid, radius: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `pairs_within`, against a grid's points in the grid's order (`indices` point into `grid.points`).

    Fastest when `x` comes in the order of a grid too.
    """
    n = len(x)
    at = padded(x)
    if _is_dense(grid, radius):
        return _pairs_by_tree(at, grid.points, radius)
    tasks = [(a, min(a + ROWS_PER_TASK, n)) for a in range(0, max(n, 1), ROWS_PER_TASK)]
    one = grid.origin[None], np.array([grid.cell]), grid.dims[None], np.zeros(1, np.int64)
    asked, first = (radius, largest_square(radius)), np.array([0, len(grid.points)])

    def query(task: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        own = at[slice(*task)]
        counts, indices, squares = _query(
            own, np.array([0, len(own)]), 0, *asked, first, *one, grid.starts, grid.points
        )
        return counts, indices, np.sqrt(squares)

    counts, indices, distance = (
        parts[0] if len(parts) == 1 else np.concatenate(parts)
        for parts in zip(*side_by_side(query, tasks), strict=True)
    )
    return np.concatenate([[0], np.cumsum(counts)]), indices, distance


def pairs_in_grids(
    x: np.ndarray, first: np.ndarray, grids: Grids, radius: float, most: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `pairs_in_grid`, of each of some sets with that of the grids at its place, in one call and one thread.

    Parameters
    ----------
    x : float64 (n, d)
    first : int64 (sets + 1,)
        Set s has the rows `first[s]:first[s+1]` of `x`.
    grids : Grids
    radius : float
    most : int
        Pairs in all; sets with more than there is room for are left out, and those that follow, but not the first.

    Returns
    -------
    indptr, indices, distance
        Of the rows of the sets that were asked, one set after the other; columns count within their set.
    """
    cells = grids.first, grids.origin, grids.cell, grids.dims, grids.cells, grids.starts, grids.points
    counts, indices, squares = _query(padded(x), first, most, radius, largest_square(radius), *cells)
    return np.concatenate([[0], np.cumsum(counts)]), indices, np.sqrt(squares)


def more_pairs_than(most: int, x: np.ndarray, grid: Grid, radius: float) -> bool:
    """Return whether more than `most` pairs of `x` and a grid's points lie within a radius; none of them is written.

    Of what the grid says first only every `_ROWS_ASKED`th row is asked: cells hold a few times as many points as lie
    within the radius, which makes up for the rows that are left out.
    """
    if len(x) * len(grid.points) <= most:
        return False
    where = grid.origin, grid.cell, grid.dims, grid.starts, grid.points
    at = padded(x)
    if _is_dense(grid, radius):
        return int(cKDTree(grid.points).count_neighbors(cKDTree(at), radius)) > most
    in_cells = _counted(np.ascontiguousarray(at[::_ROWS_ASKED]), radius, *where, most // _ROWS_ASKED, True)
    return _ROWS_ASKED * in_cells > most and _counted(at, radius, *where, most, False) > most


def largest_square(radius: float) -> float:
    """Return the largest float whose root, as rounded, is at most `radius`: squares tell what distances would."""
    square = float(radius) * float(radius)
    while math.sqrt(square) > radius:
        square = math.nextafter(square, 0.0)
    while (above := math.nextafter(square, math.inf)) > square and math.sqrt(above) <= radius:
        square = above
    return square


def _is_dense(grid: Grid, radius: float) -> bool:
    return grid.density > DENSE and grid.cell > 2 * radius


def padded(points: np.ndarray) -> np.ndarray:
    """Return the points with three axes, leading ones 0: the sum of squares stays the same to the last bit."""
    if points.shape[1] == 3:
        return points
    out = np.zeros((len(points), 3))
    out[:, 3 - points.shape[1] :] = points
    return out


def _pairs_by_tree(x: np.ndarray, y: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `pairs_in_grid` for padded points so clustered that cells of the size of the radius cannot be afforded."""
    reach = radius * (1 + CELL_MARGIN)
    found = cKDTree(x).sparse_distance_matrix(cKDTree(y), reach, output_type="ndarray")
    rows, indices = np.divmod(np.sort(found["i"] * len(y) + found["j"]), max(len(y), 1))
    indices = indices.astype(np.int32)
    distance = np.sqrt(((x[rows] - y[indices]) ** 2).sum(axis=1))
    near = distance <= radius
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[near], minlength=len(x)))])
    return indptr, indices[near], distance[near]


@compiled
def cells_for(extent, n, least):  # noqa: ANN201
    """Return the edge of cells that hold about one of n points each, at least `least`, and how many lie on each axis.

    Parameters
    ----------
    extent : float64 (3,)
        Of the points along z, y, x.
    n : int
    least : float
    """
    log_volume, axes, longest = 0.0, 0, 0.0
    for axis in range(3):
        if extent[axis] > 0:
            log_volume += math.log(extent[axis])
            axes += 1
        longest = max(longest, extent[axis])
    one_point = math.exp(log_volume / axes) / math.pow(n, 1.0 / axes) if axes > 0 else 1.0
    cell = max(least, one_point, longest / 2**20, SMALLEST)
    dims, cells = np.empty(3, np.int64), np.inf
    while True:
        cells = 1.0
        for axis in range(3):
            along = extent[axis] / cell
            dims[axis] = np.int64(along) + 1 if along > 0 else 1  # not a number where an extent is beyond all floats
            cells *= dims[axis]
        if cells <= 2 * n + SPARE_CELLS:
            return cell, dims
        cell *= 1.26


@compiled(plain=SMALL)
def _sort_by_cell(points, first, least, cell_of, origin, cell, dims, density, cells, starts, order, by_cell):
    """Counting sort of the points of each set by cell: fill in all from `cell_of` on but `cells`.

    From the last point to the first, so that each cell's end, which falls as it fills, is its beginning after all.
    """
    extent = np.empty(3)
    for s in range(len(cell)):
        begin, n = first[s], first[s + 1] - first[s]
        for axis in range(3):
            low, high = np.inf, -np.inf
            for i in range(begin, begin + n):
                low, high = min(low, points[i, axis]), max(high, points[i, axis])
            origin[s, axis], extent[axis] = (low, high - low) if n > 0 else (0.0, 0.0)
        edge, size = cells_for(extent, n, least)
        own = starts[cells[s] : cells[s] + size[0] * size[1] * size[2] + 1]
        for c in range(len(own)):
            own[c] = 0
        for i in range(begin, begin + n):
            c = np.int64(0)
            for axis in range(3):
                along = (points[i, axis] - origin[s, axis]) / edge  # not a number beside an extent beyond all floats
                c = c * size[axis] + (min(np.int64(along), size[axis] - 1) if along > 0 else 0)
            cell_of[i] = c
            own[c] += 1
        sharing, end = 0.0, 0
        for c in range(len(own)):
            sharing += float(own[c]) * float(own[c])
            end += own[c]
            own[c] = end
        for i in range(n - 1, -1, -1):
            own[cell_of[begin + i]] -= 1
            at = begin + own[cell_of[begin + i]]
            order[at] = i
            for axis in range(3):
                by_cell[at, axis] = points[begin + i, axis]
        cell[s], density[s] = edge, sharing / max(n, 1)
        for axis in range(3):
            dims[s, axis] = size[axis]


def _pairs_looked_at(_: np.ndarray, first: np.ndarray, *asked: Any) -> int:
    """Return about how many pairs `_query` looks at: in each cell touched as many points as one has in its own."""
    radius, (y_first, _, edge, dims, begins, starts) = asked[1], asked[3:9]
    sets = len(edge)
    n_points = np.diff(y_first[: sets + 1])
    squares = np.append(np.diff(starts).astype(np.float64) ** 2, 0.0)
    ends = begins + dims.prod(axis=1)
    in_own = np.add.reduceat(squares, np.stack([begins, ends], axis=1).ravel())[::2] / np.maximum(n_points, 1)
    touched = np.fmin(dims, 2 * radius / edge[:, None] + 1).prod(axis=1)
    return int((np.diff(first[: sets + 1]) * np.fmin(n_points, touched * in_own)).sum())


@compiled(plain=SMALL, steps=_pairs_looked_at)
def _query(x, first, most, radius, longest, y_first, origins, cell_of, dims_of, cells, starts, y):
    """Return (pairs of each row, columns, squares) of each set's rows `x` against another's sorted points `y`.

    A row's points are first numbered, line of cells by line, `AT_ONCE` at a time, of which what is too many is written
    over; then they are gone through as one, and each is written, to be written over where its square is above
    `longest`. Branches that depend on where points are take longer than all else, and so does a loop whose turns wait
    for each other.
    """
    reach = radius * (1 + CELL_MARGIN)
    near = np.empty(len(y) + AT_ONCE, np.int32)
    counts = np.empty(len(x), np.int64)
    indices, squares = np.empty(2 * len(x) + 64, np.int32), np.empty(2 * len(x) + 64)
    rows, n_found = 0, np.uint64(0)  # numba asks of an index that has a sign whether it counts from the end
    for s in range(len(cell_of)):
        origin, cell, dims, before = origins[s], cell_of[s], dims_of[s], n_found
        own, at, of_row, those = starts[cells[s] :], y[y_first[s] :], counts[first[s] :], x[first[s] : first[s + 1]]
        for i in range(len(those)):
            low, high = cells_touched(those[i], reach, origin, cell, dims)
            z0, y0, x0 = those[i, 0], those[i, 1], those[i, 2]
            left, right = np.uint64(low[2]), np.uint64(high[2] + 1)
            points = np.uint64(0)
            for cz in range(low[0], high[0] + 1):
                for cy in range(low[1], high[1] + 1):
                    line = np.uint64((cz * dims[1] + cy) * dims[2])
                    begin, end = own[line + left], own[line + right]
                    for k in range(AT_ONCE):
                        near[points + np.uint64(k)] = begin + k
                    for k in range(begin + AT_ONCE, end):
                        near[points + np.uint64(k - begin)] = k
                    points += np.uint64(end - begin)
            if points > np.uint64(len(indices)) - n_found:
                indices = np.concatenate((indices, np.empty(len(indices) + np.int64(points), np.int32)))
                squares = np.concatenate((squares, np.empty(len(squares) + np.int64(points))))
            began = n_found
            for p in range(points):
                k = np.uint64(near[p])
                dz, dy, dx = z0 - at[k, 0], y0 - at[k, 1], x0 - at[k, 2]
                square = dz * dz + dy * dy + dx * dx
                indices[n_found], squares[n_found] = near[p], square
                n_found += np.uint64(square <= longest)
            of_row[i] = n_found - began
        if n_found > most and s > 0:
            n_found = before
            break
        rows = first[s + 1]
    return counts[:rows], indices[:n_found], squares[:n_found]


@compiled
def _counted(x, radius, origin, cell, dims, starts, y, most, in_cells):
    """Count the pairs within the radius, or in the cells that it touches, until there are more than `most`."""
    reach, longest, count = radius * (1 + CELL_MARGIN), radius * radius, 0
    for i in range(len(x)):
        low, high = cells_touched(x[i], reach, origin, cell, dims)
        for cz in range(low[0], high[0] + 1):
            for cy in range(low[1], high[1] + 1):
                line = (cz * dims[1] + cy) * dims[2]
                begin, end = starts[line + low[2]], starts[line + high[2] + 1]
                count += end - begin if in_cells else 0
                for k in range(begin, begin if in_cells else end):
                    dz, dy, dx = x[i, 0] - y[k, 0], x[i, 1] - y[k, 1], x[i, 2] - y[k, 2]
                    count += dz * dz + dy * dy + dx * dx <= longest
        if count > most:
            return count
    return count


@compiled(forceinline=True, **BORROWING)
def cells_touched(point, reach, origin, cell, dims):  # noqa: ANN201
    """Return the first and the last cell along each axis that lie within reach of a point."""
    z0, z1 = _touched(point[0] - origin[0], reach, cell, dims[0])
    y0, y1 = _touched(point[1] - origin[1], reach, cell, dims[1])
    x0, x1 = _touched(point[2] - origin[2], reach, cell, dims[2])
    return (z0, y0, x0), (z1, y1, x1)


@compiled(forceinline=True, **BORROWING)
def _touched(place, reach, cell, size):
    low, high = (place - reach) / cell - CELL_MARGIN, (place + reach) / cell + CELL_MARGIN
    return _clipped(low, size), _clipped(high, size)


@compiled(forceinline=True, **BORROWING)
def _clipped(position, size):
    """Return the cell at `position` (in cells), clipped to the grid."""
    if position <= 0:
        return 0
    return np.int64(position) if position < size else size - 1


@compiled
def _sort_rows(indptr, indices, distance):
    """Sort each row's columns: by insertion, of long rows at wide steps first (D. L. Shell, CACM 2, 1959)."""
    for i in range(len(indptr) - 1):
        begin, end, step = indptr[i], indptr[i + 1], 1
        while 9 * step < end - begin:
            step = 3 * step + 1
        while step > 0:
            for e in range(begin + step, end):
                j, d = indices[e], distance[e]
                at = e
                while at >= begin + step and indices[at - step] > j:
                    indices[at], distance[at] = indices[at - step], distance[at - step]
                    at -= step
                indices[at], distance[at] = j, d
            step //= 3
