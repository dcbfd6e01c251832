"""The whole auction on one graph: ε-scaling where every price is free, prices from their bounds where some are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .gpu_graph import DeviceGraph, Prices
from .gpu_steps import UNLIMITED, augment, bid, grow_forest

SCALING_FACTOR = 5
SCALING_PHASES = 4
FIRST_EPS = 20.0
"""First increment, in units of the mean cost above the least, divided by the mean degree."""
PHASE_LEAVES, BIDS_LEAVE = 0.02, 0.005
"""Share of the rows left unassigned by a phase with an increment, and by the last one, which has none."""
LEFT_TO_PATHS = 128
LONGEST_PATH = 64
"""Rows that a search of its own scans before its row joins the forest; forests raise duals farther than they must."""
LONGEST_BOUNDED_PATH = 1024
"""As much where there is no forest: longer searches come last, and fewer at once, for their memory."""
ROOM = 64
"""Times that prices stay below int64's range, taking the longest path of the largest costs, for scaling to be safe."""
ROUNDS_WITHOUT_END = 2**30
REFINED_PHASES = 2
"""Phases, the last, after which edges may be added."""


def solve_graph(graph: DeviceGraph, most_bids: int | None = None) -> tuple[Prices, int]:
    """Match exactly; return the prices and -1, or a row that must be matched and cannot be.

    Once `most_bids` are spent, the count "waiting" says how many rows have no column yet.
    """
    if not graph.is_bounded:
        _, prices = bid_in_phases(graph, most_bids, lambda graph, _: graph)
        return prices, -1 if prices.counts.get("waiting") else finish_free(graph, prices, None, most_bids)
    prices = Prices.start(graph, starting_prices(graph))
    left = bid(graph, prices, stop_at=LEFT_TO_PATHS, most_bids=most_bids)
    if _is_spent(prices, left, most_bids):
        return prices, -1
    for most_scans in (LONGEST_BOUNDED_PATH, UNLIMITED):
        stuck, left = augment(graph, prices, left, most_scans)
        if stuck >= 0:
            break
    return prices, stuck


def bid_in_phases(
    graph: DeviceGraph, most_bids: int | None, refine: Callable[[DeviceGraph, Prices], DeviceGraph]
) -> tuple[DeviceGraph, Prices]:
    """Auction with falling increments where every price is free; `refine` may add edges after the last of them.

    Returns the graph and the prices, with nothing matched.
    """
    prices = Prices.start(graph, starting_prices(graph))
    steps = increments(graph)
    for phase, eps in enumerate(steps):
        left = bid(graph, prices, eps=eps, stop_at=int(PHASE_LEAVES * graph.n_rows), most_bids=_rest(prices, most_bids))
        if _is_spent(prices, left, most_bids):
            break
        prices.unmatch_all()
        if phase >= len(steps) - REFINED_PHASES:
            graph = refine(graph, prices)
    return graph, prices


def finish_free(graph: DeviceGraph, prices: Prices, rows: Any, most_bids: int | None = None) -> int:
    """Match the given rows (None: all, none of them matched) at tight links, where no dual has a bound."""
    left = bid(graph, prices, rows=rows, stop_at=int(BIDS_LEAVE * graph.n_rows), most_bids=_rest(prices, most_bids))
    if _is_spent(prices, left, most_bids):
        return -1
    if not graph.is_batch_of_matrices:  # whose forests grow side by side
        stuck, left = augment(graph, prices, left, LONGEST_PATH)
        if stuck >= 0:
            return stuck
    return grow_forest(graph, prices, left)


def bid_to_eps(graph: DeviceGraph, eps: float, most_bids: int | None) -> Prices:
    """Auction a graph of float costs until each link is within `eps` of its row's best, and leave it at that."""
    prices = Prices.start(graph, starting_prices(graph))
    if not graph.is_bounded:
        for larger in (step for step in increments(graph) if step > eps):
            bid(graph, prices, eps=larger, stop_at=int(PHASE_LEAVES * graph.n_rows), most_bids=_rest(prices, most_bids))
            prices.unmatch_all()
    left = bid(
        graph, prices, eps=eps, most_bids=_rest(prices, most_bids), most_rounds=(ROUNDS_WITHOUT_END, ROUNDS_WITHOUT_END)
    )
    prices.count(waiting=len(left))
    return prices


def starting_prices(graph: DeviceGraph) -> Any:
    """Return column duals at their bounds: columns without a bid end where they must if they stay alone. 0 if none."""
    return graph.cp.where(graph.col_bound < graph.none, graph.col_bound, graph.price_dtype.type(0))


def _rest(prices: Prices, most_bids: int | None) -> int | None:
    return None if most_bids is None else most_bids - prices.counts.get("bids", 0)


def _is_spent(prices: Prices, left: Any, most_bids: int | None) -> bool:
    """Whether the budget ended the bids; the rows left are counted as waiting then."""
    if most_bids is None or prices.counts["bids"] < most_bids:
        return False
    prices.count(waiting=len(left))
    return len(left) > 0


def increments(graph: DeviceGraph) -> list[Any]:
    """Return falling increments, none below 1 for integers; none at all where prices might leave int64."""
    if graph.n_rows == 0 or len(graph.cost) == 0:
        return []
    cp, cost = graph.cp, graph.cost
    if graph.is_dense:
        allowed = cost < graph.none if graph.forbidden is None else (cost < graph.none) & ~graph.forbidden
        cost = cost[allowed]
    if len(cost) == 0:
        return []
    mean, least, most = cp.stack(
        [x.astype(cp.float64) for x in (cost.mean(dtype=cp.float64), cost.min(), cost.max())]
    ).get()
    if graph.is_integer and ROOM * (2 * graph.n_rows + 4) * max(abs(least), abs(most)) > graph.none:
        return []
    first = FIRST_EPS * (float(mean) - float(least)) * graph.n_rows / len(cost)
    steps = [first / SCALING_FACTOR**k for k in range(SCALING_PHASES)]
    if graph.is_integer:
        return sorted({int(eps) for eps in steps if eps >= 1}, reverse=True)
    return [eps for eps in steps if eps > 0]
