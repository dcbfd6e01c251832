"""Solver `sparse-jv`: Jonker and Volgenant's method on a sparse graph, its components side by side in threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..certificate.hall import infeasible
from ..certificate.matched import Matched
from ..jit.threads import side_by_side
from ..paths.finish import TOO_HARD, match_rows
from ..paths.shortest_paths import lower_to_cheapest, named_counts, start
from ..problem import Problem
from ..problem.convert import as_sparse
from ..problem.flat_graph import flat_graph, independent_parts, local_columns
from .limit import out_of_scans, scans_allowed


@dataclass(frozen=True)
class SparseJV:
    """Shortest augmenting paths on a sparse graph, component by component.

    Exact: integer costs in integer arithmetic with gap 0, real costs in float64 within 64 ulp term by term. No
    component is too large: a search ends at the nearest free column or at the unmatched cost, so its cost
    follows the local density, not the size of the component. Takes every kind of problem (see `convert.as_sparse`).
    """

    name: ClassVar[str] = "sparse-jv"
    devices: ClassVar[tuple[str, ...]] = ("cpu",)

    def match(self, problem: Problem, device: str = "cpu") -> Matched:  # noqa: ARG002
        """Match a problem as `JV.match`; raises `Infeasible` with a Hall violator when there is no assignment."""
        return match(as_sparse(problem))


def match(problem: Problem, most_scans: int | None = None) -> Matched:
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
