"""Displacements along candidate links, less what the neighbours' flow explains.

They are made where they are asked for, a piece at a time: held, those of a movie would take more than its links.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .flow import Fields, flow_at
from .graph import Graph


@dataclass(frozen=True)
class EdgeSteps:
    """Displacements of edges.

    Attributes
    ----------
    graph : Graph
    fields : Fields or None
        Of the neighbours' flow, where that is a context.
    weight : float
        What of the flow is subtracted.
    """

    graph: Graph
    fields: Fields | None = None
    weight: float = 0.0

    def at(self, edges: slice | np.ndarray) -> np.ndarray:
        """Return those of some edges, float64 (k, d)."""
        step = self.graph.steps_at(edges)
        return step if self.fields is None else step - self.weight * flow_at(self.graph, self.fields, edges)

    def all(self) -> np.ndarray:
        """Return those of all edges, float64 (edges, d)."""
        if self.fields is None:
            return self.graph.step
        if self.graph.on_gpu:
            return self.at(slice(None))
        return self.graph.of_pieces(lambda piece: self.at(piece.edges))
