"""The whole auction on one graph: ε-scaling where every price is free, prices from their bounds where some are not."""

from __future__ import annotations

from typing import Any

from .gpu_graph import DeviceGraph, Prices
from .gpu_steps import augment, bid, grow_forest

SCALING_FACTOR = 5
SCALING_PHASES = 3
FIRST_EPS = 4.0
"""First increment, in units of the mean cost above the least, divided by the mean degree."""
PHASE_LEAVES, BIDS_LEAVE = 0.02, 0.005
"""Share of the rows left unassigned by a phase with an increment, and by the last one, which has none."""
LEFT_TO_PATHS = 128


def solve_graph(graph: DeviceGraph) -> tuple[Prices, int]:
    """Match exactly; return the prices and -1, or a row that must be matched and cannot be."""
    if graph.is_bounded:
        return _from_bounds(graph)
    prices = Prices.start(graph, graph.cp.zeros(graph.n_cols, graph.price_dtype))
    for eps in _increments(graph):
        bid(graph, prices, eps=eps, stop_at=int(PHASE_LEAVES * graph.n_rows))
        prices.unmatch_all()
    return prices, finish_free(graph, prices, None)


def finish_free(graph: DeviceGraph, prices: Prices, rows: Any) -> int:
    """Match the given rows (None: all, none of them matched) at tight links, where no dual has a bound."""
    left = bid(graph, prices, rows=rows, stop_at=int(BIDS_LEAVE * graph.n_rows))
    return grow_forest(graph, prices, left)


def _from_bounds(graph: DeviceGraph) -> tuple[Prices, int]:
    """Lower column duals from their bounds only: columns without a bid end where they must if they stay alone."""
    cp = graph.cp
    prices = Prices.start(graph, cp.where(graph.col_bound < graph.none, graph.col_bound, graph.price_dtype.type(0)))
    left = bid(graph, prices, stop_at=LEFT_TO_PATHS)
    return prices, augment(graph, prices, left)


def _increments(graph: DeviceGraph) -> list[Any]:
    """Falling increments, none below 1 for integers."""
    if graph.n_rows == 0 or len(graph.cost) == 0:
        return []
    cp, cost = graph.cp, graph.cost
    if graph.is_dense:
        cost = cost[cost < graph.none] if graph.forbidden is None else cost[(cost < graph.none) & ~graph.forbidden]
    mean, least = cp.stack([cost.mean(dtype=cp.float64), cost.min().astype(cp.float64)]).get()
    first = FIRST_EPS * (float(mean) - float(least)) * graph.n_rows / max(len(graph.cost), 1)
    steps = [first / SCALING_FACTOR**k for k in range(SCALING_PHASES)]
    return (
        sorted({int(eps) for eps in steps if eps >= 1}, reverse=True)
        if graph.is_integer
        else [e for e in steps if e > 0]
    )
