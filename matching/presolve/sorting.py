"""Costs that sorting solves: both sides lie along a line, and it never pays to cross matched edges.

Where c_ij + c_kl ≤ c_il + c_kj for rows i before k and columns j before l (G. Monge's condition, 1781), as with any
convex function of the distance on a line, matching the first to the first, the second to the second and so on is the
cheapest. Then column duals exist that rise from one column to the next by no more than c_i,i+1 - c_ii and by no less
than c_i+1,i+1 - c_i+1,i: what they add up to along the line proves it for all pairs.

Of a side that is longer by d, some are left out: the cheapest matching without a crossing is found row by row, by what
the first i and i + k of both sides cost at least, k ≤ d (dynamic programming). Duals of the longer side rise as above
from one that is matched to the next; they are at most 0, as they are where one is left out, and neighbours of one that
is left out must not gain by going there. Between the least and the greatest such duals, as two sweeps along the line
find them, lie those that are taken.

The orders are read from the costs of four rows and columns, and 3 n further costs show whether neighbours satisfy the
condition. Nothing is taken on trust: the certificate looks at all pairs.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..certificate.assignment import Assignment
from ..certificate.certify import MOST_PAIRS, certify
from ..certificate.float_pairs import difference
from ..certificate.refine import refined
from ..device import cuda
from ..jit.compiled import compiled
from ..problem import INT_LIMIT, Problem
from ..problem.costs import edge_costs
from ..tolerance import EPS, SHARE, ULPS

FEWEST = 256
"""Members of the shorter side below which no order is looked for: so small a matrix is solved as soon as looked at."""

MOST_LEFT_OUT = 0.5
"""Part of the shorter side by which the other may be longer: beyond, squares on a line are soon solved by searches."""

MOST_STEPS = 2**26
"""Pairs that are looked at for who is left out, of points that have no matrix."""

ROUNDS = 3
"""Times that each side is ordered by the ends of the other; distances say nothing of what lies beyond those ends."""

SAMPLE = 32
"""Rows and columns of a matrix, or up to twice as many, by which it is decided whether to look at all of them."""

SCREENED = 8
"""Columns of three rows by which it is decided whether to look at any others."""
ONE, OTHER = np.triu_indices(SCREENED, 1)
"""All pairs of these."""

AT_A_TIME = 2**16
"""Pairs whose costs are read together."""


def calls_for_sorting(problem: Problem) -> bool:
    """Return whether every so many rows and columns of a matrix may be sorted, as those of one that sorting solves may.

    Where the matrix lies on a GPU, these alone are fetched.
    """
    if problem.kind != "dense" or not _is_looked_at(problem):
        return False
    every = [side // SAMPLE for side in problem.shape]
    some = Problem.dense(cuda.to_host(problem.cost_matrix[:: every[0], :: every[1]]))
    return _line(some) is not None


def by_sorting(problem: Problem) -> Assignment | None:
    """Return the optimum of a problem that sorting solves, proven as far as rounding lets; None of others.

    Parameters
    ----------
    problem : Problem
        On the host. Only single problems without an `unmatched_cost`, and with all pairs allowed, are looked at, from
        `FEWEST` rows and columns, of which one side is at most half as long again as the other.
    """
    if not _is_looked_at(problem) or not _may_lie_along_a_line(problem):
        return None
    line = _line(problem)
    if line is None:
        return None
    short, long = line
    place = np.arange(len(short)) if len(short) == len(long) else _left_to_right(problem, short, long)
    duals = _duals(problem, short, long, place)
    if duals is None:
        return None
    found = _as_stated(problem, short, long[place], long, duals)
    answer = refined(problem, certify(problem, *found, solver="sorting"))
    return answer if answer.is_optimal or _is_beyond_proof(problem, answer) else None


def _is_looked_at(problem: Problem) -> bool:
    if problem.n_blocks > 1 or problem.has_unmatched_cost or not problem.allows_all:
        return False
    n, m = sorted(problem.shape)
    is_soon = problem.kind == "dense" or n * (m - n) <= MOST_STEPS
    return is_soon and _have_sides_for_it(n, m)


def _have_sides_for_it(short: Any, long: Any) -> Any:
    """Whether shorter and longer sides, numbers or arrays, are such that an order is looked for."""
    return (short >= FEWEST) & (long - short <= MOST_LEFT_OUT * short)


def _is_beyond_proof(problem: Problem, answer: Assignment) -> bool:
    """Whether only rounding prevents a proof, for so many points that no solver would do better."""
    return problem.kind == "points" and problem.n_edges > MOST_PAIRS and answer.gap <= SHARE * answer.cost


def _as_stated(
    problem: Problem, short: np.ndarray, partners: np.ndarray, long: np.ndarray, duals: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the column of each row, and column duals, from partners and duals in the orders of the line."""
    col_of_row, of_long = np.full(problem.n_rows, -1, np.int32), np.empty_like(duals)
    of_long[long] = duals
    if _is_tall(problem):
        col_of_row[partners] = short
        of_short = np.empty(len(short), duals.dtype)
        of_short[short] = _costs(problem, short, partners) - of_long[partners]
        return col_of_row, of_short
    col_of_row[short] = partners
    return col_of_row, of_long


def _is_tall(problem: Problem) -> bool:
    return problem.n_rows > problem.n_cols


def _costs(problem: Problem, short: ArrayLike, long: ArrayLike) -> np.ndarray:
    """Return the costs of pairs of the shorter and the longer side; one member stands beside all of the other side."""
    short, long = (np.ascontiguousarray(side) for side in np.broadcast_arrays(short, long))
    rows, cols = (long, short) if _is_tall(problem) else (short, long)
    return edge_costs(problem, rows, np.zeros(len(rows), np.int64), cols)


def lie_along_lines(problem: Problem, blocks: np.ndarray) -> np.ndarray:
    """Return which of some matrices of a batch, int (k,), sorting may solve as far as the screen says, bool (k,).

    Not those whose screened costs are all one, which need no order. Where matrices lie on a GPU, a few costs of each
    are fetched, all at once.
    """
    n, m = problem.n_rows_of_block[blocks], problem.n_cols_of_block[blocks]
    short, long = np.minimum(n, m), np.maximum(n, m)
    is_looked_at = _have_sides_for_it(short, long)
    may_be = problem.kind == "dense" and not problem.has_unmatched_cost
    if not (may_be and is_looked_at.any() and problem.allows_all):
        return np.zeros(len(blocks), bool)
    costs = _screened(problem, blocks, n, m)
    differ = costs.max(axis=(1, 2)) > costs.min(axis=(1, 2))
    return is_looked_at & differ & _in_one_order(costs)


def _may_lie_along_a_line(problem: Problem) -> bool:
    """Whether the screen lets a problem pass: others than costs of a line hardly ever do, and it takes 20 us."""
    only, sides = np.zeros(1, np.int64), (np.array([side]) for side in problem.shape)
    return bool(_in_one_order(_screened(problem, only, *sides))[0])


def _screened(problem: Problem, blocks: np.ndarray, n: np.ndarray, m: np.ndarray) -> np.ndarray:
    """Return the costs of three rows and a few columns of some blocks of n rows and m columns, (k, 3, `SCREENED`)."""
    rows = np.stack([0 * n, n // 2, n - 1], axis=1)[:, :, None]
    cols = ((m // SCREENED)[:, None] * np.arange(SCREENED))[:, None]
    if problem.kind == "dense":
        place = problem.dense_offsets[blocks, None, None] + rows * m[:, None, None] + cols
        return cuda.to_host(problem.data[np.asarray(place, like=problem.data)])
    given = (np.ravel(each) for each in np.broadcast_arrays(rows, blocks[:, None, None], cols))
    return edge_costs(problem, *given).reshape(-1, 3, SCREENED)


def _in_one_order(costs: np.ndarray) -> np.ndarray:
    """Return where differences of rows put columns into one order or its reverse, bool (k,); costs (k, 3, columns)."""
    costs = costs.astype(np.float64)
    largest = abs(costs).max(axis=(1, 2), keepdims=True)
    costs /= np.where(largest > 0, largest, 1)  # squares of what is left have a float's range, whatever the unit
    differences = costs[:, 1:] - costs[:, :-1]
    apart = differences[:, :, ONE] - differences[:, :, OTHER]
    agreement = apart[:, 0] * apart[:, 1]
    return (agreement.min(axis=1) >= -ULPS * EPS) | (agreement.max(axis=1) <= ULPS * EPS)


def _line(problem: Problem) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the orders of the shorter and the longer side; None where crossing pays at either end of the line."""
    short, long = _orders(problem)
    more = len(long) - len(short)
    ends = (long[: len(short)], long[more:]) if more else (long,)
    return None if any(_rises(problem, short, end) is None for end in ends) else (short, long)


def _orders(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Return both sides in the orders that the differences of two members of the other call for, the shorter first."""
    short, long = (np.arange(side) for side in sorted(problem.shape))
    far = int(_costs(problem, [0], long).argmax())
    from_far = _costs(problem, short, [far])
    ends = int(from_far.argmax()), int(from_far.argmin())
    by_short, by_long = short, long
    for _ in range(ROUNDS):
        by_long = np.argsort(_costs(problem, [ends[0]], long) - _costs(problem, [ends[1]], long))
        by_short = np.argsort(_costs(problem, short, by_long[:1]) - _costs(problem, short, by_long[-1:]))
        ends = int(by_short[0]), int(by_short[-1])
    return by_short, by_long


def _left_to_right(problem: Problem, short: np.ndarray, long: np.ndarray) -> np.ndarray:
    """Return where on the longer side, in its order, the cheapest partners without a crossing are."""
    n, width = len(short), len(long) - len(short) + 1
    takes = np.empty((n, width), np.bool_)
    least = np.zeros(width, problem.dual_dtype)
    step = max(1, AT_A_TIME // width)
    for at in range(0, n, step):
        rows = np.arange(at, min(at + step, n))
        cols = (rows[:, None] + np.arange(width)).ravel()
        costs = _costs(problem, np.repeat(short[rows], width), long[cols])
        _take_or_leave(costs.reshape(-1, width), least, takes[rows[0] : rows[-1] + 1])
    return _last_taken(takes)


def _rises(problem: Problem, short: np.ndarray, partners: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the least and the most by which duals of partners in a row may rise; None where a crossing pays."""
    own = _costs(problem, short, partners)
    most = _costs(problem, short[:-1], partners[1:]) - own[:-1]
    least = own[1:] - _costs(problem, short[1:], partners[:-1])
    rounding = 0 if problem.is_integer else ULPS * EPS * np.maximum(abs(own[:-1]), abs(own[1:]))
    return None if (least > most + rounding).any() else (least, most)


def _duals(problem: Problem, short: np.ndarray, long: np.ndarray, place: np.ndarray) -> np.ndarray | None:
    """Return duals of the longer side, in its order, that prove a matching; None where neighbours contradict it."""
    partners = long[place]
    rises = _rises(problem, short, partners)
    if rises is None:
        return None
    if len(short) == len(long):
        rises = np.append(0, _middle(problem, *rises))
        return _sums(rises, len(rises) // 2)
    least, most = rises
    floor = _floor(problem, short, long, place)
    highest = _greatest(np.zeros_like(floor), most, -least)
    lowest = -_greatest(-floor, -least, most)
    rounding = 0 if problem.is_integer else ULPS * EPS * max(abs(lowest).max(), abs(highest).max())
    if (lowest > highest + rounding).any():
        return None
    duals = np.zeros(len(long), floor.dtype)
    duals[place] = np.minimum(_middle(problem, lowest, highest), 0)
    return duals


def _middle(problem: Problem, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return low + ((high - low) // 2 if problem.is_integer else (high - low) / 2)


def _floor(problem: Problem, short: np.ndarray, long: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return the least duals of partners by which their neighbours do not gain from those that are left out."""
    own = _costs(problem, short, long[place])
    floor = np.full(len(own), -(INT_LIMIT // 2) if problem.is_integer else -np.inf, own.dtype)
    out = np.delete(np.arange(len(long)), place)
    after = np.searchsorted(place, out)
    for beside in (after - 1, after):
        is_there = (beside >= 0) & (beside < len(place))
        i, j = beside[is_there], out[is_there]
        np.maximum.at(floor, i, own[i] - _costs(problem, short[i], long[j]))
    return floor


@compiled
def _take_or_leave(costs, least, takes):
    """Let members of the shorter side, one by one, take what is cheapest with all before them; `least` is kept.

    Of member i, entry k of `costs` is the cost of taking i + k, and of `least` what it takes to match all up to it to
    the first i + k + 1; `takes` says whether i + k is among them.
    """
    for i in range(len(costs)):
        least[0] += costs[i, 0]
        takes[i, 0] = True
        for k in range(1, len(least)):
            cost = least[k] + costs[i, k]
            takes[i, k] = cost < least[k - 1]
            least[k] = min(cost, least[k - 1])


@compiled
def _last_taken(takes):
    """Return what each member took, read from the last one back."""
    n, width = takes.shape
    place = np.empty(n, np.int64)
    k = width - 1
    for i in range(n - 1, -1, -1):
        while not takes[i, k]:
            k -= 1
        place[i] = i + k
    return place


@compiled
def _greatest(bounds, rise, fall):
    """Return the greatest numbers within bounds that rise by at most `rise` to the next one, and fall by `fall`."""
    found = bounds.copy()
    for i in range(1, len(found)):
        found[i] = min(found[i], found[i - 1] + rise[i - 1])
    for i in range(len(found) - 2, -1, -1):
        found[i] = min(found[i], found[i + 1] + fall[i])
    return found


def _sums(terms: np.ndarray, origin: int) -> np.ndarray:
    """Return the running sums less that at the origin; of floats each is rounded once (Neumaier's compensation).

    So duals near the origin, which are small, are exact to their own last digit, as cheap edges beside them need.
    """
    plain = np.cumsum(terms)
    if terms.dtype.kind == "i":
        return plain - plain[origin]
    before = np.append(0.0, plain[:-1])
    part = plain - before
    lost = np.cumsum((before - (plain - part)) + (terms - part))
    high, low = difference.py_func(plain, lost, plain[origin], lost[origin])
    return high + low
