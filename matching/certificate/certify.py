"""The proof that goes with every assignment: feasible duals, and the gap between primal and dual objective.

Linear programming duality: for any r, v with c_ij - r_i - v_j ≥ 0 and r, v below their bounds
(`Problem.dual_bounds`), no assignment costs less than Σ r + Σ v. Written as complementary slackness, the gap of
an assignment is

    Σ matched edges (c_ij - r_i - v_j)  +  Σ unassigned rows (u_i - r_i)  +  Σ unassigned columns (u_j - v_j),

a sum of terms that are all ≥ 0, so it is computed without cancellation. What rounding may have taken from it is added.
Where that is not far below what the matched edges themselves cost, and what they cost above what every answer pays
(`above_least`), it is computed without rounding (`exact_gap`).
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..jit.compiled import SMALL, compiled
from ..problem import Problem
from ..problem.convert import as_dense, as_sparse
from ..problem.costs import best_row_duals, edge_costs
from ..problem.outline import Outline
from ..tolerance import EPS, SHARE, ULPS
from .above_least import MOST_PAIRS, barely_above_least, look_above_least
from .assignment import Assignment
from .cheap_edges import cheap_edges
from .exact_gap import exact_gap, exact_gaps, of_blocks
from .exact_optimum import is_cheapest, is_small
from .near_pairs import near_pairs

FEW_PAIRS = 2**16
"""Pairs up to which all are looked at, not first those that may decide."""

TOGETHER = 2**22
"""Pairs of small blocks that are looked at together."""

MOST_FETCHED = 2**27
"""Pairs of a matrix or graph on a GPU that are fetched where their digits decide: a GiB, and some seconds."""


def certify(
    problem: Problem,
    col_of_row: np.ndarray,
    col_duals: np.ndarray,
    *,
    solver: str,
    device: str = "cpu",
    stats: Mapping[str, Any] | None = None,
    terms: Terms | None = None,
    costs: np.ndarray | None = None,
) -> Assignment:
    """Turn a matching and column duals into an `Assignment` whose duals are feasible and whose gap is proven.

    Parameters
    ----------
    problem : Problem
    col_of_row : int32 (rows,)
        A valid matching: column of each row, local to its block, -1 = unassigned.
    col_duals : array (columns,)
        Any duals; those above their bound are lowered to it, and the row duals are the best that go with them.
    solver, device, stats
        Passed on.
    terms : Terms, optional
        Of these duals, where the method has come across them: none is above its bound then, and all are matched that
        must be.
    costs : ndarray (rows,), optional
        What each row's matched edge costs, where that is known; see `slackness_of_matched`.

    Returns
    -------
    Assignment
        Exact if the duals are; otherwise with the gap that they prove: +inf where a row or column that must be matched
        is not, since no assignment is known then.
    """
    v, is_complete = col_duals, terms is not None
    if terms is None:
        v = np.minimum(col_duals.astype(problem.dual_dtype, copy=False), problem.dual_bounds()[1])
        terms = terms_of(problem, col_of_row, v, costs)
    row_of_col, r, sums = terms
    sums = settled(problem, col_of_row, row_of_col, r, v, sums)
    return assembled(
        *(problem, col_of_row, row_of_col, r, v, sums),
        solver=solver,
        device=device,
        stats=stats,
        is_complete=is_complete,
    )


def terms_of(problem: Problem, col_of_row: np.ndarray, v: np.ndarray, costs: np.ndarray | None = None) -> Terms:
    """Return what a proof asks besides column duals, none of which is above its bound; see `certify`."""
    r, sizes = best_row_duals(problem, v)
    row_of_col = inverse(problem, col_of_row)
    costs = matched_costs(problem, col_of_row) if costs is None else costs
    sums = slackness_of_matched(problem, col_of_row, row_of_col, costs, r, v, sizes)
    return Terms(row_of_col, r, doubted(problem, col_of_row, row_of_col, sums))


def recertified(problem: Problem, answer: Assignment, col_duals: np.ndarray) -> Assignment:
    """Certify the matching of an answer by other column duals, or for another problem with the same; on the host."""
    partners, solver = answer.col_of_row, answer.solver
    return certify(problem, partners, col_duals, solver=solver, device=answer.device, stats=answer.stats)


def assembled(
    problem: Outline,
    col_of_row: np.ndarray,
    row_of_col: np.ndarray,
    r: np.ndarray,
    v: np.ndarray,
    sums: Slackness,
    *,
    solver: str,
    device: str,
    stats: Mapping[str, Any] | None,
    is_complete: bool = False,
) -> Assignment:
    """Return the assignment with cost, gap and proof from the sums of its terms (see `complementary_slackness`).

    `is_complete` says that all are matched that must be; else that is looked at.
    """
    gap = sums.gap
    if not is_complete:
        incomplete = incomplete_blocks(problem, col_of_row)
        is_complete = not incomplete.any()
        gap = gap if is_complete else np.where(incomplete, np.inf, gap)
    single = problem.n_blocks == 1
    return Assignment(
        col_of_row,
        row_of_col,
        sums.cost[0].item() if single else sums.cost,
        r,
        v,
        gap[0].item() if single else gap,
        is_complete and sums.proves,
        solver,
        device,
        stats or {},
        problem.row_offsets,
        problem.col_offsets,
    )


Sides = tuple[np.ndarray, np.ndarray]
"""What belongs to rows, and to columns."""


class Slackness(NamedTuple):
    """What the terms of matched edges, unassigned rows and unassigned columns add up to.

    Attributes
    ----------
    cost, gap : int64 or float64 (blocks,)
        Objective of each block, and its distance from the dual objective.
    size : (blocks,)
        Sum of the absolute costs, the measure of rounding in `cost`.
    rounding : float64 (blocks,)
        What rounding may have kept from the terms of `gap`, of which it is part; 0 for integers.
    has_zero_slack : bool (blocks,)
        Whether every term of the gap is zero: exactly for integers, for floats within `ULPS` ulp of its largest part.
    in_doubt : bool (blocks,)
        Whether the gap would be more than a `SHARE` of the matched edges' cost if all were as cheap as the cheapest
        that is not 0: a wrong exchange of cheap edges might then hide in the rounding of expensive ones. Or of what
        they cost above the least that every answer pays: a wrong one of two might then hide in the rounding of duals.
    proves : bool
        Whether the matched edges are optimal: all terms are zero, no block is in doubt.
    """

    cost: np.ndarray
    gap: np.ndarray
    size: np.ndarray
    rounding: np.ndarray
    has_zero_slack: np.ndarray
    in_doubt: np.ndarray
    proves: bool


class Terms(NamedTuple):
    """What a proof asks of rows and columns, and what it adds up to.

    Attributes
    ----------
    row_of_col : int32 (columns,)
        Local to its block, -1 = unassigned.
    r : ndarray (rows,)
        The best row duals beside the column duals.
    sums : Slackness
    """

    row_of_col: np.ndarray
    r: np.ndarray
    sums: Slackness


def doubted(problem: Problem, col_of_row: np.ndarray, row_of_col: np.ndarray, sums: Slackness) -> Slackness:
    """Return the sums with those blocks in doubt too whose matching costs barely more than what every answer pays."""
    if problem.is_integer or not sums.has_zero_slack.any():
        return sums
    return _with_doubts(sums, sums.in_doubt | barely_above_least(problem, col_of_row, row_of_col, sums.gap))


def _with_doubts(sums: Slackness, in_doubt: np.ndarray) -> Slackness:
    """Return the sums with other doubts, and what they then prove."""
    return sums._replace(in_doubt=in_doubt, proves=bool((sums.has_zero_slack & ~in_doubt).all()))


def settled(
    problem: Problem, col_of_row: np.ndarray, row_of_col: np.ndarray, r: np.ndarray, v: np.ndarray, sums: Slackness
) -> Slackness:
    """Return the sums with the gap of blocks that are in doubt computed without rounding, where memory allows it.

    Small blocks that even this leaves in doubt are decided in whole numbers, which leave no gap.
    """
    if sums.proves or not sums.has_zero_slack.any():
        return sums
    gap, in_doubt = sums.gap.copy(), sums.in_doubt.copy()
    few = min(FEW_PAIRS, MOST_PAIRS) if problem.kind == "points" else FEW_PAIRS
    is_few = problem.n_rows_of_block * problem.n_cols_of_block <= few
    for blocks in together(problem, np.flatnonzero(in_doubt & sums.has_zero_slack & is_few)):
        part, *duals = of_blocks(problem, blocks, (col_of_row,), (row_of_col, v))
        gap[blocks], is_within = exact_gaps(as_dense(part) if part.kind == "points" else part, *duals)
        in_doubt[blocks] = ~is_within
    for b in np.flatnonzero(in_doubt & sums.has_zero_slack).tolist():
        rows, cols = slice(*problem.row_offsets[b : b + 2]), slice(*problem.col_offsets[b : b + 2])
        stated, matched, duals = problem.block(b), (col_of_row[rows], row_of_col[cols]), (r[rows], v[cols])
        block = _by_costs(stated)
        if not is_few[b]:
            gap[b], is_within = without_rounding(block, matched, duals, float(gap[b]))
            in_doubt[b] = not is_within
        if in_doubt[b] and is_small(block) and is_cheapest(block, matched[0], duals[1], exactly=True):
            gap[b], in_doubt[b] = 0.0, False
        if in_doubt[b] and stated.kind == "points":
            in_doubt[b] = not _is_borne(stated, *matched, *duals, gap[b : b + 1])
    return _with_doubts(sums._replace(gap=gap), in_doubt)


def together(problem: Problem, blocks: np.ndarray) -> list[np.ndarray]:
    """Return small blocks in groups of some `TOGETHER` pairs, which are written out at once."""
    if len(blocks) < 2:
        return [blocks] * len(blocks)
    pairs = np.cumsum((problem.n_rows_of_block * problem.n_cols_of_block)[blocks])
    return np.split(blocks, np.flatnonzero(np.diff(pairs // TOGETHER)) + 1)


def _is_borne(
    block: Problem, col_of_row: np.ndarray, row_of_col: np.ndarray, r: np.ndarray, v: np.ndarray, gap: np.ndarray
) -> bool:
    """Whether the edges of large point sets bear what rounding leaves of the gap, but few that are proven without."""
    if block.n_edges <= MOST_PAIRS or barely_above_least(block, col_of_row, row_of_col, gap).any():
        return False
    cheap = cheap_edges(block, col_of_row, row_of_col, r, v)
    return cheap is not None and (not cheap.problem.n_edges or exact_gap(*cheap)[1])


def without_rounding(block: Problem, matched: Sides, duals: Sides, gap: float) -> tuple[float, bool]:
    """Return the gap of a block computed without rounding, and whether it proves the matching; by its costs at hand.

    The pairs that may decide are looked at first, and all of them only if these do not. All of large point sets are
    never looked at: there the gap stays as it is, and so does the doubt.

    Parameters
    ----------
    block : Problem
        One block of real costs on the host.
    matched : (col_of_row, row_of_col)
    duals : (r, v)
        Feasible, r the best beside v.
    gap : float
        What they leave, rounding included.
    """
    proven = gap, False
    for part in _written_out(_by_costs(block), *duals, gap):
        proven = exact_gap(part, *matched, duals[1])
        if proven[1]:
            break
    return proven


def _by_costs(block: Problem) -> Problem:
    """Return a block by its costs; of two point sets if they are no more than `MOST_PAIRS`."""
    return as_dense(block) if block.kind == "points" and block.n_edges <= MOST_PAIRS else block


def _written_out(block: Problem, r: np.ndarray, v: np.ndarray, gap: float) -> Iterator[Problem]:
    """Yield a block by the costs that may decide, and by all of them where memory allows it."""
    is_points = block.kind == "points"
    near = near_pairs(block, r, v, within(gap, r, v)) if is_points or block.n_edges > FEW_PAIRS else None
    if near is not None:
        yield near
    if not is_points:
        yield block
    elif near is None and block.has_unmatched_cost:
        yield as_sparse(block)


def within(gap: float, r: Any, v: Any) -> float:
    """Return the reduced cost above which a pair decides nothing: the gap, and all rounding in it."""
    largest = max(float(abs(side).max()) if len(side) else 0.0 for side in (r, v))
    return gap + ULPS * EPS * largest


def complementary_slackness(
    problem: Problem, col_of_row: np.ndarray, row_of_col: np.ndarray, r: np.ndarray, v: np.ndarray, terms: np.ndarray
) -> Slackness:
    """Add up the terms of matched edges, unassigned rows and unassigned columns of an assignment.

    Parameters
    ----------
    problem : Problem
    col_of_row, row_of_col : int32 (rows,), (columns,)
    r, v : ndarray (rows,), (columns,)
        Row and column duals.
    terms : ndarray (rows,)
        Size of the pair that bounds each row's dual, as `costs.best_row_duals` returns it.
    """
    return slackness_of_matched(problem, col_of_row, row_of_col, matched_costs(problem, col_of_row), r, v, terms)


def matched_costs(problem: Problem, col_of_row: np.ndarray) -> np.ndarray:
    """Return what each row's matched edge costs, 0 where there is none."""
    rows = np.flatnonzero(col_of_row >= 0)
    costs = np.zeros(len(col_of_row), problem.dual_dtype)
    costs[rows] = edge_costs(problem, rows, block_of(problem.row_offsets, rows), col_of_row[rows])
    return costs


def slackness_of_matched(
    problem: Outline,
    col_of_row: np.ndarray,
    row_of_col: np.ndarray,
    cost: np.ndarray,
    r: np.ndarray,
    v: np.ndarray,
    terms: np.ndarray,
) -> Slackness:
    """As `complementary_slackness`, for matched edges whose costs are known.

    Parameters
    ----------
    cost : int64 or float64 (rows,)
        Of the matched edge of each row, in the problem's `dual_dtype`; not read where there is none.
    """
    blocks = problem.n_blocks
    sums, rounding, in_doubt = np.zeros((4, blocks), r.dtype), np.zeros(blocks), np.zeros(blocks, np.bool_)
    terms_of_blocks = (
        *((problem.row_offsets, problem.col_offsets), problem.row_unmatched, problem.col_unmatched),
        *((col_of_row, row_of_col, r, v, cost, terms), 0.0 if problem.is_integer else EPS),
        problem.kind == "points" and not problem.has_unmatched_cost,
    )
    are_zero, proves = add_terms((0, blocks), *terms_of_blocks, (sums, rounding, in_doubt))
    has_zero_slack = np.full(blocks, are_zero)
    if blocks > 1 and not are_zero:
        again = np.zeros_like(sums), np.zeros_like(rounding), np.zeros_like(in_doubt)
        has_zero_slack[:] = [add_terms((b, b + 1), *terms_of_blocks, again)[0] for b in range(blocks)]
    return Slackness(sums[0], sums[2], sums[3], rounding, has_zero_slack, in_doubt, proves)


@compiled(plain=SMALL)
def add_terms(span, offsets, row_unmatched, col_unmatched, found, eps, never_below_0, proof):
    """Add a span of blocks to the sums of `_add_term`; return whether all their terms are zero, and whether none of
    them is in doubt besides.

    Without unmatched costs only the longer side may be unassigned, free of charge. A row dual that a pair set is
    rounded by half an ulp of its own, and so is the term of any matched edge. Where no cost is below 0, the gap is no
    more than the cost.
    """
    row_offsets, col_offsets = offsets
    col_of_row, row_of_col, r, v, cost, terms = found
    sums, rounding, in_doubt = proof
    has_zero_slack = proves = True
    zero = cost.dtype.type(0)
    ulps = ULPS * eps
    for b in range(span[0], span[1]):
        first_col = col_offsets[b]
        least, n_paid = np.inf, 0
        for i in range(row_offsets[b], row_offsets[b + 1]):
            if col_of_row[i] >= 0:
                paid, dual = cost[i], v[first_col + col_of_row[i]]
            else:
                paid, dual = zero if row_unmatched is None else row_unmatched[i], zero
            largest = max(abs(paid), abs(dual), abs(r[i]), terms[i])
            if terms[i] > 0 or col_of_row[i] >= 0:
                rounding[b] += 2 * eps * abs(r[i])
            if paid != 0:
                least, n_paid = min(least, abs(paid)), n_paid + 1
            has_zero_slack &= _add_term(b, paid, paid - dual - r[i], ulps * largest, sums)
        for j in range(first_col, col_offsets[b + 1]):
            if row_of_col[j] < 0:
                paid = zero if col_unmatched is None else col_unmatched[j]
                if paid != 0:
                    least, n_paid = min(least, abs(paid)), n_paid + 1
                has_zero_slack &= _add_term(b, paid, paid - v[j], ulps * max(abs(paid), abs(v[j])), sums)
        sums[0, b] += sums[1, b]
        if eps > 0:
            sums[2, b] += rounding[b]
            if never_below_0:
                sums[2, b] = min(sums[2, b], sums[0, b])
            in_doubt[b] = sums[2, b] > (SHARE * least * n_paid if n_paid else 0.0)
            proves &= not in_doubt[b]
    return has_zero_slack, has_zero_slack and proves


@compiled
def prove_matrices(run, offsets, costs, is_float, found, proof):
    """Add up the terms of matrices, and look at what pays barely more than its least; return as `add_terms`.

    `run` are the first block, the last but one, and where its costs begin; `costs` those of pairs, and the unmatched
    costs or None. `is_float` is True or None.
    """
    first, end, _ = run
    data, row_unmatched, col_unmatched = costs
    _, _, in_doubt = proof
    eps = 0.0 if is_float is None else EPS
    sides = offsets, row_unmatched, col_unmatched
    has_zero_slack, proves = add_terms((first, end), *sides, found, eps, False, proof)
    if is_float is not None and has_zero_slack:
        none_but_dense = None, None, None, None, False
        look_above_least(run, *sides, data, *none_but_dense, found[0], proof[0][2], in_doubt)
        proves = True
        for b in range(first, end):
            proves = proves and not in_doubt[b]
    return has_zero_slack, proves


@compiled(forceinline=True)
def _add_term(b, paid, slack, tolerance, sums):
    """Add a term to cost, the rounding lost from it, gap and size (4, blocks).

    The cost is added up with compensation (A. Neumaier, Zeitschrift für Angewandte Mathematik und Mechanik 54, 1974):
    plain addition of a million matched edges would lose three digits.
    """
    total = sums[0, b] + paid
    larger, smaller = (sums[0, b], paid) if abs(sums[0, b]) >= abs(paid) else (paid, sums[0, b])
    sums[1, b] += (larger - total) + smaller
    sums[0, b] = total
    sums[2, b] += slack
    sums[3, b] += abs(paid)
    return slack <= tolerance


def block_of(offsets: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Return the block of each row or column.

    Parameters
    ----------
    offsets : int64 (blocks + 1,)
        Of that side, as in `Problem`.
    members : int (k,)
        Counted over all blocks.

    Returns
    -------
    int64 (k,)
    """
    if len(offsets) == 2:
        return np.zeros(len(members), dtype=np.int64)
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[members]


def incomplete_blocks(problem: Outline, col_of_row: np.ndarray) -> np.ndarray:
    """Return which blocks leave a member unassigned that must be matched, bool (blocks,)."""
    if problem.has_unmatched_cost:
        return np.zeros(problem.n_blocks, np.bool_)
    shorter = np.minimum(problem.n_rows_of_block, problem.n_cols_of_block)
    if problem.n_blocks == 1:
        return np.count_nonzero(col_of_row >= 0) < shorter
    n_matched = np.concatenate([[0], np.cumsum(col_of_row >= 0)])[problem.row_offsets]
    return np.diff(n_matched) < shorter


def inverse(problem: Outline, col_of_row: np.ndarray) -> np.ndarray:
    """Return `row_of_col`, int32 (columns,), of a matching given by `col_of_row`."""
    row_of_col = np.full(problem.n_cols, -1, dtype=np.int32)
    _invert(problem.row_offsets, problem.col_offsets, col_of_row, row_of_col)
    return row_of_col


@compiled(plain=SMALL)
def _invert(row_offsets, col_offsets, col_of_row, row_of_col):
    for b in range(len(row_offsets) - 1):
        for i in range(row_offsets[b], row_offsets[b + 1]):
            if col_of_row[i] >= 0:
                row_of_col[col_offsets[b] + col_of_row[i]] = i - row_offsets[b]
