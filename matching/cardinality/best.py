"""Our own best on one core: a start and a search chosen by features of the graph that cost under a millisecond.

Beyond the papers. No algorithm wins everywhere (CPU milliseconds with the start, one core, families of
``plugins/bench``):

- Push-relabel with prefetching is the one that is never bad, and needs no transposed graph while simple labels do.
  Particle gate of 2^16, permuted: 26, Pothen–Fan 700. Permuted Delaunay 2^16: 6, Pothen–Fan 9.
- A well-ordered mesh is completed by local searches in the time of reading it. Delaunay 2^17: 5, Hopcroft–Karp 8,
  Pothen–Fan 19, push-relabel 67.
- Pothen–Fan, which searches depth first, wins by 2 on thin graphs of many small or tree-like parts (road 2^16: 5,
  push-relabel 9) while it meets few columns.
- Very uneven degrees: a start from scarce rows and one phase of Pothen–Fan; each row that is left is then searched out.
  R-MAT 18: 125, Pothen–Fan alone 270, push-relabel 340 or more.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from ..errors import InvalidProblem
from ..jit.compiled import compiled
from .graph import BipartiteGraph, IntArray
from .local_search import local_search
from .pothen_fan import phases_within, search_each_out
from .push_relabel import push_relabel

Kind = Literal["uneven", "thin", "ordered", "general"]

_DEGREE_SAMPLE = 8192
_GAP_SAMPLE = 256
_THIN = 3.0
"""Mean number of columns of a row."""
_PUSHES_PER_LEVEL = 16.0
_FEW = 0.001
_LOCAL_LIMITS = 16, 128, 1024, 8192
_VISITS = 4.0
"""Columns that Pothen–Fan may meet, per row and column of the graph, before push-relabel takes over."""


def choose(graph: BipartiteGraph) -> Kind:
    """What the graph looks like: the rule behind ``algorithm="auto"`` on the CPU.

    - ``"uneven"``: the row degrees' standard deviation exceeds their mean.
    - ``"thin"``: rows have fewer than three columns on average.
    - ``"ordered"``: rows near in number are near in the graph: successive columns of a sampled row lie within 1/128 of
      all columns of each other (median).
    - ``"general"``: everything else.
    """
    stride = max(1, graph.n_rows // _DEGREE_SAMPLE)
    mean, deviation = _degrees(graph.indptr, stride)
    if deviation > mean:
        return "uneven"
    if mean < _THIN:
        return "thin"
    gap = _neighbour_gap(graph.indptr, graph.indices, max(1, graph.n_rows // _GAP_SAMPLE))
    return "ordered" if gap * 128 <= graph.n_columns else "general"


@compiled
def _degrees(indptr: IntArray, stride: int) -> tuple[float, float]:
    """Of every stride-th row: mean degree and its standard deviation."""
    n = 0
    total = squares = 0.0
    for i in range(0, len(indptr) - 1, stride):
        degree = indptr[i + 1] - indptr[i]
        n += 1
        total += degree
        squares += degree * degree
    if n == 0:
        return 0.0, 0.0
    mean = total / n
    return mean, np.sqrt(max(squares / n - mean * mean, 0.0))


def _neighbour_gap(indptr: IntArray, indices: IntArray, stride: int) -> float:
    """Median distance between successive columns in every stride-th row; of long rows the first 64 count."""
    gaps = np.empty(64 * -(-(len(indptr) - 1) // stride), np.int64)
    n = _gaps(indptr, indices, stride, gaps)
    if not n:
        return np.inf
    middle = [(n - 1) // 2, n // 2]
    return float(np.partition(gaps[:n], middle)[middle].mean())  # `np.median` in a kernel took 2.4 s to compile


@compiled
def _gaps(indptr: IntArray, indices: IntArray, stride: int, gaps: IntArray) -> int:
    """Write down the distances of `_neighbour_gap`, and return how many they are."""
    n = 0
    for i in range(0, len(indptr) - 1, stride):
        for k in range(indptr[i] + 1, min(indptr[i + 1], indptr[i] + 64)):
            gaps[n] = indices[k] - indices[k - 1]
            n += 1
    return n


def best(
    graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray, *, kind: Kind | None = None
) -> dict[str, Any]:
    """Augment a matching in place to a maximum one; returns the statistics of the run.

    Parameters
    ----------
    kind : {"uneven", "thin", "ordered", "general"}, optional
        Instead of what `choose` says.
    """
    if kind is None:
        kind = choose(graph)
    elif kind not in get_args(Kind):
        raise InvalidProblem(
            f"kind needs one of {', '.join(map(repr, get_args(Kind)))}; got {kind!r}.", argument="kind"
        )
    stats: dict[str, Any] = {"kind": kind}
    if np.all(row_of_col >= 0):
        return stats
    if kind == "ordered":
        n_free = stats["free_after_local_search"] = _complete_nearby(graph, col_of_row, row_of_col)
        if n_free == 0:
            return stats
    if kind in {"uneven", "thin"}:
        is_maximum, stats["pothen-fan"] = _depth_first(graph, col_of_row, row_of_col, is_uneven=kind == "uneven")
        if is_maximum:
            return stats
    far = kind != "general"  # near free columns are taken: exact distances pay at once
    stats["push-relabel"] = push_relabel(
        graph, col_of_row, row_of_col, first_relabel=far, pushes_per_level=_PUSHES_PER_LEVEL, few=_FEW
    )
    return stats


def _depth_first(
    graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray, *, is_uneven: bool
) -> tuple[bool, dict[str, Any]]:
    """Search depth first as long as it pays; return whether the matching is maximum, and the statistics."""
    most = _VISITS * (graph.n_rows + graph.n_columns)
    if not is_uneven:
        return phases_within(graph, col_of_row, row_of_col, most)
    is_maximum, first = phases_within(graph, col_of_row, row_of_col, 1)  # so many visits make one phase
    if is_maximum:
        return True, first
    is_maximum, last = search_each_out(graph, col_of_row, row_of_col, most)
    return is_maximum, {name: first[name] + last[name] for name in first}


def _complete_nearby(graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray) -> int:
    """Search locally, with growing limits while each matches most and costs little; returns the rows left free."""
    n_free = int(np.count_nonzero(col_of_row < 0))
    for limit in _LOCAL_LIMITS:
        if n_free == 0 or n_free * limit > 4 * graph.n_rows:
            break
        n_before, n_free = n_free, local_search(graph, col_of_row, row_of_col, limit)
        if n_free * 4 > n_before:
            break
    return n_free
