"""Our solvers as variants, and how their answers are checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....matching.certificate.assignment import Assignment
from ....matching.certificate.verification import verify
from ....matching.device import cuda
from ....matching.problem import Problem
from ....matching.solving import solve
from ..measure.harness import Facts, Variant, WrongAnswer, as_it_is


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
        missing=missing_device(device),
    )


def missing_device(device: str) -> str | None:
    """Say what a device needs that is not here; None if it is."""
    if device == "cpu" or cuda.is_available():
        return None
    return (
        "needs a CUDA device of compute capability 7.0 or more, and CuPy (pip install 'auctrack[cuda13]', or [cuda12])"
    )


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
