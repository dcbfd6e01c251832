"""Bipartite graphs of networkx as sparse matrices. Recognised by their methods: networkx itself is never imported."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InvalidProblem
from .host_problem import array, supported


def is_networkx(graph: Any) -> bool:
    """Whether this is a graph of networkx, or one that acts like it."""
    return all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed", "is_multigraph"))


def as_sparse(graph: Any, *, weighted: bool) -> sp.csr_array:
    """Return the edges between the nodes of bipartite=0, as rows, and those of bipartite=1, as columns.

    Parameters
    ----------
    graph : networkx.Graph
        Rows and columns are in the graph's own order of nodes.
    weighted : bool
        Take each edge's `weight`; else every edge is 1.

    Raises
    ------
    InvalidProblem
        If the graph is directed or has parallel edges, a node has no side, an edge joins two of one side, or its
        `weight` is missing or no real number.
    """
    if graph.is_directed() or graph.is_multigraph():
        raise InvalidProblem(
            "graph needs to be undirected and without parallel edges; convert it with networkx.Graph.", argument="graph"
        )
    sides: tuple[dict[Any, int], dict[Any, int]] = ({}, {})
    for node, side in graph.nodes(data="bipartite"):
        if side not in (0, 1):
            raise InvalidProblem(
                f"graph needs bipartite=0 (a row) or bipartite=1 (a column) on each node; node {node!r} has {side!r}.",
                argument="graph",
            )
        sides[side][node] = len(sides[side])
    rows, columns = sides
    pairs: list[tuple[int, int]] = []
    weights: list[Any] = []
    for one, other, weight in graph.edges(data="weight"):
        row, column = (one, other) if one in rows else (other, one)
        if row not in rows or column not in columns:
            raise InvalidProblem(
                f"graph needs each edge to join a row and a column; {one!r} and {other!r} are on the same side.",
                argument="graph",
            )
        if weighted and weight is None:
            raise InvalidProblem(
                f"graph needs a weight on each edge, its cost; {one!r} to {other!r} has none.", argument="graph"
            )
        pairs.append((rows[row], columns[column]))
        weights.append(weight)
    values = supported(array(weights, "weight"), "weight") if weighted and weights else np.ones(len(pairs))
    where = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return sp.csr_array(sp.coo_array((values, (where[0], where[1])), shape=(len(rows), len(columns))))
