"""The whole auction on one graph: ε-scaling where every price is free, prices from their bounds where some are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter_ns
from typing import Any, NamedTuple

import numpy as np

from ..certificate.gpu_certificate import certify
from ..device import cuda
from ..hungarian.gpu_classical import match_by_dual_phases
from ..paths.gpu_dense import DeviceCosts, DeviceState
from ..paths.gpu_paths import UNLIMITED, augment, grow_forest
from ..paths.gpu_settling import settle_unassigned_columns
from ..paths.gpu_trees import grow_trees
from ..paths.state import FREE
from ..problem.gpu_graph import CostGraph, DeviceSolution, starting_duals
from .gpu_bids import MOST_ROUNDS, bid

SCALING_FACTOR = 5
SCALING_PHASES = 4
FIRST_EPS = 20.0
"""First increment, in units of the mean cost above the least, divided by the mean degree."""
PHASE_LEAVES, BIDS_LEAVE = 0.02, 0.005
"""Share of the rows left unassigned by a phase with an increment, and by the last one, which has none."""
FINAL_ROUNDS = 200
"""Rounds without an increment: easy problems take a tenth, more do little for hard ones."""
FEW_UNASSIGNED = 1.01
"""Columns per row, where some must stay unassigned, up to which phases pay although unassigned columns are to be
settled then (5000 against 5001 independent points: 55 ms, from the bounds 283; against 5250: 118 and 58)."""
LEFT_TO_PATHS = 128
LONGEST_PATH = 64
"""Rows that a search of its own scans before its row joins a forest; forests raise duals farther than they must."""
MOST_REPAIRS = 8
"""Rounds in which rows whose edges rounding left slack are matched again."""
ROOM = 64
"""Times that prices stay below int64's range, taking the longest path of the largest costs, for scaling to be safe."""
ROUNDS_WITHOUT_END = 2**30
RANGE_THREADS, RANGE_BLOCKS = cuda.declared("auction/cost_range.cu", "THREADS"), 1024
"""Of the kernel that reads all costs for their range."""
TOO_HARD = -2
REFINED_PHASES = 2
"""Phases, the last, after which edges may be added."""


def solve_graph(
    graph: CostGraph,
    most_bids: int | None = None,
    *,
    start: DeviceSolution | None = None,
    phase_rounds: int | None = None,
) -> tuple[DeviceSolution, int]:
    """Match exactly; return the matching and -1, or a row that must be matched and cannot be.

    Once `most_bids` are spent, `DeviceSolution.waiting` says how many rows have no column yet. Where phases are run, as
    every price is free or sides are nearly equal, `start` are prices to begin from instead, with nothing matched; and
    `phase_rounds` are rounds (as `bid` has them) of a phase after which `TOO_HARD` is returned.
    """
    if has_phases(graph, most_bids):
        free = without_bounds(graph)
        matching = start or bid_in_phases(free, increments(free), most_bids, lambda same, _: same, phase_rounds)[1]
        if matching.waiting:
            infeasible_row = -1
        elif matching.has_given_up:
            return matching, TOO_HARD
        else:
            infeasible_row = finish_free(free, matching, None, most_bids)
        if infeasible_row < 0 and graph.is_bounded:
            settle_columns(graph, matching)
        return matching, infeasible_row if infeasible_row >= 0 else _match_slack_again(graph, matching, finish_free)
    matching = DeviceSolution.start(graph, starting_duals(graph))
    rounds = FINAL_ROUNDS if is_one_matrix(graph) else MOST_ROUNDS
    left = bid(graph, matching, stop_at=LEFT_TO_PATHS, most_bids=most_bids, most_rounds=rounds)
    if is_spent(matching, left, most_bids):
        return matching, -1
    infeasible_row = _search_from(graph, matching, left)
    return matching, infeasible_row if infeasible_row >= 0 else _match_slack_again(graph, matching, _search_from)


def _match_slack_again(
    graph: CostGraph, matching: DeviceSolution, match: Callable[[CostGraph, DeviceSolution, Any], int]
) -> int:
    """Match the rows again whose edges many searches left slack; return as `match` does."""
    infeasible_row = -1
    for _ in range(MOST_REPAIRS if matching.is_searched else 0):
        has_slack = graph.cp.flatnonzero(certify(graph, matching, matching.v).has_slack)
        if len(has_slack) == 0 or infeasible_row >= 0:
            break
        infeasible_row = match(
            without_bounds(graph) if match is finish_free else graph, matching, matching.unmatch(has_slack)
        )
        if graph.is_bounded:
            settle_columns(graph, matching)
    return infeasible_row


def has_phases(graph: CostGraph, most_bids: int | None = None) -> bool:
    """Whether phases are run: no dual has a bound, or so few columns stay unassigned that they are settled after."""
    few_unassigned = most_bids is None and not graph.has_unmatched_cost and graph.n_cols < FEW_UNASSIGNED * graph.n_rows
    return few_unassigned or not graph.is_bounded


def without_bounds(graph: CostGraph) -> CostGraph:
    """Return the graph as if no column had a bound."""
    if not graph.is_bounded:
        return graph
    return replace(graph, col_bound=graph.cp.full_like(graph.col_bound, graph.none), is_bounded=False)


def _search_from(graph: CostGraph, matching: DeviceSolution, rows: Any) -> int:
    """Match the given rows, or leave them unassigned at their bound; return as `augment` does.

    Searches of their own find short paths; trees that grow from all the rows left over find the others.
    """
    if graph.has_unmatched_cost or graph.is_dense:
        is_for_trees = not graph.is_dense or is_one_matrix(graph)
        infeasible_row, rows = augment(graph, matching, rows, LONGEST_PATH if is_for_trees else UNLIMITED)
        if infeasible_row >= 0:
            return infeasible_row
    if len(rows) == 0:
        return -1
    if graph.is_dense:
        return _search_matrix(graph, matching, rows)
    began = perf_counter_ns()
    stats: dict[str, Any] = {}
    infeasible_row = grow_trees(graph, matching, rows, stats)
    matching.is_searched = True
    matching.count(tree_searches=stats["searches"], trees_ns=perf_counter_ns() - began)
    return infeasible_row


def is_one_matrix(graph: CostGraph) -> bool:
    """Whether it is dense costs of one block: trees of all rows can grow in it at once."""
    return graph.is_dense and graph.block_rows == graph.n_rows


def _search_matrix(matrix: CostGraph, matching: DeviceSolution, rows: Any) -> int:
    """Match the rows of one matrix by the Hungarian method, from the prices at hand; return as `augment` does.

    It changes the duals for many paths at once, where searches of their own wait for each other. 571 rows of two sets
    of points whose densities differ, 5,000, take it 0.09 s, and took one path a search 2.2.
    """
    began = perf_counter_ns()
    state = DeviceState(
        certify(matrix, matching, matching.v).row_duals, matching.v, matching.col_of_row, matching.row_of_col
    )
    infeasible_row, counts = match_by_dual_phases(DeviceCosts.of_graph(matrix), state, rows)
    matrix.cp.maximum(matching.col_of_row, FREE, out=matching.col_of_row)  # those that became unassigned, too
    matching.is_searched = True
    matching.spent.rows_scanned += counts["rows_scanned"]
    matching.count(dual_phases=counts["searches"], dual_phases_ns=perf_counter_ns() - began)
    return infeasible_row


def rematch(graph: CostGraph, matching: DeviceSolution, rows: Any) -> int:
    """Match rows whose pairs have changed, where some dual has a bound; return as `augment` does."""
    matching.unmatch(rows[matching.col_of_row[rows] >= 0])
    infeasible_row = _search_from(graph, matching, rows)
    settle_columns(graph, matching)
    return infeasible_row


def settle_columns(graph: CostGraph, matching: DeviceSolution) -> int:
    """Bring columns that stay unassigned to their bound, which scaled phases leave them short of; return how many."""
    settled = settle_unassigned_columns(graph, matching, _search_from)
    if settled:
        matching.count(unassigned_columns=settled)
    return settled


def bid_in_phases(
    graph: CostGraph,
    steps: list[Any],
    most_bids: int | None,
    refine: Callable[[CostGraph, DeviceSolution], CostGraph],
    phase_rounds: int | None = None,
) -> tuple[CostGraph, DeviceSolution]:
    """Auction with falling increments where every price is free; `refine` may add edges after the last of them.

    Returns the graph and prices without a matching. A phase that lasts longer than `phase_rounds` is the last;
    `DeviceSolution.has_given_up` says so.
    """
    matching = DeviceSolution.start(graph, starting_duals(graph))
    rounds = phase_rounds or MOST_ROUNDS
    for phase, eps in enumerate(steps):
        stop_at, most = int(PHASE_LEAVES * graph.n_rows), _rest(matching, most_bids)
        left = bid(graph, matching, eps=eps, stop_at=stop_at, most_bids=most, most_rounds=rounds, in_order=False)
        if is_spent(matching, left, most_bids):
            break
        matching.unmatch_all()
        if phase_rounds and len(left) > stop_at:
            matching.has_given_up = True
            break
        if phase >= len(steps) - REFINED_PHASES:
            graph = refine(graph, matching)
    return graph, matching


def finish_free(
    graph: CostGraph,
    matching: DeviceSolution,
    rows: Any,
    most_bids: int | None = None,
    most_scans: int | None = None,
) -> int:
    """Match the given rows (None: all, none of them matched) with zero slack, where no dual has a bound.

    Returns -1, a row that cannot be matched, or `TOO_HARD` once searches have scanned `most_scans` rows.
    """
    left = bid_without_increment(graph, matching, rows, most_bids)
    return search_free(graph, matching, left, most_bids, most_scans)


def bid_without_increment(graph: CostGraph, matching: DeviceSolution, rows: Any, most_bids: int | None = None) -> Any:
    """Auction rows (None: all) without an increment for a few rounds; return those left over."""
    stop_at = int(BIDS_LEAVE * graph.n_rows) if rows is None else 0
    return bid(
        graph, matching, rows=rows, stop_at=stop_at, most_bids=_rest(matching, most_bids), most_rounds=FINAL_ROUNDS
    )


def search_free(
    graph: CostGraph,
    matching: DeviceSolution,
    left: Any,
    most_bids: int | None = None,
    most_scans: int | None = None,
) -> int:
    """Match the rows that bids without an increment left over, by shortest paths; return as `finish_free` does."""
    if is_spent(matching, left, most_bids):
        return -1
    if is_one_matrix(graph):
        return _search_matrix(graph, matching, left) if len(left) else -1
    if not graph.is_batch_of_matrices:  # whose forests grow side by side
        infeasible_row, left = augment(graph, matching, left, LONGEST_PATH)
        if infeasible_row >= 0:
            return infeasible_row
    infeasible_row, left = grow_forest(graph, matching, left, most_scans)
    return TOO_HARD if infeasible_row < 0 and len(left) else infeasible_row


def bid_to_eps(graph: CostGraph, eps: float, most_bids: int | None) -> DeviceSolution:
    """Auction a graph of float costs until each row's edge is within `eps` of its best, and leave it at that."""
    matching = DeviceSolution.start(graph, starting_duals(graph))
    if not graph.is_bounded:
        for larger in (step for step in increments(graph) if step > eps):
            stop_at, most = int(PHASE_LEAVES * graph.n_rows), _rest(matching, most_bids)
            bid(graph, matching, eps=larger, stop_at=stop_at, most_bids=most, in_order=False)
            matching.unmatch_all()
    without_end = ROUNDS_WITHOUT_END
    most = _rest(matching, most_bids)
    left = bid(graph, matching, eps=eps, most_bids=most, most_rounds=without_end, in_order=False)
    matching.waiting = len(left)
    return matching


def scans_left(graph: CostGraph, matching: DeviceSolution, reads: float) -> int | None:
    """Return how many more rows may be scanned before bids and searches have read so many costs; None: without end."""
    if reads == np.inf:
        return None
    rows_read = matching.spent.bids + matching.spent.rows_scanned
    return max(int(reads / len(graph.cost) * graph.n_rows) - rows_read, 0)


def _rest(matching: DeviceSolution, most_bids: int | None) -> int | None:
    return None if most_bids is None else most_bids - matching.spent.bids


def is_spent(matching: DeviceSolution, left: Any, most_bids: int | None) -> bool:
    """Whether the budget ended the bids; the rows left are counted as waiting then."""
    if most_bids is None or matching.spent.bids < most_bids:
        return False
    matching.waiting = len(left)
    return len(left) > 0


def increments(graph: CostGraph) -> list[Any]:
    """Return falling increments, none below 1 for integers; none at all where prices might leave int64."""
    costs = range_of_costs(graph)
    if not has_room(graph, costs):
        return []
    first = FIRST_EPS * (costs.mean - costs.least) * graph.n_rows / costs.number
    return falling(graph, first, SCALING_FACTOR, SCALING_PHASES)


def has_room(graph: CostGraph, costs: CostRange) -> bool:
    """Whether there are costs, and prices cannot leave int64 by increments."""
    size = max(abs(costs.least), abs(costs.most))
    return costs.number > 0 and not (graph.is_integer and ROOM * (2 * graph.n_rows + 4) * size > graph.none)


def falling(graph: CostGraph, first: float, factor: float, phases: int) -> list[Any]:
    """Return increments from `first` down, each by a factor, that are above 0; different integers for integers."""
    steps = [first / factor**k for k in range(phases)]
    if graph.is_integer:
        return sorted({int(eps) for eps in steps if eps >= 1}, reverse=True)
    return [eps for eps in steps if eps > 0]


class CostRange(NamedTuple):
    """The number of allowed pairs, and the mean, least and largest of their costs."""

    number: int
    mean: float = 0.0
    least: float = 0.0
    most: float = 0.0


def range_of_costs(graph: CostGraph) -> CostRange:
    """Read all costs once."""
    if len(graph.cost) == 0:
        return CostRange(0)
    blocks = min(-(-len(graph.cost) // RANGE_THREADS), RANGE_BLOCKS)
    parts = graph.cp.empty((blocks, 4))
    forbidden = graph.edges()[3]
    arguments = np.int64(len(graph.cost)), graph.cost, forbidden, parts
    graph.kernel("auction/cost_range.cu", "auction_cost_range")((blocks,), (RANGE_THREADS,), arguments)
    number, total, least, most = parts.get().T
    allowed = int(number.sum())
    return CostRange(allowed, float(total.sum()) / max(allowed, 1), float(least.min()), float(most.max()))
