"""Pairs that every complete matching holds: a row or a column with one edge left has no other partner.

Taking such a pair leaves fewer edges to others, of which some have one left then, and so on; what remains is matched by
any method. Duals come in the reverse order, all 0 before: of a row that had one edge left its column's is the highest
that the column's edges allow, and its own what that leaves of the cost; likewise of a column. Edges of the row, all but
one, lead to what went before and bound the duals of that, so that all are feasible, and forced pairs have no slack.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from ..certificate.assignment import Assignment
from ..certificate.certify import certify
from ..certificate.not_converged import NotConverged
from ..errors import Infeasible
from ..jit.compiled import compiled
from ..problem import Problem
from ..problem.csr import transposed_csr

FEWEST = 256
"""Rows below which none are looked for."""

SHARE_FORCED = 0.5
"""Of the rows, below which what remains takes as long as all of them."""


def by_forced_pairs(problem: Problem, solve: Callable[[Problem], Assignment]) -> Assignment | None:
    """Return the optimum of a sparse problem at least half of whose rows are forced, proven; None of others.

    Parameters
    ----------
    problem : Problem
        On the host. Only single problems of equal sides without an `unmatched_cost` are looked at.
    solve : callable
        What matches the rest.
    """
    if problem.kind != "sparse" or not problem.must_match_all(FEWEST):
        return None
    ways = _both_ways(problem)
    if ways is None:
        return None
    *pairs, count = _forced(*ways[:4])
    if count < SHARE_FORCED * problem.n_rows:
        return None
    row, col, is_of_row = (each[:count] for each in pairs)
    left = np.ones((2, problem.n_rows), bool)
    left[0, row] = left[1, col] = False
    r, v = np.zeros(left.shape, problem.dual_dtype)
    col_of_row, solver = np.full(problem.n_rows, -1, np.int32), "forced pairs"
    col_of_row[row] = col
    if left.any():
        rows, cols = map(np.flatnonzero, left)
        try:
            rest = solve(_only(problem, rows, cols))
        except (Infeasible, NotConverged):  # either is told of the whole
            return None
        col_of_row[rows], solver = cols[rest.col_of_row], rest.solver
        r[rows], v[cols] = rest.row_duals, rest.col_duals
    _add_duals(row, col, is_of_row, *ways, problem.data, r, v)
    answer = certify(problem, col_of_row, v, solver=solver, stats={"forced_pairs": count})
    return answer if answer.is_optimal else None


def _both_ways(problem: Problem) -> tuple[np.ndarray, ...] | None:
    """Return indptr and columns of the rows' edges, indptr and rows of the columns', and which edge each of these is.

    None where no row and no column has one edge.
    """
    assert problem.indptr is not None
    assert problem.indices is not None
    by_row, n = (problem.indptr, problem.indices), problem.n_cols
    if not ((np.diff(by_row[0]) == 1).any() or (np.bincount(by_row[1], minlength=n) == 1).any()):
        return None
    return *by_row, *transposed_csr(*by_row, np.arange(problem.n_edges), n)


def _only(problem: Problem, rows: np.ndarray, cols: np.ndarray) -> Problem:
    """Return the problem of these rows and columns."""
    assert problem.indptr is not None
    assert problem.indices is not None
    costs = csr_array((problem.data, problem.indices, problem.indptr), shape=problem.shape)[rows][:, cols]
    return Problem.sparse((costs.indptr, costs.indices, costs.data), shape=costs.shape)


@compiled
def _forced(row_ptr, col_of, col_ptr, row_of):
    """Return rows and columns of forced pairs in order, whether the row had one edge left, and how many there are."""
    n = len(row_ptr) - 1
    row, col, is_of_row = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.bool_)
    degree, waiting = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    is_left = np.ones(2 * n, np.bool_)
    queued = count = 0
    for i in range(n):
        degree[i], degree[n + i] = row_ptr[i + 1] - row_ptr[i], col_ptr[i + 1] - col_ptr[i]
    for u in range(2 * n):
        if degree[u] == 1:
            waiting[queued] = u
            queued += 1
    taken = 0
    while taken < queued:
        u = waiting[taken]
        taken += 1
        if not is_left[u] or degree[u] != 1:
            continue
        of_row = u < n
        own, other_from = (u, n) if of_row else (u - n, 0)
        ptr, beside = (row_ptr, col_of) if of_row else (col_ptr, row_of)
        back_ptr, back = (col_ptr, row_of) if of_row else (row_ptr, col_of)
        partner = -1
        for e in range(ptr[own], ptr[own + 1]):
            if is_left[other_from + beside[e]]:
                partner = np.int64(beside[e])
        is_left[u] = is_left[other_from + partner] = False
        row[count], col[count], is_of_row[count] = (own, partner, True) if of_row else (partner, own, False)
        count += 1
        for e in range(back_ptr[partner], back_ptr[partner + 1]):
            w = back[e] + (0 if of_row else n)
            degree[w] -= 1
            if degree[w] == 1:
                waiting[queued] = w
                queued += 1
    return row, col, is_of_row, count


@compiled
def _add_duals(row, col, is_of_row, row_ptr, col_of, col_ptr, row_of, edge_of, cost, r, v):
    """Write the duals of forced pairs, from the last to the first; those of what is left are there, all others 0."""
    for k in range(len(row) - 1, -1, -1):
        i, j = row[k], col[k]
        own = cost[row_ptr[i]]
        for e in range(row_ptr[i], row_ptr[i + 1]):
            if col_of[e] == j:
                own = cost[e]
        if is_of_row[k]:
            v[j] = own
            for at in range(col_ptr[j], col_ptr[j + 1]):
                v[j] = min(v[j], cost[edge_of[at]] - r[row_of[at]])
            r[i] = own - v[j]
        else:
            r[i] = own
            for e in range(row_ptr[i], row_ptr[i + 1]):
                r[i] = min(r[i], cost[e] - v[col_of[e]])
            v[j] = own - r[i]
