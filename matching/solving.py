"""One call for every matching problem: pick a solver and a device, solve, return the certified assignment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from . import cuda
from .assignment import Assignment
from .errors import DeviceUnavailable, InvalidProblem
from .problem import Problem
from .solvers import Solver, make_solver


def solve(problem: Any, solver: str | Solver = "auto", device: str = "auto", **options: Any) -> Assignment:
    """Solve a matching problem to proven optimality.

    Parameters
    ----------
    problem : Problem, array_like or sparse matrix
        A `Problem`, a dense cost matrix (+inf = forbidden), or a SciPy sparse matrix (absent = forbidden).
    solver : str or Solver
        A name (`auctrack.matching.SOLVERS`), an instance with its options (`JV()`), or "auto" (see Notes).
    device : str
        "cpu", "cuda", "cuda:N", or "auto": the first CUDA device where the solver runs there and one is present, else
        the CPU. `Assignment.device` says which it was.
    **options
        Options of the named solver.

    Returns
    -------
    Assignment
        With duals, gap, and under `stats["auto"]` the reason for an automatic choice.

    Raises
    ------
    InvalidProblem
        If the input or an option is malformed.
    Infeasible
        If a member of the shorter side cannot be matched and there is no `unmatched_cost`; names a Hall violator.
    DeviceUnavailable
        If the device that was asked for is not there, or the solver does not run on it.

    Notes
    -----
    The rule of "auto": dense costs go to `jv`; sparse costs, and point sets with an `unmatched_cost` (whose pairs
    dearer than both prices together are never linked), go to `sparse-jv`; point sets without one go to `jv`.

    Examples
    --------
    >>> from auctrack.matching import solve
    >>> solve([[4, 1, 3], [2, 0, 5], [3, 2, 2]]).cost
    5
    """
    problem = Problem.of(problem)
    if not isinstance(solver, str):
        if options:
            raise InvalidProblem(f"options {sorted(options)} go into the solver instance, not beside it.")
        return solver.solve(problem, _device_for(solver, device))
    if solver != "auto":
        chosen = make_solver(solver, **options)
        return chosen.solve(problem, _device_for(chosen, device))
    name, reason = _choose(problem)
    chosen = make_solver(name, **options)
    answer = chosen.solve(problem, _device_for(chosen, device))
    return replace(answer, stats={**answer.stats, "auto": reason})


def _choose(problem: Problem) -> tuple[str, str]:
    """Return the solver that "auto" stands for, and why."""
    if problem.kind == "dense":
        return "jv", "dense costs"
    if problem.kind == "sparse":
        return "sparse-jv", "sparse costs"
    if problem.has_unmatched_cost:
        return "sparse-jv", "point sets whose links are bounded by unmatched_cost"
    return "jv", "point sets without unmatched_cost"


def _device_for(solver: Solver, device: str) -> str:
    """Return "cpu" or "cuda:N", or raise: an explicit choice never falls back."""
    kind = device.partition(":")[0]
    if kind not in ("auto", "cpu", "cuda"):
        raise InvalidProblem(f"device needs 'auto', 'cpu', 'cuda' or 'cuda:N'; got {device!r}.")
    if kind == "auto":
        return "cuda" if "cuda" in solver.devices and cuda.is_available() else "cpu"
    if kind not in solver.devices:
        raise DeviceUnavailable(
            f"solver {solver.name!r} runs on {' and '.join(solver.devices)}; got device={device!r}. "
            "Choose another solver or device='auto'."
        )
    return device
