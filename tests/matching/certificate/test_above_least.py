"""Gaps are held to what edges cost above the least that every answer pays, whichever side may stay unassigned."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.matching import Problem
from auctrack.matching.certificate import above_least
from auctrack.matching.certificate.above_least import barely_above_least
from auctrack.matching.certificate.certify import inverse


def _is_barely_above(problem: Problem, matched: list[int], gap: float) -> bool:
    col_of_row = np.array(matched, np.int32)
    return bool(barely_above_least(problem, col_of_row, inverse(problem, col_of_row), np.array([gap])))


@pytest.mark.parametrize("is_tall", [False, True])
def test_a_side_that_must_be_matched_pays_its_least(is_tall: bool) -> None:
    cost = np.array([[1 + 4e-16, 1.0, 2.0], [1.0, 1 + 4e-16, 2.0]])
    problem, matched = Problem.dense(cost.T if is_tall else cost), [0, 1, -1] if is_tall else [0, 1]
    assert _is_barely_above(problem, matched, 1e-15)


@pytest.mark.parametrize("unmatched_cost", [None, 100.0])
def test_the_last_digit_of_large_point_sets_counts_beside_an_unmatched_cost(
    unmatched_cost: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(above_least, "MOST_PAIRS", 0)
    step = 3e-8  # across from one plane to the other it costs two ulp of 1
    problem = Problem.points([[0, 0], [0, step]], [[1, 0], [1, step]], unmatched_cost=unmatched_cost)
    assert _is_barely_above(problem, [1, 0], 1e-14)
    assert not _is_barely_above(problem, [0, 1], 1e-14)
    assert not _is_barely_above(problem, [1, 0], 1e-26)
