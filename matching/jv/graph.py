"""Jonker and Volgenant's method on a sparse graph, its blocks side by side in threads.

No block is too large: a search ends at the nearest unassigned column or at the unmatched cost, so that its work
follows the local density, not the size of the block. Bids leave few rows to search for, and take less time than to tell
which rows of a block are independent of others.
"""

from __future__ import annotations

import numpy as np

from ..certificate.hall import infeasible
from ..certificate.matched import Matched
from ..jit.threads import side_by_side
from ..paths.finish import TOO_HARD, match_rows
from ..paths.shortest_paths import lower_to_cheapest, named_counts, start
from ..problem import Problem
from ..problem.flat_graph import EDGES_A_CHUNK, flat_graph, local_columns
from .limit import out_of_scans, scans_allowed


def match_graph(problem: Problem, most_scans: int | None) -> Matched:
    """Match a sparse problem, as `JV.match` otherwise."""
    graph = flat_graph(problem)
    row_bound, col_bound = problem.dual_bounds()
    state = start(row_bound, col_bound)
    lower_to_cheapest(*graph, state)
    rows, cuts = np.arange(problem.n_rows), _runs_of_blocks(problem)
    counts = np.zeros((len(cuts) - 1, 3), np.int64)

    def match_run(c: int) -> int:
        own = rows[cuts[c] : cuts[c + 1]]
        return match_rows(own, *graph, state, counts[c], scans_allowed(most_scans, len(own)))

    # The runs share `state`: its entries belong to one block each.
    failed = side_by_side(match_run, range(len(cuts) - 1))
    if max(failed, default=-1) >= 0:
        raise infeasible(problem, max(failed), *graph[:2], None, state.col_of_row, state.row_of_col)
    if TOO_HARD in failed:
        raise out_of_scans(most_scans)
    stats = named_counts(counts.sum(axis=0)) | {"edges": problem.n_edges}
    return Matched(problem, local_columns(problem, state.col_of_row), state.v, stats, costs=state.matched_cost)


def _runs_of_blocks(problem: Problem) -> np.ndarray:
    """Return where the rows are cut into runs of whole blocks that have some `EDGES_A_CHUNK` edges each."""
    assert problem.indptr is not None
    before = problem.indptr[problem.row_offsets]
    inner = np.searchsorted(before, np.arange(EDGES_A_CHUNK, before[-1], EDGES_A_CHUNK))
    return np.unique(problem.row_offsets[[0, *inner, -1]])
