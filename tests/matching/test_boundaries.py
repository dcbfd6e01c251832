"""What is malformed is refused in words of the package, never in NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auctrack.matching import InvalidProblem, Problem, solve, verify

POINTS = np.random.default_rng(0).random((5, 3))
BATCH = Problem.batch([Problem.dense(POINTS), Problem.dense(POINTS)])


def test_two_point_sets_are_no_problem_and_solver() -> None:
    with pytest.raises(InvalidProblem, match=r"Problem\.points"):
        solve(POINTS, POINTS)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("answer", [None, POINTS, "optimal"])
def test_only_an_assignment_can_be_verified(answer: Any) -> None:
    with pytest.raises(InvalidProblem, match=r"^assignment "):
        verify(POINTS, answer)


@pytest.mark.parametrize("number", [-1, 2, 7, 1.0, 0.5, "0", None, [0]])
def test_a_block_is_there_or_refused(number: Any) -> None:
    for batch in (BATCH, solve(BATCH, device="cpu")):
        with pytest.raises(InvalidProblem, match="from 0 to 1"):
            batch.block(number)


def test_point_sets_of_a_batch_have_one_number_of_axes() -> None:
    with pytest.raises(InvalidProblem, match="axes"):
        Problem.batch([Problem.points(POINTS, POINTS), Problem.points(POINTS[:, :1], POINTS[:, :1])])
