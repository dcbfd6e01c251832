"""The auction on the CPU: which of the methods a problem goes through."""

from __future__ import annotations

from ..certificate.matched import Matched
from ..named import named
from ..problem import Problem
from .feasibility import check_feasible
from .matrix_free import match_points
from .options import AuctionOptions
from .phases import match_by_auction


def match_on_cpu(problem: Problem, options: AuctionOptions) -> Matched:
    """Match point sets, one matrix, or sparse problems side by side, as `Auction.match` says."""
    check_feasible(problem)
    if options.variant == "paper":
        return named(".papers.vasconcelos_2009.cpu:match_as_in_the_paper")(problem, options)
    return (match_points if problem.kind == "points" else match_by_auction)(problem, options)
