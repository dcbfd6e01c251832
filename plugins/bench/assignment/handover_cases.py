"""The handover: do an auction's prices hasten a Hungarian method? `auto` goes by the answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ....matching.auction import Auction
from ....matching.certificate.assignment import Assignment
from ....matching.hungarian import HungarianClassical, HungarianTree
from ....matching.problem import Problem
from ....matching.solving import solve
from ..benchmark import Effort
from ..measure.harness import Experiment, Facts, Variant
from .instance import Instance
from .lap_instances import DENSE_FAMILIES
from .problem_variants import cases_of
from .solver_variants import checked, missing_device

STOPPED_AT = 2e-5
"""Increment at which the auction hands over, as a share of the largest cost."""


def handover(effort: Effort, gpu: str) -> list[Experiment]:
    """Return each Hungarian method alone, after a coarse auction, and from the best prices there are; CPU and GPU."""
    makers = {family: partial(_dense_problem, make) for family, make in DENSE_FAMILIES.items()}
    cases = cases_of(makers, effort.sizes or (2000, 5000), gpu)
    times = effort.repetitions or 5
    return [
        Experiment("handover-gpu", cases, _variants(gpu), times),
        Experiment("handover-cpu", cases, [_alone("jv", "jv", "cpu"), *_variants("cpu")], times),
    ]


def _dense_problem(make: Callable[[int, int], np.ndarray], n: int, seed: int) -> Problem:
    return Problem.dense(make(n, seed))


def _variants(device: str) -> list[Variant]:
    variants = [_alone("auction", "auction", device)]
    for name, solver in (("tree", HungarianTree), ("classical", HungarianClassical)):
        variants += [
            _alone(name, solver.name, device),
            _after_an_auction(f"{name}, coarse start", solver, device),
            _from_the_optimum(f"{name}, best start", solver, device),
        ]
    return variants


def _alone(label: str, solver: str, device: str) -> Variant:
    run = partial(solve, solver=solver, device=device)
    return Variant(label, run, _checked, prepare=_on(device), device=device, missing=missing_device(device))


def _after_an_auction(label: str, solver: Callable[..., Any], device: str) -> Variant:
    """Return the method with the prices of an auction that stops early, whose time counts."""

    def run(problem: Problem) -> Assignment:
        eps = STOPPED_AT * float(problem.data.max())
        return solve(problem, solver(start=solve(problem, Auction(eps=eps), device)), device)

    return Variant(label, run, _checked, prepare=_on(device), device=device, missing=missing_device(device))


def _from_the_optimum(label: str, solver: Callable[..., Any], device: str) -> Variant:
    """Return the method with an optimum's prices, whose time does not count: no start can be better."""

    def prepare(given: Instance) -> tuple[Problem, Assignment]:
        return _on(device)(given), solve(given.problem, "jv", "cpu")

    def run(given: tuple[Problem, Assignment]) -> Assignment:
        problem, optimum = given
        return solve(problem, solver(start=optimum), device)

    return Variant(label, run, _checked, prepare=prepare, device=device, missing=missing_device(device))


def _on(device: str) -> Callable[[Instance], Problem]:
    return lambda given: given.problem if device == "cpu" else given.on_device


def _checked(given: Instance, answer: Assignment) -> Facts:
    return checked(given.problem, answer)
