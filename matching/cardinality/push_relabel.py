"""Push-relabel for bipartite matching: first in, first out, with global relabelling.

Algorithm 1 (PR) and 2 (GR) of Deveci, Kaya, Uçar & Çatalyürek (ICPP 2013), after Goldberg & Tarjan (1988) and
Kaya, Langguth, Manne & Uçar (2013), with the sides exchanged: free rows are active and push to columns, so that the
pushing reads the graph by rows as it is stored. A column's label bounds from below its alternating distance to a
free column (0 for a free column). An active row takes its column of least label, throws out that column's
row, which becomes active, and lifts the column by two. The row's own label is one more than its column's was.

Global relabelling sets all labels to exact distances by a breadth-first search from the free columns (over the
transposed graph), at the start and after every k · (rows + columns) pushes. Gap relabelling, which the papers have
too, spares no push beside it on any of our families (`papers.deveci_gpr_2013` has it).
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from ..jit.bitset import empty_bits
from ..jit.compiled import compiled
from ..jit.prefetch import prefetch
from .choices import check_number
from .graph import BipartiteGraph, IntArray
from .labels import global_relabel

# How many entries of the ring ahead a row's pointer, its columns and their labels are fetched; of how many columns.
_FAR, _NEAR, _NEXT = 16, 8, 4
_LABELS = 8
_NEARLY_ALL = 1500

_Arrays = tuple[IntArray, ...]


def push_relabel(
    graph: BipartiteGraph,
    col_of_row: IntArray,
    row_of_col: IntArray,
    *,
    k: float = 0.5,
    first_relabel: bool = True,
    pushes_per_level: float = np.inf,
    few: float = 0.0,
) -> dict[str, Any]:
    """Augment a matching in place to a maximum one; returns the statistics of the run.

    Parameters
    ----------
    k : float
        Global relabelling after every k · (rows + columns) pushes.
    first_relabel : bool
        Start from exact distances; else from 0 for free and 2 for matched columns, which are bounds too.
    pushes_per_level : float
        After a global relabelling that found L levels, relabel again after at most this times L pushes per active row:
        the last few rows are led by exact distances instead of stirring the whole graph. Not in the papers.
    few : float
        Leave out a relabelling when at most this share of all rows is active and the last period served three of
        four: pushing those on costs less than distances for all. (Not when it served all but one in 1500: on a graph of
        so short paths distances lead the rest straight to their sinks.) Not in the papers.
    """
    check_number("k", k, "global relabelling period")
    check_number("pushes_per_level", pushes_per_level, "pushes per active row and level")
    check_number("few", few, "share of active rows", zero=True)
    label = np.zeros(graph.n_columns, np.int32)
    bound_of_row = np.empty(graph.n_rows, np.int32)
    free_rows = np.flatnonzero(col_of_row < 0).astype(np.int32)
    ring = 1 << len(free_rows).bit_length()
    buffers = label, bound_of_row
    scratch = np.empty(graph.n_columns, np.int32), empty_bits(graph.n_rows)
    active = np.empty(ring, np.int32), np.empty(ring, np.int32)
    full_budget = k * (graph.n_rows + graph.n_columns)
    levels: list[int] = []
    active_rows = [len(free_rows)]
    relabel_seconds: list[float] = []
    push_seconds: list[float] = []
    pushes = 0
    exact = first_relabel
    if not exact:
        label[row_of_col >= 0] = 2
        bound_of_row[:] = 1
    while len(free_rows):
        budget = full_budget
        begin = perf_counter()
        if exact:
            transposed = graph.transposed.indptr, graph.transposed.indices
            levels.append(global_relabel(*transposed, col_of_row, row_of_col, *buffers, *scratch, len(free_rows)))
        if levels:
            budget = min(budget, pushes_per_level * levels[-1] * len(free_rows))
        relabelled = perf_counter()
        rows = graph.indptr, graph.indices, col_of_row, row_of_col
        n_left, n_pushes = _push(rows, buffers, free_rows, active, max(1, int(budget)))
        exact = n_left > few * graph.n_rows or not 4 * n_left <= len(free_rows) <= _NEARLY_ALL * n_left
        free_rows = free_rows[:n_left]
        active_rows.append(n_left)
        relabel_seconds.append(relabelled - begin)
        push_seconds.append(perf_counter() - relabelled)
        pushes += n_pushes
    return {
        "global_relabels": len(levels),
        "levels": levels,
        "active_rows": active_rows,
        "pushes": pushes,
        "relabel_seconds": relabel_seconds,
        "push_seconds": push_seconds,
    }


@compiled
def _push(rows: _Arrays, labels: _Arrays, free_rows: IntArray, ring: _Arrays, budget: int) -> tuple[int, int]:
    """Push from the active rows, first in, first out, until none is left or the budget is spent.

    `ring` is the active rows (their length a power of two) and the labels of these; a row that cannot reach a free
    column leaves it for good. What is left is packed into `free_rows`. Returns how many, and the pushes.
    One loop on purpose: with its steps in functions of their own it took half as long again.
    """
    indptr, indices, col_of_row, row_of_col = rows
    (label, bound_of_row), (active, bounds) = labels, ring
    n_rows, n_columns = len(col_of_row), len(row_of_col)
    unreachable = n_rows + n_columns
    mask = len(active) - 1
    n_active = len(free_rows)
    for a in range(n_active):
        active[a] = free_rows[a]
        bounds[a] = bound_of_row[free_rows[a]]
    head = pushes = 0
    while n_active > 0 and pushes < budget:
        if n_active > _FAR:
            prefetch(indptr, active[(head + _FAR) & mask])
        if n_active > _NEAR:
            prefetch(indices, indptr[active[(head + _NEAR) & mask]])
        if n_active > _NEXT:
            ahead = active[(head + _NEXT) & mask]
            for e in range(indptr[ahead], min(indptr[ahead] + _LABELS, indptr[ahead + 1])):
                prefetch(label, indices[e])
        i, enough = active[head], bounds[head] - 1
        head = (head + 1) & mask
        n_active -= 1
        least = np.int32(unreachable)
        column = np.int32(-1)
        if enough < unreachable - 1:
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                is_less = label[j] < least  # chosen without a branch, which would be mispredicted half the time
                column = j if is_less else column
                least = label[j] if is_less else least
                if least <= enough:
                    break
        if column < 0:
            continue
        pushes += 1
        displaced = row_of_col[column]
        row_of_col[column] = i
        col_of_row[i] = column
        label[column] = min(least + 2, unreachable)
        if displaced >= 0:
            col_of_row[displaced] = -1
            tail = (head + n_active) & mask
            prefetch(indptr, displaced)
            active[tail] = displaced
            bounds[tail] = least - 1
            n_active += 1
    for a in range(n_active):
        place = (head + a) & mask
        free_rows[a] = active[place]
        bound_of_row[active[place]] = bounds[place]
    return n_active, pushes
