"""Date & Nagi's two variants on one GPU, step by step: each step a kernel, the host in between.

For the paper's tables; the kernels are in `kernels/hungarian_paper.cu`. Rows and path ends race as in the paper: the
cost is guaranteed, the links may differ between runs.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from .gpu_dense import THREADS, DeviceCosts, DeviceState
from .state import FREE

SEARCHES_COUNTED = 64
_ACTIVE, _VISITED, _REVERSE = 1, 2, 3


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
        self.counts.update(searches=0, levels=0, dual_updates=0, initial_assignments=0)
        self.counts["paths_of_search"] = np.zeros(SEARCHES_COUNTED, np.int64)
        self.delta: Any = self.costs.price_dtype.type(0)
        self.row_covered, self.col_covered = cp.zeros(n, cp.uint8), cp.zeros(m, cp.uint8)
        self.row_mark, self.col_mark, self.alone = cp.zeros(n, cp.uint8), cp.zeros(m, cp.uint8), cp.zeros(n, cp.uint8)
        self.row_pred, self.col_pred = cp.empty(n, cp.int32), cp.empty(m, cp.int32)
        self.row_next, self.col_next = cp.empty(n, cp.int32), cp.empty(m, cp.int32)
        self.entered, self.key = cp.empty(n, self.costs.price_dtype), cp.empty(m, self.costs.price_dtype)

    @contextmanager
    def phase(self, name: str) -> Generator[None]:
        """Time a phase on the device."""
        began = perf_counter()
        yield
        self.costs.cp.cuda.get_current_stream().synchronize()
        self.phases[name] += perf_counter() - began

    def launch(self, name: str, items: int, *arguments: Any) -> None:
        """Launch a kernel with about one thread an item."""
        grid = (min(max(-(-items // THREADS), 1), 1 << 16),)
        self.costs.kernel("hungarian_paper.cu", name)(grid, (THREADS,), arguments)

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
        for array in (self.col_covered, self.row_mark, self.col_mark, self.alone, self.entered):
            array.fill(0)
        self.key.fill(self.costs.none)
        self.delta = self.costs.price_dtype.type(0)
        self.row_mark[self.state.col_of_row == FREE] = _ACTIVE
        return int(matched[0]) == n

    def frontier(self) -> Any:
        """Contract: return the active rows, which are visited from now on."""
        rows = self.costs.cp.flatnonzero(self.row_mark == _ACTIVE).astype(np.int32)
        self.row_mark[rows] = _VISITED
        self.counts["levels"] += len(rows) > 0
        return rows

    def ends(self) -> Any:
        """Return the ends of paths."""
        cp = self.costs.cp
        alone = cp.flatnonzero(self.alone == _REVERSE) + len(self.col_mark)
        return cp.concatenate([cp.flatnonzero(self.col_mark == _REVERSE), alone]).astype(np.int32)

    def carry_out(self, ends: Any) -> None:
        """Reverse pass, augmentation and the dual change of the search (Algorithms 5, 6, and 8 or 9)."""
        cp, (n, m) = self.costs.cp, self.costs.sizes
        with self.phase("reverse_s"):
            starts = cp.zeros(int(n), cp.uint8)
            walk = (m, ends, np.int32(len(ends)), self.row_pred, self.col_pred, self.row_next, self.col_next, starts)
            self.launch("hungarian_reverse", len(ends), *walk)
            first = cp.flatnonzero(starts).astype(np.int32)
        with self.phase("dual_update_s"):
            duals = (self.state.col_of_row, self.col_covered, self.key, self.state.v, self.state.r)
            if self.delta > 0:
                self.launch("hungarian_update_duals", int(max(n, m)), n, m, self.delta, *duals)
        with self.phase("augment_s"):
            matching = self.state.col_of_row, self.state.row_of_col
            self.launch(
                "hungarian_augment", len(first), first, np.int32(len(first)), self.row_next, self.col_next, *matching
            )
            link = self.costs.cost, self.state.v, self.state.row_of_col, self.state.r
            self.launch("hungarian_tighten", int(m), m, *link)
        if self.counts["searches"] < SEARCHES_COUNTED:
            self.counts["paths_of_search"][self.counts["searches"]] += len(first)
        self.counts["searches"] += 1
        self.counts["initial_assignments"] += len(first) if self.counts["dual_updates"] == 0 else 0

    def stats(self) -> dict[str, Any]:
        """Return counts and seconds of the phases."""
        return {**self.counts, **self.phases}


def match_by_trees(costs: DeviceCosts, state: DeviceState, _: Any) -> tuple[int, dict[str, Any]]:
    """Match by the alternating-tree variant; as `gpu_forest.match_by_forests`."""
    search = PaperSearch(costs, state)
    while not search.reset():
        while True:
            with search.phase("forward_s"):
                rows = search.frontier()
                while len(rows):
                    search.launch(
                        "hungarian_expand_tree",
                        len(search.key),
                        *search.pairs(),
                        search.delta,
                        *_frontier(search, rows),
                    )
                    rows = search.frontier()
                ends = search.ends()
            if len(ends):
                break
            with search.phase("dual_update_s"):
                least = _least_key(search)
                if least >= costs.none:
                    return _first_free(search), search.stats()
                search.delta = costs.price_dtype.type(least)
                search.counts["dual_updates"] += 1
                marks = search.row_covered, search.col_covered, search.entered, search.key
                ends_of = search.row_mark, search.col_mark, search.alone
                arguments = *search.pairs(), search.delta, state.row_of_col, search.row_pred, *marks, *ends_of
                search.launch("hungarian_enter", max(costs.cost.shape), *arguments)
        search.carry_out(ends)
    return -1, search.stats()


def match_by_zeros(costs: DeviceCosts, state: DeviceState, _: Any) -> tuple[int, dict[str, Any]]:
    """Match by the classical variant; as `gpu_forest.match_by_forests`."""
    search = PaperSearch(costs, state)
    zeros: Any = None
    while not search.reset():
        while True:
            if zeros is None:
                with search.phase("compaction_s"):
                    zeros = _compressed(search)
            with search.phase("forward_s"):
                rows = search.frontier()
                while len(rows):
                    lists = rows, np.int32(len(rows)), *zeros, *_frontier(search, rows)[2:]
                    search.launch("hungarian_expand_zeros", len(rows), *search.pairs(), search.delta, *lists)
                    rows = search.frontier()
                ends = search.ends()
            if len(ends):
                break
            with search.phase("dual_update_s"):
                least = _least_uncovered(search)
                if least >= costs.none:
                    return _first_free(search), search.stats()
                search.delta = costs.price_dtype.type(least)
                search.counts["dual_updates"] += 1
                search.row_mark[search.row_mark == _VISITED] = _ACTIVE
            zeros = None
        zeros = None if search.delta > 0 else zeros
        search.carry_out(ends)
    return -1, search.stats()


def _frontier(search: PaperSearch, rows: Any) -> tuple[Any, ...]:
    """Return what both expansions take after the pairs and Δ (the classical one puts its list after the frontier)."""
    covers = search.row_covered, search.col_covered, search.entered, search.key
    marks = search.row_mark, search.col_mark, search.alone
    return rows, np.int32(len(rows)), search.state.row_of_col, search.row_pred, search.col_pred, *covers, *marks


def _least_key(search: PaperSearch) -> Any:
    """Return θ of the alternating-tree variant: the least Δ at which a column enters or a row goes alone."""
    cp, costs = search.costs.cp, search.costs
    least = cp.where(search.col_covered == 0, search.key, costs.none).min()
    waits = (search.row_mark == _VISITED) & (search.alone == 0) & (costs.row_bound < costs.none)
    alone = cp.where(waits, search.entered + (costs.row_bound - search.state.r), costs.none).min()
    return min(least.item(), alone.item())


def _least_uncovered(search: PaperSearch) -> Any:
    """Return θ of the classical variant (Algorithm 7)."""
    least = search.costs.cp.empty(len(search.row_mark), search.costs.price_dtype)
    covers = search.entered, search.row_covered, search.col_covered
    search.launch("hungarian_least_uncovered", 32 * len(least), *search.pairs(), *covers, least)
    return least.min().item()


def _compressed(search: PaperSearch) -> tuple[Any, Any]:
    """Return the pairs of zero slack as (first, columns) of compressed rows (section 3.3)."""
    cp, n = search.costs.cp, len(search.row_mark)
    first = cp.zeros(n + 1, np.int64)
    covers = search.entered, search.row_covered, search.col_covered
    search.launch("hungarian_count_zeros", 32 * n, *search.pairs(), search.delta, *covers, first[1:])
    first = cp.cumsum(first)
    zeros = cp.empty(max(int(first[-1]), 1), np.int32)
    search.launch("hungarian_list_zeros", 32 * n, *search.pairs(), search.delta, *covers, first, zeros)
    return first, zeros


def _first_free(search: PaperSearch) -> int:
    return int(search.costs.cp.flatnonzero(search.state.col_of_row == FREE)[0])
