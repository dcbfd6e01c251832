"""G-PR on the GPU: the ICPP paper's push-relabel as published, one or two kernel launches a loop.

Deveci, Kaya, Uçar & Çatalyürek, "A push-relabel-based maximum cardinality bipartite matching algorithm on GPUs",
ICPP 2013, Algorithms 3–9; the kernels and the repairs are in ``papers/deveci_gpr_2013/gpr.cu``. Which maximum matching
comes out depends on races; its size does not, because the end is confirmed by a global relabelling.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from ...cardinality.gpu_graph import THREADS, DeviceGraph, DeviceMatching, blocks
from ...device import cuda
from .cpu import SHRINK_FROM, Form, checked_interval


def g_pr_gpu(
    graph: DeviceGraph,
    matching: DeviceMatching,
    *,
    form: Form = "shrink",
    strategy: tuple[str, float] = ("adaptive", 0.7),
    gap: bool = True,
) -> dict[str, Any]:
    """Augment in place to a maximum matching; the parameters are those of `g_pr`, its twin on the CPU.

    Returns
    -------
    dict
        ``loops`` (push kernels), ``global_relabels``, ``levels`` per relabelling, ``pushes``, ``gap_relabels``,
        ``list_sizes`` per relabelling, ``active_columns`` per loop; ``relabel_seconds`` each, ``push_seconds``
        together with those of gaps.
    """
    interval = checked_interval(form, strategy)
    run = _GprRun(graph, matching, form)
    stats: dict[str, Any] = {"loops": 0, "global_relabels": 0, "levels": [], "gap_relabels": 0}
    stats.update(list_sizes=[], active_columns=[])
    relabel_seconds: list[float] = []
    start = perf_counter()
    next_relabel = next_gap = max_level = loop = 0
    while True:
        if loop == next_relabel:
            begin = perf_counter()
            max_level = run.global_relabel()
            next_relabel = loop + interval(max_level)
            next_gap = (loop + next_relabel) // 2
            stats["global_relabels"] += 1
            stats["levels"].append(max_level // 2)
            stats["list_sizes"].append(run.shrink(loop) if form == "shrink" else run.size)
            relabel_seconds.append(perf_counter() - begin)
        elif gap and loop == next_gap:
            stats["gap_relabels"] += run.gap_relabel(max_level)
        n_active = run.push(loop)
        stats["active_columns"].append(n_active)
        loop += 1
        if n_active == 0:
            run.global_relabel()
            if not run.wake():
                break
            next_relabel = loop
    run.fix_matching()
    stats["loops"], stats["pushes"] = loop, int(run.n_pushes[0])
    push_seconds = perf_counter() - start - sum(relabel_seconds)
    return {**stats, "relabel_seconds": relabel_seconds, "push_seconds": push_seconds}


class _GprRun:
    """The arrays of Algorithms 3 and 7 and their functions."""

    def __init__(self, graph: DeviceGraph, matching: DeviceMatching, form: str) -> None:
        cp = cuda.cupy()
        self.kernels = graph.kernels("papers/deveci_gpr_2013/gpr.cu")
        self.rows, self.columns = graph, graph.transposed
        self.form = form
        self.m, self.n = np.int32(graph.n_rows), np.int32(graph.n_columns)
        self.infinite = np.int32(graph.n_rows + graph.n_columns)
        self.mu_row, self.mu_col = matching.col_of_row, matching.row_of_col
        self.psi_row = cp.empty(graph.n_rows, cp.int32)
        self.psi_col = cp.empty(graph.n_columns, cp.int32)
        self.i_a = cp.full(graph.n_columns, -1, cp.int32)
        self.flag = cp.zeros(1, cp.int32)
        self.n_pushes = cp.zeros(1, cp.int32)
        self._list_active()

    @property
    def size(self) -> int:
        """Length of the active-column lists; all columns in the form `first`."""
        return int(self.n) if self.form == "first" else len(self.a_c)

    def _launch(self, name: str, n: Any, *arguments: Any) -> None:
        self.kernels[f"cardinality_gpr_{name}"]((blocks(int(n)),), (THREADS,), arguments)

    def _list_active(self) -> None:
        cp = cuda.cupy()
        self.a_c = cp.flatnonzero(self.mu_col == -1).astype(cp.int32)
        self.a_p = self.a_c.copy()

    def global_relabel(self) -> int:
        """G-GR (Algorithm 4): exact distances to the free rows; return maxLevel."""
        sizes, labels = (self.m, self.n), (self.psi_row, self.psi_col)
        self._launch("init_relabel", max(sizes), *sizes, self.mu_row, *labels, self.infinite)
        rows = self.m, self.rows.indptr, self.rows.indices, self.mu_row, self.mu_col, *labels
        level, added = 0, True
        while added:
            self.flag.fill(0)
            self._launch("relabel_level", self.m, *rows, np.int32(level), self.infinite, self.flag)
            added = bool(self.flag[0])
            level += 2
        return level

    def gap_relabel(self, max_level: int) -> int:
        """Cut off the labels above the lowest even one that no row has; return how many gaps were found (0 or 1)."""
        cp = cuda.cupy()
        bins = cp.zeros(max_level + 2, cp.int32)
        self._launch("count_labels", self.m, self.m, self.psi_row, bins, np.int32(len(bins)))
        empty = np.flatnonzero(cuda.to_host(bins)[2::2] == 0)
        if not len(empty):
            return 0
        gap = np.int32(2 + 2 * empty[0])
        self._launch("gap_relabel", max(self.m, self.n), self.m, self.n, self.psi_row, self.psi_col, gap, self.infinite)
        return 1

    def shrink(self, loop: int) -> int:
        """G-PR-SHRKRNL while it pays; return the length of the lists."""
        if len(self.a_c) >= SHRINK_FROM:
            cp = cuda.cupy()
            shrunk = cp.empty_like(self.a_c)
            self.flag.fill(0)
            lists = self.mu_row, self.mu_col, self.a_c, self.a_p, self.i_a
            size = np.int32(len(self.a_c))
            self._launch("shrink_list", size, size, *lists, np.int32(loop), shrunk, self.flag)
            self.a_c = shrunk[: int(self.flag[0])].copy()
            self.a_p = self.a_c.copy()
        return len(self.a_c)

    def push(self, loop: int) -> int:
        """Run one loop of Algorithm 3 or 7; return how many columns were active."""
        self.flag.fill(0)
        partners = self.mu_row, self.mu_col
        pushing = self.columns.indptr, self.columns.indices, *partners, self.psi_row, self.psi_col, self.infinite
        if self.form == "first":
            self._launch("push_all", self.n, self.n, *pushing, self.flag, self.n_pushes)
            return int(self.flag[0])
        size, loop_number = np.int32(len(self.a_c)), np.int32(loop)
        self._launch("init_list", size, size, *partners, self.a_c, self.a_p, self.i_a, loop_number, self.flag)
        n_active = int(self.flag[0])
        if n_active == 0:
            return 0
        self._launch("push_list", size, size, *pushing, self.a_c, self.a_p, self.i_a, loop_number, self.n_pushes)
        self.a_c, self.a_p = self.a_p, self.a_c
        return n_active

    def wake(self) -> bool:
        """After a global relabelling: make the inactive columns active that can reach a free row after all."""
        wrong = (self.mu_col == -2) & (self.psi_col < self.infinite)
        if not bool(wrong.any()):
            return False
        self.mu_col[wrong] = -1
        self._list_active()
        self.i_a.fill(-1)
        return True

    def fix_matching(self) -> None:
        """FIXMATCHING: forget partners that went elsewhere."""
        self._launch("fix_matching", self.n, self.n, self.mu_row, self.mu_col)
