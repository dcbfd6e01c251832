"""Auctions on the GPU that stop at their increment: `eps=`, and the paper's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..named import named
from ..problem.gpu_graph import CostGraph, DeviceSolution
from .bidding import increment_beside
from .gpu_scaling import bid_to_eps
from .options import AuctionOptions

_PAPER = ".papers.vasconcelos_2009.gpu"


def match_within_eps(graph: CostGraph, options: AuctionOptions) -> DeviceSolution:
    """Bid in float64 until each matched edge is within eps of its row's best; integers' prices are rounded down."""
    eps = named(f"{_PAPER}:increment")(graph) if options.eps is None else options.eps
    eps = increment_beside(eps, _largest_cost(graph))
    if options.variant == "paper":
        matching = named(f"{_PAPER}:bid_as_in_the_paper")(graph.as_floats(), replace(options, eps=eps))
    else:
        most_bids = None if options.max_bids is None else options.max_bids * graph.n_rows
        matching = bid_to_eps(graph.as_floats(), eps, most_bids)
    if graph.is_integer:
        matching.v = graph.cp.floor(matching.v).astype(np.int64)
    return matching


def _largest_cost(graph: CostGraph) -> float:
    """Return the largest absolute value of a cost or unmatched cost."""
    cp = graph.cp
    numbers = [graph.cost, graph.row_bound, graph.col_bound] if graph.has_unmatched_cost else [graph.cost]
    sizes = [float(cp.where(a < graph.none, abs(a), a.dtype.type(0)).max()) for a in numbers if len(a)]
    return max(sizes, default=0.0)
