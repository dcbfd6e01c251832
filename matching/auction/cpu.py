"""The auction on the CPU: which of the methods a problem goes through."""

from __future__ import annotations

from functools import partial

from ..certificate.matched import Matched, match_each
from ..named import named
from ..problem import Problem
from .feasibility import check_feasible
from .matrix_free import match_points
from .options import AuctionOptions
from .phases import match_by_auction


def match_on_cpu(problem: Problem, options: AuctionOptions) -> Matched:
    """Match sparse problems side by side, matrices and point sets one after the other, as `Auction.match` says."""
    check_feasible(problem)
    if options.variant == "paper":
        match = named(".papers.vasconcelos_2009.cpu:match_as_in_the_paper")
    elif problem.kind == "sparse":
        return match_by_auction(problem, options)
    else:
        match = match_points if problem.kind == "points" else match_by_auction
    return match_each(problem, partial(match, options=options))
