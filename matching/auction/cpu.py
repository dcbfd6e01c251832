"""The auction on the CPU: which of the methods a problem goes through, and the certificate of its answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter

from ..certificate.assignment import Assignment
from ..certificate.certify import certify
from ..certificate.not_converged import NotConverged
from ..certificate.refine import refined
from ..named import named
from ..presolve.short_side import Matched, from_short_side
from ..problem import Problem
from .bidding import out_of_bids
from .feasibility import check_feasible
from .matrix_free import match_points
from .options import AuctionOptions
from .phases import match_by_auction

Method = Callable[[Problem, AuctionOptions], Matched]


def solve_cpu(problem: Problem, options: AuctionOptions) -> Assignment:
    """Solve on the CPU by the auction that the options name; raises as `Auction.solve` does."""
    began = perf_counter()
    method = _method_for(problem, options)
    found = from_short_side(problem, partial(_match_feasible, method, options))
    stats = {**found.stats, "waiting": found.waiting, "solve_s": perf_counter() - began}
    answer = certify(problem, *found[:2], solver=options.name, device="cpu", stats=stats)
    if found.waiting and not answer.is_optimal:
        raise NotConverged(out_of_bids(options, found.waiting), assignment=answer)
    return refined(problem, answer) if options.is_exact else answer


def _method_for(problem: Problem, options: AuctionOptions) -> Method:
    if options.variant == "paper":
        return named(".papers.vasconcelos_2009.cpu:match_as_in_the_paper")
    return match_points if problem.kind == "points" else match_by_auction


def _match_feasible(method: Method, options: AuctionOptions, problem: Problem) -> Matched:
    """Check that every block can be matched where it must be, then match by the method."""
    check_feasible(problem)
    return method(problem, options)
