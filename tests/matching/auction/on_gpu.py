"""What every test of the auction on a GPU asks."""

from __future__ import annotations

from typing import Any

from auctrack.matching import Problem, solve, verify
from auctrack.matching.auction import Auction


def assert_optimal(problem: Problem, **options: Any) -> Any:
    answer = solve(problem, Auction(**options), "cuda")
    certificate = verify(problem, answer)
    assert certificate.faults == ()
    assert certificate.is_optimal
    assert answer.is_optimal
    return answer
