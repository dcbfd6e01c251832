"""Problems as cases, and our solvers on them as variants, on either device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ....matching.certificate.assignment import Assignment
from ....matching.errors import Infeasible
from ....matching.problem import Problem
from ....matching.solving import solve
from ..measure.harness import Case, Facts, Variant, WrongAnswer
from .instance import Instance
from .solver_variants import checked, missing_device


def problem_case(series: str, n: int, gpu: str, make: Callable[[int], Problem]) -> Case:
    """Return the case of the problem that make(seed) returns, for solvers on either device."""
    return Case(series, n, lambda seed: Instance(make(seed), gpu))


def cases_of(makers: Mapping[str, Callable[..., Problem]], sizes: Sequence[int], gpu: str) -> list[Case]:
    """Return each series at each size; make(n, seed=…) returns a problem."""
    return [
        problem_case(series, n, gpu, lambda seed, n=n, make=make: make(n, seed=seed))
        for series, make in makers.items()
        for n in sizes
    ]


def on_gpu(solvers: Sequence[str], gpu: str) -> list[Variant]:
    """Return solvers whose problems are on the GPU already."""
    return [replace(on_cpu(s, gpu), name=f"{s}, GPU", prepare=lambda given: given.on_device) for s in solvers]


def on_cpu(solver: str, device: str = "cpu") -> Variant:
    """Return a solver whose problems are on the host."""
    return Variant(
        f"{solver}, CPU",
        run=lambda problem: solve(problem, solver, device),
        check=_checked,
        prepare=lambda given: given.problem,
        device=device,
        missing=missing_device(device),
    )


def _checked(given: Instance, answer: Assignment) -> Facts:
    return {**checked(given.problem, answer), **sizes_of(given.problem.n_rows, given.n_bytes)}


def sizes_of(rows: int, n_bytes: int) -> Facts:
    """Return what the table of the work needs to know of an instance."""
    return {"rows": rows, "instance_bytes": n_bytes}


def refusal(variant: Variant) -> Variant:
    """Return the variant for problems that cannot be matched whole: its answer is the refusal."""

    def run(problem: Problem) -> Any:
        try:
            return variant.run(problem)
        except Infeasible as refusal:
            return refusal

    return replace(variant, run=run, check=_checked_refusal)


def _checked_refusal(given: Instance, answer: Any) -> Facts:
    """Check Hall's condition: the rows named reach fewer columns than they are."""
    if not isinstance(answer, Infeasible):
        raise WrongAnswer("matched what cannot be matched whole")
    graph = given.problem
    assert graph.indptr is not None
    assert graph.indices is not None
    reached = np.unique(np.concatenate([graph.indices[graph.indptr[i] : graph.indptr[i + 1]] for i in answer.rows]))
    if len(reached) >= len(answer.rows):
        raise WrongAnswer(f"{len(answer.rows)} rows said to reach too little reach {len(reached)} columns")
    return {"violators": len(answer.rows), **sizes_of(graph.n_rows, given.n_bytes)}
