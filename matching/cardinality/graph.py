"""The bipartite graph all cardinality algorithms work on: compressed sparse rows, checked once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..device import cuda
from ..problem.csr import transposed_csr
from .reading import checked_csr, checked_shape, parts_of, pointer_type

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
        nothing = np.broadcast_to(np.int8(1), self.n_edges)
        indptr, indices, _ = transposed_csr(self.indptr, self.indices, nothing, self.n_columns)
        indptr = indptr.astype(self.indptr.dtype, copy=False)
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
        indptr, indices, is_clean = checked_csr(cuda.to_host(indptr), cuda.to_host(indices), shape)
        if not is_clean:
            merged = sparse.csr_array((np.ones(len(indices), np.int8), indices, indptr), shape=shape, copy=True)
            merged.sum_duplicates()
            indptr, indices = merged.indptr, merged.indices
        indptr = np.ascontiguousarray(indptr, dtype=pointer_type(len(indices)))
        return cls(_read_only(indptr), _read_only(np.ascontiguousarray(indices, dtype=np.int32)), *checked_shape(shape))


def _read_only(values: NDArray[Any]) -> NDArray[Any]:
    # a view, so that the caller's own array stays writeable; one flag for all, so that every kernel compiles once
    values = values.view()
    values.flags.writeable = False
    return values
