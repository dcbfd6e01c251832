"""The gap of an assignment without rounding, group by group: for answers whose certificate in floats leaves a doubt.

Row duals are the least of c - v, kept as pairs of floats, in which a difference of two floats is exact. So a cost of
1e16 beside duals near 1 leaves nothing open. An exchange of matched edges lowers the cost by no more than the slack of
the matched edges it touches, and its pairs have a reduced cost of no more than that: it stays within one group of rows
and columns that such pairs connect. Each group is therefore held to the cost of its own matched edges, and what is
more than pairs of floats lose in all groups also to that of all matched edges. What every answer pays is no part of
it, as far as `_forced` duals prove that without a solve. A matched edge that is in every answer must not hide those
beside it. Nor may what all pay above their least be less than the gap allows. Where column duals are rounded to more
than is being decided, they are found again as pairs of floats, above the forced ones.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ..jit.compiled import BORROWING, compiled
from ..problem import Problem
from ..problem.cheaper_pairs import cheaper_pairs
from ..problem.components import components
from ..problem.convert import unmasked
from ..problem.costs import edge_costs
from ..problem.selection import chosen, members
from ..tolerance import EPS, FLOAT_SCREEN, LOST_ULPS, PAIR_ROUNDING, PAIR_ULPS, PAIRS_LOSE, SHARE
from . import other_pairs
from .float_pairs import above, difference, left_to_row

SWEEPS = 50
"""Times that all pairs are looked at for duals above the forced ones; as often as there are rows where these are fewer
than `FEW_ROWS`. Those at hand are off by rounding alone."""

FEW_ROWS = 300

_EPS_OF_PAIR = PAIR_ULPS * EPS

Edges = tuple[Any, np.ndarray, Any, np.ndarray, float]
"""indptr, first column of each row's block, indices and costs; without indices the k-th entry of a row is the block's
column k. Last what every other pair costs, no less than these, +inf where there is none: of all these pairs the one
with the best duals decides, and others need not be looked at."""

Pair = tuple[np.ndarray, np.ndarray]
"""Numbers as pairs of floats."""


class Duals(NamedTuple):
    """Duals of rows and columns as pairs of floats, (rows,) and (columns,)."""

    r: np.ndarray
    r_low: np.ndarray
    v: np.ndarray
    v_low: np.ndarray


class _Answer(NamedTuple):
    """An answer to blocks of real costs: its edges and bounds, what rows and columns pay, and their partners.

    `col_of_row` is counted over all blocks; of `row_of_col` only the signs are looked at. `block` (rows + columns,) is
    where each member is.
    """

    edges: Edges
    row_bound: np.ndarray
    col_bound: np.ndarray
    pays: np.ndarray
    col_unmatched: np.ndarray
    col_of_row: np.ndarray
    row_of_col: np.ndarray
    offsets: Pair
    block: np.ndarray
    by_rows: np.ndarray

    @classmethod
    def of(cls, problem: Problem, col_of_row: np.ndarray, row_of_col: np.ndarray) -> _Answer:
        """Return the answer; `problem` is dense or sparse, without a mask."""
        n, m = problem.shape
        bounds, offsets = problem.dual_bounds(), (problem.row_offsets, problem.col_offsets)
        block = np.zeros(n + m, np.int64)
        if problem.n_blocks > 1:
            block = np.concatenate([np.repeat(np.arange(problem.n_blocks), np.diff(side)) for side in offsets])
        first = offsets[1][block[:n]]
        unassigned = bounds if problem.has_unmatched_cost else (np.zeros(n), np.zeros(m))
        rows, pays = np.flatnonzero(col_of_row >= 0), unassigned[0].copy()
        pays[rows] = edge_costs(problem, rows, block[rows], col_of_row[rows])
        if problem.n_blocks > 1:
            col_of_row = np.where(col_of_row < 0, -1, col_of_row + first).astype(np.int32)
        partners = col_of_row, row_of_col
        by_rows = (problem.n_rows_of_block <= problem.n_cols_of_block) | problem.has_unmatched_cost
        return cls(_edges(problem, first), *bounds, pays, unassigned[1], *partners, offsets, block, by_rows)

    def sums(self, of_members: np.ndarray) -> np.ndarray:
        """Return the sum over the rows and columns of each block."""
        if len(self.by_rows) == 1:
            return of_members.sum(keepdims=True)
        return np.bincount(self.block, of_members, len(self.by_rows))

    def without(self, of_members: np.ndarray) -> np.ndarray:
        """Return the blocks none of whose rows and columns has anything but 0 there."""
        return np.array([not of_members.any()]) if len(self.by_rows) == 1 else self.sums(of_members != 0) == 0

    def completed(self, base: Duals, v: Pair) -> Duals:
        """Return column duals above the base, and the best row duals beside them."""
        high, low = _best_duals(*self.edges, True, base, self.row_bound, *v)
        return Duals(high, low, *v)

    def at_bounds(self) -> np.ndarray:
        """Return column duals by which every row pays its least, or every column of blocks that are taller."""
        of_rows = np.where(np.isfinite(self.col_bound), self.col_bound, 0.0)
        if self.by_rows.all():
            return of_rows
        n, m = len(self.pays), len(self.col_bound)
        of_cols = _best_duals(*self.edges, False, _no_duals(n, m), self.col_bound, *np.zeros((2, n)))[0]
        return np.where(self.by_rows[self.block[n:]], of_rows, of_cols)

    def slacks(self, base: Duals, duals: Duals) -> np.ndarray:
        """Return `_slacks` of the duals above the base."""
        return _slacks(self.pays, self.col_unmatched, self.col_of_row, self.row_of_col, base, duals)

    def forced(self) -> Iterator[tuple[Duals, np.ndarray]]:
        """Yield forced duals, and what members pay above them."""
        nothing = _no_duals(len(self.pays), len(self.col_bound))
        for duals in _forced(self.edges, self.row_bound, self.col_bound):
            yield duals, np.maximum(self.slacks(nothing, duals), 0.0)

    def best_of(self, forced: Sequence[tuple[Duals, np.ndarray]]) -> tuple[Duals, np.ndarray]:
        """Return each block's best forced duals, and what members pay above them."""
        each, above = zip(*forced, strict=True)
        best = np.array([self.sums(of_members) for of_members in above]).argmin(axis=0)
        if len(best) == 1:
            return forced[best[0]]
        of_rows, of_cols = np.split(best[self.block], [len(self.pays)])
        sides = zip((of_rows, of_rows, of_cols, of_cols), zip(*each, strict=True), strict=True)
        return Duals(*(np.choose(*side) for side in sides)), np.choose(best[self.block], above)

    def gap_of(
        self, base: Duals, duals: Duals, above_forced: np.ndarray, above_least: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the gaps that duals above the base leave, and whether they are within `SHARE` in groups and in all.

        Held to what rows and columns pay above the forced duals, and to what all of them pay above their least; to no
        more than they pay, where unmatched costs that nobody pays set the duals.
        """
        slack, n = self.slacks(base, duals), len(self.pays)
        sizes = abs(np.concatenate([self.pays, np.where(self.row_of_col < 0, self.col_unmatched, 0.0)]))
        gap, paid = self.sums(slack), self.sums(sizes)
        is_within = gap <= SHARE * np.minimum(above_least, paid)
        if not is_within.any():
            return gap, is_within
        measures = slack, above_forced, sizes
        doubted = _beyond_share(_groups(*self.edges, base, duals, gap[self.block[:n]]), *measures)
        is_lost = gap > PAIRS_LOSE * paid
        if is_lost.any():
            doubted |= _beyond_share(self.block, *measures) & is_lost[self.block]
        if doubted.any():
            part = _groups(*self.edges, base, duals, np.full(n, np.inf))
            own = np.minimum(np.bincount(part, above_forced), np.bincount(part, sizes))
            beyond_rounding = np.bincount(part, slack) > LOST_ULPS * EPS * own
            doubted &= beyond_rounding[part]
        return gap, is_within & self.without(doubted)

    def lower_until_rows_pay_least(self, base: Duals, v: Pair, sweeps: np.ndarray) -> np.ndarray:
        """Lower column duals above the base until what each row pays is its least; return in which blocks that ended.

        Of one block with other pairs edges and these take turns.
        """
        (*edges, others), lowered = self.edges, (self.col_of_row, self.pays, base, *v)
        if others == np.inf:
            return _lower_until_rows_pay_least(*edges, *lowered, self.offsets[0], sweeps)
        for _ in range(sweeps[0]):
            ended = _lower_until_rows_pay_least(*edges, *lowered, self.offsets[0], np.ones_like(sweeps))
            if not other_pairs.lower_columns(others, *lowered) and ended[0]:
                return ended
        return np.zeros(1, np.bool_)

    def beginnings(self, forced: Duals, v: np.ndarray) -> Iterator[tuple[Pair, np.ndarray]]:
        """Yield duals above the forced, to be lowered, and in which blocks: those at hand, and what bounds them.

        Those at hand may have lost digits. Where there are no bounds, only differences matter, and what all have in
        common takes digits from them.
        """
        above, n = v - forced.v, len(self.pays)
        is_free = self.without(np.isfinite(np.concatenate([self.row_bound, self.col_bound])))
        common = np.where(is_free, _medians(above, self.offsets[1]), 0.0)
        yield (above - common[self.block[n:]], np.zeros(len(v))), np.ones(len(is_free), np.bool_)
        if not is_free.all():
            bound = np.where(np.isfinite(self.row_bound), self.row_bound, 0.0)
            r, r_low = difference.py_func(bound, 0.0, forced.r, forced.r_low)
            is_assigned = self.col_of_row >= 0
            of_unassigned = np.where(is_assigned, -np.inf, r), np.where(is_assigned, 0.0, r_low)
            yield _finite(*_best_duals(*self.edges, False, forced, self.col_bound, *of_unassigned)), ~is_free


def exact_gap(problem: Problem, col_of_row: np.ndarray, row_of_col: np.ndarray, v: np.ndarray) -> tuple[float, bool]:
    """As `exact_gaps`, of one block."""
    gap, is_proven = exact_gaps(problem, col_of_row, row_of_col, v)
    return float(gap[0]), bool(is_proven[0])


def exact_gaps(
    problem: Problem, col_of_row: np.ndarray, row_of_col: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gap of each block that column duals prove, and whether it is within `SHARE` in every group and in all.

    Duals that leave none prove it at once: those at hand, and those by which every row, or column, pays its least.
    Where those at hand leave too much and others do not, the gap is that of the others.

    Parameters
    ----------
    problem : Problem
        Of real costs on the host, dense or sparse.
    col_of_row, row_of_col : int32 (rows,), (columns,)
        Local to each block, -1 = unassigned.
    v : float64 (columns,)
        Column duals, none above its bound.
    """
    answer = _Answer.of(unmasked(problem), col_of_row, row_of_col)
    nothing, no_low = _no_duals(*problem.shape), np.zeros(problem.n_cols)
    stated = answer.completed(nothing, (v, no_low))
    is_proven = answer.without(answer.slacks(nothing, stated))
    if not is_proven.all():
        at_bounds = answer.completed(nothing, (answer.at_bounds(), no_low))
        is_proven |= answer.without(answer.slacks(nothing, at_bounds))
    gap, still_open = np.zeros(problem.n_blocks), np.flatnonzero(~is_proven)
    if len(still_open) == problem.n_blocks:
        return _gaps_above_forced(answer, stated, v)
    if len(still_open):
        part = of_blocks(problem, still_open, (col_of_row,), (row_of_col, v))
        gap[still_open], is_proven[still_open] = exact_gaps(*part)
    return gap, is_proven


def of_blocks(problem: Problem, blocks: np.ndarray, of_rows: Iterable[Any], of_cols: Iterable[Any]) -> Iterator[Any]:
    """Yield some blocks of a batch, and what belongs to their rows and to their columns."""
    yield chosen(problem, blocks)
    if problem.n_blocks == 1:
        yield from (*of_rows, *of_cols)
        return
    for offsets, arrays in (problem.row_offsets, of_rows), (problem.col_offsets, of_cols):
        own = members(offsets, blocks)[0]
        yield from (array[own] for array in arrays)


def _gaps_above_forced(answer: _Answer, stated: Duals, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As `exact_gaps`, where the duals leave something in every block.

    Mostly it is within the share of what each edge of a group costs at least, whatever duals are forced.
    """
    nothing, each = _no_duals(len(stated.r), len(v)), answer.forced()
    of_sides = list(islice(each, 1 if answer.by_rows.all() else 2))
    least = [answer.sums(above_forced) for _, above_forced in of_sides]
    above_least = np.where(answer.by_rows, least[0], least[-1])
    gap, is_proven = answer.gap_of(nothing, stated, np.zeros(len(answer.block)), above_least)
    if is_proven.all():
        return gap, is_proven
    forced, above_forced = answer.best_of([*of_sides, *each])
    measures = above_forced, above_least
    gap, is_proven = answer.gap_of(nothing, stated, *measures)
    n = np.diff(answer.offsets[0])
    most = np.where(n <= FEW_ROWS, np.maximum(SWEEPS, n), SWEEPS)
    for begun, is_begun in () if is_proven.all() else answer.beginnings(forced, v):
        sweeps = np.where(is_begun & ~is_proven, most, 0)
        ended = answer.lower_until_rows_pay_least(forced, begun, sweeps)
        if ended.any():
            lower, is_within = answer.gap_of(forced, answer.completed(forced, begun), *measures)
            gap = np.where(ended & is_within, np.minimum(gap, lower), gap)
            is_proven |= ended & is_within
    return gap, is_proven


def _edges(problem: Problem, first: np.ndarray) -> Edges:
    """Return the edges of blocks: of a matrix that is mostly one cost the cheaper ones, and that cost for all else."""
    if problem.kind == "sparse":
        return problem.indptr, first, problem.indices, problem.data, np.inf
    cheaper = cheaper_pairs(problem) if problem.n_blocks == 1 else None
    if cheaper is not None:
        return cheaper[0], first, *cheaper[1:]
    begin = np.concatenate([[0], np.cumsum(np.repeat(problem.n_cols_of_block, problem.n_rows_of_block))])
    return begin, first, None, problem.data, np.inf


def _medians(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the median of each block's values, anything of a block that has none."""
    sizes = np.diff(offsets)
    ordered = np.append(values[np.lexsort((values, np.repeat(np.arange(len(sizes)), sizes)))], 0.0)
    return 0.5 * ordered[offsets[:-1] + np.maximum(sizes - 1, 0) // 2] + 0.5 * ordered[offsets[:-1] + sizes // 2]


def _beyond_share(group: np.ndarray, slack: np.ndarray, forced: np.ndarray, pays: np.ndarray) -> np.ndarray:
    """Return which rows and columns are in groups whose slack is more than a share of what their matched edges cost.

    That is the larger of two measures: what they cost above the forced, no more than they cost at all, and what they
    would cost if each were as cheap as the cheapest that is not 0.
    """
    groups = int(group.max(initial=-1)) + 1
    positive = pays > 0
    cheapest = np.full(groups, np.inf)
    np.minimum.at(cheapest, group[positive], pays[positive])
    number = np.bincount(group[positive], minlength=groups)
    at_least = np.where(number > 0, number * np.where(number > 0, cheapest, 0.0), 0.0)
    own = np.maximum(np.minimum(np.bincount(group, forced, groups), np.bincount(group, pays, groups)), at_least)
    return (np.bincount(group, slack, groups) > SHARE * own)[group]


def _forced(edges: Edges, row_bound: np.ndarray, col_bound: np.ndarray) -> Iterator[Duals]:
    """Yield duals that need no solve: each row's least, then each column's, and the reverse.

    Where many rows stay unassigned the one says far less than the other, where many columns do the other. Where few do,
    what they would pay unassigned says nothing: then the other side begins at 0.
    """
    nothing = _no_duals(len(row_bound), len(col_bound))
    rows, cols = (*edges, True, nothing, row_bound), (*edges, False, nothing, col_bound)
    row_start, col_start = (np.where(np.isfinite(bound), bound, 0.0) for bound in (row_bound, col_bound))
    sides = (rows, cols, col_start), (cols, rows, row_start)
    from_zero = [(one, other, np.minimum(start, 0.0)) for one, other, start in sides if (start > 0).any()]
    for one, other, start in (*sides, *from_zero):
        found = _finite(*_best_duals(*one, start, np.zeros(len(start))))
        rest = _finite(*_best_duals(*other, *found))
        yield Duals(*found, *rest) if one is rows else Duals(*rest, *found)


def _no_duals(n: int, m: int) -> Duals:
    return Duals(*np.zeros((2, n)), *np.zeros((2, m)))


def _finite(high: np.ndarray, low: np.ndarray) -> Pair:
    """Return the duals, 0 for a member without a pair and a bound; one that must be matched was refused before."""
    return np.where(np.isfinite(high), high, 0.0), low


def _best_duals(indptr, first, indices, data, others, of_rows, base, bound, other, other_low):
    """Return min(bound, min c - the other side's dual) of each row, or each column, above the base: high and low."""
    high, low = _best_of_edges(indptr, first, indices, data, of_rows, base, bound, other, other_low)
    if others < np.inf:
        other_pairs.lower_duals(others, of_rows, base, high, low, other, other_low)
    return high, low


@compiled
def _best_of_edges(indptr, first, indices, data, of_rows, base, bound, other, other_low):
    high, low = bound.copy(), np.zeros(len(bound))
    own_base, own_low = (base.r, base.r_low) if of_rows else (base.v, base.v_low)
    for own in range(len(bound)):
        if bound[own] < np.inf:
            high[own], low[own] = difference(bound[own], 0.0, own_base[own], own_low[own])
    for i in range(len(indptr) - 1):
        lo, left = indptr[i], first[i]
        for e in range(lo, indptr[i + 1]):
            if data[e] < np.inf:
                j = left + (e - lo if indices is None else indices[e])
                own, there = (i, j) if of_rows else (j, i)
                roughly = ((data[e] - base.v[j]) - base.r[i]) - other[there]
                if roughly - high[own] > FLOAT_SCREEN * (abs(data[e]) + abs(base.v[j]) + abs(base.r[i]) + abs(roughly)):
                    continue
                h, rest = above(data[e], i, j, base)
                h, rest = difference(h, rest, other[there], other_low[there])
                if h < high[own] or (h == high[own] and rest < low[own]):
                    high[own], low[own] = h, rest
    return high, low


@compiled
def _slacks(pays, col_unmatched, col_of_row, row_of_col, base, duals):
    """Return the term of each row and column: what it pays above the base less its duals; 0 for columns with a row.

    Sums of pairs lose what sums of their second parts do, which is added.
    """
    slack = np.zeros(len(pays) + len(col_unmatched))
    is_exact = not (base.r.any() or base.v.any() or duals.v_low.any())
    eps = 0.0 if is_exact else _EPS_OF_PAIR
    for i in range(len(pays)):
        j = col_of_row[i]
        lost = 0.0
        if j >= 0:
            high, low = above(pays[i], i, j, base)
            lost = abs(low) + abs(base.r_low[i]) + abs(base.v_low[j]) + abs(duals.v_low[j])
            high, low = difference(high, low, duals.v[j], duals.v_low[j])
        else:
            high, low = difference(pays[i], 0.0, base.r[i], base.r_low[i])
        lost += abs(low) + abs(duals.r_low[i])
        slack[i] = (high - duals.r[i]) + (low - duals.r_low[i]) + eps * lost
    for j in range(len(col_unmatched)):
        if row_of_col[j] < 0:
            high, low = difference(col_unmatched[j], 0.0, base.v[j], base.v_low[j])
            lost = abs(low) + abs(duals.v_low[j])
            slack[len(pays) + j] = (high - duals.v[j]) + (low - duals.v_low[j]) + eps * lost
    return slack


@compiled
def _lower_until_rows_pay_least(indptr, first, indices, data, col_of_row, pays, base, v, v_low, row_offsets, sweeps):
    """Lower column duals above the base until what each row pays is its least; return in which blocks that ended.

    Label-correcting, row by row, as Bellman and Ford.
    """
    ended = np.zeros(len(sweeps), np.bool_)
    for b in range(len(sweeps)):
        for _ in range(sweeps[b]):
            lowered = False
            for i in range(row_offsets[b], row_offsets[b + 1]):
                lowered |= _lower_by_row(i, indptr, first, indices, data, col_of_row[i], pays[i], base, v, v_low)
            if not lowered:
                ended[b] = True
                break
    return ended


@compiled(forceinline=True, **BORROWING)
def _lower_by_row(i, indptr, first, indices, data, own_col, pays, base, v, v_low):
    """Lower the column duals to what a row leaves of the costs of its edges; return whether one was."""
    dual, dual_low = left_to_row(i, own_col, pays, base, v, v_low)
    lowered = False
    lo, left = indptr[i], first[i]
    for e in range(lo, indptr[i + 1]):
        j = left + (e - lo if indices is None else indices[e])
        if data[e] == np.inf or j == own_col:
            continue
        size = abs(data[e]) + abs(base.v[j]) + abs(base.r[i]) + abs(dual) + abs(v[j])
        if (data[e] - base.v[j]) - base.r[i] - dual - v[j] > FLOAT_SCREEN * size:
            continue
        high, low = above(data[e], i, j, base)
        high, low = difference(high, low, dual, dual_low)
        if (high - v[j]) + (low - v_low[j]) < -PAIR_ROUNDING * (abs(high) + abs(dual) + abs(v[j])):
            v[j], v_low[j] = high, low
            lowered = True
    return lowered


def _groups(indptr, first, indices, data, others, base, duals, gap):
    """Number the groups that pairs of a reduced cost up to the gap of the row connect: int32 (rows + columns,)."""
    near_indptr, near = _pairs_within(indptr, first, indices, data, base, duals, gap)
    group = np.concatenate(components(near_indptr, near, len(duals.v)))
    if others < np.inf:
        connected = np.unique(group[other_pairs.are_within(others, base, duals, gap[0])])
        group[np.isin(group, connected)] = connected.min(initial=len(group))
    return group


@compiled
def _pairs_within(indptr, first, indices, data, base, duals, gap):
    """Return (indptr, indices) of the edges of a reduced cost up to the row's gap."""
    n = len(duals.r)
    near_indptr, near = np.zeros(n + 1, np.int64), np.empty(len(data), np.int32)
    n_near = 0
    for i in range(n):
        lo, left = indptr[i], first[i]
        for e in range(lo, indptr[i + 1]):
            if data[e] < np.inf:
                j = left + (e - lo if indices is None else indices[e])
                roughly = ((data[e] - base.v[j]) - base.r[i]) - duals.v[j] - duals.r[i]
                size = abs(data[e]) + abs(base.v[j]) + abs(base.r[i]) + abs(duals.v[j]) + abs(duals.r[i])
                if roughly - gap[i] > FLOAT_SCREEN * size:
                    continue
                high, low = above(data[e], i, j, base)
                high, low = difference(high, low, duals.v[j], duals.v_low[j])
                if (high - duals.r[i]) + (low - duals.r_low[i]) <= gap[i]:
                    near[n_near] = j
                    n_near += 1
        near_indptr[i + 1] = n_near
    return near_indptr, near[:n_near]
