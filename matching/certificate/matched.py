"""What a solver makes of a problem, before anything is proven of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..errors import Infeasible
from ..problem import Problem
from .assignment import Assignment
from .certify import Terms, certify


class SolverMatching(Protocol):
    """What `Solver.match` returns: `Matched` on the host, others where the costs are elsewhere.

    Attributes
    ----------
    form : Problem or ShardedCosts
        The problem as the method took it, for instance with the costs of points written out.
    stats : dict
        Counts and seconds, which add up over blocks.
    unfinished : str
        What a budget left undone, and what to do; empty if nothing.
    is_refinable : bool
        Whether what rounding left may be refined: not where an increment was asked for, nor where costs are split.
    """

    @property
    def form(self) -> Any: ...  # noqa: D102 - above
    @property
    def stats(self) -> dict[str, Any]: ...  # noqa: D102
    @property
    def unfinished(self) -> str: ...  # noqa: D102
    @property
    def is_refinable(self) -> bool: ...  # noqa: D102

    def certified(self, problem: Any, *, solver: str, device: str, stats: Mapping[str, Any]) -> Assignment:
        """Return the assignment of `problem` with its certificate."""
        ...


class Matched(NamedTuple):
    """A matching and column duals on the host.

    Attributes
    ----------
    form : Problem
    col_of_row : int32 (rows,)
        Local to each block, -1 = unassigned.
    col_duals : ndarray (columns,)
    stats, unfinished, is_refinable
        As in `SolverMatching`.
    terms : Terms or None
        What the proof needs besides, where the method has come across it.
    costs : ndarray (rows,) or None
        What each row's matched edge costs, as `slackness_of_matched` takes it, where the method has come across that.
    """

    form: Problem
    col_of_row: np.ndarray
    col_duals: np.ndarray
    stats: dict[str, Any]
    unfinished: str = ""
    is_refinable: bool = True
    terms: Terms | None = None
    costs: np.ndarray | None = None

    def certified(self, problem: Problem, **how: Any) -> Assignment:
        """As `certify`, given `solver`, `device` and `stats`."""
        return certify(problem, self.col_of_row, self.col_duals, terms=self.terms, costs=self.costs, **how)


def nothing_matched(problem: Problem) -> Matched:
    """Return what is matched of one problem with an empty side, which bounds the duals of the other."""
    host = problem.on_host()
    return Matched(host, np.full(host.n_rows, -1, np.int32), host.dual_bounds()[1], {})


def match_each(problem: Problem, match: Callable[[Problem], Matched]) -> Matched:
    """Match the blocks of a batch one after the other, and lay what is found side by side; counts add up."""
    if problem.n_blocks == 1:
        return match(problem)
    parts: list[Matched] = []
    stats: Counter[str] = Counter()
    for b, block in enumerate(problem.blocks()):
        try:
            parts.append(match(block))
        except Infeasible as error:
            raise error.in_block(b) from None
        stats.update(parts[-1].stats)
    col_of_row, v = (np.concatenate([getattr(part, side) for part in parts]) for side in ("col_of_row", "col_duals"))
    unfinished = next((part.unfinished for part in parts if part.unfinished), "")
    return Matched(problem, col_of_row, v, dict(stats), unfinished, parts[0].is_refinable)
