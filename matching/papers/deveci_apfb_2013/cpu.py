"""APFB and APsB on the CPU: the Euro-Par paper's GPU algorithms kernel by kernel, one thread after another.

Deveci, Kaya, Uçar & Çatalyürek, "GPU accelerated maximum cardinality matching algorithms for bipartite graphs",
Euro-Par 2013, Algorithms 1–4. This is the plain form that proves their logic without a GPU; it is no faster than
it looks. Names are the paper's: ``cxadj, cadj`` list the rows of each column, ``rmatch`` is `col_of_row`, ``cmatch``
is `row_of_col`, and searches start at free columns.

Variables: ``bfs_array[c]`` is the level of column c (START = 2 for free columns, START - 1 not met, smaller: its
root has a path already), ``predecessor[r]`` the column that met row r, ``root[c]`` the free column c hangs from.

Repaired against the print: Algorithm 1 never resets ``augmenting_path_found``; ALTERNATE line 8 reads
``predecessor[-1]`` at a root; FIXMATCHING reads ``cmatch[-2]`` and leaves ``cmatch`` entries that no row agrees with.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, Literal, get_args

import numpy as np

from ...cardinality.graph import BipartiteGraph, IntArray
from ...errors import InvalidProblem
from ...jit.compiled import compiled
from ..phases import phase_statistics

START = 2
_CONSTANT_THREADS = 256 * 256

Bfs = Literal["gpubfs", "gpubfs-wr"]
Launch = Literal["ct", "mt"]


def apfb(
    graph: BipartiteGraph,
    col_of_row: IntArray,
    row_of_col: IntArray,
    *,
    bfs: Bfs = "gpubfs-wr",
    launch: Launch = "ct",
) -> dict[str, Any]:
    """Augment in place to a maximum matching; every phase searches until no level adds a column.

    Parameters
    ----------
    bfs : {"gpubfs", "gpubfs-wr"}
        Algorithm 2, or Algorithm 4 which knows each column's root and stops a tree that has found a path.
    launch : {"ct", "mt"}
        Constant 256 × 256 threads, or one per vertex: on the CPU only the order in which vertices come.

    Returns
    -------
    dict
        ``phases``, ``levels`` per phase, ``frontiers`` (columns per level and phase), ``augmentations`` and
        ``phase_seconds`` per phase.
    """
    return _run(graph, col_of_row, row_of_col, bfs, launch, stop_at_first_level=False)


def apsb(
    graph: BipartiteGraph,
    col_of_row: IntArray,
    row_of_col: IntArray,
    *,
    bfs: Bfs = "gpubfs-wr",
    launch: Launch = "ct",
) -> dict[str, Any]:
    """Augment in place to a maximum matching; every phase stops at the first level with a path.

    With ``gpubfs-wr`` a root remembers the row its path ends in, and only that path is alternated (the root
    improvement, end of the paper's section 3). Parameters and result as in `apfb`.
    """
    return _run(graph, col_of_row, row_of_col, bfs, launch, stop_at_first_level=True)


def check_form(bfs: str, launch: str) -> None:
    """Raise `InvalidProblem` at an unknown kernel or launch."""
    if bfs not in get_args(Bfs):
        raise InvalidProblem(f"bfs needs 'gpubfs' or 'gpubfs-wr'; got {bfs!r}.", argument="bfs")
    if launch not in get_args(Launch):
        raise InvalidProblem(f"launch needs 'ct' or 'mt'; got {launch!r}.", argument="launch")


def _run(
    graph: BipartiteGraph, rmatch: IntArray, cmatch: IntArray, bfs: str, launch: str, *, stop_at_first_level: bool
) -> dict[str, Any]:
    check_form(bfs, launch)
    with_root = bfs == "gpubfs-wr"
    # the row's end is kept at the root by APsB-WR only: the paper saw no gain for APFB-WR
    keep_end = with_root and stop_at_first_level
    threads = _CONSTANT_THREADS if launch == "ct" else max(graph.n_rows, graph.n_columns, 1)
    cxadj, cadj = graph.transposed.indptr, graph.transposed.indices
    bfs_array = np.empty(graph.n_columns, np.int32)
    root = np.empty(graph.n_columns, np.int32)
    predecessor = np.full(graph.n_rows, -1, np.int32)
    frontiers: list[list[int]] = []
    augmentations: list[int] = []
    seconds: list[float] = []
    path_found = True
    while path_found:
        begin = perf_counter()
        matched = int(np.count_nonzero(rmatch >= 0))
        path_found = False
        level = START
        init_bfs_array(bfs_array, root, cmatch)
        frontiers.append([])
        inserted = True
        while inserted:
            frontiers[-1].append(int(np.count_nonzero(bfs_array == level)))
            state = bfs_array, cxadj, cadj, rmatch, predecessor, root
            inserted, found = expand_level(level, *state, threads, with_root, keep_end)
            path_found = path_found or found
            if path_found and stop_at_first_level:
                break
            level += 1
        alternate(cmatch, rmatch, predecessor, bfs_array, root, threads, keep_end)
        fix_matching(cmatch, rmatch)
        augmentations.append(int(np.count_nonzero(rmatch >= 0)) - matched)
        seconds.append(perf_counter() - begin)
    return phase_statistics(frontiers, augmentations, seconds)


@compiled
def init_bfs_array(bfs_array: IntArray, root: IntArray, cmatch: IntArray) -> None:
    """INITBFSARRAY: free columns start, matched ones are not met; a free column is its own root."""
    for c in range(len(cmatch)):
        bfs_array[c] = START if cmatch[c] < 0 else START - 1
        root[c] = c if cmatch[c] < 0 else 0


@compiled
def expand_level(
    level: int,
    bfs_array: IntArray,
    cxadj: IntArray,
    cadj: IntArray,
    rmatch: IntArray,
    predecessor: IntArray,
    root: IntArray,
    threads: int,
    with_root: bool,
    keep_end: bool,
) -> tuple[bool, bool]:
    """GPUBFS, Algorithm 2: expand one level. GPUBFS-WR, Algorithm 4, `with_root`: of the trees that have no path yet.

    Returns (vertex_inserted, augmenting_path_found).
    """
    inserted = found = False
    for thread in range(min(threads, len(bfs_array))):
        for c in range(thread, len(bfs_array), threads):
            my_root = root[c]
            if bfs_array[c] != level or (with_root and bfs_array[my_root] < START - 1):
                continue
            for k in range(cxadj[c], cxadj[c + 1]):
                r = cadj[k]
                col_match = rmatch[r]
                if col_match > -1:
                    if bfs_array[col_match] == START - 1:
                        inserted = True
                        bfs_array[col_match] = level + 1
                        root[col_match] = my_root
                        predecessor[r] = c
                elif col_match == -1:
                    if with_root:
                        bfs_array[my_root] = -r if keep_end else START - 2
                    rmatch[r] = -2
                    predecessor[r] = c
                    found = True
    return inserted, found


@compiled
def alternate(
    cmatch: IntArray,
    rmatch: IntArray,
    predecessor: IntArray,
    bfs_array: IntArray,
    root: IntArray,
    threads: int,
    keep_end: bool,
) -> None:
    """ALTERNATE, Algorithm 3: from each found row walk back to the root, until another path was there first."""
    for thread in range(min(threads, len(rmatch))):
        for start in range(thread, len(rmatch), threads):
            if rmatch[start] != -2:
                continue
            if keep_end and bfs_array[root[predecessor[start]]] != -start:
                continue
            r = start
            while r != -1:
                matched_col = predecessor[r]
                matched_row = cmatch[matched_col]
                if matched_row > -1 and predecessor[matched_row] == matched_col:
                    break
                cmatch[matched_col] = r
                rmatch[r] = matched_col
                r = matched_row


@compiled
def fix_matching(cmatch: IntArray, rmatch: IntArray) -> None:
    """FIXMATCHING: free every row, then every column, whose partner does not agree."""
    for r in range(len(rmatch)):
        if rmatch[r] < 0 or cmatch[rmatch[r]] != r:
            rmatch[r] = -1
    for c in range(len(cmatch)):
        if cmatch[c] < 0 or rmatch[cmatch[c]] != c:
            cmatch[c] = -1
