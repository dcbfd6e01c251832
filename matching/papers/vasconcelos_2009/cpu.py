"""The auction of Vasconcelos and Rosenhahn step by step: a bidding phase, an assignment phase, a convergence test.

Source: C. N. Vasconcelos, B. Rosenhahn, "Bipartite graph matching computation on GPU", EMMCVPR 2009, sections 3.2 and
5, on one core. Every phase goes through all persons (rows) or all objects (columns), as its kernels do with one
thread each. In the paper's words the price of object j is -v_j and the benefit of a pair -c_ij.

What the paper leaves open is settled here: the increment ε (see `Auction`); a person with one object left bids ε
above its price; equal bids go to the person with the smallest number; with an `unmatched_cost`, which the paper has
not, a person who likes no object better than staying unassigned leaves, and counts as served.

Integer costs are multiplied by rows + 1 and bid for with an increment of 1, so that the assignment is optimal; how
whole duals that prove it come out of the prices is said at `_whole_duals`.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...auction.bidding import as_duals, increment, out_of_bids
from ...auction.options import AuctionOptions
from ...auction.scaling import as_floats
from ...certificate.matched import Matched
from ...errors import InvalidProblem
from ...jit.compiled import compiled
from ...paths.shortest_paths import least_of_rows
from ...problem import INT_LIMIT, Problem
from ...problem.convert import as_dense, unmasked
from ...problem.flat_graph import Graph, flat_graph
from ...problem.host_problem import finite_range, largest_size
from .increment import require_an_end, tenth_of_spread


def match_as_in_the_paper(problem: Problem, options: AuctionOptions) -> Matched:
    """Match one block whose shorter side is its rows, or which has an `unmatched_cost`."""
    stated = as_dense(problem) if problem.kind == "points" else unmasked(problem)
    if stated.is_integer and options.eps is None:
        eps = 1 / (stated.n_rows + 1)
        found = _match_scaled_integers(stated, options)
    else:
        eps = increment(options.eps or fixed_eps(stated), stated)
        row_bound, col_bound = (as_floats(bound) for bound in stated.dual_bounds())
        found = _run(flat_graph(stated), row_bound, col_bound, eps, options)
    v, unfinished = as_duals(found.v, stated), out_of_bids(options, found.waiting)
    return Matched(problem, found.col_of_row, v, found.stats | {"eps": eps}, unfinished, is_refinable=False)


class _Found(NamedTuple):
    """What the loop ends with: `waiting` persons have no object yet."""

    col_of_row: np.ndarray
    v: np.ndarray
    stats: dict[str, Any]
    waiting: int


def fixed_eps(problem: Problem) -> float:
    """Return the increment that stands in for the one that the paper does not name, of real costs."""
    ends = [finite_range(problem.data)]
    if problem.row_unmatched is not None:
        ends.append(finite_range(problem.row_unmatched))
    return tenth_of_spread([float(end) for pair in ends for end in pair], problem.n_rows)


def _match_scaled_integers(problem: Problem, options: AuctionOptions) -> _Found:
    scale = problem.n_rows + 1
    largest = largest_size(problem.data)
    if largest * scale > INT_LIMIT // (2 * scale + 4):
        raise InvalidProblem(
            f"variant='paper' multiplies integer costs by rows + 1 = {scale}, which leaves int64 with costs up to "
            f"{largest}. Scale them down, give eps, or use the default variant.",
            argument="cost",
        )
    unmatched = [side for side in (problem.row_unmatched, problem.col_unmatched) if side is not None]
    require_an_end(max(map(largest_size, unmatched), default=0), largest, problem.shape)
    indptr, indices, data = flat_graph(problem)
    row_bound, col_bound = (np.where(b < INT_LIMIT, b * scale, INT_LIMIT) for b in problem.dual_bounds())
    graph = indptr, indices, data.astype(np.int64) * scale
    found = _run(graph, row_bound, col_bound, 1, options)
    bounded = bool((col_bound < INT_LIMIT).any())
    return found._replace(v=_whole_duals(graph, row_bound, found.v, scale, bounded))


def _run(graph: Graph, row_bound: np.ndarray, col_bound: np.ndarray, eps: float, options: AuctionOptions) -> _Found:
    none = INT_LIMIT if col_bound.dtype.kind == "i" else np.inf
    v = np.where(col_bound < none, col_bound, 0)
    budget = 2**62 if options.max_bids is None else options.max_bids * len(row_bound)
    col_of_row, iterations, bids, served = _auction(
        graph, v, row_bound, none, v.dtype.type(eps), options.convergence == "counter", budget
    )
    return _Found(col_of_row, v, {"iterations": iterations, "bids": bids}, len(row_bound) - served)


def _whole_duals(graph: Graph, row_bound: np.ndarray, v: np.ndarray, scale: int, bounded: bool) -> np.ndarray:
    """Return integer duals for the unscaled costs by which the matched edges have zero slack.

    The auction leaves c·S - v_j ≤ r_i + 1 for each matched edge, S = rows + 1 and r_i the least of row i. Divided by S
    and rounded up after taking away some t, both sides become the same integer unless t ≡ r_i modulo S; the rows
    rule out fewer than S values of t, so one is left. Duals without a bound are shifted so that the largest v is 0.
    """
    r = least_of_rows(*graph, v, row_bound)
    ruled_out = np.zeros(scale, bool)
    ruled_out[r % scale] = True
    whole = (v + np.argmin(ruled_out)) // scale
    return whole if bounded else whole - (whole.max() if len(whole) else 0)


@compiled
def _auction(graph, v, row_bound, none, eps, by_counter, budget):
    """Alternate the phases until all persons are served; return (col_of_row, iterations, bids, persons served)."""
    indptr, indices, data = graph
    n, m = len(row_bound), len(v)
    col_of_row, row_of_col = np.full(n, -1, np.int32), np.full(m, -1, np.int32)
    retired = np.zeros(n, np.bool_)
    target, bid = np.empty(n, np.int64), np.empty(n, v.dtype)
    highest = np.empty(m, np.int64)
    is_assigned = np.zeros(m, np.bool_)
    counter = left = iterations = bids = 0
    while (counter if by_counter else is_assigned.sum()) + left < n and bids < budget:
        placed, gone = _bidding_phase(indptr, indices, data, v, row_bound, none, eps, col_of_row, retired, target, bid)
        counter += _assignment_phase(target, bid, v, col_of_row, row_of_col, is_assigned, highest)
        bids += placed
        left += gone
        iterations += 1
    return col_of_row, iterations, bids, is_assigned.sum() + left


@compiled
def _bidding_phase(indptr, indices, data, v, row_bound, none, eps, col_of_row, retired, target, bid):
    """Let every person without an object bid for its best: what makes the second best as good, and ε on top.

    Returns the number of bids, and of persons who leave.
    """
    placed = gone = 0
    for i in range(len(col_of_row)):
        target[i] = -1
        if col_of_row[i] >= 0 or retired[i]:
            continue
        best, second, best_col, best_edge = row_bound[i], none, -1, -1
        lo = indptr[i]
        for e in range(lo, indptr[i + 1]):
            j = e - lo if indices is None else indices[e]
            value = data[e] - v[j]
            if value < best:
                best, second, best_col, best_edge = value, best, j, e
            elif value < second:
                second = value
        if best_col < 0:
            retired[i] = True
            gone += 1
            continue
        target[i] = best_col
        bid[i] = data[best_edge] - (second if second < none else best) - eps
        placed += 1
    return placed, gone


@compiled
def _assignment_phase(target, bid, v, col_of_row, row_of_col, is_assigned, highest):
    """Let every object that took bids go to the highest; return how many objects were assigned for the first time."""
    highest[:] = -1
    for i in range(len(target)):
        j = target[i]
        if j >= 0 and (highest[j] < 0 or bid[i] < bid[highest[j]]):
            highest[j] = i
    first_bids = 0
    for j in range(len(v)):
        i = highest[j]
        if i < 0:
            continue
        v[j] = bid[i]
        if row_of_col[j] >= 0:
            col_of_row[row_of_col[j]] = -1
        else:
            first_bids += 1
            is_assigned[j] = True
        row_of_col[j] = i
        col_of_row[i] = j
    return first_bids
