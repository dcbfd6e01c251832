"""Candidates around where users expect particles, and what they say that links cost.

A predictor takes the place of the position that a step is counted from: all that is learned of steps is then learned of
what it leaves unexplained.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...hooks import Hooks
from ..detections.ordered import Ordered
from .graph import Graph, candidates


def candidates_ahead(
    movie: Ordered,
    lag: int,
    radius: float,
    ahead: np.ndarray | float,
    hooks: Hooks | None,
    heads: np.ndarray | None = None,
) -> Graph:
    """Return the pairs of detections `lag` frames apart, as `graph.candidates`, around where they are expected.

    Parameters
    ----------
    movie : Ordered
    lag : int
    radius : float
        In spacings.
    ahead : float64 (n, d) or float
        Displacement beside that which users predict; NaN where a detection is not to be looked for.
    hooks : Hooks or None
    heads : bool (n,), optional
    """
    if hooks is None or hooks.predict is None:
        return candidates(movie, lag, radius, movie.position + ahead, heads)
    predicted = _predicted(movie, lag, hooks)
    graph = candidates(movie, lag, radius, movie.position + predicted + ahead, heads)
    return replace(graph, written=graph.step - predicted[graph.tail])


def _predicted(movie: Ordered, lag: int, hooks: Hooks) -> np.ndarray:
    """Return the displacements that users predict over some frames, float64 (n, d), where such a frame follows."""
    step, asked = hooks.points.frame_step, np.zeros(len(movie), bool)
    for frame, _ in movie.frames_apart(lag):
        asked[movie.of_frame(frame)] = True
    rows = movie.row[asked]
    displacement = np.zeros_like(movie.position)
    if len(rows):
        expected = hooks.expected(rows, hooks.points.frames[rows] + lag * step)
        displacement[asked] = (expected - hooks.points.positions_of(rows))[:, -movie.ndim :] / movie.spacing
    return displacement
