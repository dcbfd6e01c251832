"""Matrix-free on the GPU: solve on nearest neighbours, check the prices against all pairs by a tree, add, repeat."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter_ns
from typing import Any

import numpy as np

from ..device import cuda
from ..points.gpu_coarse import coarse_prices
from ..points.gpu_tree import FAN, sorted_sides
from ..problem import Problem
from ..problem.gpu_graph import PATH_BYTES, CostGraph, DeviceSolution
from .gpu_bids import bid
from .gpu_matrix import MATRIX_BYTES, solve_matrix
from .gpu_neighbours import neighbour_graph
from .gpu_pricing import AllPairs
from .gpu_sampled_start import sampled_prices
from .gpu_scaling import (
    FINAL_ROUNDS,
    SCALING_FACTOR,
    TOO_HARD,
    bid_in_phases,
    bid_without_increment,
    finish_free,
    has_phases,
    increments,
    rematch,
    scans_left,
    search_free,
    settle_columns,
    solve_graph,
    without_bounds,
)
from .matrix_instead import most_reads, refuse_matrix
from .options import AuctionOptions

PRICING_ROUNDS = 200
BIDS_OF_NEIGHBOURS = 200
"""Bids a row in phases, after which prices start again from a sample. Uniform points take 16 to 72 (n = 1,000 to
20,000, 2D and 3D, moved or not), dense clusters, lines and clouds apart 120 and more in the first phases alone."""
MANY_ROUNDS, HARD_LEAVE, FEWEST_HARD = 100, 0.006, 64
"""Rounds without an increment, share and number of rows then left, beyond which prices start again from a grid's."""
SAMPLED_READS = 4
"""Times `most_reads` that costs may be read from a sample's prices: 20,000 points in dense clusters take 2.5 to 2.9,
different clusters of 5,000 up to 3.4, and half the time of their matrix. Different clusters of 20,000, and blobs apart,
take over 6, and a CPU less time."""
SAY_LITTLE, LACKING = -3, 0.95
"""In place of an infeasible row: after a second start, rows still lack this share of the pairs that a pricing can add.
Clouds and blobs apart lack 0.96 to 0.98 of them, and neighbours will not do in less time than their matrix; blobs of
10,000 0.94, different clusters 0.16 to 0.91 (3,334 and 20,000), planes 0.01 (600, counted on a CPU)."""
AGAIN_LEAVES, FEWEST_AGAIN, AGAIN_ROUNDS = 0.0005, 40, 3000
"""Share of the rows, and number, left by a phase of a second start, and the rounds that end it."""
AGAIN_MARGINS = (1.0, 1.0, 1.0, 5.0, 15.0)
"""As `matrix_free.MARGINS`, after each of these phases but the last."""


def solve_points(cp: Any, problem: Problem, options: AuctionOptions) -> tuple[CostGraph, DeviceSolution, int]:
    """Match point sets, or a batch of them at once, exactly: no more rows than columns, or an `unmatched_cost`.

    Returns
    -------
    graph, matching, infeasible_row
        The graph of the pairs that mattered (its certificate holds for all pairs), and as `gpu_scaling.solve_graph`.
        After `PRICING_ROUNDS` `DeviceSolution.unchecked_rows` says how many rows still had better pairs than the
        graph's.
    """
    n, m = problem.shape
    began = perf_counter_ns()
    cuda.require_memory(2048 * (n + m) + min(PATH_BYTES, 2**16 * m) + 2**22, f"matching {n} and {m} points")
    kernels = cuda.load("points/tree.cu", *(["-DSQUARED"] if problem.metric == "squared" else []))
    x, y = sorted_sides(cp, problem.x, problem.y, (problem.row_offsets, problem.col_offsets), kernels)
    graph = neighbour_graph(cp, problem, x, y, kernels)
    graph_ns = perf_counter_ns() - began
    pairs = AllPairs(x, y, kernels)
    most_bids = None if options.max_bids is None else options.max_bids * n
    reads = np.inf if most_bids is not None else most_reads(problem, MATRIX_BYTES)
    if not has_phases(graph, most_bids):
        graph, matching, infeasible_row = _solve_bounded(graph, problem, pairs, options, most_bids, reads)
        matching.count(graph_ns=graph_ns)
        return graph, matching, infeasible_row
    free, matching, infeasible_row = _solve_free(without_bounds(graph), problem, pairs, most_bids, reads)
    matching.count(graph_ns=graph_ns)
    may_start_again = _may_start_again(problem, most_bids)
    violated: Any = ()
    for _ in range(PRICING_ROUNDS):
        if infeasible_row == TOO_HARD and may_start_again:
            may_start_again, reads = False, SAMPLED_READS * reads
            free, infeasible_row = _solve_from_sample(free, matching, problem, pairs, reads)
        if infeasible_row in (TOO_HARD, SAY_LITTLE):
            return _solve_matrix(graph, problem, matching, options)
        if infeasible_row >= 0 or matching.waiting:
            break
        if graph.is_bounded and settle_columns(_bounded_as(graph, free), matching):
            pairs.forget()
        free, violated = pairs.added(free, matching)
        if len(violated) == 0:
            break
        infeasible_row = finish_free(
            free, matching, matching.unmatch(violated), most_bids, scans_left(free, matching, reads)
        )
    else:
        matching.unchecked_rows = len(violated)
    return _bounded_as(graph, free), matching, infeasible_row


def _solve_bounded(
    graph: CostGraph,
    problem: Problem,
    pairs: AllPairs,
    options: AuctionOptions,
    most_bids: int | None,
    reads: float,
) -> tuple[CostGraph, DeviceSolution, int]:
    """Solve from the bounds, then match the rows again that pairs contradict, until none does; as `solve_points`."""
    matching, infeasible_row = solve_graph(graph, most_bids)
    violated: Any = ()
    for _ in range(PRICING_ROUNDS):
        if infeasible_row >= 0 or matching.waiting:
            return graph, matching, infeasible_row
        graph, violated = pairs.added(graph, matching)
        if len(violated) == 0:
            return graph, matching, -1
        if scans_left(graph, matching, reads) == 0:
            return _solve_matrix(graph, problem, matching, options)
        infeasible_row = rematch(graph, matching, violated)
        pairs.forget()
    matching.unchecked_rows = len(violated)
    return graph, matching, infeasible_row


def _solve_free(
    graph: CostGraph, problem: Problem, pairs: AllPairs, most_bids: int | None, reads: float
) -> tuple[CostGraph, DeviceSolution, int]:
    """Match all rows of a graph without bounds, which grows on the way.

    As `solve_points`; `TOO_HARD` and `SAY_LITTLE` in place of an infeasible row say that it was given up.
    """
    steps = increments(graph)
    margin = (steps or [0.0])[0] / SCALING_FACTOR
    may_start_again = _may_start_again(problem, most_bids)

    def with_worst_pairs(graph: CostGraph, matching: DeviceSolution) -> CostGraph:
        return pairs.refined(graph, matching, margin)

    budget = BIDS_OF_NEIGHBOURS * problem.n_rows if may_start_again else most_bids
    graph, matching = bid_in_phases(graph, steps, budget, with_worst_pairs)
    if matching.waiting and may_start_again:
        matching.waiting = 0
        return graph, matching, TOO_HARD
    if matching.waiting:
        return graph, matching, -1
    rounds = matching.spent.rounds
    left = bid_without_increment(graph, matching, None, most_bids)
    lasted = matching.spent.rounds - rounds >= MANY_ROUNDS
    is_hard = lasted and len(left) > max(FEWEST_HARD, HARD_LEAVE * graph.n_rows)
    if is_hard and may_start_again and len(increments(graph)) > 1:
        matching.v = coarse_prices(graph.cp, *pairs.points, squared=problem.metric == "squared")
        graph, infeasible_row = _bid_again(graph, matching, pairs, reads)
        return graph, matching, infeasible_row
    return graph, matching, search_free(graph, matching, left, most_bids, scans_left(graph, matching, reads))


def _may_start_again(problem: Problem, most_bids: int | None) -> bool:
    """Whether prices may start again: of one block, without a limit that the caller has set."""
    return problem.n_blocks == 1 and most_bids is None


def _solve_from_sample(
    graph: CostGraph, matching: DeviceSolution, problem: Problem, pairs: AllPairs, reads: float
) -> tuple[CostGraph, int]:
    """Match all rows again, from the prices of a sample's optimum; as `_solve_free`, the matching updated in place."""
    if len(increments(graph)) < 2:
        return graph, TOO_HARD
    matching.v = sampled_prices(problem, pairs, lambda sample: solve_points(graph.cp, sample, AuctionOptions())[:2])
    return _bid_again(graph, matching, pairs, reads)


def _solve_matrix(
    graph: CostGraph, problem: Problem, earlier: DeviceSolution, options: AuctionOptions
) -> tuple[CostGraph, DeviceSolution, int]:
    """Give the neighbours up for the matrix of all pairs, counting on; as `solve_points`."""
    refuse_matrix(options)
    matrix, matching, infeasible_row = solve_matrix(graph, problem)
    matching.count_on(earlier)
    return matrix, matching, infeasible_row


def _bid_again(graph: CostGraph, matching: DeviceSolution, pairs: AllPairs, reads: float) -> tuple[CostGraph, int]:
    """Match all rows from the prices of a second start, with the pairs that they call for; as `_solve_free`.

    As on the CPU (`matrix_free`): the coarsest phase is spared, the next is run twice, and finer ones follow.
    """
    first = increments(graph)[1]
    steps = [first, *(first / SCALING_FACTOR**k for k in range(len(AGAIN_MARGINS)))]
    stop_at = max(int(AGAIN_LEAVES * graph.n_rows), FEWEST_AGAIN)
    lacking = 0
    for eps, margin in zip([None, *steps], [1.0, *AGAIN_MARGINS, 0.0], strict=True):
        matching.unmatch_all()
        if eps is not None:
            bid(graph, matching, eps=eps, stop_at=stop_at, most_rounds=AGAIN_ROUNDS, in_order=False)
        if margin:
            pairs.forget()
            known = len(graph.cost)
            graph = pairs.refined(graph, matching, margin * (eps or first))
            lacking = len(graph.cost) - known
    pairs.forget()
    matching.unmatch_all()
    if reads < np.inf and lacking > LACKING * FAN * graph.n_rows:
        return graph, SAY_LITTLE
    left = bid(graph, matching, most_rounds=FINAL_ROUNDS)
    return graph, search_free(graph, matching, left, None, scans_left(graph, matching, reads))


def _bounded_as(graph: CostGraph, grown: CostGraph) -> CostGraph:
    """Return the grown graph with the bounds of the first."""
    return replace(grown, col_bound=graph.col_bound, is_bounded=graph.is_bounded)
