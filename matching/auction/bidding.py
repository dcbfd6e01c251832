"""What the auctions share: the increment to bid with, prices as duals, and what is said when bids run out."""

from __future__ import annotations

import numpy as np

from ..errors import InvalidProblem
from ..problem import Problem
from ..problem.costs import largest_cost
from .options import AuctionOptions
from .scaling import RESOLUTION


def as_duals(v: np.ndarray, problem: Problem) -> np.ndarray:
    """Return an auction's prices in the problem's arithmetic; integers are rounded down."""
    return np.floor(v).astype(np.int64) if problem.is_integer and v.dtype.kind == "f" else v


def increment(eps: float, problem: Problem) -> float:
    """Return the increment to bid with: `eps`, or the largest cost where that is less.

    A larger one proves nothing more, and its prices would run beyond what these costs can need. Raises where `eps` is
    lost in the rounding of the prices, so that bidding might never end.
    """
    return increment_beside(eps, largest_cost(problem))


def increment_beside(eps: float, largest: float) -> float:
    """As `increment`, for costs and prices up to `largest`."""
    least = RESOLUTION * largest
    if eps < least:
        raise InvalidProblem(
            f"eps needs at least {least:.3g} beside costs of this size in float64; got {eps:.3g}. Raise it, or leave "
            "it at None for the exact optimum.",
            argument="eps",
        )
    return min(eps, largest) if largest else eps


def out_of_bids(options: AuctionOptions, waiting: int) -> str:
    """Return what is said when the budget is spent and rows wait; empty where none does."""
    if not waiting:
        return ""
    return (
        f"max_bids={options.max_bids} bids per row were spent and {waiting} rows had no column yet; raise it, or leave "
        "it at None."
    )
