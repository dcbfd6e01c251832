"""The bipartite graph all cardinality algorithms work on: compressed sparse rows, checked once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..device import cuda
from ..jit.compiled import compiled
from .reading import check_columns, check_pointer, checked_shape, checked_type, parts_of, pointer_type

IntArray = NDArray[Any]
"""Integer arrays as the kernels take them: numba specialises on the true type."""


@dataclass(frozen=True, eq=False)
class BipartiteGraph:
    """A bipartite graph in compressed sparse rows; build it with `from_any`, which checks it.

    The constructor trusts its arguments: the kernels index without bounds checks.

    Attributes
    ----------
    indptr : ndarray of int32 or int64, shape (n_rows + 1,)
        The neighbours of row i are ``indices[indptr[i]:indptr[i + 1]]``. int64 only from 2**31 edges on. Read-only.
    indices : ndarray of int32, shape (n_edges,)
        Columns, strictly increasing within a row. Read-only.
    n_rows, n_columns : int
        Sizes of the two sides, together below 2**31; vertices without an edge count.
    """

    indptr: NDArray[np.signedinteger[Any]] = field(repr=False)
    indices: NDArray[np.int32] = field(repr=False)
    n_rows: int
    n_columns: int

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self.indices)

    @property
    def shape(self) -> tuple[int, int]:
        """(n_rows, n_columns)."""
        return self.n_rows, self.n_columns

    @cached_property
    def transposed(self) -> BipartiteGraph:
        """The same graph with rows and columns exchanged; computed once, and its own `transposed` is this graph."""
        by_columns = _pattern(self.indptr, self.indices, self.shape).tocsc()
        indptr, indices = _contiguous(by_columns.indptr, self.indptr.dtype), _contiguous(by_columns.indices, np.int32)
        other = BipartiteGraph(_read_only(indptr), _read_only(indices), self.n_columns, self.n_rows)
        vars(other)["transposed"] = self
        return other

    @classmethod
    def from_any(cls, graph: Any) -> BipartiteGraph:
        """Read a graph from what users have, and check it.

        Parameters
        ----------
        graph : BipartiteGraph, SciPy or CuPy sparse, boolean ndarray (n_rows, n_columns), (indptr, indices, shape), \
                DeviceGraph or networkx.Graph
            Of networkx, nodes of bipartite=0 are the rows, those of bipartite=1 the columns, each in the graph's order.
            Every stored entry is an edge, a stored zero too (except in BSR and DIA, where zeros are padding).
            Unsorted columns are sorted and repeated ones merged. Index arrays may have any integer type; clean
            32-bit ones are taken without a copy.

        Returns
        -------
        BipartiteGraph

        Raises
        ------
        InvalidProblem
            Not a graph: indices out of range or not integers, a row pointer that decreases or does not fit the
            indices, 2**31 vertices or more.
        """
        if isinstance(graph, BipartiteGraph):
            return graph
        indptr, indices, shape = parts_of(graph)
        return cls._from_csr(cuda.to_host(indptr), cuda.to_host(indices), shape)

    @classmethod
    def _from_csr(cls, indptr: NDArray[Any], indices: NDArray[Any], shape: Any) -> BipartiteGraph:
        n_rows, n_columns = checked_shape(shape)
        indptr, indices = checked_type(indptr, "indptr"), checked_type(indices, "indices")
        check_pointer(indptr, n_rows, len(indices))
        is_clean = True
        if len(indices):
            low, high, is_clean = _inspect(indptr, indices)
            check_columns(low, high, n_columns)
        indptr, indices = _contiguous(indptr, pointer_type(len(indices))), _contiguous(indices, np.int32)
        if not is_clean:
            merged = _pattern(indptr, indices, (n_rows, n_columns)).copy()
            merged.sum_duplicates()
            indptr, indices = _contiguous(merged.indptr, indptr.dtype), _contiguous(merged.indices, np.int32)
        return cls(_read_only(indptr), _read_only(indices), n_rows, n_columns)


@compiled
def _inspect(indptr: IntArray, indices: IntArray) -> tuple[int, int, bool]:
    low, high = np.int64(indices[0]), np.int64(indices[0])
    is_clean = True
    for i in range(len(indptr) - 1):
        previous = np.int64(-1)
        for k in range(indptr[i], indptr[i + 1]):
            j = np.int64(indices[k])
            is_clean &= previous < j
            previous = j
            low = min(low, j)
            high = max(high, j)
    return int(low), int(high), bool(is_clean)


def _pattern(indptr: IntArray, indices: IntArray, shape: tuple[int, int]) -> sparse.csr_array:
    """Return the graph as SciPy's, whose transposition and merging take as long as compiled loops of ours would."""
    return sparse.csr_array((np.broadcast_to(np.int8(1), len(indices)), indices, indptr), shape=shape)


def _contiguous(values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    return np.ascontiguousarray(values, dtype=dtype)


def _read_only(values: NDArray[Any]) -> NDArray[Any]:
    # a view, so that the caller's own array stays writeable; one flag for all, so that every kernel compiles once
    values = values.view()
    values.flags.writeable = False
    return values
