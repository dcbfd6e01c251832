"""The best links of frame pairs that are solved together, however many candidates they have."""

from __future__ import annotations

from ....matching.certificate.assignment import Assignment
from ....matching.problem import Problem
from ....matching.solving import solve
from ....matching.within_reach import solve_within
from .candidates import CandidateLinks, Cost, WideGate


def optimum(
    candidates: CandidateLinks | WideGate, cost: Cost, unmatched_cost: float, solver: str = "auto", device: str = "cpu"
) -> tuple[CandidateLinks | WideGate, Problem, Assignment]:
    """Solve a run; where a range decides of links too many to hold, on the CPU, whatever solver is named."""
    problem = candidates.problem(cost, unmatched_cost)
    if isinstance(candidates, WideGate) and candidates.decides(cost, unmatched_cost):
        reach = candidates.radius, candidates.forbidden, candidates.limits.written
        return candidates, *solve_within(problem, *reach)
    return candidates, problem, solve(problem, candidates.solver if solver == "auto" else solver, device)
