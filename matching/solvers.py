"""The table of solvers: one line each, imported when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from difflib import get_close_matches
from typing import Any, ClassVar, Protocol

import numpy as np

from .certificate.matched import SolverMatching
from .errors import InvalidProblem
from .named import named
from .presolve.groups import by_orientation
from .problem import Problem

SOLVERS: dict[str, str] = {
    "auction": ".auction:Auction",
    "hungarian-classical": ".hungarian:HungarianClassical",
    "hungarian-tree": ".hungarian:HungarianTree",
    "jv": ".jv:JV",
}
"""Name of each solver, and where its class is (relative to this package)."""


class Solver(Protocol):
    """What a solver is: an instance holds its options, `match` does the work.

    Attributes
    ----------
    name : str
        Its key in `SOLVERS`.
    devices : tuple of str
        Device kinds it runs on: "cpu", "cuda", "several cuda". A solver that takes some problems on fewer has a method
        `devices_for(problem)`, which `solve` asks before device="auto" becomes one.

    Notes
    -----
    Blocks of a batch go together where their shorter sides are the same; a solver that takes fewer of them together has
    a method `groups(problem, device)`, which returns them (see `presolve.groups`).
    """

    name: ClassVar[str]
    devices: ClassVar[tuple[str, ...]]

    def match(self, problem: Problem, device: str) -> SolverMatching:
        """Return a matching and column duals of a validated problem, on a device that is there and current.

        No block must match more rows than it has columns, and unmatched costs are not far above all costs: `solve` sees
        to both, and certifies and refines what is returned. Several devices are joined by commas: "cuda:0,cuda:1".

        Raises
        ------
        Infeasible
            With a Hall violator, when there is no assignment.
        """
        ...


def devices_for(solver: Solver, problem: Problem) -> tuple[str, ...]:
    """Return the device kinds on which a solver takes a problem: `devices`, or what its own `devices_for` says."""
    own: Callable[[Problem], tuple[str, ...]] | None = getattr(solver, "devices_for", None)
    return solver.devices if own is None else own(problem)


def groups_for(solver: Solver, problem: Problem, device: str) -> list[np.ndarray]:
    """Return the blocks that a solver takes together on a device, as arrays of their numbers."""
    own: Callable[[Problem, str], list[np.ndarray]] | None = getattr(solver, "groups", None)
    return by_orientation(problem) if own is None else own(problem, device)


_OF_SOLVE = ("solver", "device", "maximize")
"""What `solve` itself takes beside the problem."""


def make_solver(name: str, **options: Any) -> Solver:
    """Return the solver called `name` with the given options.

    Raises
    ------
    InvalidProblem
        If there is no such solver, or it has no such option.
    """
    if name not in SOLVERS:
        raise InvalidProblem(f"solver needs 'auto' or one of {', '.join(SOLVERS)}; got {name!r}.", argument="solver")
    solver_class = named(SOLVERS[name])
    for option in options:
        known = [each.name for each in fields(solver_class)]
        if option not in known:
            has = f"it has {', '.join(known) or 'none'}.{_meant(option, known)}"
            raise InvalidProblem(f"solver {name!r} has no option {option!r}; {has}", argument=option)
    return solver_class(**options)


def _meant(option: str, known: Sequence[str]) -> str:
    """Return what goes where in place of what is no option of a solver; empty where nothing is like it."""
    if option == "unmatched_cost":
        return " The unmatched cost belongs to the problem: Problem.dense(cost, unmatched_cost=…)."
    alike = get_close_matches(option, [*known, *_OF_SOLVE], n=1)
    return f" Did you mean {alike[0]}?" if alike else ""
