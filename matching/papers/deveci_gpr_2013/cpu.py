"""G-PR on the CPU: the ICPP paper's GPU push-relabel kernel by kernel, one thread after another.

Deveci, Kaya, Uçar & Çatalyürek, "A push-relabel-based maximum cardinality bipartite matching algorithm on GPUs",
ICPP 2013, Algorithms 3–9. This is the plain form that proves their logic without a GPU. Columns are active and push
to rows; ``mu_r`` is `col_of_row`, ``mu_c`` is `row_of_col`, ``psi_r, psi_c`` are the labels.

A displaced column is not marked: a column is active when it has no row or its row has another column. So ``mu_r``
is always right, and ``mu_c`` is put right at the end. ``mu_c == -2`` marks a column that cannot be matched.

Repaired against the print: Algorithm 6 line 3 tests u for v; μ(μ(v)) is read at μ(v) = -1 and -2 (Algorithms 6 and
8); w in Algorithm 9 is the column displaced from u; a blocked push (line 13) leaves the column active.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, Literal, get_args

import numpy as np

from ...cardinality.choices import is_positive
from ...cardinality.graph import BipartiteGraph, IntArray
from ...errors import InvalidProblem
from .cpu_kernels import fix_matching, g_gr_krnl, g_pr_krnl, gap_relabel, init_krnl, push_krnl

SHRINK_FROM = 512

Form = Literal["first", "active", "shrink"]


def g_pr(
    graph: BipartiteGraph,
    col_of_row: IntArray,
    row_of_col: IntArray,
    *,
    form: Form = "shrink",
    strategy: tuple[str, float] = ("adaptive", 0.7),
    gap: bool = True,
) -> dict[str, Any]:
    """Augment in place to a maximum matching.

    Parameters
    ----------
    form : {"first", "active", "shrink"}
        Algorithms 3 and 6 over all columns; Algorithm 7 with active-column lists; with lists that are compacted after
        a global relabelling while they have 512 entries or more.
    strategy : (str, float)
        When to relabel globally: ``("adaptive", k)`` after k · (levels of the last one) push kernels,
        ``("fix", k)`` after k.
    gap : bool
        Relabel at gaps too (a label that no row has cuts off what lies above it): here after every push kernel, on the
        GPU halfway between global relabellings. The paper names this heuristic without printing a kernel.

    Returns
    -------
    dict
        ``loops`` (push kernels), ``global_relabels``, ``levels`` per relabelling, ``pushes``,
        ``gap_relabels``, ``active_columns`` per loop; ``relabel_seconds`` each, ``push_seconds`` together.
    """
    interval = checked_interval(form, strategy)
    columns = graph.transposed
    labels = np.zeros(graph.n_rows, np.int32), np.ones(graph.n_columns, np.int32)
    mu = col_of_row, row_of_col
    pushing = columns.indptr, columns.indices, *mu, *labels
    stats: dict[str, Any] = dict.fromkeys(("loops", "global_relabels", "pushes", "gap_relabels"), 0)
    stats.update(levels=[], active_columns=[])
    current = np.flatnonzero(row_of_col < 0).astype(np.int32)
    previous = current.copy()
    active_in = np.full(graph.n_columns, -1, np.int64)
    relabel_seconds: list[float] = []
    next_relabel = loop = 0
    begin = perf_counter()
    shrink = False
    while True:
        if loop == next_relabel:
            started = perf_counter()
            max_level = global_relabel(graph, *mu, *labels)
            next_relabel = loop + interval(max_level)
            stats["global_relabels"] += 1
            stats["levels"].append(max_level // 2)
            shrink = form == "shrink"
            relabel_seconds.append(perf_counter() - started)
        if form == "first":
            n_active, pushes = g_pr_krnl(*pushing)
        else:
            n_active = init_krnl(*mu, loop, current, previous, active_in)
            if shrink and len(current) >= SHRINK_FROM:
                current = current[current != -1]
                previous = np.empty_like(current)
            shrink = False
            pushes = push_krnl(*pushing, loop, current, previous, active_in) if n_active else 0
            current, previous = previous, current
        if n_active == 0:
            break
        stats["pushes"] += pushes
        stats["active_columns"].append(n_active)
        if gap:
            stats["gap_relabels"] += gap_relabel(*labels)
        loop += 1
    stats["loops"] = loop
    stats["relabel_seconds"] = relabel_seconds
    stats["push_seconds"] = perf_counter() - begin - sum(relabel_seconds)
    fix_matching(*mu)
    return stats


def checked_interval(form: str, strategy: tuple[str, float]) -> Callable[[int], int]:
    """GETITERGR as a function of the levels the last global relabelling found; unknown names raise `InvalidProblem`."""
    if form not in get_args(Form):
        raise InvalidProblem(f"form needs 'first', 'active' or 'shrink'; got {form!r}.", argument="form")
    try:
        name, k = strategy
    except (TypeError, ValueError):
        name, k = "", 0
    if name not in {"adaptive", "fix"} or not is_positive(k):
        raise InvalidProblem(
            f"strategy needs ('adaptive', k) or ('fix', k) with k > 0; got {strategy!r}.", argument="strategy"
        )
    if name == "fix":
        return lambda _max_level: max(1, int(k))
    return lambda max_level: max(1, int(k * max_level))


def global_relabel(graph: BipartiteGraph, mu_r: IntArray, mu_c: IntArray, psi_r: IntArray, psi_c: IntArray) -> int:
    """G-GR, Algorithm 4: exact distances to the free rows, level by level. Returns maxLevel."""
    unreachable = graph.n_rows + graph.n_columns
    psi_r[:] = np.where(mu_r < 0, 0, unreachable)
    psi_c[:] = unreachable
    level = 0
    added = True
    while added:
        added = g_gr_krnl(graph.indptr, graph.indices, mu_r, mu_c, psi_r, psi_c, level)
        level += 2
    return level
