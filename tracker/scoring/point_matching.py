"""Detected points to true points of the same frame, one to one, for scoring.

Solved by SciPy, apart from the solvers that the score judges.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, min_weight_full_bipartite_matching
from scipy.spatial import cKDTree

from ..calibrating.lengths import require_length
from ..errors import InvalidInput
from ..points import Points

# Above so many cells (32 MB) a cluster of close points is assigned sparsely instead of as a dense matrix.
_DENSE_CELLS = 4_000_000


def match_points(points: Points, truth: Points, tolerance: float) -> np.ndarray:
    """Assign points to the true points of the same frame, one to one, none farther than the tolerance.

    Parameters
    ----------
    points, truth : Points
        Of the same unit and dimension.
    tolerance : float
        Longest distance of a pair, in the unit of the calibration.

    Returns
    -------
    ndarray
        int64 (len(points),): row of `truth` for every point, -1 for none.

    Raises
    ------
    InvalidInput
        If the tables' units or dimensions differ.
    InvalidSetting
        If the tolerance is not a finite length above zero.

    Notes
    -----
    The assignment minimises the sum of min(distance, tolerance) over the true points, the gated distance of Chenouard
    et al., "Objective comparison of particle tracking methods", Nature Methods 11 (2014): a pair is worth what it
    saves.
    """
    require_length("tolerance", tolerance)
    require_comparable(points, truth)
    return best_match(*close_pairs(points, truth, tolerance), len(points), tolerance)


def require_comparable(points: Points, truth: Points) -> None:
    """Refuse tables of different dimensions or units (`InvalidInput`)."""
    if points.ndim != truth.ndim:
        own, real = (f"{table.ndim} ({', '.join(table.axes)})" for table in (points, truth))
        raise InvalidInput(
            f"tables need the same axes; one has {own}, the truth {real}. Name the column of z of the table that lacks "
            "it where it is read, or take z out of the other."
        )
    found, wanted = points.calibration.unit, truth.calibration.unit
    if found != wanted:
        raise InvalidInput(
            f"tables need the same unit of length; one is in {found}, the truth in {wanted}.",
            in_python="Give scale or unit where the tables are made or read.",
            setting="unit",
            examples={wanted: found},
        )


def close_pairs(points: Points, truth: Points, tolerance: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, columns and distances of all pairs of one frame within the tolerance."""
    pairs = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))]
    x, y = points.positions, truth.positions
    of_point, of_truth = _rows_of(points), _rows_of(truth)
    for frame in of_point.keys() & of_truth.keys():
        row, column = of_point[frame], of_truth[frame]
        for i, j, distance in _near(x[row], y[column], tolerance):
            pairs.append((row[i], column[j], distance))
    rows, columns, distances = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    return rows, columns, distances


def _near(x: np.ndarray, y: np.ndarray, tolerance: float) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield rows of x and of y, and distances, of the pairs within the tolerance: rows of x with few of them first."""
    tree = cKDTree(y, balanced_tree=False, compact_nodes=False)
    rows, most = np.arange(len(x)), 2  # hardly any detection is near more particles
    while len(rows):
        most = min(most, len(y))
        distance, near = tree.query(x[rows], k=range(1, most + 1), distance_upper_bound=tolerance * (1 + 1e-9))
        is_near = np.asarray(distance) <= tolerance
        may_have_more = is_near[:, -1] & (most < len(y))
        i, k = np.nonzero(is_near & ~may_have_more[:, None])
        yield rows[i], np.asarray(near)[i, k], np.asarray(distance)[i, k]
        rows, most = rows[may_have_more], 4 * most


def _rows_of(points: Points) -> dict[int, np.ndarray]:
    """Return the rows of each frame, int64, by its number."""
    every = np.arange(len(points))
    return {frame: every[rows] for frame, rows in points.rows_by_frame()}


def best_match(rows: np.ndarray, columns: np.ndarray, costs: np.ndarray, n: int, unmatched_cost: float) -> np.ndarray:
    """Choose among pairs of rows and columns, one to one.

    Parameters
    ----------
    rows, columns, costs : ndarray
        The pairs that may be chosen, (k,).
    n : int
        Number of rows.
    unmatched_cost : float
        What a column without a row costs, as much as the dearest pair or more.

    Returns
    -------
    ndarray
        int64 (n,): column of every row, -1 for none, at the least sum of costs.
    """
    match = np.full(n, -1, dtype=np.int64)
    for row, column in _best_pairs(rows, columns, costs, n, unmatched_cost):
        match[row] = column
    return match


def _best_pairs(
    rows: np.ndarray, columns: np.ndarray, distances: np.ndarray, n: int, tolerance: float
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the pairs of the best assignment, cluster of close points by cluster."""
    nodes = n + int(columns.max(initial=-1)) + 1
    graph = coo_array((np.ones(len(rows)), (rows, columns + n)), shape=(nodes, nodes))
    cluster = connected_components(graph, directed=False)[1][rows]
    alone = np.bincount(cluster, minlength=1)[cluster] == 1
    yield rows[alone], columns[alone]
    order = np.flatnonzero(~alone)[np.argsort(cluster[~alone], kind="stable")]
    starts = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    (row, row_starts, local_row), (column, column_starts, local_column) = (
        _numbered_within(cluster[order], ends[order], starts) for ends in (rows, columns)
    )
    cuts = (np.append(starts, len(order)), row_starts, column_starts)
    pieces = ([slice(*ends) for ends in itertools.pairwise(of.tolist())] for of in cuts)
    for pairs, of_rows, of_columns in zip(*pieces, strict=True):
        own_row, own_column = row[of_rows], column[of_columns]
        shape = len(own_row), len(own_column)
        assign = _assign_dense if shape[0] * shape[1] <= _DENSE_CELLS else _assign_sparse
        i, j = assign(local_row[pairs], local_column[pairs], distances[order[pairs]], shape, tolerance)
        yield own_row[i], own_column[j]


def _numbered_within(
    cluster: np.ndarray, ends: np.ndarray, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the ends of each cluster's pairs once each, where those of each cluster begin, and each pair's place.

    `cluster` ascends; `starts` is where each begins. The places count from 0 in each cluster.
    """
    by_end = np.lexsort((ends, cluster))
    is_new = np.diff(ends[by_end], prepend=-1) != 0  # no two clusters share an end
    number = np.empty(len(ends), np.int64)
    number[by_end] = np.cumsum(is_new) - 1
    firsts = np.append((np.cumsum(is_new) - 1)[starts], is_new.sum())
    return ends[by_end][is_new], firsts, number - np.repeat(firsts[:-1], np.diff(np.append(starts, len(ends))))


def _assign_dense(
    rows: np.ndarray, columns: np.ndarray, distances: np.ndarray, shape: tuple[int, int], tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Minimise Σ min(distance, tolerance) on a full matrix."""
    cost = np.full(shape, np.inf)
    cost[rows, columns] = distances
    i, j = linear_sum_assignment(np.minimum(cost, tolerance))
    close = np.isfinite(cost[i, j])
    return i[close], j[close]


def _assign_sparse(
    rows: np.ndarray, columns: np.ndarray, distances: np.ndarray, shape: tuple[int, int], tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Do the same on the close pairs only, every row with a column of its own to fall back to, at the tolerance."""
    n, m = shape
    own = np.arange(n)
    # A constant on every edge changes no full matching, and keeps SciPy from dropping pairs at distance 0.
    cost = np.concatenate([distances, np.full(n, tolerance)]) + tolerance
    graph = csr_array((cost, (np.concatenate([rows, own]), np.concatenate([columns, own + m]))), shape=(n, m + n))
    i, j = min_weight_full_bipartite_matching(graph)
    return i[j < m], j[j < m]
