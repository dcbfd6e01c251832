"""Matrices whose sides differ little are made square where the caller wants all their pairs bid for at once."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.matching import Auction, Infeasible, NotConverged, Problem, solve, verify
from auctrack.matching.auction import squared
from auctrack.matching.auction.squared import is_made_square

RNG = np.random.default_rng(5)
FORBIDDEN = RNG.random((40, 45)) < 0.6
WHOLE = Auction(matrix="only")

PROBLEMS = {
    "reals": Problem.dense(RNG.random((40, 45))),
    "float32": Problem.dense(RNG.random((40, 45), dtype=np.float32)),
    "far from zero": Problem.dense(1e6 + RNG.random((30, 31))),
    "whole numbers that tie": Problem.dense(RNG.integers(-9, 9, (40, 45))),
    "large whole numbers": Problem.dense(RNG.integers(-(10**12), 10**12, (40, 41))),
    "some forbidden": Problem.dense(RNG.random((40, 45)), forbidden=FORBIDDEN),
    "some infinite": Problem.dense(np.where(FORBIDDEN, np.inf, RNG.random((40, 45)))),
    "all tied": Problem.dense(np.ones((20, 23))),
    "tall": Problem.dense(RNG.random((33, 30))),
    "sixty decades": Problem.dense(10 ** RNG.uniform(-30, 30, (30, 33))),
    "inner products": Problem.dense(-RNG.normal(size=(60, 3)) @ RNG.normal(size=(3, 66))),
}


@pytest.mark.parametrize("kind", PROBLEMS)
def test_the_optimum_is_found_and_proven(kind):
    answer = solve(PROBLEMS[kind], WHOLE, "cpu")
    assert verify(PROBLEMS[kind], answer).is_optimal
    assert answer.cost == pytest.approx(solve(PROBLEMS[kind], "jv", "cpu").cost, rel=1e-12)


def test_columns_left_over_are_at_their_bound_and_no_other_is_above():
    answer = solve(PROBLEMS["reals"], WHOLE, "cpu")
    assert (answer.col_duals[answer.row_of_col < 0] == 0).all()
    assert (answer.col_duals <= 0).all()


def test_a_budget_that_runs_out_leaves_what_was_matched():
    with pytest.raises(NotConverged) as caught:
        solve(PROBLEMS["inner products"], Auction(matrix="only", max_bids=1), "cpu")
    known = caught.value.assignment
    assert known is not None
    assert known.col_of_row.shape == (60,)
    assert known.gap > 0


def test_rows_that_cannot_all_be_matched_are_named():
    costs = np.full((10, 11), np.inf)
    costs[:, :9] = 1.0
    with pytest.raises(Infeasible):
        solve(costs, WHOLE, "cpu")


@pytest.mark.parametrize(
    ("shape", "is_made"), [((20, 21), True), ((20, 23), True), ((20, 24), False), ((20, 20), False)]
)
def test_sides_differ_by_up_to_fifteen_percent(shape, is_made):
    assert is_made_square(Problem.dense(np.zeros(shape))) == is_made
    assert not is_made_square(Problem.dense(np.zeros(shape), unmatched_cost=1.0))


def test_no_larger_matrix_is_made_than_the_limit_allows(monkeypatch):
    of_45_columns = 8 * 45 * 45
    monkeypatch.setattr(squared, "DENSE_LIMIT_BYTES", of_45_columns)
    assert is_made_square(PROBLEMS["reals"])
    monkeypatch.setattr(squared, "DENSE_LIMIT_BYTES", of_45_columns - 1)
    assert not is_made_square(PROBLEMS["reals"])
    assert is_made_square(PROBLEMS["float32"])


def test_auto_hands_hard_ones_over():
    rng = np.random.default_rng(1)
    costs = np.linalg.norm(rng.random((500, 1, 2)) - rng.random((550, 2)) ** 2, axis=2)
    answer = solve(costs, device="cpu")
    assert answer.solver == "auction"
    assert verify(costs, answer).is_optimal
