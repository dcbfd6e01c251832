"""Every solver on every named hard case."""

from __future__ import annotations

import pytest

from auctrack.matching.solvers import SOLVERS, solver_devices

from .cases import CASES, Case, assert_solves

ON_CPU = [name for name in SOLVERS if "cpu" in solver_devices(name)]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("solver", ON_CPU)
def test_every_solver_finds_the_optimum_of_every_case_and_proves_it(solver: str, case: Case):
    assert_solves(case, solver)
