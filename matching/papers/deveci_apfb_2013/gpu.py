"""APFB and APsB on the GPU: the Euro-Par paper's algorithms as published, one kernel launch a BFS level.

Deveci, Kaya, Uçar & Çatalyürek, "GPU accelerated maximum cardinality matching algorithms for bipartite graphs",
Euro-Par 2013, Algorithms 1–4; the kernels and the repairs are in ``papers/deveci_apfb_2013/apfb.cu``. Which maximum
matching comes out depends on races; its size does not.

One addition: racing alternations may undo each other, so a phase that found paths and yet gained nothing alternates
once more with a single thread, which always gains.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from ...cardinality.gpu_graph import THREADS, DeviceGraph, DeviceMatching
from ...device import cuda
from ..phases import phase_statistics
from .cpu import START, Bfs, Launch, check_form

_CONSTANT_GRID = 256


def apfb_gpu(
    graph: DeviceGraph, matching: DeviceMatching, *, bfs: Bfs = "gpubfs-wr", launch: Launch = "ct"
) -> dict[str, Any]:
    """Augment in place to a maximum matching; parameters and result are those of `apfb`, its twin on the CPU."""
    return _run(graph, matching, bfs, launch, stop_at_first_level=False)


def apsb_gpu(
    graph: DeviceGraph, matching: DeviceMatching, *, bfs: Bfs = "gpubfs-wr", launch: Launch = "ct"
) -> dict[str, Any]:
    """Augment in place to a maximum matching; parameters and result are those of `apsb`, its twin on the CPU."""
    return _run(graph, matching, bfs, launch, stop_at_first_level=True)


def _run(
    graph: DeviceGraph, matching: DeviceMatching, bfs: str, launch: str, *, stop_at_first_level: bool
) -> dict[str, Any]:
    check_form(bfs, launch)
    run = _ApfbRun(graph, matching, launch, with_root=bfs == "gpubfs-wr", stop_at_first_level=stop_at_first_level)
    frontiers: list[list[int]] = []
    augmentations: list[int] = []
    seconds: list[float] = []
    size = run.fix()
    path_found = True
    while path_found:
        begin = perf_counter()
        frontier, path_found = run.search()
        if path_found:
            run.alternate(len(frontier))
            grown = run.fix()
            if grown == size:
                repeated, _ = run.search()
                run.alternate(len(repeated), serial=True)
                grown = run.fix()
            augmentations.append(grown - size)
            size = grown
        else:
            augmentations.append(0)
        frontiers.append(frontier)
        seconds.append(perf_counter() - begin)
    return phase_statistics(frontiers, augmentations, seconds)


class _ApfbRun:
    """The arrays of Algorithm 1 and its four functions."""

    def __init__(
        self, graph: DeviceGraph, matching: DeviceMatching, launch: str, *, with_root: bool, stop_at_first_level: bool
    ) -> None:
        cp = cuda.cupy()
        self.kernels = graph.kernels("papers/deveci_apfb_2013/apfb.cu")
        self.columns = graph.transposed
        self.nr, self.nc = np.int32(graph.n_rows), np.int32(graph.n_columns)
        self.rmatch, self.cmatch = matching.col_of_row, matching.row_of_col
        self.bfs_array = cp.empty(graph.n_columns, cp.int32)
        self.root = cp.empty(graph.n_columns, cp.int32)
        self.predecessor = cp.full(graph.n_rows, -1, cp.int32)
        self.found = cp.zeros(3, cp.int32)  # vertex inserted, path found, columns of the level
        self.constant = launch == "ct"
        self.with_root = with_root
        self.stop_at_first_level = stop_at_first_level
        self.keep_end = with_root and stop_at_first_level

    def _launch(self, name: str, n: Any, *arguments: Any) -> None:
        grid = _CONSTANT_GRID if self.constant else max(-(-int(n) // THREADS), 1)
        self.kernels[f"cardinality_apfb_{name}"]((grid,), (THREADS,), arguments)

    def search(self) -> tuple[list[int], bool]:
        """Run lines 3–11 of Algorithm 1; return the columns of each level and whether a path was found."""
        self._launch("init", self.nc, self.nc, self.cmatch, self.bfs_array, self.root)
        self.found.fill(0)
        frontier: list[int] = []
        level = START
        while True:
            self._level(level)
            inserted, path_found, size = map(int, cuda.to_host(self.found))
            frontier.append(size)
            if not inserted or (path_found and self.stop_at_first_level):
                return frontier, bool(path_found)
            self.found[0] = 0
            self.found[2] = 0
            level += 1

    def _level(self, level: int) -> None:
        adjacency = self.columns.indptr, self.columns.indices, self.nc
        where = np.int32(level), self.bfs_array, *adjacency, self.rmatch, self.predecessor, self.root
        self._launch("bfs", self.nc, *where, np.int32(self.with_root), np.int32(self.keep_end), self.found)

    def alternate(self, n_levels: int, *, serial: bool = False) -> None:
        """ALTERNATE (Algorithm 3), or along the roots' own paths; `serial` uses one thread."""
        most_steps = np.int32(n_levels + 1)
        if self.keep_end and not serial:
            ends = self.predecessor, most_steps
            self._launch("check_ends", self.nc, self.nc, self.bfs_array, self.cmatch, *ends)
            self._launch("alternate_roots", self.nc, self.nc, self.bfs_array, self.cmatch, self.rmatch, *ends)
            return
        arguments = (self.nr, self.cmatch, self.rmatch, self.predecessor, most_steps)
        if serial:
            self.kernels["cardinality_apfb_alternate"]((1,), (1,), arguments)
        else:
            self._launch("alternate", self.nr, *arguments)

    def fix(self) -> int:
        """FIXMATCHING, rows and then columns; return the size of the matching."""
        size = cuda.cupy().zeros(1, np.int32)
        self._launch("fix_rows", self.nr, self.nr, self.cmatch, self.rmatch)
        self._launch("fix_columns", self.nc, self.nc, self.cmatch, self.rmatch, size)
        return int(size[0])
