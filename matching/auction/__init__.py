"""The auction: rows bid for columns, prices rise until every row is content.

Source: D. P. Bertsekas, "Auction algorithms for network flow problems: a tutorial introduction", Computational
Optimization and Applications 1 (1992); C. N. Vasconcelos, B. Rosenhahn, "Bipartite graph matching computation on
GPU", EMMCVPR 2009. Costs are minimised here, so what the papers call a rising price p_j is a falling column dual v_j
= -p_j.
"""

from __future__ import annotations

from .solver import Auction

__all__ = ["Auction"]
