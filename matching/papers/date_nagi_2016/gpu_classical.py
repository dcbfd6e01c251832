"""Date & Nagi's classical variant on one GPU, step by step: Algorithms 2, 3 and 5 to 8, on compressed rows of zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...paths.gpu_dense import DeviceCosts, DeviceState
from .gpu_search import ACTIVE, VISITED, PaperSearch, first_free, frontier_arguments


class ZeroSearch(PaperSearch):
    """A solve by the classical variant, which searches among listed pairs of zero slack."""

    def run(self) -> int:
        """Match all rows; return an infeasible one or -1."""
        zeros: Any = None
        while not self.reset():
            while True:
                if zeros is None:
                    with self.phase("compaction_s"):
                        zeros = self.compressed()
                with self.phase("forward_s"):
                    rows = self.frontier()
                    while len(rows):
                        lists = rows, np.int32(len(rows)), *zeros, *frontier_arguments(self, rows)[2:]
                        self.launch("hungarian_expand_zeros", len(rows), *self.pairs(), self.delta, *lists)
                        rows = self.frontier()
                    sinks = self.sinks()
                if len(sinks):
                    break
                with self.phase("dual_update_s"):
                    least = self.least_uncovered()
                    if least >= self.costs.none:
                        return first_free(self)
                    self.delta = self.costs.dual_dtype.type(least)
                    self.counts["dual_updates"] += 1
                    self.row_mark[self.row_mark == VISITED] = ACTIVE
                zeros = None
            zeros = None if self.delta > 0 else zeros
            self.augment_paths(sinks)
        return -1

    def least_uncovered(self) -> Any:
        """Return θ (Algorithm 7)."""
        return self.least_of_rows().min().item()

    def least_of_rows(self) -> Any:
        """Return the least Δ at which each uncovered row gets a pair of zero slack, on the device."""
        least = self.costs.cp.empty(len(self.row_mark), self.costs.dual_dtype)
        covers = self.entered, self.row_covered, self.col_covered
        self.launch("hungarian_least_uncovered", 32 * len(least), *self.pairs(), *covers, least)
        return least

    def compressed(self) -> tuple[Any, Any]:
        """Return the pairs of zero slack as (first, columns) of compressed rows (section 3.3)."""
        first = self.counted()
        return first, self.listed(first)

    def counted(self) -> Any:
        """Return where each row's pairs of zero slack begin in their list, and where it ends, int64 (rows + 1,)."""
        cp, n = self.costs.cp, len(self.row_mark)
        first = cp.zeros(n + 1, np.int64)
        covers = self.entered, self.row_covered, self.col_covered
        self.launch("hungarian_count_zeros", 32 * n, *self.pairs(), self.delta, *covers, first[1:])
        return cp.cumsum(first)

    def listed(self, first: Any) -> Any:
        """Return the columns of the pairs of zero slack, int32."""
        zeros = self.costs.cp.empty(int(first[-1]), np.int32)
        covers = self.entered, self.row_covered, self.col_covered
        self.launch("hungarian_list_zeros", 32 * len(self.row_mark), *self.pairs(), self.delta, *covers, first, zeros)
        return zeros


def match_by_zeros(costs: DeviceCosts, state: DeviceState, _: Any) -> tuple[int, dict[str, Any]]:
    """Match by the classical variant; as `gpu_forest.match_by_forests`."""
    search = ZeroSearch(costs, state)
    return search.run(), search.stats()
