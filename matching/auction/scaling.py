"""ε-scaling: bid in coarse steps first, then in finer ones from the prices found; the schedule belongs to a
component.

Source: D. P. Bertsekas, J. Eckstein, "Dual coordinate step methods for linear network flow problems", Mathematical
Programming 42 (1988). The scale is ours: how much a row's eighth cheapest pair costs above its cheapest, on average.
That is the size of the differences that prices must settle, in matrices and in neighbour graphs alike, where the
largest cost would say nothing.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit.compiled import BORROWING, compiled
from ..paths.shortest_paths import State
from ..problem import INT_LIMIT, Problem
from ..problem.costs import largest_cost
from ..tolerance import BID_ULPS, EPS, FINEST_ULPS
from .gauss_seidel import bid_in_turn
from .options import AuctionOptions

STEP = 5.0
"""Ratio of one phase's ε to the next's."""

PHASES = 6
"""Phases, from 1.5 × the scale down: the exact finish needs less time than a seventh would (measured on point sets)."""

FIRST_BIDS = 20
"""Bids per row that the first phase may take before it gives way to a coarser one. Of 17 kinds of 1,500 to 3,500 rows
ten need 1 to 10 and cubes, a line, blobs apart up to 28; pixels of letters and photographs 84 to 140, and then 70 to 95
in all phases in place of 110 to 180. After 12 cubes of 3,500 rows would begin again, and take 58 to 68 for 48."""

COARSER = STEP**2
"""Ratio of that coarser ε to the one before it; the next alone, or three times the steps, take up to a fifth more."""

MOST_COARSER = 3
"""Coarser ones that are tried."""

BIDS_PER_PHASE = 400
"""Bids per row after which a phase of the exact solver is cut off; the finish takes what is left."""

RESOLUTION = BID_ULPS * EPS
"""Least ε beside a price of 1."""

TRIED_SCANS = 20
"""Rows scanned by shortest paths, for each row, that bids without an increment are tried for before any phase.

Measured: what needs no more takes 1/10 to all of the time of ε-scaling (independent whole costs and gates of
frames that differ 4 to 16, frames that resemble each other 0 to 1.6); where 24 to 150 are needed ε-scaling takes 1/2
to 1/30 of the time, and what is spent before that shows (`finish.are_too_few`) adds up to half of it.
"""

NEARLY_EQUAL = 1.025
"""Columns for each row below which an exact solve of points or a graph keeps prices from phase to phase. Measured on
independent points: with 1 % more columns that takes 0.5 to 0.8 of the time (12,000 in space and in the plane), with
2 % 0.7 to 1.1, with 5 % 0.9 to 1.6."""

INTEGERS_IN_FLOATS = 2.0**50
"""Largest integer cost for which phases, which are run in float64, find prices worth starting from."""

FAR_ROW = 100.0
"""Times the mean of all rows from which a row's differences say nothing of the others': those of one far point made the
last ε so large that the finish did all of the work (4,000 squared distances, one point 1e8 away: 28 CPU-s; now 0.9)."""

_NEAR = 8


class Prices(NamedTuple):
    """An auction's state; calls on disjoint components may share one.

    `v` (columns,) are the float64 column duals, `row_bound` (rows,) the unmatched cost, +inf where a row must
    be matched, `col_of_row` and `row_of_col` int32 the matching, -1 = unassigned.
    """

    v: np.ndarray
    row_bound: np.ndarray
    col_of_row: np.ndarray
    row_of_col: np.ndarray


def prices_beside(state: State) -> Prices:
    """Return the auction's prices before the first bid, which share their matching with `state`.

    Columns start at their duals there, and at 0 where these are unbounded. From 0 a column that is dear for every row,
    as that of one far point, would be left until all other prices have risen to it.
    """
    v = as_floats(state.v)
    return Prices(np.where(v < np.inf, v, 0.0), as_floats(state.row_bound), state.col_of_row, state.row_of_col)


class Schedule(NamedTuple):
    """How a component is bid for.

    `scaled`: ε falls from phase to phase; else there is one phase at `last`, or none. `last`: the last ε, 0 for an
    exact solve. `budget`: bids per row, of each phase or (`shares_budget`) of all. `tries_bids_first`: before any
    phase, see whether bids without an increment nearly do (`TRIED_SCANS`). `finishes`: exactly.
    """

    scaled: bool
    last: float
    budget: int
    shares_budget: bool
    tries_bids_first: bool
    finishes: bool

    @classmethod
    def of(cls, options: AuctionOptions, scaled: bool) -> Schedule:
        """Return the schedule that the options call for."""
        exact = options.eps is None
        budget = options.max_bids or (BIDS_PER_PHASE if exact else 2**40)
        limited = options.max_bids is not None
        return cls(scaled, float(options.eps or 0.0), budget, limited, exact and not limited, exact)


def may_scale(problem: Problem, options: AuctionOptions) -> bool:
    """Return whether prices may be kept from phase to phase, although unassigned columns must end at their starting
    price.

    True for equal sides; for unequal ones where the finish settles unassigned columns, which needs the graph transposed
    and pays only while they are few. Integers beyond `INTEGERS_IN_FLOATS` are left to integer arithmetic.
    """
    if problem.has_unmatched_cost or (problem.is_integer and largest_cost(problem) > INTEGERS_IN_FLOATS):
        return False
    n, m = problem.shape
    settles = options.eps is None and options.max_bids is None and problem.kind != "dense"
    return n == m or (settles and m < NEARLY_EQUAL * n)


@compiled
def run_phases(rows, indptr, indices, data, prices, schedule):
    """Run the phases of one component; return (bids, rows that still wait, the last increment)."""
    if schedule.scaled:
        steps = scaled_eps(rows, indptr, data, schedule.last)
    else:
        steps = np.full(1 if schedule.last > 0.0 else 0, schedule.last)
    bids, left = 0, 0
    if schedule.scaled and len(steps) > 0:
        steps, bids = begin_coarse_enough(rows, indptr, indices, data, prices, steps, schedule.budget)
    for eps in steps:
        allowed = schedule.budget * len(rows) - (bids if schedule.shares_budget else 0)
        spent, waiting = run_phase(rows, indptr, indices, data, prices, eps, allowed)
        bids += spent
        left = len(waiting)
        if left > 0 and schedule.finishes:  # a finer phase, of as many bids, would not settle what this one did not
            break
    return bids, left, steps[-1] if len(steps) > 0 else 0.0


@compiled
def run_finer_phases(rows, indptr, indices, data, prices, schedule, eps, bids):
    """Go on from increment `eps` to the least that tells prices apart; return (all bids, rows that still wait).

    Where most exchanges cost the same but for rounding, as by city block, nearly every pair is as good as the next
    after six phases: a path then goes through half of the rows, and a bid through one.
    """
    largest = cost_scale(rows, indptr, data)[0]
    waiting = rows[:0]
    while len(waiting) == 0 and eps > FINEST_ULPS * EPS * largest:
        for i in rows:
            largest = max(largest, abs(prices.v[prices.col_of_row[i]]) if prices.col_of_row[i] >= 0 else 0.0)
        eps = max(eps / STEP, FINEST_ULPS * EPS * largest)
        allowed = schedule.budget * len(rows) - (bids if schedule.shares_budget else 0)
        spent, waiting = run_phase(rows, indptr, indices, data, prices, eps, allowed)
        bids += spent
    return bids, len(waiting)


@compiled
def begin_coarse_enough(rows, indptr, indices, data, prices, steps, budget):
    """Bid at the first increment, or at coarser ones, until few bids suffice; return (increments left, bids).

    Where many rows' cheapest pairs hardly differ, the scale says little of the prices that tell the rows apart.
    """
    bids = 0
    for tried in range(MOST_COARSER + 1):
        few = min(FIRST_BIDS * len(rows), budget * len(rows) - bids)
        spent, waiting = run_phase(rows, indptr, indices, data, prices, steps[0] * COARSER**tried, few)
        bids += spent
        if len(waiting) == 0:
            return np.concatenate((steps[0] * STEP ** np.arange(2.0 * tried - 1, -1, -1), steps[1:])), bids
    return steps, bids


def as_floats(bound: np.ndarray) -> np.ndarray:
    """Return the bounds of duals as float64, +inf where there is none."""
    return np.where(bound >= (np.inf if bound.dtype.kind == "f" else INT_LIMIT), np.inf, bound)


@compiled
def scaled_eps(rows, indptr, data, last):
    """Return the falling increments of one component's phases, float64; the last one is `last` unless that is 0.

    Empty when all costs are equal: then there is nothing for prices to settle.
    """
    scale, largest = cost_scale(rows, indptr, data)
    eps = np.empty(64)
    n = 0
    step = 1.5 * scale
    while step > max(last, RESOLUTION * largest) and n < 63 and (last > 0.0 or n < PHASES):
        eps[n] = step
        n += 1
        step /= STEP
    if last > 0.0:
        eps[n] = last
        n += 1
    return eps[:n]


@compiled
def cost_scale(rows, indptr, data):
    """Return what the eighth (or last) cheapest pair costs above the cheapest, row mean, and the largest |c|."""
    largest = 0.0
    near, above = np.empty(_NEAR), np.zeros(len(rows))
    for k in range(len(rows)):
        i, n = rows[k], 0
        for e in range(indptr[i], indptr[i + 1]):
            cost = data[e] * 1.0
            if cost == np.inf:
                continue
            largest = max(largest, abs(cost))
            if n == _NEAR and cost >= near[n - 1]:
                continue
            at = n if n < _NEAR else n - 1
            n = min(n + 1, _NEAR)
            while at > 0 and near[at - 1] > cost:
                near[at] = near[at - 1]
                at -= 1
            near[at] = cost
        if n > 0:
            above[k] = near[n - 1] - near[0]
    return _mean_without_far(above), largest


@compiled(**BORROWING)
def _mean_without_far(above):
    """Return the mean without what is more than `FAR_ROW` times the mean, and of the rest again."""
    most, n_before = np.inf, -1
    while True:
        total, n = 0.0, 0
        for value in above:
            if value <= most:
                total += value
                n += 1
        mean = total / max(n, 1)
        if n == n_before:
            return mean
        most, n_before = FAR_ROW * mean, n


@compiled
def run_phase(rows, indptr, indices, data, prices, eps, budget):
    """Release the rows that are not ε-content and let them bid; return (bids, rows that still wait)."""
    waiting = release(rows, indptr, indices, data, prices, eps)
    return bid_in_turn(waiting, indptr, indices, data, prices, eps, budget)


@compiled
def release(rows, indptr, indices, data, prices, eps):
    """Unassign the rows whose column is worse than their best by more than `eps`; return all unassigned rows."""
    v, col_of_row, row_of_col = prices.v, prices.col_of_row, prices.row_of_col
    waiting = np.empty(len(rows), np.int64)
    n_waiting = 0
    for i in rows:
        own = col_of_row[i]
        lo = indptr[i]
        if own >= 0:
            least, paid = prices.row_bound[i], np.inf
            for e in range(lo, indptr[i + 1]):
                j = e - lo if indices is None else indices[e]
                least = min(least, data[e] - v[j])
                if j == own:
                    paid = data[e] - v[j]
            if paid > least + eps:
                row_of_col[own] = -1
                col_of_row[i] = own = -1
        if own < 0:
            waiting[n_waiting] = i
            n_waiting += 1
    return waiting[:n_waiting]
