"""What a maximum matching tells about a graph: its independent parts, what cannot be matched, what never is."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from ..components import components
from .graph import BipartiteGraph, IntArray
from .matching import Matching, alternating_reach


class Components(NamedTuple):
    """Connected components of a bipartite graph.

    Attributes
    ----------
    row_label, col_label : ndarray of int32
        Component of each vertex, numbered from 0 in the order of their first row; lone columns come last.
    n_components : int
        How many there are; a vertex without an edge is one.
    """

    row_label: NDArray[np.int32]
    col_label: NDArray[np.int32]
    n_components: int


class HallViolator(NamedTuple):
    """Rows that together have fewer columns than they are.

    Attributes
    ----------
    rows : ndarray of int64
        Ascending; empty when every row is matched.
    columns : ndarray of int64
        All their neighbours.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]


class Block(IntEnum):
    """The coarse blocks of Dulmage and Mendelsohn."""

    HORIZONTAL = 0
    """More columns than rows: reached from free columns. All its rows are matched, whatever the maximum matching."""
    SQUARE = 1
    """Matched one to one in every maximum matching."""
    VERTICAL = 2
    """More rows than columns: reached from free rows. All its columns are matched in every maximum matching."""


class CoarseBlocks(NamedTuple):
    """The `Block` of each row and column, as int8 arrays; the same for every maximum matching."""

    row_block: NDArray[np.int8]
    col_block: NDArray[np.int8]


def connected_components(graph: Any) -> Components:
    """Label the connected components: the parts that can be matched independently.

    Parameters
    ----------
    graph : BipartiteGraph or anything `BipartiteGraph.from_any` reads
    """
    graph = BipartiteGraph.from_any(graph)
    row_label, col_label = components(graph.indptr, graph.indices, graph.n_columns)
    n_components = max(int(row_label.max(initial=-1)), int(col_label.max(initial=-1))) + 1
    return Components(row_label, col_label, n_components)


def hall_violator(graph: Any, matching: Matching) -> HallViolator:
    """The rows that cannot all be matched, and the fewer columns they share (Hall 1935).

    All rows on alternating paths from free rows: with k free rows there are k more of them than of their columns.

    Parameters
    ----------
    graph : BipartiteGraph or anything `BipartiteGraph.from_any` reads
    matching : Matching
        A maximum matching of it.
    """
    graph, matching = BipartiteGraph.from_any(graph), matching.on_host()
    rows, columns = alternating_reach(graph, matching.col_of_row, matching.row_of_col)
    return HallViolator(np.flatnonzero(rows), np.flatnonzero(columns))


def dulmage_mendelsohn(graph: Any, matching: Matching) -> CoarseBlocks:
    """The coarse Dulmage–Mendelsohn decomposition.

    Dulmage & Mendelsohn, "Coverings of bipartite graphs", Canad. J. Math. 1958; Pothen & Fan 1990. Ordered
    horizontal, square, vertical, the matrix is block upper triangular.

    Parameters
    ----------
    graph : BipartiteGraph or anything `BipartiteGraph.from_any` reads
    matching : Matching
        A maximum matching of it.
    """
    graph, matching = BipartiteGraph.from_any(graph), matching.on_host()
    vertical_rows, vertical_columns = alternating_reach(graph, matching.col_of_row, matching.row_of_col)
    horizontal_columns, horizontal_rows = alternating_reach(graph.transposed, matching.row_of_col, matching.col_of_row)
    return CoarseBlocks(_blocks(horizontal_rows, vertical_rows), _blocks(horizontal_columns, vertical_columns))


def _blocks(horizontal: NDArray[np.bool_], vertical: NDArray[np.bool_]) -> NDArray[np.int8]:
    block = np.full(len(horizontal), Block.SQUARE, np.int8)
    block[horizontal] = Block.HORIZONTAL
    block[vertical] = Block.VERTICAL
    return block


def edges_in_no_maximum_matching(graph: Any, matching: Matching) -> NDArray[np.bool_]:
    """Edges that no maximum matching uses, as one flag per edge in the order of ``graph.indices``.

    An edge is used by some maximum matching if it is matched, or lies on an even alternating path from a free vertex
    (its row is vertical or its column horizontal), or on an alternating cycle (within the square block: row i and the
    partner of column j are strongly connected, following row -> partner of one of its columns). Berge 1973; Costa,
    "Persistency in maximum cardinality bipartite matchings", 1994.

    Parameters
    ----------
    graph : BipartiteGraph or anything `BipartiteGraph.from_any` reads
    matching : Matching
        A maximum matching of it; the answer does not depend on which.
    """
    graph, matching = BipartiteGraph.from_any(graph), matching.on_host()
    row_block, col_block = dulmage_mendelsohn(graph, matching)
    rows = np.repeat(np.arange(graph.n_rows), np.diff(graph.indptr))
    columns = graph.indices
    used = (row_block[rows] == Block.VERTICAL) | (col_block[columns] == Block.HORIZONTAL)
    square = (row_block[rows] == Block.SQUARE) & (col_block[columns] == Block.SQUARE)
    partners: IntArray = matching.row_of_col[columns[square]]
    heads = rows[square]
    arcs = sparse.coo_array((np.ones(len(heads), np.int8), (heads, partners)), shape=(graph.n_rows, graph.n_rows))
    _, strong = csgraph.connected_components(arcs.tocsr(), directed=True, connection="strong")
    used[square] = strong[heads] == strong[partners]
    return ~used
