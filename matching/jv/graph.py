"""Jonker and Volgenant's method on a sparse graph, its components side by side in threads.

No component is too large: a search ends at the nearest unassigned column or at the unmatched cost, so that its work
follows the local density, not the size of the component.
"""

from __future__ import annotations

import numpy as np

from ..certificate.hall import infeasible
from ..certificate.matched import Matched
from ..jit.threads import side_by_side
from ..paths.finish import TOO_HARD, match_rows
from ..paths.shortest_paths import lower_to_cheapest, named_counts, start
from ..problem import Problem
from ..problem.flat_graph import flat_graph, independent_parts, local_columns
from .limit import out_of_scans, scans_allowed


def match_graph(problem: Problem, most_scans: int | None) -> Matched:
    """Match a sparse problem, as `JV.match` otherwise."""
    graph = flat_graph(problem)
    row_bound, col_bound = problem.dual_bounds()
    state = start(row_bound, col_bound)
    lower_to_cheapest(*graph, state)
    rows, starts, cuts = independent_parts(problem)
    counts = np.zeros((len(cuts) - 1, 3), np.int64)

    def match_run(c: int) -> int:
        own = rows[cuts[c] : cuts[c + 1]]
        return match_rows(own, *graph, state, counts[c], scans_allowed(most_scans, len(own)))

    # The runs share `state`: its entries belong to one component each.
    failed = side_by_side(match_run, range(len(cuts) - 1))
    if max(failed, default=-1) >= 0:
        raise infeasible(problem, max(failed), *graph[:2], None, state.col_of_row, state.row_of_col)
    if TOO_HARD in failed:
        raise out_of_scans(most_scans)
    stats = named_counts(counts.sum(axis=0)) | {"components": len(starts) - 1}
    return Matched(problem, local_columns(problem, state.col_of_row), state.v, stats)
