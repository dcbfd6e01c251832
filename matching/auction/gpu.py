"""The auction on one GPU: which of its parts a problem goes through."""

from __future__ import annotations

from time import perf_counter_ns
from typing import Any

from ..certificate.gpu_certificate import MatchedOnDevice, local_partners
from ..certificate.matched import Matched, SolverMatching
from ..device import cuda
from ..problem import Problem
from ..problem.convert import as_dense, as_sparse
from ..problem.gpu_graph import CostGraph, DeviceSolution, starting_duals
from ..problem.gpu_points import dense_on_device
from .bidding import out_of_bids
from .gpu_dense import solve_dense, solve_in_phases
from .gpu_eps import match_within_eps
from .gpu_feasibility import find_fault
from .gpu_points import solve_points
from .gpu_scaling import is_one_matrix, solve_graph
from .options import AuctionOptions


def match_on_gpu(problem: Problem, options: AuctionOptions) -> SolverMatching:
    """Match on the current device; as `Auction.match` says.

    Runs on the caller's current stream. Deterministic: columns compare bids by their increment, then by row, whatever
    the order of threads.
    """
    cp = cuda.cupy()
    if problem.kind == "points" and options.is_exact:
        form = problem
        graph, matching = _match_points(cp, problem, options)
    else:
        form = _form_for_gpu(problem, options)
        graph = CostGraph.of(cp, form)
        matching = _match_graph(graph, form, options)
    stats, unfinished = _in_seconds(matching.statistics()), _what_is_unfinished(matching, options)
    if unfinished and problem.kind == "points":  # not every pair has been checked: the graph would prove too much
        local = local_partners(graph, matching.col_of_row, problem.row_offsets, problem.col_offsets)
        return Matched(problem.on_host(), cuda.to_host(local), matching.v.get(), stats, unfinished, options.is_exact)
    return MatchedOnDevice(form, graph, matching, stats, unfinished, options.is_exact)


def _in_seconds(counts: dict[str, int]) -> dict[str, float]:
    """Return the counts with the steps' nanoseconds as seconds.

    The steps are feasibility (whether all can be matched), graph (sorting points, cheapest pairs), phases (bids with
    an increment), final_bids (those without), paths, forest, trees, dual_phases (searches), and check (of all pairs).
    """
    return {
        f"{name[:-3]}_s" if name.endswith("_ns") else name: number / 1e9 if name.endswith("_ns") else number
        for name, number in counts.items()
    }


def _what_is_unfinished(matching: DeviceSolution, options: AuctionOptions) -> str:
    """Say what a budget left undone; empty if nothing."""
    if matching.unchecked_rows and not matching.waiting:
        return (
            f"after {matching.spent.pricing_rounds} rounds of adding pairs to the graph of neighbours, "
            f"{matching.unchecked_rows} rows still have pairs that are cheaper than its prices allow; use solver='jv'."
        )
    return out_of_bids(options, matching.waiting)


def _form_for_gpu(problem: Problem, options: AuctionOptions) -> Problem:
    """Return the problem as the kernels take it: sparse, or dense blocks of one shape."""
    if options.variant == "paper":
        single = problem.kind == "sparse" and problem.n_blocks == 1
        return problem if single or problem.kind == "dense" else as_dense(problem.on_host())
    if problem.kind == "points":
        return as_sparse(problem.on_host())
    if problem.kind == "sparse":
        return problem
    shapes = set(zip(problem.n_rows_of_block.tolist(), problem.n_cols_of_block.tolist(), strict=True))
    one_shape = len(shapes) == 1 and min(min(shapes)) > 0
    return problem if one_shape else as_sparse(problem.on_host())


def _match_points(cp: Any, problem: Problem, options: AuctionOptions) -> tuple[CostGraph, DeviceSolution]:
    """Match point sets, without a matrix where that will do; the graph carries the certificate."""
    if problem.n_edges == 0:
        graph = CostGraph.of(cp, as_sparse(problem.on_host()))
        return graph, DeviceSolution.start(graph, starting_duals(graph))
    if options.takes_matrix_of(problem):
        graph = CostGraph.of(cp, _form_for_gpu(dense_on_device(cp, problem), options))
        matching = _bid(graph, options)
        matching.count(matrix=1)
        return graph, matching
    return solve_points(cp, problem, options)[:2]


def _match_graph(graph: CostGraph, form: Problem, options: AuctionOptions) -> DeviceSolution:
    """Match a graph, once it is known that all rows can be matched that must."""
    asked = not (form.has_unmatched_cost or form.allows_all)
    began = perf_counter_ns()
    fault = find_fault(graph, form.row_offsets, form.col_offsets) if asked else None
    feasibility_ns = perf_counter_ns() - began
    if fault is not None:
        raise fault
    matching = _bid(graph, options)
    if asked:
        matching.count(feasibility_ns=feasibility_ns)
    return matching


def _bid(graph: CostGraph, options: AuctionOptions) -> DeviceSolution:
    if not options.is_exact:
        return match_within_eps(graph, options)
    most_bids = None if options.max_bids is None else options.max_bids * graph.n_rows
    if options.matrix == "only" and most_bids is None and is_one_matrix(graph):
        matching, infeasible_row = solve_in_phases(graph)
        matching.count(whole_matrix=1)
    else:
        matching, infeasible_row = (solve_dense if graph.is_dense else solve_graph)(graph, most_bids)
    assert infeasible_row < 0, "the cardinality matching matched a row that bids and searches cannot"
    return matching
