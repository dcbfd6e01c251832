"""Bids on a graph in device memory; the call waits for its kernel, so a clock on the host measures it."""

from __future__ import annotations

from time import perf_counter_ns
from typing import Any

import numpy as np

from ..device import cuda
from ..device.arrays import ascending
from ..problem.gpu_graph import CostGraph, DeviceSolution

THREADS = 512
MOST_ROUNDS = 1600
"""Rounds after which shortest paths take over from bids without increment."""


def bid(
    graph: CostGraph,
    matching: DeviceSolution,
    *,
    rows: Any = None,
    eps: Any = 0,
    stop_at: int = 0,
    most_bids: int | None = None,
    most_rounds: int = MOST_ROUNDS,
    in_order: bool = True,
) -> Any:
    """Auction rows and return those left over, int32 (k,), ascending if they are wanted `in_order`.

    Parameters
    ----------
    graph, matching : updated in place
    rows : int32 (k,), optional
        The unmatched rows that bid; default: all rows, of which none is matched.
    eps : number
        Increment beyond the second best. 0 keeps the slack of matched edges zero (see `auction/bid.cu`).
    stop_at : int
        Rows left unassigned that end it.
    most_bids : int, optional
        Bids that end it.
    most_rounds : int
        Rounds that end it.
    """
    cp, n, m = graph.cp, graph.n_rows, graph.n_cols
    n_bidders = n if rows is None else len(rows)
    if n_bidders == 0:
        return cp.empty(0, cp.int32)
    began = perf_counter_ns()
    kernel = graph.kernel("auction/bid.cu", "auction_bid", lanes=True, cooperative=True)
    dtype = graph.dual_dtype
    counts = cp.zeros(5 + m, cp.uint64)  # two counts; as words: queue sizes, number waiting, barrier; then keys
    words, key = counts[2:5].view(cp.uint32), counts[5:]
    bid_edge, bid_price = cp.empty(n, cp.int32), cp.empty(n, dtype)
    queues, waiting = cp.empty(2 * n, cp.int32), cp.empty(n, cp.int32)
    first_queue = np.intp(0) if rows is None else rows
    groups = THREADS // graph.lanes
    blocks = min(cuda.resident_blocks(kernel, THREADS), -(-n_bidders // groups))
    kernel(
        (blocks,),
        (THREADS,),
        (
            *(np.int32(n), np.int32(m), *graph.edges(), graph.row_bound),
            *(matching.v, matching.col_of_row, matching.row_of_col, key, bid_edge, bid_price, first_queue),
            *(np.int32(n_bidders), queues, words, waiting, words[3:], counts, words[4:], dtype.type(eps)),
            *(np.int32(stop_at), np.int32(most_rounds)),
            np.uint64(2**63 if most_bids is None else max(most_bids, 0)),
        ),
    )
    host = counts[:5].get()
    step = "phases_ns" if eps else "final_bids_ns"
    matching.spent.bids += int(host[0])
    matching.spent.rounds += int(host[1])
    matching.count(**{step: perf_counter_ns() - began})
    left = waiting[: int(host.view(np.uint32)[7])]
    return ascending(cp, left) if in_order else left
