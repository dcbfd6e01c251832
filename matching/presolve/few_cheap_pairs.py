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
from ..problem.convert import transposed
from .groups import as_stated

FEWEST = 200
"""Rows or columns below which no such cost is looked for: so small a matrix is solved as soon."""

SEEN = 64
"""Pairs that are looked at before all of them."""

MOST_CHEAP = 1 / 16
"""Share of the pairs that are cheaper, above which hardly a row has to pay the highest cost, and `jv` is soon done."""


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
    if is_other or problem.forbidden is not None or min(problem.shape) < FEWEST:
        return None
    seen = problem.data[:: len(problem.data) // SEEN]
    if np.count_nonzero(seen < seen.max()) > 3 * MOST_CHEAP * len(seen):
        return None
    if problem.n_rows > problem.n_cols:
        answer = by_cheap_pairs(transposed(problem), solve)
        return None if answer is None else as_stated(problem, answer.transposed())
    highest = problem.data.max()
    cheap = np.flatnonzero(problem.data < highest)
    if len(cheap) > MOST_CHEAP * len(problem.data) or not np.isfinite(highest):
        return None
    row, col = np.divmod(cheap, problem.n_cols)
    graph = np.searchsorted(row, np.arange(problem.n_rows + 1)), col.astype(np.int32), problem.data[cheap]
    found = solve(Problem.sparse(graph, shape=problem.shape, unmatched_cost=(highest, 0)))
    col_of_row, free = found.col_of_row.copy(), np.flatnonzero(found.col_of_row < 0)
    col_of_row[free] = np.flatnonzero(found.row_of_col < 0)[: len(free)]
    stats = {**found.stats, "cheap_pairs": found.n_matched}
    answer = refined(problem, certify(problem, col_of_row, found.col_duals, solver=found.solver, stats=stats))
    return answer if answer.is_optimal else None
