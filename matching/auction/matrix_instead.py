"""Point sets for which the matrix is faster: where every point has to look at a large part of the others.

Between sets of very different extent, or clouds beside each other, nearly all columns are as good as each other, and
neighbours say little: the graph grows pricing after pricing, and searches go through all of it. What its bids and
searches read is counted; once that is a good part of what the whole matrix would take, the matrix is made, if it is
within a budget that is the same everywhere. So no solve takes much longer than the faster of the two.
"""

from __future__ import annotations

import numpy as np

from ..certificate.matched import Matched
from ..certificate.not_converged import NotConverged
from ..jv.solver import JV
from ..problem import Problem
from ..problem.convert import as_dense
from .options import AuctionOptions
from .phases import match_by_auction

MATRIX_READS = 10
"""Costs that bids and searches read before the matrix is made, as a multiple of its size; on a GPU also those that
bounded graphs of cheapest pairs are asked for before their matrix is. The dense auction of a CPU then reads each cost
59 to 135 times (n = 2000); independent sets come nowhere near, with 0.4 (n = 2000)."""

MATRIX_BYTES = 2**30
"""Size of a matrix up to which it is made, with two copies for a while. It is fixed, not what memory is free: which way
is taken decides between matched edges that cost the same, and they must be the same on every machine."""


def most_reads(problem: Problem, most_bytes: int | None = None) -> float:
    """Return how many costs may be read from the neighbour graph before the matrix is made; +inf for never.

    It is never made where it exceeds so many bytes, `MATRIX_BYTES` by default; batches stay without.
    """
    n, m = problem.shape
    return MATRIX_READS * n * m if problem.n_blocks == 1 and 8 * n * m <= (most_bytes or MATRIX_BYTES) else np.inf


def refuse_matrix(options: AuctionOptions) -> None:
    """Refuse to take the matrix where the caller does not want it.

    Raises
    ------
    NotConverged
    """
    if not options.matrix:
        raise NotConverged(
            "matrix=False: nearest neighbours do not decide how these points match, and all costs are needed. Set "
            "matrix to True, or use another solver."
        )


def match_matrix(problem: Problem, options: AuctionOptions) -> Matched:
    """Match point sets on all their costs: by the auction, or by shortest paths where some columns stay unassigned.

    There these take a half to a third of the auction's time (3,000 points, 3,010 and 4,000 of `differing_points`);
    of equal sides the auction takes a fourth to a half of theirs.
    """
    refuse_matrix(options)
    costs = as_dense(problem)
    if options.is_exact and not problem.has_unmatched_cost and problem.n_rows < problem.n_cols:
        found = JV().match(costs)
    else:
        found = match_by_auction(costs, options)
    return found._replace(stats=found.stats | {"matrix": 1})
