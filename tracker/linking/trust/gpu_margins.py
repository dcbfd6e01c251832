"""Margins of links on a GPU, as in `margins`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ....matching.certificate.assignment import Assignment
from ....matching.device import cuda
from ....matching.device.arrays import begins_of
from ....matching.problem import Problem
from ..gate.gpu_movie import launch, launch_in_turns, threads_of

FIRST_ROOM = 32
"""Rows that a repair may meet at first; the few that meet more are tried again with `MORE_ROOM` times as many."""
MORE_ROOM = 32
ROOM_BYTES = 2**32
"""Memory that all repairs under way share."""
_KERNELS = str(Path(__file__).with_name("margins.cu"))


def link_margins(problem: Problem, answer: Assignment) -> Any:
    """Return the margin of each link by ascending row, float64 (links,), on the device.

    Parameters
    ----------
    problem : Problem
        Sparse, of one block, on the current device.
    answer : Assignment
        Optimal, with its duals.
    """
    cp = cuda.cupy()
    indptr, indices = cp.asarray(problem.indptr, np.int64), cp.asarray(problem.indices, np.int32)
    n_rows, n_cols = problem.shape
    row = cp.repeat(cp.arange(n_rows, dtype=np.int32), cp.diff(indptr))
    r, v, col_of_row, row_of_col = map(
        cp.asarray, (answer.row_duals, answer.col_duals, answer.col_of_row, answer.row_of_col)
    )
    reduced = cp.maximum(problem.data - r[row] - v[indices], 0.0)
    by_col = cp.argsort(indices, kind="stable")
    col_indptr = begins_of(indices[by_col], n_cols)
    row_bound, col_bound = problem.dual_bounds()
    by_row = indptr, indices, reduced
    settle_row = _settled(cp, by_row, row_of_col, cp.maximum(cp.asarray(row_bound) - r, 0.0))
    settle_col = _settled(
        cp, (col_indptr, row[by_col], reduced[by_col]), col_of_row, cp.maximum(cp.asarray(col_bound) - v, 0.0)
    )
    rows = cp.flatnonzero(col_of_row >= 0)
    links = rows.astype(np.int32), col_of_row[rows]
    return _repaired(cp, links, (*by_row, row_of_col, settle_row, settle_col))


def _settled(cp: Any, edges: tuple[Any, Any, Any], owner: Any, unassigned: Any) -> Any:
    """Return for every freed member of one side the cheapest way to settle it that leaves a member unassigned."""
    kernel, cost, changed = cuda.load(_KERNELS)["settled"], unassigned, cp.ones(1, np.int32)
    while int(changed[0]):
        changed.fill(0)
        kernel(*launch(len(cost)), (np.int32(len(cost)), *edges, owner, cost, changed))
    return cost


def _repaired(cp: Any, links: tuple[Any, Any], graph: tuple[Any, ...]) -> Any:
    kernel, capacity = cuda.load(_KERNELS)["repairs"], FIRST_ROOM
    margin = cp.full(len(links[0]), -1.0)
    while len(left := cp.flatnonzero(margin < 0)):
        rows, cols = (side[left] for side in links)
        most = max(ROOM_BYTES // (12 * capacity), 1)
        grid = launch_in_turns(min(len(left), most))
        room = threads_of(grid) * capacity
        found = cp.empty(len(left), np.float64)
        given = np.int32(len(left)), rows, cols, *graph, np.int32(capacity)
        kernel(*grid, (*given, cp.empty(room, np.int32), cp.empty(room, np.float64), found))
        margin[left] = found
        capacity *= MORE_ROOM
    return margin
