"""The paper's auction on the GPU: two kernels, a loop on the host, and its two tests of convergence."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...auction.options import AuctionOptions
from ...problem.gpu_graph import CostGraph, DeviceSolution
from .increment import require_an_end, tenth_of_spread

THREADS = 256


def bid_as_in_the_paper(graph: CostGraph, options: AuctionOptions) -> DeviceSolution:
    """Run the loop of Vasconcelos & Rosenhahn on a dense float graph, as `papers/vasconcelos_2009/auction.cu` says.

    Nothing is finished exactly: matched edges are within eps of their row's best.
    """
    cp, n, m = graph.cp, graph.n_rows, graph.n_cols
    bid, assign = (
        graph.kernel("papers/vasconcelos_2009/auction.cu", f"auction_paper_{step}") for step in ("bid", "assign")
    )
    eps = np.float64(options.eps)
    matching = DeviceSolution.start(graph, cp.where(graph.col_bound < graph.none, graph.col_bound, 0.0))
    bid_value, bid_target = cp.empty(n, cp.float64), cp.empty(n, cp.int32)
    retired, assigned = cp.zeros(n, cp.uint8), cp.zeros(m, cp.uint8)
    counter = cp.zeros(1, cp.int32)
    counting = options.convergence == "counter"
    settled = rounds = bids = 0
    while settled < n and (options.max_bids is None or bids < options.max_bids * n):
        bids += n - settled
        bid(
            (-(-n // THREADS),),
            (THREADS,),
            (
                *(np.int32(n), np.int32(m), *graph.edges(), graph.row_bound, matching.v, matching.col_of_row),
                *(bid_value, bid_target, retired, counter if counting else np.intp(0), eps),
            ),
        )
        assign(
            (-(-m // THREADS),),
            (THREADS,),
            (
                *(np.int32(n), np.int32(m), matching.v, matching.col_of_row, matching.row_of_col),
                *(bid_value, bid_target),
                *((np.intp(0), counter) if counting else (assigned, np.intp(0))),
            ),
        )
        settled = _settled(counter, retired, assigned, counting=counting)
        rounds += 1
    matching.spent.bids += bids
    matching.spent.rounds += rounds
    matching.waiting = n - settled
    return matching


def increment(graph: CostGraph) -> float:
    """Return the increment that stands in for the one that the paper does not name, as on a CPU.

    Raises
    ------
    InvalidProblem
        If bids would have no end; see `require_an_end`.
    """
    unmatched = (graph.row_bound, graph.col_bound) if graph.has_unmatched_cost else ()
    known = [part[part < graph.none] for part in (graph.cost, *unmatched)]
    ends = [(part.min().item(), part.max().item()) if len(part) else (0, 0) for part in known]
    if not graph.is_integer:
        return tenth_of_spread([end for pair in ends[:2] for end in pair], graph.n_rows)
    largest, *highest = (max(-low, high) for low, high in ends)
    require_an_end(max(highest, default=0), largest, (graph.n_rows, graph.n_cols))
    return 1 / (graph.n_rows + 1)


def _settled(counter: Any, retired: Any, assigned: Any, *, counting: bool) -> int:
    """Return how many rows need no further bid: one value comes from the device."""
    return int(counter.get()[0]) if counting else int(assigned.sum(dtype=np.int64) + retired.sum(dtype=np.int64))
