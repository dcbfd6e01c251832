"""Push-relabel for bipartite matching: first in, first out, with global and gap relabelling.

Algorithm 1 (PR) and 2 (GR) of Deveci, Kaya, Uçar & Çatalyürek (ICPP 2013), after Goldberg & Tarjan (1988) and
Kaya, Langguth, Manne & Uçar (2013), with the sides exchanged: free rows are active and push to columns, so that the
pushing reads the graph by rows as it is stored. A column's label bounds from below its alternating distance to a
free column (0 for a free column). An active row takes its column of least label, throws out that column's
row, which becomes active, and lifts the column by two. The row's own label is one more than its column's was.

Global relabelling sets all labels to exact distances by a breadth-first search from the free columns (over the
transposed graph), at the start and after every k · (rows + columns) pushes. Gap relabelling: once no column has
label g, nothing above g can reach a free column any more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ..errors import InvalidProblem
from .graph import BipartiteGraph, IntArray


def push_relabel(
    graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray, *, k: float = 0.5, gap: bool = True
) -> dict[str, Any]:
    """Augment a matching in place to a maximum one; returns the statistics of the run.

    Parameters
    ----------
    k : float
        Global relabelling after every k · (rows + columns) pushes.
    gap : bool
        Whether to relabel at gaps as well.
    """
    if not k > 0:
        raise InvalidProblem(f"k: the global relabelling period must be positive, got {k}")
    other = graph.transposed
    label = np.empty(graph.n_columns, np.int32)
    label_of_row = np.empty(graph.n_rows, np.int32)
    columns_at = np.zeros(graph.n_rows + graph.n_columns + 3, np.int32)
    bfs_queue = np.empty(graph.n_columns, np.int32)
    active = np.empty(graph.n_rows + 1, np.int32)
    n_active = _free_rows(col_of_row, active)
    budget = max(1, int(k * (graph.n_rows + graph.n_columns)))
    relabels = pushes = gaps = 0
    levels: list[int] = []
    head = 0
    while n_active:
        levels.append(
            global_relabel(other.indptr, other.indices, col_of_row, row_of_col, label, label_of_row, bfs_queue, columns_at)
        )
        relabels += 1
        head, n_active, n_pushes, n_gaps = _push(
            graph.indptr,
            graph.indices,
            col_of_row,
            row_of_col,
            label,
            label_of_row,
            columns_at,
            active,
            head,
            n_active,
            budget,
            gap,
        )
        pushes += n_pushes
        gaps += n_gaps
    return {"global_relabels": relabels, "levels": levels, "pushes": pushes, "gap_relabels": gaps}


@njit(cache=True, nogil=True)
def _free_rows(col_of_row: IntArray, out: IntArray) -> int:
    n = 0
    for i in range(len(col_of_row)):
        if col_of_row[i] < 0:
            out[n] = i
            n += 1
    return n


@njit(cache=True, nogil=True)
def global_relabel(
    indptr_t: IntArray,
    indices_t: IntArray,
    col_of_row: IntArray,
    row_of_col: IntArray,
    label: IntArray,
    label_of_row: IntArray,
    queue: IntArray,
    columns_at: IntArray,
) -> int:
    """Exact distances to the free columns; ``rows + columns`` where there is no path. Returns the number of levels.

    `columns_at` counts the columns of each label.
    """
    n_rows, n_columns = len(col_of_row), len(row_of_col)
    unreachable = np.int32(n_rows + n_columns)
    columns_at[:] = 0
    tail = 0
    for j in range(n_columns):
        if row_of_col[j] < 0:
            label[j] = 0
            queue[tail] = j
            tail += 1
        else:
            label[j] = unreachable
    columns_at[0] = tail
    for i in range(n_rows):
        label_of_row[i] = unreachable
    head = 0
    distance = np.int32(0)
    while head < tail:
        end = tail
        while head < end:
            j = queue[head]
            head += 1
            for e in range(indptr_t[j], indptr_t[j + 1]):
                i = indices_t[e]
                if label_of_row[i] == unreachable:
                    label_of_row[i] = distance + 1
                    c = col_of_row[i]
                    if c >= 0:
                        label[c] = distance + 2
                        queue[tail] = c
                        tail += 1
        distance += 2
        columns_at[distance] = tail - end
    columns_at[unreachable] = n_columns - tail
    return distance // 2


@njit(cache=True, nogil=True)
def _push(
    indptr: IntArray,
    indices: IntArray,
    col_of_row: IntArray,
    row_of_col: IntArray,
    label: IntArray,
    label_of_row: IntArray,
    columns_at: IntArray,
    active: IntArray,
    head: int,
    n_active: int,
    budget: int,
    gap: bool,
) -> tuple[int, int, int, int]:
    """Push from the queue of active rows until it is empty or the budget is spent.

    `active` is a ring; a row that cannot reach a free column leaves it for good.
    Returns the ring's head and length, the pushes and the gap relabellings.
    """
    n_rows, n_columns = len(col_of_row), len(row_of_col)
    unreachable = n_rows + n_columns
    ring = len(active)
    pushes = gaps = 0
    last_gap = -n_columns
    while n_active > 0 and pushes < budget:
        i = active[head]
        head = head + 1 if head + 1 < ring else 0
        n_active -= 1
        least = unreachable
        column = -1
        enough = label_of_row[i] - 1
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if label[j] < least:
                least = label[j]
                column = j
                if least <= enough:
                    break
        if column < 0:
            continue
        pushes += 1
        displaced = row_of_col[column]
        row_of_col[column] = i
        col_of_row[i] = column
        label_of_row[i] = least + 1
        lifted = min(least + 2, unreachable)
        label[column] = lifted
        columns_at[least] -= 1
        columns_at[lifted] += 1
        if displaced >= 0:
            col_of_row[displaced] = -1
            label_of_row[displaced] = least - 1
            tail = head + n_active
            active[tail if tail < ring else tail - ring] = displaced
            n_active += 1
        if gap and columns_at[least] == 0 and least > 0 and pushes - last_gap >= n_columns:
            last_gap = pushes
            gaps += 1
            for j in range(n_columns):
                if least < label[j] < unreachable:
                    columns_at[label[j]] -= 1
                    columns_at[unreachable] += 1
                    label[j] = unreachable
    return head, n_active, pushes, gaps
