"""What a maximum matching says about a graph: its independent parts, what cannot be matched, what never is.

Each answer lies where the graph does: arrays of a graph on a GPU are CuPy's, and were found there by the kernels of the
matching. Only strongly connected components, which some of `edges_in_no_maximum_matching` needs, are always SciPy's on
the host.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from ..device import cuda
from ..problem.components import components
from .graph import BipartiteGraph
from .matching import Matching, alternating_reach, check_cover_size, check_matching, check_sizes, check_type
from .place import placed


class Components(NamedTuple):
    """Connected components of a bipartite graph.

    Attributes
    ----------
    row_label, col_label : ndarray of int32
        Component of each row and column, numbered from 0 in the order of their first rows; columns without an edge
        come last.
    n_components : int
        How many there are; a row or column without an edge is one.
    """

    row_label: NDArray[np.int32]
    col_label: NDArray[np.int32]
    n_components: int


class HallViolator(NamedTuple):
    """Rows that outnumber the columns that they reach together.

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


_HORIZONTAL, _SQUARE, _VERTICAL = map(int, Block)  # CuPy computes with plain integers only


class CoarseBlocks(NamedTuple):
    """The coarse blocks, the same for every maximum matching.

    Attributes
    ----------
    row_block, col_block : ndarray of int8
        The `Block` of each row and column.
    """

    row_block: NDArray[np.int8]
    col_block: NDArray[np.int8]


def connected_components(graph: Any, device: str = "auto") -> Components:
    """Label the connected components: the parts that can be matched independently.

    Parameters
    ----------
    graph : BipartiteGraph or anything `BipartiteGraph.from_any` reads
    device : str
        Where it is done: ``"cpu"``, ``"cuda"``, ``"cuda:N"``, or ``"auto"``: where the graph is.
    """
    with placed(graph, device) as (here, back):
        if isinstance(here, BipartiteGraph):
            row_label, col_label = components(here.indptr, here.indices, here.n_columns)
            n_components = max(int(row_label.max(initial=-1)), int(col_label.max(initial=-1))) + 1
        else:
            from .gpu_structure import components_gpu  # needs CuPy

            row_label, col_label, n_components = components_gpu(here)
        return Components(back(row_label), back(col_label), n_components)


def hall_violator(graph: Any, matching: Matching, device: str = "auto") -> HallViolator:
    """The rows that cannot all be matched, and the fewer columns they share (Hall 1935).

    All rows on alternating paths from free rows: with k free rows there are k more of them than of their columns.

    Parameters
    ----------
    graph : BipartiteGraph or anything `BipartiteGraph.from_any` reads
    matching : Matching
        A maximum matching of it.
    device : str
        As in `connected_components`.

    Raises
    ------
    InvalidProblem
        If the matching is none of the graph, or not maximum.
    """
    with placed(graph, device) as (here, back):
        rows, columns = _reach(here, matching, *_partners(here, matching))
        return HallViolator(back(rows.nonzero()[0]), back(columns.nonzero()[0]))


def dulmage_mendelsohn(graph: Any, matching: Matching, device: str = "auto") -> CoarseBlocks:
    """The coarse Dulmage–Mendelsohn decomposition.

    Dulmage & Mendelsohn, "Coverings of bipartite graphs", Canad. J. Math. 1958; Pothen & Fan 1990. Ordered
    horizontal, square, vertical, the matrix is block upper triangular.

    Parameters
    ----------
    graph : BipartiteGraph or anything `BipartiteGraph.from_any` reads
    matching : Matching
        A maximum matching of it.
    device : str
        As in `connected_components`.

    Raises
    ------
    InvalidProblem
        If the matching is none of the graph, or not maximum.
    """
    with placed(graph, device) as (here, back):
        row_block, col_block = _coarse_blocks(here, matching)
        return CoarseBlocks(back(row_block), back(col_block))


def edges_in_no_maximum_matching(graph: Any, matching: Matching, device: str = "auto") -> NDArray[np.bool_]:
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
    device : str
        As in `connected_components`; the square block's strongly connected components are found on the host anyway.

    Raises
    ------
    InvalidProblem
        If the matching is none of the graph, or not maximum.
    """
    with placed(graph, device) as (here, back):
        module = cuda.cupy() if cuda.is_device_array(here.indices) else np
        row_block, col_block = _coarse_blocks(here, matching)
        columns = here.indices
        edges = module.arange(len(columns), dtype=here.indptr.dtype)
        rows = module.searchsorted(here.indptr, edges, side="right") - 1
        used = (row_block[rows] == _VERTICAL) | (col_block[columns] == _HORIZONTAL)
        square = ((row_block[rows] == _SQUARE) & (col_block[columns] == _SQUARE)).nonzero()[0]
        row_of_col = cuda.to_host(matching.row_of_col) if module is np else module.asarray(matching.row_of_col)
        heads, partners = rows[square], row_of_col[columns[square]]
        strong = module.asarray(_strong_components(cuda.to_host(heads), cuda.to_host(partners), here.n_rows))
        used[square] = strong[heads] == strong[partners]
        return back(~used)


def _coarse_blocks(graph: Any, matching: Matching) -> tuple[Any, Any]:
    col_of_row, row_of_col = _partners(graph, matching)
    vertical_rows, vertical_columns = _reach(graph, matching, col_of_row, row_of_col)
    horizontal_columns, horizontal_rows = _reach(graph.transposed, matching, row_of_col, col_of_row)
    return _blocks(horizontal_rows, vertical_rows), _blocks(horizontal_columns, vertical_columns)


def _partners(graph: Any, matching: Matching) -> tuple[Any, Any]:
    """Partners of rows and columns; `InvalidProblem` if they are none of the graph, on a GPU by their number alone."""
    check_type(matching)
    if isinstance(graph, BipartiteGraph):
        col_of_row, row_of_col = cuda.to_host(matching.col_of_row), cuda.to_host(matching.row_of_col)
        check_matching(graph, col_of_row, row_of_col)
        return col_of_row, row_of_col
    check_sizes(graph, matching.col_of_row, matching.row_of_col)
    return matching.col_of_row, matching.row_of_col


def _reach(graph: Any, matching: Matching, col_of_row: Any, row_of_col: Any) -> tuple[Any, Any]:
    """Rows and columns on alternating paths from free rows, where the graph lies; its partners on a GPU anywhere.

    The rows outside and the columns inside cover every edge: `InvalidProblem` if they are more than the matched pairs.
    """
    if isinstance(graph, BipartiteGraph):
        rows, columns = alternating_reach(graph, col_of_row, row_of_col)
    else:
        from .gpu_structure import alternating_reach_gpu  # needs CuPy

        rows, columns = alternating_reach_gpu(graph, col_of_row)
    check_cover_size(int((~rows).sum()) + int(columns.sum()), matching)
    return rows, columns


def _blocks(horizontal: Any, vertical: Any) -> Any:
    block = _SQUARE + (_HORIZONTAL - _SQUARE) * horizontal + (_VERTICAL - _SQUARE) * vertical
    return block.astype(np.int8)


def _strong_components(heads: NDArray[Any], tails: NDArray[Any], n: int) -> NDArray[Any]:
    """Label the strongly connected components of the arcs head -> tail between `n` vertices."""
    arcs = sparse.coo_array((np.ones(len(heads), np.int8), (heads, tails)), shape=(n, n))
    return csgraph.connected_components(arcs.tocsr(), directed=True, connection="strong")[1]
