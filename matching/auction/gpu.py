"""The auction on one GPU: which of its parts a problem goes through."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import perf_counter, perf_counter_ns
from typing import Any

import numpy as np

from ..certificate.assignment import Assignment
from ..certificate.certify import certify as certify_on_host
from ..certificate.gpu_certificate import certified, certify, local_partners
from ..certificate.not_converged import NotConverged
from ..certificate.refine import refined
from ..device import cuda
from ..errors import DeviceUnavailable
from ..problem import Problem
from ..problem.convert import as_dense, as_sparse, transposed
from ..problem.gpu_graph import DeviceGraph, Prices, starting_prices
from .bidding import out_of_bids
from .gpu_batch import groups_of_blocks, is_tall, solve_groups
from .gpu_dense import solve_dense
from .gpu_eps import match_within_eps
from .gpu_feasibility import find_fault
from .gpu_points import solve_points
from .gpu_scaling import solve_graph
from .options import AuctionOptions

_Matched = tuple[Problem, DeviceGraph, Prices]
"""What was matched in the form that the kernels took, as a graph, and the outcome."""


def solve_gpu(problem: Problem, options: AuctionOptions, device: str) -> Assignment:
    """Solve on a device; raises as `Auction.solve` does, and `DeviceMemoryExceeded` before memory is taken.

    Runs on the caller's current stream. Deterministic: columns compare bids by their increment, then by row, whatever
    the order of threads.
    """
    with cuda.using(_device_of(problem, device)) as cp:
        begin = partial(_begin, cp, options, f"cuda:{cp.cuda.Device().id}")
        groups = groups_of_blocks(problem, one_shape=options.variant == "paper")
        return begin(problem)() if len(groups) == 1 else solve_groups(problem, groups, begin)


def _begin(cp: Any, options: AuctionOptions, device: str, problem: Problem) -> Callable[[], Assignment]:
    """Find out whether all of the shorter side can be matched where they must; return what then does it."""
    began = perf_counter()
    if problem.kind == "points" and options.is_exact:
        match = partial(_match_points, cp, problem, options)
    else:
        match = _ready_to_match(cp, _form_for_gpu(problem, options), options)
    return partial(_solve, problem, options, device, match, perf_counter() - began)


def _solve(
    problem: Problem, options: AuctionOptions, device: str, match: Callable[[], _Matched], asked_s: float
) -> Assignment:
    """Match, certify, and bring the answer to where the problem is."""
    began = perf_counter()
    form, graph, prices = match()
    unfinished = _what_is_unfinished(prices.counts, options)
    solved = perf_counter()
    if unfinished and problem.kind == "points":  # not every pair has been checked: the graph would prove too much
        local = local_partners(graph, prices.col_of_row, problem.row_offsets, problem.col_offsets)
        found = cuda.to_host(local), prices.v.get()
        answer = certify_on_host(problem.on_host(), *found, solver=options.name, device=device)
    else:
        answer = certified(graph, form, prices, solver=options.name, device=device, stats={})
    if not problem.is_on_device:
        answer = answer.on_host()
    ended = perf_counter()
    stats = {**_in_seconds(prices.counts), "certificate_s": ended - solved, "solve_s": asked_s + ended - began}
    answer = replace(answer, stats=stats)
    if unfinished and not answer.is_optimal:
        raise NotConverged(unfinished, assignment=answer)
    return refined(problem, answer) if options.is_exact else answer


def _in_seconds(counts: dict[str, int]) -> dict[str, float]:
    """Return the counts with the stages' nanoseconds as seconds.

    The stages are feasibility (whether all can be matched), graph (sorting points, cheapest pairs), phases (bids with
    an increment), tight_bids (those without), paths, forest, trees (searches), and check (of all pairs).
    """
    return {
        f"{name[:-3]}_s" if name.endswith("_ns") else name: number / 1e9 if name.endswith("_ns") else number
        for name, number in counts.items()
    }


def _what_is_unfinished(counts: dict[str, int], options: AuctionOptions) -> str:
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


def _form_for_gpu(problem: Problem, options: AuctionOptions) -> Problem:
    """Return the problem as the kernels take it: sparse, or dense blocks of one shape."""
    if options.variant == "paper":
        alone = problem.kind == "sparse" and problem.n_blocks == 1
        return problem if alone or problem.kind == "dense" else as_dense(problem.on_host())
    if problem.kind == "points":
        return as_sparse(problem.on_host())
    if problem.kind == "sparse":
        return problem
    shapes = set(zip(np.diff(problem.row_offsets).tolist(), np.diff(problem.col_offsets).tolist(), strict=True))
    one_shape = len(shapes) == 1 and min(min(shapes)) > 0
    return problem if one_shape else as_sparse(problem.on_host())


def _match_points(cp: Any, problem: Problem, options: AuctionOptions) -> _Matched:
    """Match point sets without a matrix; the graph carries the certificate."""
    if problem.n_edges == 0:
        graph = DeviceGraph.of(cp, as_sparse(problem.on_host()))
        return problem, graph, Prices.start(graph, starting_prices(graph))
    if not is_tall(problem).any():
        return problem, *solve_points(cp, problem, options)[:2]
    graph, prices, _ = solve_points(cp, transposed(problem), options)
    return problem, graph.transposed(), _transposed_back(graph, prices)


def _ready_to_match(cp: Any, form: Problem, options: AuctionOptions) -> Callable[[], _Matched]:
    """Bring costs to the device; return what matches them, once it is known that it can be done."""
    graph = DeviceGraph.of(cp, form)
    tall = bool(is_tall(form).any())
    searched = graph.transposed() if tall else graph
    began = perf_counter_ns()
    counts: dict[str, int] = {}
    if not (form.has_unmatched_cost or form.allows_all):
        fault = find_fault(searched, *(form.row_offsets, form.col_offsets)[:: -1 if tall else 1])
        if fault is not None:
            raise fault.of_columns() if tall else fault
        counts["feasibility_ns"] = perf_counter_ns() - began

    def match() -> _Matched:
        prices = _bid(searched, options)
        prices.count(**counts)
        return form, graph, _transposed_back(searched, prices) if tall else prices

    return match


def _transposed_back(turned: DeviceGraph, prices: Prices) -> Prices:
    """Exchange rows and columns of a solution: the best row duals become the column duals."""
    v = certify(turned, prices, turned.cp.minimum(prices.v, turned.col_bound)).row_duals
    return Prices(v, prices.row_of_col, prices.col_of_row, prices.counts)


def _bid(graph: DeviceGraph, options: AuctionOptions) -> Prices:
    """Match a graph whose shorter side is its rows, or which has an `unmatched_cost`; all rows can be matched then."""
    if not options.is_exact:
        return match_within_eps(graph, options)
    most_bids = None if options.max_bids is None else options.max_bids * graph.n_rows
    prices, infeasible_row = (solve_dense if graph.is_dense else solve_graph)(graph, most_bids)
    assert infeasible_row < 0, "the cardinality matching matched a row that bids and searches cannot"
    return prices
