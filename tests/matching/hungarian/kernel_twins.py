"""The kernels that sharded solves launch, in NumPy: same names, same arguments, one after the other instead of at once.

With them, and shards in the host's memory, the loops of `multi_gpu_tree` and `multi_gpu_classical` run
where there is no GPU.
"""

# The arguments are the kernels'.
# ruff: noqa: ARG001

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from auctrack.matching.paths.gpu_dense import DeviceCosts

FREE, LEFT_UNASSIGNED = -1, -2
ACTIVE, VISITED, REVERSE = 1, 2, 3


@dataclass(frozen=True)
class HostCosts(DeviceCosts):
    """A shard in the host's memory, whose kernels are those of this file."""

    @property
    def device(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def synchronize(self) -> None:
        """All is done when a twin returns."""

    def kernel(self, file: str, name: str, *options: str, cooperative: bool = False) -> Any:
        del file, options, cooperative
        twin: Callable[..., None] = globals()[name]
        none = self.none

        def launch(grid: tuple[int, ...], block: tuple[int, ...], arguments: tuple[Any, ...]) -> None:
            assert all(size > 0 for size in (*grid, *block))
            twin(none, *arguments)

        return launch


def hungarian_reduce_rows(none, n, m, cost, forbidden, row_bound, v, r):
    values = _slacks(none, cost, forbidden, v, np.zeros_like(r), np.arange(n))
    r[:] = np.minimum(row_bound, values.min(axis=1, initial=none))


def hungarian_reduce_stripes(none, n, m, cost, forbidden, r, minima):
    minima[:] = none
    minima[0] = _slacks(none, cost, forbidden, np.zeros(m, r.dtype), r, np.arange(n)).min(axis=0, initial=none)


def hungarian_reduce_columns(none, m, stripes, minima, col_bound, v):
    least = minima.reshape(stripes, m).min(axis=0)
    raised = (col_bound >= none) & (least < none)
    v[raised] = least[raised]


def hungarian_certify_rows(none, n, m, cost, forbidden, row_bound, v, r, terms):
    values = _slacks(none, cost, forbidden, v, np.zeros_like(r), np.arange(n))
    at = values.argmin(axis=1)
    rows = np.arange(n)
    by_pair = values[rows, at] < row_bound
    r[:] = np.where(by_pair, values[rows, at], row_bound)
    terms[:] = np.where(by_pair, np.maximum(abs(cost[rows, at].astype(v.dtype)), abs(v[at])), 0)


def hungarian_optimality_check(none, n, col_of_row, row_covered, match_count):
    row_covered[:] = col_of_row != FREE
    match_count[0] += row_covered.sum()


def hungarian_count_zeros(none, *arguments):
    *pairs, delta, entered, row_covered, col_covered, count = arguments
    count[:] = _zeros(none, pairs, delta, entered, row_covered, col_covered).sum(axis=1)


def hungarian_list_zeros(none, *arguments):
    *pairs, delta, entered, row_covered, col_covered, first, zeros = arguments
    zeros[:] = np.nonzero(_zeros(none, pairs, delta, entered, row_covered, col_covered))[1]
    assert first[-1] == len(zeros)


def hungarian_least_uncovered(none, *arguments):
    *pairs, entered, row_covered, col_covered, least = arguments
    keys = _keys(none, pairs, np.arange(pairs[0]), entered)
    keys[:, col_covered > 0] = none
    least[:] = np.minimum(keys.min(axis=1, initial=none), _unassigned_keys(none, pairs, entered))
    least[row_covered > 0] = none


def hungarian_expand_zeros(none, *arguments):
    *pairs, delta, frontier, n_frontier, first, zeros = arguments[:12]
    row_of_col, row_pred, col_pred, row_covered, col_covered, entered, key, row_mark, col_mark, unassigned = arguments[
        12:
    ]
    for i in frontier[:n_frontier]:
        for j in zeros[first[i] : first[i + 1]]:
            woken = row_of_col[j]
            if col_covered[j] or woken == i:
                continue
            col_pred[j] = i
            if woken == FREE:
                col_mark[j] = REVERSE
                continue
            row_pred[woken], row_covered[woken], entered[woken] = j, 0, delta
            key[j], col_covered[j] = delta, 1
            if row_mark[woken] != VISITED:
                row_mark[woken] = ACTIVE
        row_mark[i] = VISITED
    _mark_sinks(none, pairs, frontier[:n_frontier], entered, delta, unassigned)


def hungarian_expand_tree(none, *arguments):
    *pairs, delta, frontier, n_frontier = arguments[:10]
    row_of_col, row_pred, col_pred, row_covered, col_covered, entered, key, row_mark, col_mark, unassigned = arguments[
        10:
    ]
    rows = frontier[:n_frontier]
    keys = _keys(none, pairs, rows, np.full(pairs[0], delta, key.dtype))
    best = keys.argmin(axis=0)
    least = keys[best, np.arange(pairs[1])]
    better = (least < key) & (col_covered == 0)
    key[better], col_pred[better] = least[better], rows[best[better]]
    marks = row_of_col, row_pred, row_covered, col_covered, entered, row_mark, col_mark
    _enter(np.flatnonzero(better & (key <= delta)), delta, *marks)
    _mark_sinks(none, pairs, rows, np.full(pairs[0], delta, key.dtype), delta, unassigned)


def hungarian_enter(none, *arguments):
    *pairs, delta, row_of_col, row_pred, row_covered, col_covered, entered, key, row_mark, col_mark, unassigned = (
        arguments
    )
    _mark_sinks(none, pairs, np.flatnonzero(row_mark == VISITED), entered, delta, unassigned)
    marks = row_of_col, row_pred, row_covered, col_covered, entered, row_mark, col_mark
    _enter(np.flatnonzero((col_covered == 0) & (key <= delta)), delta, *marks)


def hungarian_reverse(none, n_cols, sinks, n_sinks, row_pred, col_pred, row_next, col_next, starts):
    for sink in sinks[:n_sinks]:
        row, col = FREE, sink
        if sink >= n_cols:
            row = sink - n_cols
            row_next[row], col = LEFT_UNASSIGNED, row_pred[row]
        while col != FREE:
            col_next[col], row = row, col_pred[col]
            row_next[row], col = col, row_pred[row]
        starts[row] = 1


def hungarian_augment(none, starts, n_starts, row_next, col_next, col_of_row, row_of_col):
    for start in starts[:n_starts]:
        row = start
        while row != FREE:
            col = row_next[row]
            col_of_row[row] = col
            if col == LEFT_UNASSIGNED:
                break
            row_of_col[col], row = row, col_next[col]


def hungarian_update_duals(none, n, m, delta, col_of_row, col_covered, key, v, r):
    entered = col_covered > 0
    v[entered] -= delta - key[entered]
    r[col_of_row == FREE] += delta


def hungarian_remove_slack(none, m, cost, v, row_of_col, r):
    cols = np.flatnonzero(row_of_col != FREE)
    rows = row_of_col[cols]
    r[rows] = cost[rows, cols].astype(v.dtype) - v[cols]


def hungarian_pack_rows(none, n, first_col, row_mark, row_pred, packed):
    packed[:] = np.where(row_mark == ACTIVE, row_pred + first_col, FREE)


def hungarian_unpack_rows(none, n, delta, packed, row_pred, row_covered, entered, row_mark, frontier, n_frontier):
    rows = np.flatnonzero(packed >= 0)
    row_pred[rows], row_covered[rows], entered[rows], row_mark[rows] = packed[rows], 0, delta, VISITED
    frontier[: len(rows)] = rows
    n_frontier[0] += len(rows)


def hungarian_reduce(none, n, m, row_bound, r, entered, row_mark, unassigned, key, col_covered, col_mark, reduced_keys):
    waits = (row_mark == VISITED) & (unassigned == 0) & (row_bound < none)
    rows = entered[waits] + (row_bound[waits] - r[waits])
    reduced_keys[0] = min(rows.min(initial=none), key[col_covered == 0].min(initial=none))
    reduced_keys[1] = not ((unassigned == REVERSE).any() or (col_mark == REVERSE).any())


def hungarian_pack_columns(none, m, first_col, col_pred, col_mark, packed):
    cols = np.flatnonzero(col_pred >= 0)
    packed[first_col + cols] = 2 * col_pred[cols] + (col_mark[cols] == REVERSE)


def hungarian_pack_matched_costs(none, n, m, first_row, first_col, cost, col_of_row, packed):
    cols = col_of_row[first_row : first_row + n] - first_col
    rows = np.flatnonzero((cols >= 0) & (cols < m))
    packed[first_row + rows] = cost[rows, cols[rows]]


# ------------------------------------------------------------------ what they share


def _slacks(none, cost, forbidden, v, r, rows):
    """c - v - r of the given rows and all columns, `none` where a pair is forbidden."""
    c = cost[rows].astype(v.dtype)
    absent = c >= none
    if isinstance(forbidden, np.ndarray):
        absent |= forbidden[rows]
    return np.where(absent, none, np.where(absent, 0, c) - v - r[rows, None])


def _keys(none, pairs, rows, entered):
    """The Δ at which the slack of each pair is zero."""
    _, _, cost, forbidden, _, v, r = pairs
    slack = _slacks(none, cost, forbidden, v, r, rows)
    return np.where(slack >= none, none, entered[rows, None] + np.maximum(np.where(slack >= none, 0, slack), 0))


def _zeros(none, pairs, delta, entered, row_covered, col_covered):
    since = np.where(row_covered > 0, delta, entered)
    return (_keys(none, pairs, np.arange(pairs[0]), since) <= delta) & (col_covered == 0)


def _unassigned_keys(none, pairs, entered):
    bound, r = pairs[4], pairs[6]
    return np.where(bound < none, entered + (np.where(bound < none, bound, 0) - r), none)


def _mark_sinks(none, pairs, rows, entered, delta, unassigned):
    sinks = rows[_unassigned_keys(none, pairs, entered)[rows] <= delta]
    unassigned[sinks] = REVERSE


def _enter(cols, delta, row_of_col, row_pred, row_covered, col_covered, entered, row_mark, col_mark):
    woken = row_of_col[cols]
    col_mark[cols[woken == FREE]] = REVERSE
    cols, woken = cols[woken != FREE], woken[woken != FREE]
    row_pred[woken], row_covered[woken], entered[woken], row_mark[woken] = cols, 0, delta, ACTIVE
    col_covered[cols] = 1
