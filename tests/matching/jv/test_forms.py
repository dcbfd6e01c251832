"""As what `jv` reads a problem: a matrix or a graph, by its kind and how full it is, or as it is told."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.matching import JV, InvalidProblem, Problem, solve
from auctrack.matching.problem.convert import NEARLY_FULL

from ...refusals import refused

COST = np.random.default_rng(0).random((8, 8))
X, Y = np.random.default_rng(1).random((2, 8, 3))


def _edges(of_a_row: int) -> Problem:
    columns = (np.arange(8)[:, None] + np.arange(of_a_row)) % 8
    indptr = np.arange(9) * of_a_row
    return Problem.sparse((indptr, np.sort(columns, axis=1).ravel(), COST[:, :of_a_row].ravel()), shape=(8, 8))


def _is_read_as_a_graph(problem: Problem, form: str) -> bool:
    """Whether its edges were counted."""
    return "edges" in solve(problem, "jv", "cpu", form=form).stats


@pytest.mark.parametrize(
    ("problem", "is_graph"),
    [
        (Problem.dense(COST), False),
        (Problem.dense(COST, unmatched_cost=0.1), False),
        (_edges(8 // NEARLY_FULL), False),
        (_edges(8 // NEARLY_FULL - 1), True),
        (Problem.points(X, Y), False),
        (Problem.points(X, Y, unmatched_cost=0.1), True),
    ],
    ids=["dense", "dense, unmatched cost", "a fourth of the pairs", "fewer", "points", "points, unmatched cost"],
)
def test_a_problem_is_read_in_the_form_that_is_faster_or_in_the_one_that_is_asked_for(problem, is_graph):
    assert _is_read_as_a_graph(problem, "auto") == is_graph
    assert _is_read_as_a_graph(problem, "sparse")
    assert not _is_read_as_a_graph(problem, "dense")


def test_another_form_is_refused():
    with refused(InvalidProblem, argument="form", match="full"):
        JV(form="full")
