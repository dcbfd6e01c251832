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
from numba import njit

from .bitset import Bits, add, empty_bits, has, mark_matched
from .graph import BipartiteGraph, IntArray

_HANDFUL = 4


def pothen_fan(
    graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray, *, fairness: bool = True
) -> dict[str, Any]:
    """Augment a matching in place to a maximum one; returns the statistics of the run.

    Parameters
    ----------
    fairness : bool
        Scan backwards in every second phase.
    """
    return phases_while_they_pay(graph, col_of_row, row_of_col, np.inf, np.inf, fairness=fairness)


def phases_while_they_pay(
    graph: BipartiteGraph,
    col_of_row: IntArray,
    row_of_col: IntArray,
    max_visits: float,
    slow_share: float,
    *,
    fairness: bool = True,
) -> dict[str, Any]:
    """As `pothen_fan`, but end where another search is to go on.

    Parameters
    ----------
    max_visits : float
        Start no further phase once so many columns were met: the matching may then fall short of the maximum, and
        ``complete`` in the statistics says so.
    slow_share : float
        Nor once a phase augments more than this share of what the phase before did (and more than a handful): as long
        as the others, and ever more of them.
    """
    lookahead = graph.indptr[:-1].copy()
    edge_of_row = np.empty(graph.n_rows, graph.indptr.dtype)
    seen, matched = empty_bits(graph.n_columns), empty_bits(graph.n_columns)
    mark_matched(row_of_col, matched)
    stack = np.empty(graph.n_rows, np.int32)
    arrays = graph.indptr, graph.indices, col_of_row, row_of_col, edge_of_row, lookahead, seen, matched, stack
    free_rows = np.flatnonzero(col_of_row < 0).astype(np.int32)
    augmented: list[int] = []
    visited: list[int] = []
    seconds: list[float] = []
    n_augmented, is_slow = -1, False
    while n_augmented != 0 and sum(visited) < max_visits and not is_slow:
        begin = perf_counter()
        backwards = fairness and len(augmented) % 2 == 1
        n_augmented, n_left, n_visited = depth_first_phase(*arrays, free_rows, backwards)
        free_rows = free_rows[:n_left]
        is_slow = bool(augmented) and n_augmented > max(_HANDFUL, slow_share * augmented[-1])
        augmented.append(n_augmented)
        visited.append(n_visited)
        seconds.append(perf_counter() - begin)
    return {
        "phases": len(augmented),
        "augmentations": augmented,
        "visited_columns": visited,
        "phase_seconds": seconds,
        "complete": n_augmented == 0,
    }


@njit(cache=True, nogil=True)
def depth_first_phase(
    indptr: IntArray,
    indices: IntArray,
    col_of_row: IntArray,
    row_of_col: IntArray,
    edge_of_row: IntArray,
    lookahead: IntArray,
    seen: Bits,
    matched: Bits,
    stack: IntArray,
    free_rows: IntArray,
    backwards: bool,
) -> tuple[int, int, int]:
    """Search once from every free row; a column is met by one search only (it is `seen`).

    Packs the rows that stay free to the front of `free_rows`.
    Returns the number of augmentations, of rows left free, and of columns met.
    """
    seen[:] = np.uint64(0)
    n_left = 0
    n_visited = 0
    for root in free_rows:
        depth = 0
        stack[0] = root
        edge_of_row[root] = indptr[root + 1] - 1 if backwards else indptr[root]
        free_column = np.int32(-1)
        while depth >= 0:
            i = stack[depth]
            k = lookahead[i]
            end = indptr[i + 1]
            while k < end and has(matched, indices[k]):
                k += 1
            lookahead[i] = k
            if k < end:
                free_column = indices[k]
                break
            descended = False
            while depth >= 0 and not descended:
                i = stack[depth]
                k = edge_of_row[i]
                first, end = indptr[i], indptr[i + 1]
                while first <= k < end:
                    j = indices[k]
                    k += -1 if backwards else 1
                    if not has(seen, j):
                        add(seen, j)
                        n_visited += 1
                        r = row_of_col[j]
                        depth += 1
                        stack[depth] = r
                        edge_of_row[r] = indptr[r + 1] - 1 if backwards else indptr[r]
                        descended = True
                        break
                edge_of_row[i] = k
                if not descended:
                    depth -= 1
        if free_column < 0:
            free_rows[n_left] = root
            n_left += 1
            continue
        add(seen, free_column)
        add(matched, free_column)
        j = free_column
        while depth >= 0:
            i = stack[depth]
            previous = col_of_row[i]
            col_of_row[i] = j
            row_of_col[j] = i
            j = previous
            depth -= 1
    return len(free_rows) - n_left, n_left, n_visited
