"""What Date & Nagi's two variants share on one GPU, step by step: each step a kernel, the host in between.

For the paper's tables (`gpu_classical`, `gpu_tree`); the kernels are in `papers/date_nagi_2016/steps.cu`. Rows
and sinks race as in the paper: the cost is guaranteed, the matched edges may differ between runs.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from ...paths.gpu_dense import THREADS, DeviceCosts, DeviceState
from ...paths.state import FREE

ACTIVE, VISITED, REVERSE = 1, 2, 3

SEARCHES_COUNTED = 64
"""Of a solve, the first, whose paths are counted one by one for Table 2."""


@dataclass
class PaperSearch:
    """One solve: the arrays of section 2.1, and what each phase took.

    Attributes
    ----------
    costs : DeviceCosts
    state : DeviceState
    phases : dict
        Seconds of each phase, synchronised.
    counts : dict
    """

    costs: DeviceCosts
    state: DeviceState
    phases: dict[str, float] = field(default_factory=dict)
    counts: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        cp, (n, m) = self.costs.cp, self.costs.cost.shape
        names = ("compaction_s", "forward_s", "reverse_s", "augment_s", "dual_update_s")
        self.phases.update(dict.fromkeys(names, 0.0))
        self.counts.update(searches=0, levels=0, dual_updates=0)
        self.counts["paths_of_search"] = np.zeros(SEARCHES_COUNTED, np.int64)
        self.delta: Any = self.costs.dual_dtype.type(0)
        self.row_covered, self.col_covered = cp.zeros(n, cp.uint8), cp.zeros(m, cp.uint8)
        self.row_mark, self.col_mark = cp.zeros(n, cp.uint8), cp.zeros(m, cp.uint8)
        self.unassigned = cp.zeros(n, cp.uint8)
        self.row_pred, self.col_pred = cp.empty(n, cp.int32), cp.empty(m, cp.int32)
        self.row_next, self.col_next = cp.empty(n, cp.int32), cp.empty(m, cp.int32)
        self.entered, self.key = cp.empty(n, self.costs.dual_dtype), cp.empty(m, self.costs.dual_dtype)

    @contextmanager
    def phase(self, name: str) -> Generator[None]:
        """Time a phase on the device."""
        began = perf_counter()
        yield
        self.costs.synchronize()
        self.phases[name] += perf_counter() - began

    def launch(self, name: str, items: int, *arguments: Any, file: str = "papers/date_nagi_2016/steps.cu") -> None:
        """Launch a kernel with about one thread an item."""
        grid = (min(max(-(-items // THREADS), 1), 1 << 16),)
        self.costs.kernel(file, name)(grid, (THREADS,), arguments)

    def pairs(self) -> tuple[Any, ...]:
        """Return what every kernel that looks at pairs takes first."""
        return *self.costs.sizes, *self.costs.pairs, self.costs.row_bound, self.state.v, self.state.r

    def reset(self) -> bool:
        """Begin a search (Algorithm 2); return whether every row is matched."""
        n = len(self.row_mark)
        matched = self.costs.cp.zeros(1, np.int32)
        self.launch("hungarian_optimality_check", n, np.int32(n), self.state.col_of_row, self.row_covered, matched)
        for array in (self.row_pred, self.col_pred, self.row_next, self.col_next):
            array.fill(FREE)
        for array in (self.col_covered, self.row_mark, self.col_mark, self.unassigned, self.entered):
            array.fill(0)
        self.key.fill(self.costs.none)
        self.delta = self.costs.dual_dtype.type(0)
        self.row_mark[self.state.col_of_row == FREE] = ACTIVE
        return int(matched[0]) == n

    def frontier(self) -> Any:
        """Contract: return the active rows, which are visited from now on."""
        rows = self.costs.cp.flatnonzero(self.row_mark == ACTIVE).astype(np.int32)
        self.row_mark[rows] = VISITED
        self.counts["levels"] += len(rows) > 0
        return rows

    def sinks(self) -> Any:
        """Return the sinks."""
        cp = self.costs.cp
        unassigned = cp.flatnonzero(self.unassigned == REVERSE) + len(self.col_mark)
        return cp.concatenate([cp.flatnonzero(self.col_mark == REVERSE), unassigned]).astype(np.int32)

    def augment_paths(self, sinks: Any) -> None:
        """Reverse pass, augmentation and the dual change of the search (Algorithms 5, 6, and 8 or 9)."""
        cp, (n, m) = self.costs.cp, self.costs.sizes
        with self.phase("reverse_s"):
            starts = cp.zeros(int(n), cp.uint8)
            walk = (m, sinks, np.int32(len(sinks)), self.row_pred, self.col_pred, self.row_next, self.col_next, starts)
            self.launch("hungarian_reverse", len(sinks), *walk)
            first = cp.flatnonzero(starts).astype(np.int32)
        with self.phase("dual_update_s"):
            self.update_duals()
        with self.phase("augment_s"):
            matching = self.state.col_of_row, self.state.row_of_col
            self.launch(
                "hungarian_augment", len(first), first, np.int32(len(first)), self.row_next, self.col_next, *matching
            )
            self.remove_slack()
        self.count_paths(len(first))

    def update_duals(self) -> None:
        """Update the duals after the search, before the augmentation."""
        n, m = self.costs.sizes
        duals = self.state.col_of_row, self.col_covered, self.key, self.state.v, self.state.r
        if self.delta > 0:
            self.launch("hungarian_update_duals", int(max(n, m)), n, m, self.delta, *duals)

    def remove_slack(self) -> None:
        """Take the duals of matched rows from their matched edges."""
        m = self.costs.sizes[1]
        edges_of_columns = self.costs.cost, self.state.v, self.state.row_of_col, self.state.r
        self.launch("hungarian_remove_slack", int(m), m, *edges_of_columns)

    def count_paths(self, paths: int) -> None:
        """Count a search that found so many paths."""
        if self.counts["searches"] < SEARCHES_COUNTED:
            self.counts["paths_of_search"][self.counts["searches"]] += paths
        self.counts["searches"] += 1

    def stats(self) -> dict[str, Any]:
        """Return counts and seconds of the phases."""
        return {**self.counts, **self.phases}


def frontier_arguments(search: PaperSearch, rows: Any) -> tuple[Any, ...]:
    """Return what both expansions take after the pairs and Δ (the classical one puts its list after the frontier)."""
    covers = search.row_covered, search.col_covered, search.entered, search.key
    marks = search.row_mark, search.col_mark, search.unassigned
    return rows, np.int32(len(rows)), search.state.row_of_col, search.row_pred, search.col_pred, *covers, *marks


def first_free(search: PaperSearch) -> int:
    """Return a row that is not matched."""
    return int(search.costs.cp.flatnonzero(search.state.col_of_row == FREE)[0])
