"""What it takes to mend found lineages by hand: AOGM, and DET, TRA and LNK made of it.

Matula et al., "Cell tracking accuracy measurement based on comparison of acyclic oriented graphs", PLoS ONE 10 (2015),
with the weights of the Cell Tracking Challenge. Points are matched one to one, so that nothing needs to be split.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .comparison import Comparison

_MISSED_NODE, _SPURIOUS_NODE = 10.0, 1.0
_MISSED_EDGE, _SPURIOUS_EDGE, _WRONG_MEANING = 1.5, 1.0, 1.0


@dataclass(frozen=True)
class Repairs:
    """How many repairs of each kind turn found lineages into the real ones.

    Parameters
    ----------
    missed_nodes, spurious_nodes : int
        Detections to add, and to delete.
    missed_edges, spurious_edges : int
        Links to add, and to delete; those of deleted detections go with them.
    wrong_meanings : int
        Links that are right, but join mother and daughter in one graph and one cell in the other.
    real_nodes, real_edges : int
        What there is in the truth.
    """

    missed_nodes: int
    spurious_nodes: int
    missed_edges: int
    spurious_edges: int
    wrong_meanings: int
    real_nodes: int
    real_edges: int

    @property
    def det(self) -> float:
        """1 less the repairs of detections as a share of making all from scratch; NaN without any in the truth."""
        return _saved(self._nodes, _MISSED_NODE * self.real_nodes)

    @property
    def lnk(self) -> float:
        """1 less the repairs of links as a share of making all from scratch; NaN without any in the truth."""
        return _saved(self._edges, _MISSED_EDGE * self.real_edges)

    @property
    def tra(self) -> float:
        """1 less all repairs as a share of making all from scratch; NaN without a truth."""
        return _saved(self.aogm, _MISSED_NODE * self.real_nodes + _MISSED_EDGE * self.real_edges)

    @property
    def aogm(self) -> float:
        """All repairs, weighted as in the Cell Tracking Challenge."""
        return self._nodes + self._edges

    @property
    def _nodes(self) -> float:
        return _MISSED_NODE * self.missed_nodes + _SPURIOUS_NODE * self.spurious_nodes

    @property
    def _edges(self) -> float:
        return (
            _MISSED_EDGE * self.missed_edges
            + _SPURIOUS_EDGE * self.spurious_edges
            + _WRONG_MEANING * self.wrong_meanings
        )


def repairs(comparison: Comparison) -> Repairs:
    """Count what is to be repaired in found lineages."""
    found, real, match = comparison.found, comparison.real, comparison.match
    kept = (match[found.edges] >= 0).all(axis=1)
    edge = comparison.edge_match
    right = np.flatnonzero(edge >= 0)
    wrong = found.joins_tracklets[right] != real.joins_tracklets[edge[right]]
    return Repairs(
        missed_nodes=int((comparison.inverse < 0).sum()),
        spurious_nodes=int((match < 0).sum()),
        missed_edges=int((~comparison.found_edge).sum()),
        spurious_edges=int((kept & (edge < 0)).sum()),
        wrong_meanings=int(wrong.sum()),
        real_nodes=len(real),
        real_edges=len(real.edges),
    )


def _saved(repairs: float, whole: float) -> float:
    return 1 - min(repairs, whole) / whole if whole else math.nan
