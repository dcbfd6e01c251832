"""Our solvers as variants, looked up when the benchmark starts: what is not there yet, or not here, is said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...matching import cuda
from ...matching.assignment import Assignment
from ...matching.errors import InvalidProblem
from ...matching.problem import Problem
from ...matching.solvers import SOLVERS, make_solver, solver_devices
from ...matching.solving import solve
from ...matching.verification import verify
from .harness import Facts, Variant, WrongAnswer, as_it_is


def solver_variant(
    label: str,
    solver: str,
    device: str = "cpu",
    *,
    prepare: Callable[[Any], Any] = as_it_is,
    exact: bool = True,
    **options: Any,
) -> Variant:
    """Return a solver of `SOLVERS`, or "auto", as a variant on problems.

    Parameters
    ----------
    label : str
    solver, device : str
    prepare : callable
        Makes the `Problem` of the case's input, untimed.
    exact : bool
        Whether the answer must be proven optimal; otherwise it must be a valid one, and its gap is recorded.
    **options
        Of the solver.
    """
    return Variant(
        label,
        run=lambda problem: solve(problem, solver, device, **options),
        check=lambda given, answer: checked(prepare(given), answer, exact=exact),
        prepare=prepare,
        device=device,
        missing=missing_solver(solver, device, **options),
    )


def missing_solver(solver: str, device: str, **options: Any) -> str | None:
    """Say why a solver cannot run on a device here; None if it can."""
    if solver not in (*SOLVERS, "auto"):
        return f"solver {solver!r} is not there yet"
    kind = device.partition(":")[0]
    if solver != "auto":
        if kind not in solver_devices(solver):
            return f"solver {solver!r} does not run on {kind} yet"
        try:
            make_solver(solver, **options)
        except InvalidProblem as error:
            return f"not there yet: {error}"
    return missing_device(device)


def missing_device(device: str) -> str | None:
    """Say that a device is not here; None if it is."""
    if device == "cpu" or cuda.is_available():
        return None
    return "needs a CUDA device and CuPy; there is none here"


def checked(problem: Problem, answer: Assignment, *, exact: bool = True) -> Facts:
    """Return what is known of an assignment whose certificate was recomputed from the problem.

    Raises
    ------
    WrongAnswer
        If it is no valid assignment, or not proven optimal although it must be.
    """
    certificate = verify(problem, answer)
    if not certificate.is_valid:
        raise WrongAnswer("; ".join(certificate.faults))
    if exact and not certificate.is_optimal:
        raise WrongAnswer(f"not proven optimal, gap {np.max(certificate.gap)} at cost {np.sum(certificate.cost)}")
    return {
        "cost": np.sum(certificate.cost).item(),
        "gap": np.max(certificate.gap).item(),
        "solver": answer.solver,
        **plain_numbers(answer.stats),
    }


def plain_numbers(stats: Any) -> dict[str, Any]:
    """Return those counts and times of a solver that are numbers, or short lists of them."""
    kept: dict[str, Any] = {}
    for name, value in stats.items():
        if isinstance(value, int | float | np.integer | np.floating):
            kept[name] = value
        elif isinstance(value, np.ndarray) and value.size <= 100:
            kept[name] = value.tolist()
    return kept
