"""Pothen–Fan with lookahead and fairness (PF+): phases of disjoint depth-first searches.

Pothen & Fan, "Computing the block triangular form of a sparse matrix", ACM TOMS 1990; fairness from Duff, Kaya &
Uçar, "Design, implementation, and analysis of maximum transversal algorithms", ACM TOMS 2011 (PFP, the sequential
baseline of the Euro-Par paper). Lookahead: a row first asks whether any of its columns is free, with a cursor that
never goes back, because a matched column stays matched. Fairness: phases scan the columns forwards and backwards in
turn. A phase in which no search succeeds proves the maximum.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..jit.bitset import Bits, add, empty_bits, has, mark_matched, remove
from ..jit.compiled import compiled
from .graph import BipartiteGraph, IntArray


def pothen_fan(graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray) -> dict[str, Any]:
    """Augment a matching in place to a maximum one; returns the statistics of the run."""
    return phases_within(graph, col_of_row, row_of_col, np.inf)[1]


def phases_within(
    graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray, max_visits: float
) -> tuple[bool, dict[str, Any]]:
    """As `pothen_fan`, but start no further phase once `max_visits` columns were met: another search is to go on.

    Returns whether the matching is maximum, and the statistics.
    """
    arrays = _arrays(graph, col_of_row, row_of_col)
    free_rows = np.flatnonzero(col_of_row < 0).astype(np.int32)
    augmented: list[int] = []
    visited: list[int] = []
    seconds: list[float] = []
    n_augmented = -1
    while n_augmented != 0 and sum(visited) < max_visits:
        begin = perf_counter()
        backwards = len(augmented) % 2 == 1
        n_augmented, n_left, n_visited = depth_first_phase(arrays, free_rows, backwards, False, np.inf)
        free_rows = free_rows[:n_left]
        augmented.append(n_augmented)
        visited.append(n_visited)
        seconds.append(perf_counter() - begin)
    stats = {
        "phases": len(augmented),
        "augmentations": augmented,
        "visited_columns": visited,
        "phase_seconds": seconds,
    }
    return n_augmented == 0, stats


def search_each_out(
    graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray, max_visits: float
) -> tuple[bool, dict[str, Any]]:
    """Search from every free row until it has a path or cannot have one: a single phase, then, is enough.

    Returns whether the matching is maximum, and the statistics.

    What a search that fails has met leads to no free column any more and stays closed (Duff, "On algorithms for
    obtaining a maximum transversal", ACM TOMS 1981); what one that succeeds has met is opened again, and may be met
    many times. That is cheap where lookahead ends nearly every search that succeeds within a few rows: uneven degrees.

    Parameters
    ----------
    max_visits : float
        Begin no further search once so many columns were met; the matching may then fall short of the maximum.
    """
    free_rows = np.flatnonzero(col_of_row < 0).astype(np.int32)
    begin = perf_counter()
    n_augmented, _, n_visited = depth_first_phase(
        _arrays(graph, col_of_row, row_of_col), free_rows, False, True, float(max_visits)
    )
    stats = {
        "phases": 1,
        "augmentations": [n_augmented],
        "visited_columns": [n_visited],
        "phase_seconds": [perf_counter() - begin],
    }
    return n_visited < max_visits, stats


Arrays = tuple[
    IntArray, IntArray, IntArray, IntArray, IntArray, IntArray, Bits, Bits, NDArray[np.int32], NDArray[np.int32]
]
"""What `depth_first_phase` searches: the graph, both sides' partners, cursors, bits, columns met, stack."""


def _arrays(graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray) -> Arrays:
    matched = empty_bits(graph.n_columns)
    mark_matched(row_of_col, matched)
    edge_of_row, lookahead = np.empty(graph.n_rows, graph.indptr.dtype), graph.indptr[:-1].copy()
    met, stack = np.empty(graph.n_columns, np.int32), np.empty(graph.n_rows, np.int32)
    seen = empty_bits(graph.n_columns)
    return graph.indptr, graph.indices, col_of_row, row_of_col, edge_of_row, lookahead, seen, matched, met, stack


@compiled
def depth_first_phase(
    arrays: Arrays, free_rows: IntArray, backwards: bool, reopens: bool, max_visits: float
) -> tuple[int, int, int]:
    """Search once from every free row, until `max_visits` columns were met; a search passes by columns that are `seen`.

    All are that an earlier search met, but what one that succeeded met is not if the phase `reopens` it.
    Packs the rows that stay free to the front of `free_rows`.
    Returns the number of augmentations, of rows left free, and of columns met.
    One loop on purpose: with the search in a function of its own it took half as long again.
    """
    indptr, indices, col_of_row, row_of_col, edge_of_row, lookahead, seen, matched, met, stack = arrays
    seen[:] = np.uint64(0)
    n_left = 0
    n_visited = 0
    step = -1 if backwards else 1
    for root in free_rows:
        if n_visited >= max_visits:
            free_rows[n_left] = root
            n_left += 1
            continue
        n_met = 0
        depth = 0
        stack[0] = root
        edge_of_row[root] = indptr[root + 1] - 1 if backwards else indptr[root]
        free_column = np.int32(-1)
        while depth >= 0:
            i = stack[depth]
            first, end = indptr[i], indptr[i + 1]
            k = lookahead[i]
            while k < end and has(matched, indices[k]):
                k += 1
            lookahead[i] = k
            if k < end:
                free_column = indices[k]
                break
            k = edge_of_row[i]
            while first <= k < end and has(seen, indices[k]):
                k += step
            edge_of_row[i] = k + step
            if not first <= k < end:
                depth -= 1
                continue
            j = indices[k]
            add(seen, j)
            met[n_met] = j
            n_met += 1
            depth += 1
            i = stack[depth] = row_of_col[j]
            edge_of_row[i] = indptr[i + 1] - 1 if backwards else indptr[i]
        n_visited += n_met
        if free_column < 0:
            free_rows[n_left] = root
            n_left += 1
            continue
        if reopens:
            for m in range(n_met):
                remove(seen, met[m])
        else:
            add(seen, free_column)
        add(matched, free_column)
        augment(stack, depth, free_column, col_of_row, row_of_col)
    return len(free_rows) - n_left, n_left, n_visited


@compiled
def augment(stack: IntArray, depth: int, free_column: Any, col_of_row: IntArray, row_of_col: IntArray) -> None:
    """Give the last row on the stack the free column, and each row before it the column of the row behind."""
    j = free_column
    while depth >= 0:
        i = stack[depth]
        previous = col_of_row[i]
        col_of_row[i] = j
        row_of_col[j] = i
        j = previous
        depth -= 1
