"""Every solver on every named hard case."""

from __future__ import annotations

import pytest

from auctrack.matching.solvers import Solver

from .cases import CASES, ON_CPU, Case, assert_solves


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("solver", ON_CPU, ids=str)
def test_every_solver_finds_the_optimum_of_every_case_and_proves_it(solver: str | Solver, case: Case):
    assert_solves(case, solver)
