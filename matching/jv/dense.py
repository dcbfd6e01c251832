"""Solver `jv`: Jonker and Volgenant's method on dense cost matrices.

SciPy's `linear_sum_assignment` is the same method, but it returns no dual variables, hence no proof, and is wrong for
integers above 2**53; the tests compare with it wherever it can go.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import ClassVar

import numpy as np

from ..certificate.matched import Matched
from ..errors import InvalidProblem
from ..problem import Problem
from ..problem.convert import as_dense, unmasked
from ..problem.costs import largest_cost
from .blocks import match_blocks
from .sparse import match as match_sparse


@dataclass(frozen=True)
class JV:
    """Shortest augmenting paths on a dense cost matrix, O(n³) at worst; blocks of a batch side by side in threads.

    Exact: integer costs in integer arithmetic with gap 0, real costs in float64 within 64 ulp term by term. Takes every
    kind of problem that fits memory as a matrix (see `convert.as_dense`).

    Attributes
    ----------
    most_scans : int, optional
        Rows that searches for shortest paths may scan, for each row of a block. When they are spent, or those that the
        rows matched so far took show that all take more, the solve ends in `NotConverged`, without an answer. No limit
        by default. One scan of every row reads the matrix once; where
        independent costs are drawn from a wide range some 10 are needed, and up to half the rows at worst.
    """

    name: ClassVar[str] = "jv"
    devices: ClassVar[tuple[str, ...]] = ("cpu",)

    most_scans: int | None = None

    def __post_init__(self) -> None:
        if self.most_scans is not None and not (
            isinstance(self.most_scans, Integral) and 1 <= self.most_scans <= 2**31
        ):
            raise InvalidProblem(
                f"most_scans needs a whole number from 1 to 2**31, or None for no limit; got {self.most_scans!r}.",
                argument="most_scans",
            )

    def match(self, problem: Problem, device: str = "cpu") -> Matched:  # noqa: ARG002
        """Match a problem whose shorter side is its rows, or which has an `unmatched_cost`.

        Raises
        ------
        Infeasible
            With a Hall violator, when there is no assignment.
        NotConverged
            When `most_scans` ran out.
        """
        return match(problem, self.most_scans)


def match(problem: Problem, most_scans: int | None = None) -> Matched:
    """As `JV.match`."""
    costs = as_dense(problem)
    stated = without_mask(costs)
    found = (match_sparse if stated.kind == "sparse" else match_blocks)(stated, most_scans)
    if stated is problem:
        return found
    if stated.dual_dtype == problem.dual_dtype:
        return found._replace(form=costs)
    return found._replace(form=costs, col_duals=found.col_duals.astype(problem.dual_dtype), terms=None)


def without_mask(problem: Problem) -> Problem:
    """Return the problem with +inf for its forbidden pairs, which vectorises; sparse where floats hold no such sums."""
    if problem.forbidden is None:
        return problem
    longest = int((problem.n_rows_of_block + problem.n_cols_of_block).max()) + 4
    if not problem.is_integer or largest_cost(problem) * longest > 2**53:
        return unmasked(problem)
    sides = {"row_unmatched": problem.row_unmatched, "col_unmatched": problem.col_unmatched}
    prices = {name: side.astype(np.float64) for name, side in sides.items() if side is not None}
    return unmasked(replace(problem, data=problem.data.astype(np.float64), **prices))
