"""What is malformed is refused in words of the package, never in NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from auctrack.matching import InvalidProblem, Problem, linear_sum_assignment, solve, verify

POINTS = np.random.default_rng(0).random((5, 3))
BATCH = Problem.batch([Problem.dense(POINTS), Problem.dense(POINTS)])


def test_two_point_sets_are_no_problem_and_solver() -> None:
    with pytest.raises(InvalidProblem, match=r"Problem\.points"):
        solve(POINTS, POINTS)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("answer", [None, POINTS, "optimal"])
def test_only_an_assignment_can_be_verified(answer: Any) -> None:
    with pytest.raises(InvalidProblem, match=r"^assignment "):
        verify(POINTS, answer)


@pytest.mark.parametrize("number", [-1, 2, 7, 1.0, 0.5, "0", None, [0], True])
def test_a_block_is_there_or_refused(number: Any) -> None:
    for batch in (BATCH, solve(BATCH, device="cpu")):
        with pytest.raises(InvalidProblem, match="from 0 to 1"):
            batch.block(number)


@pytest.mark.parametrize("maximize", [None, 2, "yes", POINTS])
def test_maximize_is_true_or_false(maximize: Any) -> None:
    for call in (solve, linear_sum_assignment):
        with pytest.raises(InvalidProblem, match="True or False"):
            call(np.eye(2), maximize=maximize)
    for truth in (np.bool_(True), 1):
        assert solve(np.eye(2), device="cpu", maximize=truth).cost == 2  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("sign", [-1, 1])
def test_whole_coordinates_that_floats_would_round_are_refused(sign: int, side: int) -> None:
    """Of 2⁶⁰ and 2⁶⁰ + 1 the distance was 0."""
    sets = [np.zeros((2, 2), np.int64), np.zeros((2, 2), np.int64)]
    sets[side][1] = sign * (2**53 + 1)
    with pytest.raises(InvalidProblem, match="within") as refused:
        Problem.points(*sets)
    assert refused.value.argument == "xy"[side]
    sets[side][1] = sign * 2**53
    assert Problem.points(*sets).n_rows == 2


@pytest.mark.parametrize("form", [np.asarray, csr_array, Problem.dense], ids=["dense", "sparse", "problem"])
def test_a_single_problem_is_no_batch_and_is_told_how_it_becomes_one(form: Any) -> None:
    single = form(np.array([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(InvalidProblem, match=r"a single problem, of shape \(2, 2\)\. \[problem\] is a batch of one"):
        Problem.batch(single)
    assert Problem.batch([single]).n_blocks == 1


def test_point_sets_of_a_batch_have_one_number_of_axes() -> None:
    with pytest.raises(InvalidProblem, match="axes"):
        Problem.batch([Problem.points(POINTS, POINTS), Problem.points(POINTS[:, :1], POINTS[:, :1])])
