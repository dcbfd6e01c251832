"""Solver `jv`: Jonker and Volgenant's method on cost matrices and on sparse graphs.

On a matrix, SciPy's `linear_sum_assignment` is the same method, but it returns no dual variables, hence no proof, and
is wrong for integers above 2**53; the tests compare with it wherever it can go.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from ..certificate.matched import Matched
from ..options import need_choice, need_whole_number
from ..problem import Problem
from ..problem.convert import as_dense, as_sparse, fills_its_matrix, unmasked
from ..problem.costs import largest_cost
from .blocks import match_blocks
from .graph import match_graph

_FORMS = ("auto", "dense", "sparse")


@dataclass(frozen=True)
class JV:
    """Shortest augmenting paths, O(n³) at worst; blocks of a problem side by side in threads.

    Exact: integer costs in integer arithmetic with gap 0, real costs in float64 within 64 ulp term by term. Takes every
    kind of problem.

    Attributes
    ----------
    form : {"auto", "dense", "sparse"}
        As what a problem is read: "dense", as a cost matrix, block by block (it must fit memory, see
        `convert.as_dense`); "sparse", as a graph (see `convert.as_sparse`); "auto", the
        default: costs that were given dense as a matrix; other problems as a graph where an `unmatched_cost` leaves few
        pairs worth matching, or where edges are far fewer than the matrix has pairs, else as a matrix too.
    most_scans : int, optional
        Rows that searches for shortest paths may scan, for each row of a block, or of some blocks of a graph. When
        those that the rows matched so far took make it likely that all take more, or, of a matrix, that those still to
        be matched do, the solve ends in `NotConverged`, without an answer; five times what a solve takes is enough. No
        limit by default. One scan of every row reads the matrix once; where independent costs are drawn from a wide
        range some 10 are needed, and up to half the rows at worst.
    """

    name: ClassVar[str] = "jv"
    devices: ClassVar[tuple[str, ...]] = ("cpu",)

    form: Literal["auto", "dense", "sparse"] = "auto"
    most_scans: int | None = None

    def __post_init__(self) -> None:
        need_choice("form", self.form, _FORMS)
        if self.most_scans is not None:
            need_whole_number("most_scans", self.most_scans, 2**31, words=", or None for no limit")

    def match(self, problem: Problem, device: str = "cpu") -> Matched:  # noqa: ARG002
        """Match a problem whose shorter side is its rows, or which has an `unmatched_cost`.

        Raises
        ------
        Infeasible
            With a Hall violator, when there is no assignment.
        NotConverged
            When `most_scans` ran out.
        InvalidProblem
            When the matrix of `form="dense"` does not fit memory.
        """
        is_graph = self.form == "sparse" or (self.form == "auto" and _is_best_as_graph(problem))
        return match_graph(as_sparse(problem), self.most_scans) if is_graph else _match_dense(problem, self.most_scans)


def _is_best_as_graph(problem: Problem) -> bool:
    if problem.kind == "dense" or problem.has_unmatched_cost:
        return problem.kind != "dense"
    return problem.kind == "sparse" and not fills_its_matrix(problem)


def _match_dense(problem: Problem, most_scans: int | None) -> Matched:
    """Match a problem as matrices; where a mask is left as a graph, by its edges."""
    costs = as_dense(problem)
    stated = without_mask(costs)
    found = (match_graph if stated.kind == "sparse" else match_blocks)(stated, most_scans)
    if stated is problem:
        return found
    if stated.dual_dtype == problem.dual_dtype:
        return found._replace(form=costs)
    return found._replace(form=costs, col_duals=found.col_duals.astype(problem.dual_dtype), terms=None, costs=None)


def without_mask(problem: Problem) -> Problem:
    """Return the problem with +inf for its forbidden pairs, which vectorises; sparse where floats hold no such sums."""
    if problem.forbidden is None:
        return problem
    longest = int((problem.n_rows_of_block + problem.n_cols_of_block).max()) + 4
    if not problem.is_integer or largest_cost(problem) * longest > 2**53:
        return unmasked(problem)
    sides = {"row_unmatched": problem.row_unmatched, "col_unmatched": problem.col_unmatched}
    as_floats = {name: side.astype(np.float64) for name, side in sides.items() if side is not None}
    return unmasked(replace(problem, data=problem.data.astype(np.float64), **as_floats))
