"""Date & Nagi's alternating-tree variant on several GPUs (section 5): the steps of `gpu_search` on every shard.

The columns are split: every device grows the trees over its own, and after each level all are sent which rows any of
them reached. Predecessors are gathered by the first device, which finds the paths and augments along them; matchings
and duals are handed out again. What the paper sends through the hosts by MPI goes from device to device here
(`collectives`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...device import cuda
from ...hungarian.shards import Shards, on_host
from ...paths.gpu_dense import DeviceCosts, DeviceState
from ...paths.state import FREE
from .exchange import take_largest
from .gpu_search import PaperSearch, first_free, frontier_arguments
from .gpu_tree import enter

_FILE = "papers/date_nagi_2016/exchange.cu"
REDUCE_THREADS = 1024


def match_by_trees(shards: Shards, state: DeviceState) -> tuple[int, DeviceState, dict[str, Any]]:
    """Match by the alternating-tree variant; as `multi_gpu.Method` says."""
    search = SplitTreeSearch(shards, state)
    return search.run(), search.on_host(), search.stats()


class SplitTreeSearch:
    """A solve by the alternating-tree variant: what concerns rows is on every device, columns are split.

    Attributes
    ----------
    searches : list of PaperSearch
        One a shard. The first one counts and keeps the time; with it, paths are found and augmented.
    row_of_col : list of int32 (all columns,)
        On every device; each search's own is a window of it.
    """

    def __init__(self, shards: Shards, state: DeviceState) -> None:
        n = shards.outline.n_rows
        self.shards = shards
        self.row_of_col = shards.copies(state.row_of_col)
        self.searches = shards.each(partial(_search_of_columns, state), shards.slices(), self.row_of_col)
        self.root = self.searches[0]
        self.packed_rows = shards.each(lambda part: part.cp.empty(n, np.int32))
        self.rows = shards.each(lambda part: part.cp.empty(n, np.int32))

    def run(self) -> int:
        """Match all rows; return an infeasible one or -1."""
        while not all(self._each(PaperSearch.reset)):
            n_rows = self._roots()
            while True:
                with self.root.phase("forward_s"):
                    while n_rows:
                        n_rows = self._level(n_rows)
                    least, found_sink = self._reduce_keys()
                if found_sink:
                    break
                with self.root.phase("dual_update_s"):
                    if least >= self.shards.none:
                        return first_free(self.root)
                    self.root.counts["dual_updates"] += 1
                    for search in self.searches:
                        search.delta = search.costs.dual_dtype.type(least)
                    self._each(enter)
                    n_rows = self._unpacked()
            self._augment_paths()
        return -1

    def on_host(self) -> DeviceState:
        """Return duals and matching."""
        v = on_host(self.shards, [search.state.v for search in self.searches], 1)
        rest = self.root.state.col_of_row, self.row_of_col[0]
        return DeviceState(cuda.to_host(self.root.state.r), v, *map(cuda.to_host, rest))

    def stats(self) -> dict[str, Any]:
        """Return counts and seconds of the phases."""
        return self.root.stats()

    def _each(self, do: Callable[..., Any], *of_parts: Any) -> list[Any]:
        return self.shards.each(lambda _, *own: do(*own), self.searches, *of_parts)

    def _roots(self) -> int:
        self.rows = self._each(PaperSearch.frontier)
        return len(self.rows[0])

    def _level(self, n_rows: int) -> int:
        """Grow the trees by the frontier; return how many rows the next one has."""

        def expand(search: PaperSearch, rows: Any) -> None:
            level = frontier_arguments(search, rows[:n_rows])
            search.launch("hungarian_expand_tree", len(search.key), *search.pairs(), search.delta, *level)

        self._each(expand, self.rows)
        return self._unpacked()

    def _unpacked(self) -> int:
        """Make the rows that any shard woke the frontier of all."""
        n = np.int32(self.shards.outline.n_rows)

        def pack(search: PaperSearch, first: int, packed: Any) -> None:
            _launch(search, "hungarian_pack_rows", int(n), n, np.int32(first), search.row_mark, search.row_pred, packed)

        def unpack(search: PaperSearch, packed: Any) -> tuple[Any, Any]:
            rows, count = search.costs.cp.empty(int(n), np.int32), search.costs.cp.zeros(1, np.int32)
            marks = search.row_pred, search.row_covered, search.entered, search.row_mark
            _launch(search, "hungarian_unpack_rows", int(n), n, search.delta, packed, *marks, rows, count)
            return rows, count

        self._each(pack, self.shards.first[:-1], self.packed_rows)
        self.shards.collective.all_max(self.packed_rows)
        broadcast = self._each(unpack, self.packed_rows)
        self.rows = [rows for rows, _ in broadcast]
        n_rows = int(broadcast[0][1][0])
        self.root.counts["levels"] += n_rows > 0
        return n_rows

    def _reduce_keys(self) -> tuple[Any, bool]:
        """Return the least Δ at which something enters, and whether a sink is found."""

        def look(search: PaperSearch) -> Any:
            found = search.costs.cp.empty(2, search.costs.dual_dtype)
            of_rows = search.costs.row_bound, search.state.r, search.entered, search.row_mark, search.unassigned
            of_cols = search.key, search.col_covered, search.col_mark
            kernel = search.costs.kernel(_FILE, "hungarian_reduce")
            kernel((1,), (REDUCE_THREADS,), (*search.costs.sizes, *of_rows, *of_cols, found))
            return found

        found = self._each(look)
        self.shards.collective.all_min(found)
        least, found_sink = cuda.to_host(found[0])
        return least, found_sink == 0

    def _augment_paths(self) -> None:
        """Paths, dual change and augmentation of a search; all devices know the new matching and its duals then."""
        root = self.root
        with root.phase("reverse_s"), root.costs.device:
            first, nexts = self._paths()
        with root.phase("dual_update_s"):
            self._each(PaperSearch.update_duals)
        with root.phase("augment_s"):
            with root.costs.device:
                matching = root.state.col_of_row, self.row_of_col[0]
                root.launch("hungarian_augment", len(first), first, np.int32(len(first)), *nexts, *matching)
            self.shards.collective.broadcast([search.state.col_of_row for search in self.searches])
            self.shards.collective.broadcast(self.row_of_col)
            self._remove_slack()
        root.count_paths(len(first))

    def _paths(self) -> tuple[Any, tuple[Any, Any]]:
        """Gather predecessors and sinks, and choose paths (Algorithm 5); return their first rows and all successors."""
        root, (n, m) = self.root, self.shards.outline.shape

        def pack(search: PaperSearch, first: int) -> Any:
            packed = search.costs.cp.full(m, FREE, np.int32)
            own = np.int32(len(search.key)), np.int32(first), search.col_pred, search.col_mark
            _launch(search, "hungarian_pack_columns", len(search.key), *own, packed)
            return packed

        packed = self._each(pack, self.shards.first[:-1])
        self.shards.collective.all_max(packed)
        cp = root.costs.cp
        known = packed[0]
        unassigned = cp.flatnonzero(root.unassigned) + m
        sinks = cp.concatenate([cp.flatnonzero((known >= 0) & (known % 2 == 1)), unassigned]).astype(np.int32)
        nexts, starts = (root.row_next, cp.full(m, FREE, np.int32)), cp.zeros(n, np.uint8)
        walk = np.int32(m), sinks, np.int32(len(sinks)), root.row_pred, known >> 1, *nexts, starts
        root.launch("hungarian_reverse", len(sinks), *walk)
        return cp.flatnonzero(starts).astype(np.int32), nexts

    def _remove_slack(self) -> None:
        """Take the duals of matched rows from their matched edges, which are known where their columns are."""

        def own(search: PaperSearch) -> Any:
            r = search.costs.cp.full(len(search.state.r), search.costs.lowest, search.costs.dual_dtype)
            m = search.costs.sizes[1]
            edges_of_columns = search.costs.cost, search.state.v, search.state.row_of_col, r
            search.launch("hungarian_remove_slack", int(m), m, *edges_of_columns)
            return r

        take_largest(self.shards, self._each(own), [search.state.r for search in self.searches])


def _search_of_columns(state: DeviceState, part: DeviceCosts, own: slice, row_of_col: Any) -> PaperSearch:
    arrays = part.cp.array(state.r), part.cp.array(state.v[own]), part.cp.array(state.col_of_row), row_of_col[own]
    return PaperSearch(part, DeviceState(*arrays))


def _launch(search: PaperSearch, name: str, items: int, *arguments: Any) -> None:
    search.launch(name, items, *arguments, file=_FILE)
