"""Lineages beside the true ones: which node, and which edge, is which."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .lineages import Lineages


@dataclass(frozen=True)
class Comparison:
    """Found lineages, real ones, and which nodes are the same.

    Parameters
    ----------
    found, real : Lineages
    match : ndarray
        int64 (len(found),): node of `real` of every node of `found`, one to one, -1 for none.
    """

    found: Lineages
    real: Lineages
    match: np.ndarray

    @cached_property
    def inverse(self) -> np.ndarray:
        """Node of `found` of every node of `real`, int64 (len(real),), -1 for none."""
        inverse = np.full(len(self.real), -1, dtype=np.int64)
        matched = np.flatnonzero(self.match >= 0)
        inverse[self.match[matched]] = matched
        return inverse

    @cached_property
    def edge_match(self) -> np.ndarray:
        """Edge of `real` of every edge of `found`, int64 (k,), -1 for none."""
        n = max(len(self.real), 1)
        source, target = self.match[self.found.edges].T
        key, real_key = source * n + target, self.real.edges[:, 0] * n + self.real.edges[:, 1]
        order = np.argsort(real_key)
        if len(order) == 0:
            return np.full(len(key), -1, dtype=np.int64)
        at = order[np.minimum(np.searchsorted(real_key, key, sorter=order), len(order) - 1)]
        return np.where((real_key[at] == key) & (source >= 0) & (target >= 0), at, -1)

    @cached_property
    def found_edge(self) -> np.ndarray:
        """Whether an edge of `real` was found, bool."""
        found = np.zeros(len(self.real.edges), dtype=bool)
        found[self.edge_match[self.edge_match >= 0]] = True
        return found

    def turned(self) -> Comparison:
        """Return the same with the two sides exchanged."""
        return Comparison(self.real, self.found, self.inverse)
