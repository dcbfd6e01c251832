"""A matching and the proof of its size: a vertex cover of the same size (König)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..device import cuda
from ..errors import InvalidProblem
from ..jit.compiled import compiled
from .graph import BipartiteGraph, IntArray


class VertexCover(NamedTuple):
    """Vertices that touch every edge.

    Attributes
    ----------
    rows : ndarray of bool, shape (n_rows,)
    columns : ndarray of bool, shape (n_columns,)
    """

    rows: NDArray[np.bool_]
    columns: NDArray[np.bool_]

    @property
    def size(self) -> int:
        """How many vertices the cover has."""
        return int(np.count_nonzero(self.rows)) + int(np.count_nonzero(self.columns))


@dataclass(frozen=True, eq=False, repr=False)
class Matching:
    """A maximum matching of a bipartite graph.

    Attributes
    ----------
    graph : BipartiteGraph or DeviceGraph
        The graph it belongs to. Of a graph on the GPU, the arrays below are CuPy's.
    col_of_row : ndarray of int32, shape (n_rows,)
        The partner of each row, -1 where it has none.
    row_of_col : ndarray of int32, shape (n_columns,)
        The partner of each column, -1 where it has none.
    algorithm, initial, device : str
        What was run, where.
    stats : dict
        Counts of the run (phases, levels, pushes, …: each algorithm names its own) and ``seconds`` per part.
    """

    graph: Any
    col_of_row: IntArray
    row_of_col: IntArray
    algorithm: str
    initial: str
    device: str
    stats: dict[str, Any]

    def __repr__(self) -> str:
        run = f"algorithm={self.algorithm!r}, initial={self.initial!r}, device={self.device!r}"
        return f"Matching(size={self.size}, {run})"

    @cached_property
    def size(self) -> int:
        """Number of matched pairs."""
        return int(np.count_nonzero(self.col_of_row >= 0))

    @cached_property
    def cover(self) -> VertexCover:
        """A minimum vertex cover, of `size` vertices: the proof that no matching is larger (`konig_cover`).

        Found on first use by one alternating search; vertices without an edge are never in it.
        """
        if cuda.is_device_array(self.col_of_row):
            from .gpu_solve import minimum_cover_gpu  # needs CuPy

            return VertexCover(*minimum_cover_gpu(self.graph, self.col_of_row, self.device))
        return konig_cover(self.graph, self.col_of_row, self.row_of_col)

    def on_host(self) -> Matching:
        """The same matching in NumPy arrays; itself if it is already."""
        if not cuda.is_device_array(self.col_of_row):
            return self
        graph = BipartiteGraph.from_any(self.graph)
        return replace(
            self, graph=graph, col_of_row=cuda.to_host(self.col_of_row), row_of_col=cuda.to_host(self.row_of_col)
        )


def konig_cover(graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray) -> VertexCover:
    """König's vertex cover of a maximum matching.

    With Z the vertices on alternating paths from free rows: the rows outside Z and the columns inside. If the
    matching is not maximum, the result covers no less but is larger than the matching.
    """
    reached_rows, reached_columns = alternating_reach(graph, col_of_row, row_of_col)
    return VertexCover(~reached_rows, reached_columns)


def alternating_reach(
    graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Rows and columns on alternating paths that start at free rows, as boolean arrays."""
    reached_rows, reached_columns = np.zeros(graph.n_rows, np.bool_), np.zeros(graph.n_columns, np.bool_)
    _reach(graph.indptr, graph.indices, col_of_row, row_of_col, reached_rows, reached_columns)
    return reached_rows, reached_columns


@compiled
def _reach(
    indptr: IntArray,
    indices: IntArray,
    col_of_row: IntArray,
    row_of_col: IntArray,
    reached_rows: NDArray[np.bool_],
    reached_columns: NDArray[np.bool_],
) -> None:
    queue = np.empty(len(col_of_row), np.int32)
    tail = 0
    for i in range(len(col_of_row)):
        if col_of_row[i] < 0:
            reached_rows[i] = True
            queue[tail] = i
            tail += 1
    head = 0
    while head < tail:
        i = queue[head]
        head += 1
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if reached_columns[j]:
                continue
            reached_columns[j] = True
            r = row_of_col[j]
            if r >= 0 and not reached_rows[r]:
                reached_rows[r] = True
                queue[tail] = r
                tail += 1


def verify_matching(graph: Any, matching: Matching) -> int:
    """Check a matching and the proof of its size without running any solver.

    The matching must use edges of the graph, each vertex at most once; its cover must touch every edge and have as
    many vertices as the matching has pairs. Every cover is at least as large as every matching, so this proves the
    maximum whatever the two came from.

    Parameters
    ----------
    graph : BipartiteGraph or anything `BipartiteGraph.from_any` reads
    matching : Matching

    Returns
    -------
    int
        The proven maximum cardinality.

    Raises
    ------
    InvalidProblem
        It is not a matching of the graph, or its cover does not prove the maximum; the message says where it breaks.
    """
    graph = BipartiteGraph.from_any(graph)
    check_type(matching)
    matching = matching.on_host()
    check_matching(graph, matching.col_of_row, matching.row_of_col)
    cover = matching.cover
    if cover.rows.shape != (graph.n_rows,) or cover.columns.shape != (graph.n_columns,):
        raise InvalidProblem(
            f"matching needs a cover of {graph.n_rows} rows and {graph.n_columns} columns; got {len(cover.rows)} and "
            f"{len(cover.columns)}.",
            argument="matching",
        )
    touched = np.repeat(cover.rows, np.diff(graph.indptr)) | cover.columns[graph.indices]
    untouched = np.flatnonzero(~touched)
    if len(untouched):
        row = np.searchsorted(graph.indptr, untouched[0], side="right") - 1
        raise InvalidProblem(
            f"matching needs a cover that touches every edge; {len(untouched)} are not touched, first that of row "
            f"{row} and column {graph.indices[untouched[0]]}.",
            argument="matching",
        )
    check_cover_size(cover.size, matching)
    return matching.size


def check_type(matching: Any) -> None:
    """Raise `InvalidProblem` unless this is what `maximum_matching` returns."""
    if not isinstance(matching, Matching):
        raise InvalidProblem(
            f"matching needs what maximum_matching returned; got {type(matching).__name__}.", argument="matching"
        )


def check_cover_size(size: int, matching: Matching) -> None:
    """Raise `InvalidProblem` unless a cover of that many vertices proves the matching maximum."""
    if size != matching.size:
        raise InvalidProblem(
            f"matching is not proven maximum: its cover has {size} vertices for {matching.size} matched pairs.",
            argument="matching",
        )


def check_sizes(graph: Any, col_of_row: Any, row_of_col: Any, argument: str = "matching") -> None:
    """Raise `InvalidProblem`, which names `argument`, unless each row and column of the graph has its entry."""
    if col_of_row.shape != (graph.n_rows,) or row_of_col.shape != (graph.n_columns,):
        raise InvalidProblem(
            f"{argument} needs {graph.n_rows} and {graph.n_columns} partners; "
            f"got shapes {col_of_row.shape} and {row_of_col.shape}.",
            argument=argument,
        )


def check_matching(
    graph: BipartiteGraph, col_of_row: IntArray, row_of_col: IntArray, argument: str = "matching"
) -> None:
    """Raise `InvalidProblem`, which names `argument`, unless the two arrays are one matching of the graph."""
    check_sizes(graph, col_of_row, row_of_col, argument)
    rows = np.flatnonzero(col_of_row >= 0)
    columns = col_of_row[rows]
    if len(columns) and columns.max() >= graph.n_columns:
        raise InvalidProblem(
            f"{argument} names column {columns.max()}, which does not exist; the graph has {graph.n_columns}.",
            argument=argument,
        )
    if np.count_nonzero(row_of_col >= 0) != len(rows) or np.any(row_of_col[columns] != rows):
        raise InvalidProblem(
            f"{argument} is not a matching: col_of_row and row_of_col disagree, or a column has two rows.",
            argument=argument,
        )
    missing = first_missing_edge(graph.indptr, graph.indices, col_of_row)
    if missing >= 0:
        raise InvalidProblem(
            f"{argument} has the pair ({missing}, {col_of_row[missing]}), which is not an edge of the graph.",
            argument=argument,
        )


@compiled
def first_missing_edge(indptr: IntArray, indices: IntArray, col_of_row: IntArray) -> int:
    """The first row whose partner is not among its columns, or -1."""
    for i in range(len(col_of_row)):
        if col_of_row[i] < 0:
            continue
        first, last = indptr[i], indptr[i + 1]
        while first < last:
            middle = (first + last) // 2
            if indices[middle] < col_of_row[i]:
                first = middle + 1
            else:
                last = middle
        if first == indptr[i + 1] or indices[first] != col_of_row[i]:
            return i
    return -1
