"""A bipartite graph and a matching on the GPU."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..device import cuda
from .graph import BipartiteGraph
from .reading import checked_csr, checked_shape, is_on_device, parts_of, pointer_type

THREADS = 256


@dataclass(frozen=True, eq=False)
class DeviceGraph:
    """A bipartite graph in compressed sparse rows in the memory of the current device; `from_any` checks it.

    The constructor trusts its arguments: the kernels index without bounds checks.

    Attributes
    ----------
    indptr : cupy.ndarray of int32 or int64, shape (n_rows + 1,)
    indices : cupy.ndarray of int32, shape (n_edges,)
    n_rows, n_columns : int
    """

    indptr: Any
    indices: Any
    n_rows: int
    n_columns: int

    @classmethod
    def from_any(cls, graph: Any) -> DeviceGraph:
        """Read a graph, check it, and copy it to the current device unless it is there: then it never leaves.

        Parameters
        ----------
        graph : DeviceGraph, CuPy sparse, (indptr, indices, shape) of CuPy arrays, or anything \
                `BipartiteGraph.from_any` reads
            Rules and errors are those of `BipartiteGraph.from_any`.
        """
        if isinstance(graph, DeviceGraph):
            return graph
        if not is_on_device(graph):
            return cls.of(BipartiteGraph.from_any(graph))
        indptr, indices, shape = parts_of(graph)
        cp = cuda.cupy()
        indptr, indices, is_clean = checked_csr(cp.asarray(indptr), cp.asarray(indices), shape)
        n_rows, n_columns = checked_shape(shape)
        if not is_clean:
            rows = cp.searchsorted(indptr, cp.arange(len(indices)), side="right") - 1
            edges = cp.unique(rows * n_columns + indices)
            indices, indptr = edges % n_columns, cp.searchsorted(edges // n_columns, cp.arange(n_rows + 1))
        indptr = cp.ascontiguousarray(indptr, dtype=pointer_type(len(indices)))
        return cls(indptr, cp.ascontiguousarray(indices, dtype=np.int32), n_rows, n_columns)

    @classmethod
    def of(cls, graph: BipartiteGraph) -> DeviceGraph:
        """Copy a graph to the current device; arrays that are there already are taken as they are."""
        cp = cuda.cupy()
        missing = sum(a.nbytes for a in (graph.indptr, graph.indices) if not cuda.is_device_array(a))
        cuda.require_memory(missing + 64 * (graph.n_rows + graph.n_columns), "the graph and its matching")
        return cls(cp.asarray(graph.indptr), cp.asarray(graph.indices), graph.n_rows, graph.n_columns)

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self.indices)

    def kernels(self, file: str, *options: str, cooperative: bool = False) -> cuda.Kernels:
        """Return the kernels of a file in the form for this graph's offsets, with further options of NVRTC."""
        wide = ("-DINDEX64",) if self.indptr.dtype == np.int64 else ()
        return cuda.load(file, *wide, *options, cooperative=cooperative)

    @cached_property
    def largest_degree(self) -> int:
        """Largest number of columns of a row."""
        cp = cuda.cupy()
        largest = cp.zeros(1, cp.int32)
        kernel = self.kernels("cardinality/graph.cu")["cardinality_graph_largest_degree"]
        kernel((blocks(self.n_rows),), (THREADS,), (self.indptr, np.int32(self.n_rows), largest))
        return int(largest[0])

    @cached_property
    def transposed(self) -> DeviceGraph:
        """The same graph with rows and columns exchanged; the order inside a row is unspecified."""
        cp = cuda.cupy()
        cuda.require_memory(4 * self.n_edges + 16 * self.n_columns, "the transposed graph")
        kernels = self.kernels("cardinality/graph.cu")
        degree = cp.zeros(self.n_columns, cp.int32)
        indptr = cp.zeros(self.n_columns + 1, self.indptr.dtype)
        indices = cp.empty(self.n_edges, cp.int32)
        grid = (blocks(self.n_edges),)
        kernels["cardinality_graph_count"](grid, (THREADS,), (self.indices, np.int64(self.n_edges), degree))
        cp.cumsum(degree, out=indptr[1:])
        kernels["cardinality_graph_scatter"](
            (blocks(8 * self.n_rows),),
            (THREADS,),
            (self.indptr, self.indices, np.int32(self.n_rows), indptr, degree, indices),
        )
        return DeviceGraph(indptr, indices, self.n_columns, self.n_rows)


@dataclass(eq=False)
class DeviceMatching:
    """A matching under way: partners of both sides (-1 = free) and the free rows that have an edge.

    Attributes
    ----------
    col_of_row : cupy.ndarray of int32, shape (n_rows,)
    row_of_col : cupy.ndarray of int32, shape (n_columns,)
    free_rows : cupy.ndarray of int32, shape (n_rows,)
        The first `n_free` entries count.
    n_free : int
    """

    col_of_row: Any
    row_of_col: Any
    free_rows: Any
    n_free: int


def blocks(n_threads: int) -> int:
    """Return a grid for a grid-stride loop over `n_threads` items, a few waves at most."""
    return min(max(-(-n_threads // THREADS), 1), 4096)
