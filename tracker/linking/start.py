"""Where learning starts: mutual nearest neighbours, and the law that their steps suggest."""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.special import gammaincinv

from .graph import Graph
from .law import NARROWEST, Law

QUANTILES = (0.5, 0.8)
"""Where the variance is read from the mutual nearest neighbours' steps, the larger reading counting."""

SIZES = (0.7, 3.0, 15.0)
"""Variances of the slow, the fast and the outlying class to start with, in that reading."""
SHARES = (0.75, 0.2, 0.05)
"""Their shares to start with."""
TURNS = (0.6, 0.2, 0.2)
"""Probabilities to start with that a class is kept, drawn anew, and that a displacement knows of none before it."""


def starting_law(graph: Graph, mutual: np.ndarray) -> Law:
    """Return a law of two classes, slow and fast, of the steps of mutual nearest neighbours."""
    ndim = graph.step.shape[1]
    squares = (graph.step[mutual] ** 2).sum(axis=1)
    readings = [np.quantile(squares, q) / (2 * gammaincinv(ndim / 2, q)) for q in QUANTILES] if len(squares) else [0.01]
    variance = max(*readings, NARROWEST**2) if len(squares) else 0.01
    first = np.outer(SIZES, np.full(ndim, variance))
    return Law(np.array(SHARES), first, 0.8 * first, np.full(len(SIZES), 0.3), np.array(TURNS))


def mutual_nearest(graph: Graph) -> np.ndarray:
    """Mark the edges whose ends are each other's nearest, bool (edges,)."""
    return _mutual(graph.indptr, graph.head, (graph.step**2).sum(axis=1))


@njit(cache=True, nogil=True)
def _mutual(indptr, head, square):
    n = len(indptr) - 1
    nearest = np.full(n, np.inf)
    for e in range(len(head)):
        nearest[head[e]] = min(nearest[head[e]], square[e])
    mutual = np.zeros(len(head), np.bool_)
    for i in range(n):
        least = np.inf
        for e in range(indptr[i], indptr[i + 1]):
            least = min(least, square[e])
        for e in range(indptr[i], indptr[i + 1]):
            mutual[e] = square[e] == least and square[e] == nearest[head[e]]
    return mutual
