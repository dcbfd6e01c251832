"""Matrices in which all but few pairs cost the same, and none more: ones beside few zeros, a sentinel for "no match".

Who pays that cost may do so with any partner that is left. So it is what a row pays for staying unassigned in the graph
of the cheaper pairs, where columns may stay so for nothing, and duals of that graph are duals of the matrix.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..certificate.assignment import Assignment
from ..certificate.certify import certify
from ..certificate.refine import refined
from ..problem import Problem
from ..problem.cheaper_pairs import cheaper_pairs
from ..problem.convert import transposed
from .groups import as_stated


def by_cheap_pairs(problem: Problem, solve: Callable[[Problem], Assignment]) -> Assignment | None:
    """Return the optimum of a matrix most of whose pairs cost the same, and none more, proven; None of others.

    Parameters
    ----------
    problem : Problem
        On the host. Only single matrices without a mask and an `unmatched_cost` are looked at.
    solve : callable
        What solves the graph of the cheaper pairs, with a cost of rows that stay unassigned.
    """
    is_other = problem.kind != "dense" or problem.n_blocks > 1 or problem.has_unmatched_cost
    if is_other or problem.forbidden is not None:
        return None
    if problem.n_rows > problem.n_cols:
        answer = by_cheap_pairs(transposed(problem), solve)
        return None if answer is None else as_stated(problem, answer.transposed())
    cheaper = cheaper_pairs(problem)
    if cheaper is None or not np.isfinite(cheaper[-1]):
        return None
    *graph, highest = cheaper
    found = solve(Problem.sparse(tuple(graph), shape=problem.shape, unmatched_cost=(highest, 0)))
    col_of_row, free = found.col_of_row.copy(), np.flatnonzero(found.col_of_row < 0)
    col_of_row[free] = np.flatnonzero(found.row_of_col < 0)[: len(free)]
    stats = {**found.stats, "cheap_pairs": found.n_matched}
    answer = refined(problem, certify(problem, col_of_row, found.col_duals, solver=found.solver, stats=stats))
    return answer if answer.is_optimal else None
