"""A check of small problems in whole numbers of any length; it shares nothing with solvers and sums of certificates.

A float is a whole number times a power of two, so costs, unmatched costs and duals of a small block become integers
without rounding: Python's. First the duals are tried; where these leave a gap, the optimum is computed again, by the
Hungarian method row by row (H. W. Kuhn, Naval Research Logistics Quarterly 2, 1955, with shortest paths), and nothing
else is trusted. Costs are read here on their own, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..problem import Problem
from ..tolerance import SHARE

MOST_PAIRS = 10_000
"""Pairs, and members, of a problem up to which it counts as small; 100 × 100 take 20 ms, and 0.3 s from nothing."""

_PARTS = round(1 / SHARE)


def is_small(problem: Problem) -> bool:
    """Whether a problem is small enough to be checked here."""
    pairs = problem.n_pairs
    return max(pairs, sum(problem.shape)) <= MOST_PAIRS


def is_cheapest(block: Problem, col_of_row: np.ndarray, v: np.ndarray, *, exactly: bool = False) -> bool:
    """Whether the matching of a small block costs no more than the optimum, or 10⁻⁹ of what not every answer pays.

    That is what is paid above each row's least; it is held to what is paid above all that is easily forced, too, or to
    what matched edges would cost if each were as cheap as the cheapest that is not 0; and to no more than is paid.

    Parameters
    ----------
    block : Problem
        One block on the host.
    col_of_row : int32 (rows,)
        A matching that the problem allows, complete where it must be.
    v : ndarray (columns,)
        Column duals, none above its bound; they only save time.
    exactly : bool
        Whether to allow nothing.
    """
    n, m = block.shape
    cost, allowed = _costs(block)
    row_unmatched, col_unmatched = (
        np.zeros(k) if p is None else p for k, p in ((n, block.row_unmatched), (m, block.col_unmatched))
    )
    numbers = _integers(np.concatenate([cost[allowed], row_unmatched, col_unmatched, v]))
    whole = np.zeros((n, m), object)
    whole[allowed], rest = np.split(numbers, [int(allowed.sum())])
    row_unmatched, col_unmatched, v = np.split(rest, [n, n + m])
    net = whole, allowed
    partners = np.where(col_of_row >= 0, col_of_row, m + np.arange(n)) if block.has_unmatched_cost else col_of_row
    if block.has_unmatched_cost:
        net = _net_of_unmatched_cost(*net, row_unmatched, col_unmatched)
        v = np.concatenate([v - col_unmatched, np.zeros(n, object)])
    elif n > m:  # every column is matched: the last m rows by their column are those of the columns
        net, partners, v = (net[0].T, net[1].T), np.argsort(col_of_row)[n - m :], _row_duals(*net, v)
    paid = int(net[0][np.arange(len(partners)), partners].sum())
    own = 0 if exactly else _own(*net, paid, _sizes(whole, row_unmatched, col_unmatched, col_of_row))
    return _gap(*net, partners, v) * _PARTS <= own or (paid - _optimum(*net)) * _PARTS <= own


def _costs(block: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Return the costs of a block as a matrix, and which pairs it allows."""
    n, m = block.shape
    if block.kind == "points":
        assert block.x is not None
        assert block.y is not None
        squares = np.zeros((n, m))
        for axis in range(block.x.shape[1]):
            squares = squares + (block.x[:, None, axis].astype(float) - block.y[None, :, axis]) ** 2
        return (squares if block.metric == "squared" else np.sqrt(squares)), np.ones((n, m), bool)
    if block.kind == "dense":
        allowed = np.isfinite(block.cost_matrix)
        return block.cost_matrix, allowed if block.forbidden is None else allowed & ~block.forbidden.reshape(n, m)
    assert block.indptr is not None
    cost, allowed = np.zeros((n, m), block.data.dtype), np.zeros((n, m), bool)
    rows = np.repeat(np.arange(n), np.diff(block.indptr))
    cost[rows, block.indices], allowed[rows, block.indices] = block.data, True
    return cost, allowed


def _integers(values: np.ndarray) -> np.ndarray:
    """Return numbers as Python's integers, floats times one power of two that makes all of them whole."""
    if values.dtype.kind == "i":
        return values.astype(object)
    part, exponent = np.frexp(values.astype(np.float64))
    exponent = np.where(part == 0, 0, exponent)
    return (part * 2.0**53).astype(np.int64).astype(object) << (exponent - exponent.min(initial=0)).astype(object)


def _net_of_unmatched_cost(
    cost: np.ndarray, allowed: np.ndarray, row_unmatched: np.ndarray, col_unmatched: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return what a matched edge costs more than to leave both unassigned, and a column more for each row at 0."""
    n = len(cost)
    net = cost - row_unmatched[:, None] - col_unmatched[None, :]
    return np.hstack([net, np.zeros((n, n), object)]), np.hstack([allowed, np.eye(n, dtype=bool)])


def _row_duals(cost: np.ndarray, allowed: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the row duals, 0 at most, beside column duals."""
    return np.array([min([0, *(cost[i] - v)[allowed[i]]]) for i in range(len(cost))], object)


def _gap(cost: np.ndarray, allowed: np.ndarray, partners: np.ndarray, v: np.ndarray) -> int:
    """Return how far the dual objective is below the cost of edges from every row; unassigned columns are free."""
    slack = sum(cost[i, j] - v[j] - min((cost[i] - v)[allowed[i]], default=0) for i, j in enumerate(partners))
    unassigned = np.ones(len(v), bool)
    unassigned[partners] = False
    if (v[unassigned] > 0).any():
        return slack + sum(abs(v))
    return slack - sum(v[unassigned])


def _sizes(cost: np.ndarray, row_unmatched: np.ndarray, col_unmatched: np.ndarray, col_of_row: np.ndarray) -> list[int]:
    """Return what matched edges and unassigned members cost, each, signs and zeros left out."""
    rows = np.flatnonzero(col_of_row >= 0)
    unassigned = np.ones(len(col_unmatched), bool)
    unassigned[col_of_row[rows]] = False
    paid = [*cost[rows, col_of_row[rows]], *row_unmatched[col_of_row < 0], *col_unmatched[unassigned]]
    return [abs(each) for each in paid if each]


def _own(cost: np.ndarray, allowed: np.ndarray, paid: int, sizes: list[int]) -> int:
    """Return what is paid that not every answer pays, by the least of the measures of `is_cheapest`."""
    row_least = np.array([min(cost[i][allowed[i]], default=0) for i in range(len(cost))], object)
    left = cost - row_least[:, None]
    forced = above = int(row_least.sum())
    if cost.shape[0] == cost.shape[1]:
        forced += sum(min(left[:, j][allowed[:, j]], default=0) for j in range(len(left)))
    forced = max(forced, sum(min([0, *cost[:, j][allowed[:, j]]]) for j in range(cost.shape[1])))
    return min(sum(sizes), paid - above, max(len(sizes) * min(sizes, default=0), paid - forced))


def _optimum(cost: np.ndarray, allowed: np.ndarray) -> int:
    """Return the least cost of matching all rows, (n, m) with n ≤ m, by shortest augmenting paths."""
    n, m = cost.shape
    beyond = 2 * int(abs(cost).sum()) + 1
    cost = np.where(allowed, cost, beyond)
    r, v = np.zeros(n, object), np.zeros(m, object)
    row_of_col = np.full(m, -1)
    for start in range(n):
        dist, came = np.full(m, (m + 2) * beyond, object), np.full(m, -1)
        is_open = np.ones(m, bool)
        row, col, reach = start, -1, 0
        while True:
            through = reach + cost[row] - r[row] - v
            shorter = is_open & (through < dist).astype(bool)
            dist[shorter], came[shorter] = through[shorter], col
            nearest = int(np.flatnonzero(is_open)[np.argmin(dist[is_open])])
            is_open[nearest] = False
            reach = dist[nearest]
            col, row = nearest, int(row_of_col[nearest])
            if row < 0:
                break
        _move_duals(r, v, start, row_of_col, dist, ~is_open, reach)
        while col >= 0:
            before = int(came[col])
            row_of_col[col] = start if before < 0 else row_of_col[before]
            col = before
    matched = np.flatnonzero(row_of_col >= 0)
    return int(cost[row_of_col[matched], matched].sum())


def _move_duals(r: Any, v: Any, start: int, row_of_col: np.ndarray, dist: Any, seen: np.ndarray, reach: int) -> None:
    """Change the duals along a search so that its shortest path has zero slack."""
    r[start] += reach
    for j in np.flatnonzero(seen & (row_of_col >= 0)):
        r[row_of_col[j]] += reach - dist[j]
    v[seen] -= reach - dist[seen]
