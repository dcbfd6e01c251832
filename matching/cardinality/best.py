"""Our own best on one core: a start and a search chosen by features of the graph that cost under a millisecond.

Beyond the papers. No algorithm wins everywhere (CPU milliseconds with the start, one core, `recipes/graphs.py`):

- Push-relabel with prefetching is the one that is never bad, and needs no transposed graph while simple labels do.
  Particle gate of 10⁶, permuted: 850, Pothen–Fan 85,000. Permuted Delaunay 2^20: 630, Pothen–Fan 710–1,400.
- A well-ordered mesh is mended by local searches in the time of reading it. Random geometric 2^20: 32, Pothen–Fan 148,
  push-relabel 400.
- Very uneven degrees: a start from scarce rows, then Pothen–Fan. R-MAT 18: 200, push-relabel 340 or more.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numba import njit

from ..errors import InvalidProblem
from .graph import BipartiteGraph, IntArray
from .hopcroft_karp import hopcroft_karp
from .local_search import local_search
from .pothen_fan import pothen_fan
from .push_relabel import push_relabel

Kind = Literal["uneven", "ordered", "general"]

_DEGREE_SAMPLE = 65536
_GAP_SAMPLE = 1000
_PATIENCE = 16.0
_LOCAL_LIMITS = 64, 1024, 16384
_FEW = 16
"""So few free rows are left to Hopcroft–Karp: at most as many phases, and no transposed graph."""


def choose(graph: BipartiteGraph) -> Kind:
    """What the graph looks like: the rule behind ``algorithm="auto"`` on the CPU.

    - ``"uneven"``: the row degrees' standard deviation exceeds their mean.
    - ``"ordered"``: rows near in number are near in the graph: successive columns of a sampled row lie within 1/256 of
      all columns of each other (median), and hardly any row (1/256 of them) has fewer than two columns.
    - ``"general"``: everything else.
    """
    stride = max(1, graph.n_rows // _DEGREE_SAMPLE)
    mean, deviation, thin = _degrees(graph.indptr, stride)
    if deviation > mean:
        return "uneven"
    gap = _neighbour_gap(graph.indptr, graph.indices, max(1, graph.n_rows // _GAP_SAMPLE))
    return "ordered" if gap * 256 <= graph.n_columns and thin * 256 <= 1 else "general"


@njit(cache=True, nogil=True)
def _degrees(indptr: IntArray, stride: int) -> tuple[float, float, float]:
    """Of every stride-th row: mean degree, its standard deviation, the share with fewer than two columns."""
    n = thin = 0
    total = squares = 0.0
    for i in range(0, len(indptr) - 1, stride):
        degree = indptr[i + 1] - indptr[i]
        n += 1
        total += degree
        squares += degree * degree
        if degree < 2:
            thin += 1
    if n == 0:
        return 0.0, 0.0, 0.0
    mean = total / n
    return mean, np.sqrt(max(squares / n - mean * mean, 0.0)), thin / n


@njit(cache=True, nogil=True)
def _neighbour_gap(indptr: IntArray, indices: IntArray, stride: int) -> float:
    """Median distance between successive columns in every stride-th row; of long rows the first 64 count."""
    rows = np.arange(0, len(indptr) - 1, stride)
    gaps = np.empty(64 * len(rows), np.int64)
    n = 0
    for i in rows:
        for k in range(indptr[i] + 1, min(indptr[i + 1], indptr[i] + 64)):
            gaps[n] = indices[k] - indices[k - 1]
            n += 1
    return float(np.median(gaps[:n])) if n else np.inf


def best(
    graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray, *, kind: Kind | None = None
) -> dict[str, Any]:
    """Augment a matching in place to a maximum one; returns the statistics of the run.

    Parameters
    ----------
    kind : {"uneven", "ordered", "general"}, optional
        Instead of what `choose` says.
    """
    if kind is None:
        kind = choose(graph)
    elif kind not in {"uneven", "ordered", "general"}:
        raise InvalidProblem(f'kind: need "uneven", "ordered" or "general", got {kind!r}')
    stats: dict[str, Any] = {"kind": kind}
    if kind == "uneven":
        stats["pothen-fan"] = pothen_fan(
            graph, col_of_row, row_of_col, max_visits=4.0 * (graph.n_rows + graph.n_columns)
        )
        if stats["pothen-fan"]["complete"]:
            return stats
    elif kind == "ordered":
        n_free = _mend(graph, col_of_row, row_of_col)
        stats["free_after_local_search"] = n_free
        if n_free == 0:
            return stats
        if n_free <= _FEW:
            stats["hopcroft-karp"] = hopcroft_karp(graph, col_of_row, row_of_col)
            return stats
    stats["push-relabel"] = push_relabel(graph, col_of_row, row_of_col, first_relabel=False, patience=_PATIENCE)
    return stats


def _mend(graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray) -> int:
    """Local searches with growing limits while they cannot cost more than a few passes; returns the rows left free."""
    n_free = int(np.count_nonzero(col_of_row < 0))
    for limit in _LOCAL_LIMITS:
        if n_free == 0 or n_free * limit > 4 * graph.n_rows:
            break
        n_free = local_search(graph, col_of_row, row_of_col, limit)
    return n_free
