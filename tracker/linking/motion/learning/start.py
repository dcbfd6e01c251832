"""Where learning starts: mutual nearest neighbours, and the model that their steps suggest."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincinv

from ..candidates import gpu_graph
from ..candidates.graph import Graph
from ..detections.rounding import NARROWEST
from ..models.step_model import StepModel

QUANTILES = (0.5, 0.8)
"""Where the variance is read from the mutual nearest neighbours' steps, the larger reading counting."""

SIZES = (0.7, 3.0, 15.0)
"""Variances of the slow, the fast and the outlying class to start with, in that reading."""
SHARES = (0.75, 0.2, 0.05)
"""Their shares to start with."""
TURNS = (0.6, 0.2, 0.2)
"""Probabilities to start with that a class is kept, redrawn, and that a displacement knows of none before it."""


def starting_model(graph: Graph, mutual: np.ndarray) -> StepModel:
    """Return a model of two classes, slow and fast, of the steps of mutual nearest neighbours."""
    ndim = graph.ndim
    squares = graph.squares[mutual]
    variance = 0.01
    if len(squares):
        readings = [float(np.quantile(squares, q)) / (2 * gammaincinv(ndim / 2, q)) for q in QUANTILES]
        variance = max(*readings, NARROWEST**2)
    first = np.outer(SIZES, np.full(ndim, variance))
    return StepModel(np.array(SHARES), first, 0.8 * first, np.full_like(first, 0.3), np.array(TURNS))


def mutual_nearest(graph: Graph) -> np.ndarray:
    """Mark the edges whose ends are each other's nearest, bool (edges,)."""
    square = graph.squares
    if graph.on_gpu:
        from_head, from_tail = gpu_graph.least_at_ends(graph.ways, square)
    else:
        from_tail, from_head = np.full((2, graph.n), np.inf)
        np.minimum.at(from_tail, graph.tail, square)
        np.minimum.at(from_head, graph.head, square)
    return (square == from_tail[graph.tail]) & (square == from_head[graph.head])
