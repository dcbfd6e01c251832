"""The proof that goes with every assignment: feasible duals, and the gap between primal and dual objective.

Linear programming duality: for any r, v with c_ij - r_i - v_j ≥ 0 and r, v below their bounds
(`Problem.dual_bounds`), no assignment costs less than Σ r + Σ v. Written as complementary slackness, the gap of
an assignment is

    Σ links (c_ij - r_i - v_j)  +  Σ lone rows (u_i - r_i)  +  Σ lone columns (u_j - v_j),

a sum of terms that are all ≥ 0, so it is computed without cancellation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from .assignment import Assignment
from .costs import best_row_duals, link_costs
from .problem import Problem

ULPS = 64
"""Exact, for real costs: every complementary slackness term within this many ulp of the largest term that went into it,
those of the pair that set its row's dual included."""


def certify(
    problem: Problem,
    col_of_row: np.ndarray,
    col_duals: np.ndarray,
    *,
    solver: str,
    device: str = "cpu",
    stats: Mapping[str, Any] | None = None,
) -> Assignment:
    """Turn a matching and column prices into an `Assignment` whose duals are feasible and whose gap is proven.

    Parameters
    ----------
    problem : Problem
    col_of_row : int32 (rows,)
        A valid matching: column of each row, local to its block, -1 = alone.
    col_duals : array (columns,)
        Any prices; those above their bound are lowered to it, and the row duals are the best that go with them.
    solver, device, stats
        Passed on.

    Returns
    -------
    Assignment
        Exact if the prices are; otherwise with the gap that they prove: +inf where a row or column that must be matched
        is not, since no assignment is known then.
    """
    v = np.minimum(col_duals.astype(problem.dual_dtype, copy=False), problem.dual_bounds()[1])
    r, terms = best_row_duals(problem, v)
    row_of_col = inverse(problem, col_of_row)
    parts = complementary_slackness(problem, col_of_row, row_of_col, r, v, terms)
    return assembled(problem, col_of_row, row_of_col, r, v, parts, solver=solver, device=device, stats=stats)


def assembled(
    problem: Problem,
    col_of_row: np.ndarray,
    row_of_col: np.ndarray,
    r: np.ndarray,
    v: np.ndarray,
    parts: tuple[SlacknessTerms, SlacknessTerms, SlacknessTerms],
    *,
    solver: str,
    device: str,
    stats: Mapping[str, Any] | None,
) -> Assignment:
    """Return the assignment with cost, gap and proof from its terms (see `complementary_slackness`)."""
    links, lone_rows, lone_cols = parts
    cost = links.sum_costs() + lone_rows.sum_costs() + lone_cols.sum_costs()
    gap = links.sum_slack() + lone_rows.sum_slack() + lone_cols.sum_slack()
    incomplete = incomplete_blocks(problem, col_of_row)
    if incomplete.any():
        gap = np.where(incomplete, np.inf, gap)
    single = problem.n_blocks == 1
    return Assignment(
        col_of_row,
        row_of_col,
        cost[0].item() if single else cost,
        r,
        v,
        gap[0].item() if single else gap,
        not incomplete.any() and all(part.is_tight() for part in parts),
        solver,
        device,
        stats or {},
        problem.row_offsets,
        problem.col_offsets,
    )


@dataclass(frozen=True)
class SlacknessTerms:
    """What one part of an assignment (its links, lone rows, or lone columns) adds to cost and gap.

    Attributes
    ----------
    block : int64 (k,)
        Block of each term, ascending.
    n_blocks : int
    cost, slack : ndarray (k,)
        Share of the objective and of the gap.
    largest : ndarray (k,)
        Largest absolute term that went into each slack, the measure of its rounding error.
    """

    block: np.ndarray
    n_blocks: int
    cost: np.ndarray
    slack: np.ndarray
    largest: np.ndarray

    def sum_costs(self) -> np.ndarray:
        """Return the sum of the costs of each block, (n_blocks,)."""
        return self._sum(self.cost)

    def sum_slack(self) -> np.ndarray:
        """Return the sum of the slacks of each block, (n_blocks,)."""
        return self._sum(self.slack)

    def sum_sizes(self) -> np.ndarray:
        """Return the sum of the absolute costs of each block, (n_blocks,), the measure of rounding in `sum_costs`."""
        return self._sum(abs(self.cost))

    def sum_rounding(self) -> np.ndarray:
        """Return the slack that rounding may leave in each block, float64 (n_blocks,); 0 for integers."""
        if self.slack.dtype.kind == "i":
            return np.zeros(self.n_blocks)
        return self._sum(ULPS * np.finfo(np.float64).eps * self.largest)

    def _sum(self, terms: np.ndarray) -> np.ndarray:
        out = np.zeros(self.n_blocks, dtype=terms.dtype)
        if len(terms):  # a block alone is summed in the same order as in a batch
            starts = np.zeros(1, np.int64) if self.n_blocks == 1 else np.flatnonzero(np.diff(self.block, prepend=-1))
            out[self.block[starts]] = np.add.reduceat(terms, starts)
        return out

    def is_tight(self) -> bool:
        """Whether every slack is zero: exactly for integers, within `ULPS` ulp of its largest term for floats."""
        if self.slack.dtype.kind == "i":
            return not self.slack.any()
        return bool((self.slack <= ULPS * np.finfo(np.float64).eps * self.largest).all())


def complementary_slackness(
    problem: Problem, col_of_row: np.ndarray, row_of_col: np.ndarray, r: np.ndarray, v: np.ndarray, terms: np.ndarray
) -> tuple[SlacknessTerms, SlacknessTerms, SlacknessTerms]:
    """Return the terms of links, lone rows and lone columns of an assignment.

    Parameters
    ----------
    problem : Problem
    col_of_row, row_of_col : int32 (rows,), (columns,)
    r, v : ndarray (rows,), (columns,)
        Row and column duals.
    terms : ndarray (rows,)
        Size of the pair that bounds each row's dual, as `costs.best_row_duals` returns it.
    """
    rows = np.flatnonzero(col_of_row >= 0)
    cost = link_costs(problem, rows, block_of(problem.row_offsets, rows), col_of_row[rows])
    return slackness_terms(problem, col_of_row, row_of_col, cost, r, v, terms)


def slackness_terms(
    problem: Problem,
    col_of_row: np.ndarray,
    row_of_col: np.ndarray,
    cost: np.ndarray,
    r: np.ndarray,
    v: np.ndarray,
    terms: np.ndarray,
) -> tuple[SlacknessTerms, SlacknessTerms, SlacknessTerms]:
    """As `complementary_slackness`, for links whose costs (of `dual_dtype`, by ascending row) are known."""
    rows = np.flatnonzero(col_of_row >= 0)
    block = block_of(problem.row_offsets, rows)
    cols = col_of_row[rows] + problem.col_offsets[block]
    slack, largest = _link_slack(rows, cols, cost, r, v, terms)
    links = SlacknessTerms(block, problem.n_blocks, cost, slack, largest)
    lone_rows = _lone(problem.row_offsets, np.flatnonzero(col_of_row < 0), problem.row_unmatched, r, terms)
    lone_cols = _lone(problem.col_offsets, np.flatnonzero(row_of_col < 0), problem.col_unmatched, v, np.zeros_like(v))
    return links, lone_rows, lone_cols


@njit(cache=True, nogil=True)
def _link_slack(rows, cols, cost, r, v, terms):  # noqa: ANN001, ANN202
    """Return c - v - r of each link, and the largest operand that it was rounded with."""
    slack, largest = np.empty_like(cost), np.empty(len(rows), terms.dtype)
    for k in range(len(rows)):
        i, j = rows[k], cols[k]
        slack[k] = cost[k] - v[j] - r[i]
        largest[k] = max(abs(cost[k]), abs(v[j]), abs(r[i]), terms[i])
    return slack, largest


def _lone(
    offsets: np.ndarray, lone: np.ndarray, prices: np.ndarray | None, duals: np.ndarray, terms: np.ndarray
) -> SlacknessTerms:
    """Terms of the lone of one side; without a price only the longer side may be alone, free of charge."""
    dual = duals[lone]
    price = np.zeros_like(dual) if prices is None else prices[lone]
    largest = np.maximum.reduce([abs(price), abs(dual), terms[lone]])
    return SlacknessTerms(block_of(offsets, lone), len(offsets) - 1, price, price - dual, largest)


def block_of(offsets: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Return the block that each member (row or column, counted over all blocks) belongs to, int64."""
    if len(offsets) == 2:
        return np.zeros(len(members), dtype=np.int64)
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[members]


def incomplete_blocks(problem: Problem, col_of_row: np.ndarray) -> np.ndarray:
    """Return which blocks leave a member alone that must be matched, bool (blocks,)."""
    if problem.has_unmatched_cost:
        return np.zeros(problem.n_blocks, np.bool_)
    links = np.concatenate([[0], np.cumsum(col_of_row >= 0)])[problem.row_offsets]
    return np.diff(links) < np.minimum(np.diff(problem.row_offsets), np.diff(problem.col_offsets))


def inverse(problem: Problem, col_of_row: np.ndarray) -> np.ndarray:
    """Return `row_of_col`, int32 (columns,), of a matching given by `col_of_row`."""
    row_of_col = np.full(problem.n_cols, -1, dtype=np.int32)
    rows = np.flatnonzero(col_of_row >= 0)
    block = block_of(problem.row_offsets, rows)
    row_of_col[col_of_row[rows] + problem.col_offsets[block]] = rows - problem.row_offsets[block]
    return row_of_col
