"""HKDW: Hopcroft–Karp with the extra augmentations of Duff and Wiberg.

Duff & Wiberg, "Remarks on implementations of O(n^1/2 τ) assignment algorithms", ACM TOMS 1988. After the disjoint
shortest paths of a Hopcroft–Karp phase, the rows still free search depth first for paths of any length that avoid
the vertices already met; that only adds paths, so the bound of Hopcroft–Karp stays.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from ...cardinality.graph import BipartiteGraph, IntArray
from ...cardinality.pothen_fan import depth_first_phase
from ...jit.bitset import empty_bits, mark_matched
from ..phases import phase_statistics
from .hopcroft_karp import augment_along_levels, levels_from_free_rows


def hkdw(graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray) -> dict[str, Any]:
    """Augment a matching in place to a maximum one; returns the statistics of the run."""
    level_of_row = np.empty(graph.n_rows, np.int32)
    edge_of_row = np.empty(graph.n_rows, graph.indptr.dtype)
    lookahead = graph.indptr[:-1].copy()
    met, queue = np.empty(graph.n_columns, np.int32), np.empty(graph.n_rows, np.int32)
    level_starts = np.empty(graph.n_rows + 2, np.int32)
    seen, matched = empty_bits(graph.n_columns), empty_bits(graph.n_columns)
    augmented: list[int] = []
    extra: list[int] = []
    frontiers: list[list[int]] = []
    seconds: list[float] = []
    arrays = graph.indptr, graph.indices, col_of_row, row_of_col
    while True:
        begin = perf_counter()
        n_levels, found = levels_from_free_rows(*arrays, level_of_row, queue, level_starts)
        frontiers.append(np.diff(level_starts[: n_levels + 1]).tolist())
        if not found:
            seconds.append(perf_counter() - begin)
            break
        free_rows = queue[: level_starts[1]].copy()
        augmented.append(augment_along_levels(*arrays, level_of_row, edge_of_row, free_rows, queue, n_levels))
        free_rows = free_rows[col_of_row[free_rows] < 0]
        mark_matched(row_of_col, matched)
        searched = *arrays, edge_of_row, lookahead, seen, matched, met, queue
        n_extra, _, _ = depth_first_phase(searched, free_rows, False, False, np.inf)
        extra.append(n_extra)
        seconds.append(perf_counter() - begin)
    return {**phase_statistics(frontiers, augmented, seconds), "extra_augmentations": extra}
