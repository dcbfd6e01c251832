"""Refinement in twice the working precision, where rounding alone prevents a proof.

Duals are sums of costs along paths. Where costs span many decades, a path through large ones leaves digits of theirs
in the dual of a pair of small ones, and more than 64 ulp of it; and where matchings tie to the last digits, the one at
hand may not be the cheapest. Both are settled by a label-correcting search from the duals at hand, in pairs of floats
(`float_pairs`): either it ends, and its labels are duals of which one rounding is left, or it finds a cycle of
exchanges that lowers the cost, makes that exchange and goes on (M. Klein, "A primal method for minimal cost flows",
Management Science 14, 1967).

A cost far above all others, a sentinel, takes from pairs of floats the digits that decide among these. So each column
has its least cost taken from it, which every answer pays; what a row pays in any case drops out of its moves.

The search runs on a graph of places. Each column is a place, and one more, `outside`, holds all that is unassigned.
Each row stands on its column, or outside. So that unassigned columns can take part, each column has a stand-in, which
stands on the column while it is unassigned and outside while it is matched. A member (a row or a stand-in) may move to
any place where it may be matched, at the difference of the costs. A cycle of moves is an exchange of matched edges;
where the search ends, its labels prove that no exchange lowers the cost.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..device import cuda
from ..jit.compiled import BORROWING, compiled
from ..problem import Problem
from ..problem.convert import as_dense, unmasked
from ..problem.selection import members
from ..tolerance import EPS, FLOAT_SCREEN, NEAR_ULPS, PAIR_ROUNDING
from .assignment import Assignment
from .certify import MOST_FETCHED, MOST_PAIRS, certify, inverse, settled, terms_of, together
from .exact_gap import of_blocks
from .float_pairs import difference
from .near_pairs import near_pairs

SWEEPS, FEWEST_SWEEPS, MOVES = 200, 20, 2**32
"""Times that the moves from each place may be tried on average: more means that the matched edges are far from the
cheapest. Of large problems as many as `MOVES` moves are, some seconds; 4,000 squares on a line take 60 to 200 times."""


def refined(problem: Problem, answer: Assignment) -> Assignment:
    """Return a proven answer where rounding alone kept this one from it: other duals, or what ties with it; else this.

    Parameters
    ----------
    problem : Problem
        Integers are left as they are, batches of point sets beyond `MOST_PAIRS` pairs, and what a GPU has solved beyond
        `MOST_FETCHED`. Of two point sets beyond `MOST_PAIRS` the pairs next to zero slack are looked at.
    answer : Assignment
        Meant to be exact; the result's arrays lie where its do.
    """
    if answer.is_optimal or problem.is_integer or np.isinf(answer.gap).any():
        return answer
    most = MOST_PAIRS if problem.kind == "points" else MOST_FETCHED if answer.device != "cpu" else np.inf
    is_large = problem.n_edges > most
    if is_large and (problem.kind != "points" or problem.n_blocks > 1):
        return answer
    if problem.is_on_device:
        host = refined(problem.on_host(), answer.on_host())
        return host.on_device() if cuda.is_device_array(answer.col_of_row) else host
    if problem.kind == "points":
        return _refined_near_zero(problem, answer) if is_large else refined(as_dense(problem), answer)
    col_of_row, v = answer.col_of_row.copy(), answer.col_duals.copy()
    unproven = np.zeros(1, np.int64) if problem.n_blocks == 1 else _unproven(problem, col_of_row, v)
    for blocks in together(problem, unproven):
        found = _refined_blocks(*of_blocks(problem, blocks, (col_of_row,), (v,)))
        if found is None:
            return answer
        rows, cols = (members(offsets, blocks)[0] for offsets in (problem.row_offsets, problem.col_offsets))
        col_of_row[rows], v[cols] = found
    stats = {**answer.stats, "refined": 1}
    return certify(problem, col_of_row, v, solver=answer.solver, device=answer.device, stats=stats)


def _unproven(problem: Problem, col_of_row: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the blocks whose matching column duals, none of them above its bound, do not prove."""
    row_of_col, r, sums = terms_of(problem, col_of_row, v)
    sums = settled(problem, col_of_row, row_of_col, r, v, sums)
    return np.flatnonzero(sums.in_doubt | ~sums.has_zero_slack)


def _refined_near_zero(block: Problem, answer: Assignment) -> Assignment:
    """As `refined`, for two point sets: settled on the pairs of next to no slack, and proven on all."""
    largest = max(float(abs(side).max(initial=0.0)) for side in (answer.row_duals, answer.col_duals))
    near = near_pairs(block, answer.row_duals, answer.col_duals, float(answer.gap) + NEAR_ULPS * EPS * largest)
    found = None if near is None else _refined_blocks(near, answer.col_of_row, answer.col_duals)
    if found is None:
        return answer
    stats = {**answer.stats, "refined": 1}
    proven = certify(block, *found, solver=answer.solver, device=answer.device, stats=stats)
    return proven if proven.is_optimal else answer


def _refined_blocks(problem: Problem, col_of_row: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the cheapest matching of blocks and column duals that are exact but for one rounding; None if too far.

    Where that rounding still leaves a doubt, the matched edges are right but the duals larger than they need be. Those
    that follow from the matched edges and the bounds alone are the least.
    """
    col_of_row, v = col_of_row.copy(), v.copy()
    left, bound = np.arange(problem.n_blocks), problem.dual_bounds()[1]
    for begins_at_hand in (True, False):
        for b in left.tolist():
            rows, cols = slice(*problem.row_offsets[b : b + 2]), slice(*problem.col_offsets[b : b + 2])
            found = _settled(problem.block(b), col_of_row[rows], v[cols] if begins_at_hand else None)
            if found is None:
                return None
            col_of_row[rows], v[cols] = found
        np.minimum(v, bound, out=v)
        left = left[_unproven(*of_blocks(problem, left, (col_of_row,), (v,)))]
        if not len(left):
            break
    return col_of_row, v


def _settled(block: Problem, col_of_row: np.ndarray, begin: np.ndarray | None) -> tuple[np.ndarray, np.ndarray] | None:
    """Return a matching that no exchange makes cheaper, and its duals; None if too far.

    The search begins with some column duals, or with their bounds, and their least costs where they have none.
    """
    n, m = block.shape
    indptr = np.arange(n + 1) * m if block.kind == "dense" else block.indptr
    moves = indptr, block.indices, unmasked(block).data, *block.dual_bounds()
    base, bound = _least_of_columns(*moves[1:3], moves[-1]), moves[-1]
    begin = np.where(np.isfinite(bound), bound, base) if begin is None else begin
    labels = _labels(col_of_row, inverse(block, col_of_row), begin, base)
    sweeps = min(SWEEPS, max(FEWEST_SWEEPS, MOVES // max(block.n_edges, 1)))
    if not _settle(*moves, labels, sweeps * (m + 1)):
        return None
    place = labels.place[:n]
    is_free = not np.isfinite(np.concatenate(block.dual_bounds())).any()
    high, low = difference.py_func(labels.base, 0.0, -labels.high, -labels.low)
    v = _rounded(high, low, m if m == 0 or not is_free else np.argsort(high[:m])[m // 2], is_free)
    return np.where(place < m, place, -1).astype(np.int32), v


def _least_of_columns(indices: np.ndarray | None, data: np.ndarray, col_bound: np.ndarray) -> np.ndarray:
    """Return what each column costs at least, matched or unassigned; 0 where it can be neither."""
    m = len(col_bound)
    least = col_bound.copy()
    if indices is None:
        np.minimum(least, data.reshape(-1, m).min(axis=0, initial=np.inf), out=least)
    else:
        np.minimum.at(least, indices, data)
    return np.where(np.isfinite(least), least, 0.0)


def _rounded(high: np.ndarray, low: np.ndarray, origin: int, is_free: bool) -> np.ndarray:
    """Return the duals of the columns as floats, that of the origin 0; where all may move, the largest is exact."""
    high, low = difference.py_func(high[:-1], low[:-1], high[origin], low[origin])
    if is_free and len(high):
        low = low - low[np.argmax(abs(high))]
    return high + low


class Labels(NamedTuple):
    """State of the search: of each place its label high + low, the last member to lower it, and the member on it.

    Labels are above `base`, what each column costs at least. The last place is `outside`, where there is no single
    member. `place` (rows + columns,) tells where each member is, `queue` and `is_queued` the places whose moves are to
    be tried.
    """

    high: np.ndarray
    low: np.ndarray
    parent: np.ndarray
    member: np.ndarray
    place: np.ndarray
    queue: np.ndarray
    is_queued: np.ndarray
    base: np.ndarray


def _labels(col_of_row: np.ndarray, row_of_col: np.ndarray, begin: np.ndarray, base: np.ndarray) -> Labels:
    """Return the state that the search begins with: a matching, column duals, every place in the queue."""
    n, m = len(col_of_row), len(row_of_col)
    place = np.concatenate([np.where(col_of_row < 0, m, col_of_row), np.full(m, m)]).astype(np.int64)
    outside = np.flatnonzero(row_of_col < 0)
    place[n + outside] = outside
    member = np.append(np.where(row_of_col < 0, n + np.arange(m), row_of_col), -1)
    high, queue = np.append(begin - base, 0.0), np.arange(m + 1)
    labels = high, np.zeros(m + 1), np.full(m + 1, -1), member, place, queue, np.ones(m + 1, np.bool_)
    return Labels(*labels, np.append(base, 0.0))


@compiled
def _settle(indptr, indices, data, row_bound, col_bound, labels, most):
    """Lower labels and exchange until no move lowers one; return whether that ended within `most` places looked at."""
    places = len(labels.high)
    ends = np.array([0, places])
    lowered = 0
    for _ in range(most):
        if ends[1] == 0:
            return True
        here = labels.queue[ends[0]]
        ends[0] = (ends[0] + 1) % places
        ends[1] -= 1
        labels.is_queued[here] = False
        lowered += _look_around(here, indptr, indices, data, row_bound, col_bound, labels, ends)
        if lowered >= places:
            lowered = 0
            _exchange_all(labels, ends)
    return False


@compiled
def _look_around(here, indptr, indices, data, row_bound, col_bound, labels, ends):
    """Try all moves from a place; return how many lowered a label."""
    outside = len(labels.high) - 1
    if here < outside:
        return _try_moves(labels.member[here], indptr, indices, data, row_bound, col_bound, labels, ends)
    lowered = 0
    for x in range(len(labels.place)):
        if labels.place[x] == outside:
            lowered += _try_moves(x, indptr, indices, data, row_bound, col_bound, labels, ends)
    return lowered


@compiled
def _try_moves(x, indptr, indices, data, row_bound, col_bound, labels, ends):
    """Try all moves of a member; return how many lowered a label."""
    n, outside = len(row_bound), len(labels.high) - 1
    here = labels.place[x]
    if x >= n:
        if here == outside:
            return _try(x, x - n, 0.0, col_bound[x - n], labels, ends)
        return _try(x, outside, col_bound[here], 0.0, labels, ends)
    own = row_bound[x]
    lo = indptr[x]
    for e in range(lo, indptr[x + 1]):
        if (e - lo if indices is None else indices[e]) == here:
            own = data[e]
    lowered = 0 if here == outside else _try(x, outside, own, row_bound[x], labels, ends)
    for e in range(lo, indptr[x + 1]):
        there = e - lo if indices is None else indices[e]
        lowered += _try(x, there, own, data[e], labels, ends)
    return lowered


@compiled(forceinline=True, **BORROWING)
def _try(x, there, own, cost, labels, ends):
    """Lower the label of a place to what it takes the member to go there, if that is lower; return 1 if so, else 0."""
    here = labels.place[x]
    if there == here or cost == np.inf:
        return 0
    label, now = labels.high[here], labels.high[there]
    base, base_there = labels.base[here], labels.base[there]
    size = abs(label) + abs(now) + abs(own) + abs(base) + abs(cost) + abs(base_there)
    if (label - now) + ((cost - base_there) - (own - base)) > FLOAT_SCREEN * size:
        return 0
    more, more_low = _more(cost, base_there, own, base)
    high, low = difference(label, labels.low[here], -more, -more_low)
    if (high - now) + (low - labels.low[there]) >= -PAIR_ROUNDING * (abs(label) + abs(now) + abs(more)):
        return 0
    labels.high[there], labels.low[there], labels.parent[there] = high, low, x
    _enqueue(there, labels, ends)
    return 1


@compiled(forceinline=True, **BORROWING)
def _more(cost, base_there, own, base):
    """Return what a place costs more than another, both above their base, as a pair of floats: all its digits."""
    there, there_low = difference(cost, 0.0, base_there, 0.0)
    here, here_low = difference(own, 0.0, base, 0.0)
    more, more_low = difference(there, 0.0, here, 0.0)
    rest, rest_low = difference(there_low, 0.0, here_low, 0.0)
    return difference(more, more_low, -rest, -rest_low)


@compiled(forceinline=True, **BORROWING)
def _enqueue(place, labels, ends):
    """Put a place into the queue, whose head and size are `ends`, unless it is in it."""
    if not labels.is_queued[place]:
        labels.queue[(ends[0] + ends[1]) % len(labels.queue)] = place
        ends[1] += 1
        labels.is_queued[place] = True


@compiled
def _exchange_all(labels, ends):
    """Exchange along every cycle of parents, which have no place in common as each has one parent."""
    seen = np.full(len(labels.high), -1)
    found = False
    for root in range(len(seen)):
        at = root
        while seen[at] < 0:
            seen[at] = root
            if labels.parent[at] < 0:
                break
            at = labels.place[labels.parent[at]]
        else:
            if seen[at] == root:
                _exchange(at, labels, ends)
                found = True
    if found:
        labels.parent[:] = -1


@compiled
def _exchange(start, labels, ends):
    """Let every member of the cycle of parents through a place go where it lowered the label."""
    outside = len(labels.high) - 1
    at = start
    while True:
        going = labels.parent[at]
        left = labels.place[going]
        labels.place[going], labels.parent[at] = at, -1
        if at < outside:
            labels.member[at] = going
        _enqueue(at, labels, ends)
        at = left
        if at == start:
            break
