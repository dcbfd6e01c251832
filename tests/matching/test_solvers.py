"""Every solver on every named hard case."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.matching import Problem, solve, verify
from auctrack.matching.solvers import Solver

from .cases import CASES, ON_CPU, Case, assert_solves


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("solver", ON_CPU, ids=str)
def test_every_solver_finds_the_optimum_of_every_case_and_proves_it(solver: str | Solver, case: Case):
    assert_solves(case, solver)


def test_few_points_are_matched_on_their_matrix_also_where_searches_are_given_up():
    rng = np.random.default_rng(1)
    problem = Problem.points(rng.normal(size=(350, 2)), rng.normal(size=(350, 2)) + 3)
    answer = solve(problem, device="cpu")
    assert "jv was given up" in answer.stats["auto"]
    assert "pricings" not in answer.stats
    assert verify(problem, answer).is_optimal
    np.testing.assert_array_equal(answer.col_of_row, solve(problem, "auction", "cpu").col_of_row)
