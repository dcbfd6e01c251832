"""Pairs that contradict the prices, a few a row on the GPU, and the graph that they join."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..device import cuda
from ..problem.gpu_graph import CostGraph

THREADS, LANES_OF_A_ROW = 256, cuda.declared("auction/merge.cu", "LANES_OF_A_ROW")


@dataclass(frozen=True)
class FoundPairs:
    """Up to `most` pairs of each row, which kernels fill in.

    Attributes
    ----------
    most : int
    number : int32 (rows,)
        How many of each row were found.
    columns, costs : int32 and as the graph's (rows * most,)
        They come first among the `most` of each row, columns ascending.
    """

    most: int
    number: Any
    columns: Any
    costs: Any

    @classmethod
    def room_for(cls, graph: CostGraph, most: int) -> FoundPairs:
        """Return room for that many pairs of each row."""
        cp, n = graph.cp, graph.n_rows
        return cls(most, cp.empty(n, cp.int32), cp.empty(n * most, cp.int32), cp.empty(n * most, graph.cost.dtype))

    def arrays(self) -> tuple[Any, ...]:
        """Return what kernels fill in."""
        return self.number, self.columns, self.costs


def with_pairs(graph: CostGraph, found: FoundPairs, n_found: int) -> CostGraph:
    """Return the sparse graph with the pairs that were found, `n_found` in all, none of which it has."""
    if n_found == 0:
        return graph
    cp, n = graph.cp, graph.n_rows
    edges = len(graph.indices) + n_found
    indptr, indices, cost = cp.empty(n + 1, cp.int64), cp.empty(edges, cp.int32), cp.empty(edges, graph.cost.dtype)
    arguments = (
        *(np.int32(n), graph.indptr, graph.indices, graph.cost),
        *(np.int32(found.most), cp.cumsum(found.number, dtype=cp.int64), found.columns, found.costs),
        *(indptr, indices, cost),
    )
    blocks = -(-n * LANES_OF_A_ROW // THREADS)
    graph.kernel("auction/merge.cu", "auction_merge")((blocks,), (THREADS,), arguments)
    return replace(graph, indptr=indptr, indices=indices, cost=cost)
