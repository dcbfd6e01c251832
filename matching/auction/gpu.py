"""The auction on one GPU: which of its parts a problem goes through."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import certificate, cuda
from ..assignment import Assignment
from ..convert import as_dense, as_sparse, transposed
from ..errors import DeviceUnavailable, Infeasible, NotConverged
from ..hall import infeasible
from ..problem import Problem
from .feasibility import check_feasible
from .gpu_dense import solve_dense
from .gpu_graph import DeviceGraph, Prices, certified, certify
from .gpu_paper import bid_as_in_the_paper
from .gpu_points import solve_points
from .gpu_scaling import bid_to_eps, solve_graph, starting_prices
from .graph import out_of_bids, refuse_too_fine

if TYPE_CHECKING:
    from .solver import Auction


def solve_gpu(problem: Problem, options: Auction, device: str) -> Assignment:
    """Solve on a device; raises as `Auction.solve` does, and `DeviceMemoryExceeded` before memory is taken.

    Runs on the caller's current stream. Deterministic: columns compare bids by their increment, then by row, whatever
    the order of threads.
    """
    began = perf_counter()
    with cuda.using(_device_of(problem, device)) as cp:
        name = f"cuda:{cp.cuda.Device().id}"
        if _must_go_apart(problem, options):
            return _joined(problem, [solve_gpu(block, options, name) for block in problem.blocks()])
        if problem.kind == "points" and not _is_within_eps(options):
            graph, prices = _match_points(cp, problem, options)
            form = problem
        else:
            form = _form_for_gpu(problem, options)
            graph = DeviceGraph.of(cp, form)
            prices = _match_turned(graph, form, options) if _is_tall(form).any() else _match(graph, form, options)
        unfinished = _what_is_unfinished(prices.counts, options)
        if unfinished and problem.kind == "points":  # not every pair has been checked: the graph would prove too much
            found = prices.col_of_row.get(), prices.v.get()
            answer = certificate.certify(problem.on_host(), *found, solver=options.name, device=name)
        else:
            answer = certified(graph, form, prices, solver=options.name, device=name, stats={})
        if not problem.is_on_device:
            answer = answer.on_host()
        answer = replace(answer, stats={**prices.counts, "solve_s": perf_counter() - began})
    if unfinished and not answer.is_optimal:
        raise NotConverged(unfinished, assignment=answer)
    return answer


def _what_is_unfinished(counts: dict[str, int], options: Auction) -> str:
    """Say what a budget left undone; empty if nothing."""
    if counts.get("waiting"):
        return out_of_bids(options, counts["waiting"])
    if counts.get("unchecked_rows"):
        return (
            f"{counts['pricing_rounds']} rounds of adding pairs to the neighbour graph left {counts['unchecked_rows']} "
            "rows with pairs that contradict their prices; use solver='jv'."
        )
    return ""


def _device_of(problem: Problem, device: str) -> str:
    """Return the device to use: that of the problem's arrays where they are on one, since nothing is moved unasked."""
    if not problem.is_on_device:
        return device
    data: Any = problem.data
    held = f"cuda:{data.device.id}"
    if device not in ("cuda", held):
        raise DeviceUnavailable(
            f"device={device!r}: the problem's arrays are on {held}; move them, or use device='cuda'"
        )
    return held


def _is_tall(problem: Problem) -> np.ndarray:
    """Which blocks must match all columns and have more rows: methods that search from rows need them turned round."""
    return (np.diff(problem.row_offsets) > np.diff(problem.col_offsets)) & (not problem.has_unmatched_cost)


def _must_go_apart(problem: Problem, options: Auction) -> bool:
    """Whether the blocks cannot be one graph: some tall and some wide, points, or many shapes in the paper's mode."""
    if problem.n_blocks == 1:
        return False
    shapes = set(zip(np.diff(problem.row_offsets).tolist(), np.diff(problem.col_offsets).tolist(), strict=True))
    wide = np.diff(problem.row_offsets) < np.diff(problem.col_offsets)
    mixed = bool(_is_tall(problem).any() and wide.any())
    return mixed or problem.kind == "points" or (options.variant == "paper" and len(shapes) > 1)


def _joined(problem: Problem, answers: list[Assignment]) -> Assignment:
    """Lay the answers to the blocks of a batch side by side; counts add up."""
    stats: dict[str, Any] = {}
    for answer in answers:
        for name, count in answer.stats.items():
            stats[name] = stats.get(name, 0) + count
    arrays = ("col_of_row", "row_of_col", "row_duals", "col_duals")
    return replace(
        answers[0],
        **{name: np.concatenate([getattr(answer, name) for answer in answers]) for name in arrays},
        cost=np.array([answer.cost for answer in answers]),
        gap=np.array([answer.gap for answer in answers]),
        is_optimal=all(answer.is_optimal for answer in answers),
        stats=stats,
        row_offsets=problem.row_offsets,
        col_offsets=problem.col_offsets,
    )


def _form_for_gpu(problem: Problem, options: Auction) -> Problem:
    """Return the problem as the kernels take it: sparse, or dense blocks of one shape."""
    if options.variant == "paper":
        return as_dense(problem.on_host())
    if problem.kind == "points":
        return as_sparse(problem.on_host())
    shapes = set(zip(np.diff(problem.row_offsets).tolist(), np.diff(problem.col_offsets).tolist(), strict=True))
    one_shape = len(shapes) == 1 and min(min(shapes)) > 0
    return problem if problem.kind == "sparse" or one_shape else as_sparse(problem.on_host())


def _match_points(cp: Any, problem: Problem, options: Auction) -> tuple[DeviceGraph, Prices]:
    """Match one pair of point sets without a matrix; return the graph that carries the certificate."""
    most_bids = None if options.max_bids is None else options.max_bids * problem.n_rows
    tall = bool(_is_tall(problem)[0])
    if min(problem.shape) == 0:
        graph = DeviceGraph.of(cp, as_sparse(problem.on_host()))
        return graph, Prices.start(graph, starting_prices(graph))
    graph, prices, _ = solve_points(cp, transposed(problem) if tall else problem, most_bids)
    return (graph.transposed(), _turned_back(graph, prices)) if tall else (graph, prices)


def _match_turned(graph: DeviceGraph, problem: Problem, options: Auction) -> Prices:
    """Match a graph whose shorter side is its columns."""
    turned = graph.transposed()
    try:
        prices = _match(turned, _sides_exchanged(problem, options), options)
    except Infeasible as error:
        raise error.of_columns() from None
    return _turned_back(turned, prices)


def _turned_back(turned: DeviceGraph, prices: Prices) -> Prices:
    """Exchange rows and columns of a solution: the best row duals become the column duals."""
    v, _, _ = certify(turned, prices, turned.cp.minimum(prices.v, turned.col_bound))
    return Prices(v, prices.row_of_col, prices.col_of_row, prices.counts)


def _sides_exchanged(problem: Problem, options: Auction) -> Problem:
    """Return what the search for faults needs of the problem turned round: everything within eps, else the offsets."""
    if _is_within_eps(options):
        return transposed(problem.on_host())
    return replace(problem, row_offsets=problem.col_offsets, col_offsets=problem.row_offsets)


def _is_within_eps(options: Auction) -> bool:
    """Whether the auction stops at its increment, without an exact finish."""
    return options.variant == "paper" or options.eps is not None


def _match(graph: DeviceGraph, problem: Problem, options: Auction) -> Prices:
    """Match a graph whose shorter side is its rows, or which has an `unmatched_cost`."""
    if _is_within_eps(options):
        return _match_within_eps(graph, problem, options)
    most_bids = None if options.max_bids is None else options.max_bids * graph.n_rows
    prices, stuck = (solve_dense if graph.is_dense else solve_graph)(graph, most_bids)
    if stuck >= 0:
        indptr, indices, allowed = _edges_on_host(graph)
        raise infeasible(problem, stuck, indptr, indices, allowed, prices.col_of_row.get(), prices.row_of_col.get())
    return prices


def _match_within_eps(graph: DeviceGraph, problem: Problem, options: Auction) -> Prices:
    """Bid in float64 until each link is within eps of its row's best; integers' prices are rounded down."""
    eps = _paper_eps(graph) if options.eps is None else options.eps
    on_host = problem.on_host()
    refuse_too_fine(eps, on_host)
    check_feasible(on_host)
    if options.variant == "paper":
        prices = bid_as_in_the_paper(graph.as_floats(), replace(options, eps=eps))
    else:
        most_bids = None if options.max_bids is None else options.max_bids * graph.n_rows
        prices = bid_to_eps(graph.as_floats(), eps, most_bids)
    if graph.is_integer:
        prices.v = graph.cp.floor(prices.v).astype(np.int64)
    return prices


def _paper_eps(graph: DeviceGraph) -> float:
    """Return the increment that stands in for the paper's, which it does not name."""
    if graph.is_integer:
        return 1 / (graph.n_rows + 1)
    finite = graph.cost[graph.cost < graph.none]
    spread = float(finite.max() - finite.min()) if len(finite) else 0.0
    return (spread or 1.0) / (10 * max(graph.n_rows, 1))


def _edges_on_host(graph: DeviceGraph) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return indptr, indices and which edges are allowed (None: all), for the search of a Hall violator."""
    if not graph.is_dense:
        return graph.indptr.get(), graph.indices.get(), None
    rows = np.arange(graph.n_rows)
    indptr = np.arange(graph.n_rows + 1, dtype=np.int64) * graph.width
    indices = np.tile(np.arange(graph.width), graph.n_rows) + np.repeat(
        rows // graph.block_rows * graph.width, graph.width
    )
    allowed = graph.cost < graph.none if graph.forbidden is None else (graph.cost < graph.none) & ~graph.forbidden
    return indptr, indices, allowed.get()
