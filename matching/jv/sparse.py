"""Solver `sparse-jv`: Jonker and Volgenant's method on a sparse graph, its components side by side in threads."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar

import numpy as np

from ..certificate.assignment import Assignment
from ..certificate.certify import certify
from ..certificate.hall import infeasible
from ..certificate.refine import refined
from ..jit.threads import side_by_side
from ..paths.finish import TOO_HARD, match_rows
from ..paths.shortest_paths import lower_to_cheapest, named_counts, start
from ..presolve.short_side import Matched, from_short_side
from ..problem import Problem
from ..problem.convert import as_sparse
from ..problem.flat_graph import flat_graph, independent_parts, local_columns
from .limit import out_of_scans, scans_allowed


@dataclass(frozen=True)
class SparseJV:
    """Shortest augmenting paths on a sparse graph, component by component.

    Exact: integer costs in integer arithmetic with gap 0, real costs in float64 within 64 ulp term by term. No
    component is too large: a search ends at the nearest free column or at the unmatched cost, so its cost
    follows the local crowding, not the size of the component. Takes every kind of problem (see `convert.as_sparse`).
    """

    name: ClassVar[str] = "sparse-jv"
    devices: ClassVar[tuple[str, ...]] = ("cpu",)

    def solve(self, problem: Problem, device: str = "cpu") -> Assignment:
        """Solve to proven optimality; raises `Infeasible` with a Hall violator when there is no assignment."""
        began = perf_counter()
        edges = as_sparse(problem)
        found = from_short_side(edges, match)
        stats = {**found.stats, "solve_s": perf_counter() - began}
        answer = certify(problem, *found[:2], solver=self.name, device=device, stats=stats)
        return refined(edges, answer)


def match(problem: Problem, most_scans: int | None = None) -> Matched:
    """Match a sparse problem whose shorter side is its rows, or which has an `unmatched_cost`; raises as `JV.solve`."""
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
    return Matched(local_columns(problem, state.col_of_row), state.v, stats)
